//! The open store: shards, spaces, and what opens and closes them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rocksdb::Cache;
use tonnage_engine::{
    Capability, Clock, Deadline, Result, ShardId, SpaceId, SpaceInfo, prefixed_shard,
};

use crate::compaction::background::RangeCompactor;
use crate::directory::StoreDirectories;
use crate::manifest_watch::ManifestWatch;
use crate::read::helpers::ReadHelpers;
use crate::scanned_bytes::ScannedBytes;
use crate::settings::{Settings, memtable_bound};
use crate::shard::{Shard, SharedResources};
use crate::spaces::Spaces;
use tonnage_engine::placement_hash;

/// What the engine, its scans and its loads share: the store is closed when the last of them is
/// dropped.
pub(crate) struct OpenStore {
    // Dropped first: databases are closed before the locks in `_directories` are given up.
    shards: Arc<[Shard]>,
    range_compactor: RangeCompactor,
    watch: ManifestWatch,
    spaces: Spaces,
    settings: Settings,
    clock: Arc<dyn Clock>,
    capability: Capability,
    cache: Cache,
    pub(crate) read_helpers: ReadHelpers,
    pub(crate) scanned_bytes: ScannedBytes,
    _directories: StoreDirectories,
}

impl OpenStore {
    pub(crate) fn open(path: &Path, settings: Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        let mut directories = StoreDirectories::open(path, &settings)?;
        let cache = Cache::new_hyper_clock_cache(settings.cache_bytes, 0);
        let memtables = memtable_bound(&settings, directories.directories().len());
        let with = SharedResources {
            settings: &settings,
            cache: &cache,
            clock: &clock,
            create: directories.is_fresh(),
            shards: directories.directories().len(),
            memtables: &memtables,
        };
        let shards = directories.directories().enumerate();
        let shards =
            shards.map(|(index, directory)| Shard::open(ShardId(index as u32), &directory, &with));
        let shards: Arc<[Shard]> = shards.collect::<Result<Vec<_>>>()?.into();
        let databases = shards
            .iter()
            .map(|shard| (shard.share_database(), Arc::clone(&shard.indexes)))
            .collect();
        let (spaces, dropping) = Spaces::open(shards[0].db())?;
        // Not before: until all databases are there, the next opening may make those that are
        // missing.
        directories.finish()?;
        let capability = capability(shards.len() as u32);
        let engine = Self {
            shards,
            range_compactor: RangeCompactor::default(),
            watch: ManifestWatch::start(databases),
            spaces,
            settings,
            clock,
            capability,
            cache,
            read_helpers: ReadHelpers::new(),
            scanned_bytes: ScannedBytes::default(),
            _directories: directories,
        };
        // What the disk does not let remove now keeps no store closed, nor does it keep anybody
        // waiting.
        let deadline = Deadline::after(OPENING_WAIT);
        dropping.into_iter().for_each(|space| engine.complete_drop_soon(space, deadline));
        Ok(engine)
    }

    /// The shards, by their numbers.
    pub(crate) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The shards, for a thread that may outlive a borrow of the engine, though not the engine: it
    /// is ended before.
    pub(crate) fn share_shards(&self) -> Arc<[Shard]> {
        Arc::clone(&self.shards)
    }

    /// The index of the shard that holds a shard key.
    #[inline]
    pub(crate) fn shard_index(&self, shard_key: &[u8]) -> usize {
        match self.shards.len() {
            1 => 0,
            shards => (placement_hash(shard_key) % shards as u64) as usize,
        }
    }

    /// The index of the shard that holds the rows of a shard key of a space. `Invalid` when the key
    /// of a shard-prefixed space names a shard that there is not.
    #[inline]
    pub(crate) fn shard_index_in(&self, space: &SpaceInfo, shard_key: &[u8]) -> Result<usize> {
        match space.shape.is_shard_prefixed() {
            true => prefixed_shard(shard_key, self.capability.shards).map(|shard| shard.0 as usize),
            false => Ok(self.shard_index(shard_key)),
        }
    }

    /// A space that exists.
    pub(crate) fn space(&self, space: SpaceId) -> Result<Arc<SpaceInfo>> {
        self.spaces.get(space)
    }

    pub(crate) fn spaces_list(&self) -> &Spaces {
        &self.spaces
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(crate) fn range_compactor(&self) -> &RangeCompactor {
        &self.range_compactor
    }

    pub(crate) fn limits(&self) -> &Capability {
        &self.capability
    }
}

impl Drop for OpenStore {
    /// Background work is cancelled, so that closing does not wait for a long compaction.
    fn drop(&mut self) {
        self.shards.iter().for_each(|shard| shard.db().close_log());
        self.shards.iter().for_each(|shard| shard.db().cancel_all_background_work(false));
        self.range_compactor.stop();
        self.watch.stop();
        self.shards.iter().for_each(|shard| shard.db().close_manifest());
    }
}

/// How long an opening waits for the disk to let it complete drops that were cut short.
const OPENING_WAIT: Duration = Duration::from_secs(5);

/// Keys of shard-prefixed spaces name their shard in two bytes.
const PREFIXED_SHARDS_MAX: u32 = 1 << 16;

fn capability(shards: u32) -> Capability {
    Capability {
        key_bytes_max: 64 << 10,
        value_bytes_max: 1 << 30,
        batch_bytes_max: 1 << 30,
        batch_operations_max: usize::MAX,
        spaces_per_batch: usize::MAX,
        total_order: true,
        absolute_consistency: true,
        acks_all: true,
        fsync: true,
        persistent: true,
        shared: false,
        checkpoint: true,
        settle: true,
        shard_prefixed_spaces: shards <= PREFIXED_SHARDS_MAX,
        shard_prefixed_atomic: true,
        shards,
    }
}
