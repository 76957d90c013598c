//! The engine: shards, spaces, and the contract on top of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocksdb::Cache;
use tonnage_engine::{
    Capability, Clock, Durability, Engine, Error, KeyShape, LoadOptions, LoadSession, Ranges,
    ReadOptions, Result, Rows, ScanOptions, Scanner, ShardId, Slices, SpaceId, SpaceInfo,
    Statistics, SystemClock, VerifyReport, WriteBatch, WriteOutcome, prefixed_shard,
};

use crate::compaction::background::RangeCompactor;
use crate::directory::StoreDirectories;
use crate::hash::hash;
use crate::settings::{Settings, memtable_bound};
use crate::shard::{Shard, Surroundings};
use crate::spaces::Spaces;

/// A store in RocksDB, open until it is dropped.
///
/// ```
/// use tonnage_engine::{Engine, KeyPart, KeyShape};
/// use tonnage_rocksdb::{RocksEngine, Settings};
///
/// # fn main() -> tonnage_engine::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("store");
/// let engine = RocksEngine::open(path, Settings::default())?;
/// let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Terminated]))?;
/// assert_eq!(engine.spaces()?[0].id, space);
/// # Ok(())
/// # }
/// ```
pub struct RocksEngine {
    // Dropped first: databases are closed before the lock in `places` is given up.
    shards: Arc<[Shard]>,
    chores: RangeCompactor,
    spaces: Spaces,
    settings: Settings,
    clock: Arc<dyn Clock>,
    capability: Capability,
    cache: Cache,
    _places: StoreDirectories,
}

impl RocksEngine {
    /// Opens the store in a directory, and makes it when there is none and the settings allow it.
    ///
    /// # Errors
    /// - `NotFound` when there is no store and none may be made;
    /// - `Invalid` for a directory that holds something else, for other data directories than the
    ///   store was made with, and for data directories that were mixed up;
    /// - `Unsupported` for a store of a newer format;
    /// - `Unavailable` when the store is open already, a disk is missing, or a directory cannot be
    ///   written;
    /// - `Corruption` when what is stored is damaged.
    pub fn open(path: impl Into<PathBuf>, settings: Settings) -> Result<RocksEngine> {
        Self::open_with_clock(path, settings, Arc::new(SystemClock))
    }

    /// The same on a clock of the caller's, which decides what has expired.
    pub fn open_with_clock(
        path: impl Into<PathBuf>,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<RocksEngine> {
        let mut places = StoreDirectories::open(&path.into(), &settings)?;
        let cache = Cache::new_hyper_clock_cache(settings.cache_bytes, 0);
        let memtables = memtable_bound(&settings, places.directories().len());
        let with = Surroundings {
            settings: &settings,
            cache: &cache,
            clock: &clock,
            create: places.is_fresh(),
            shards: places.directories().len(),
            memtables: &memtables,
        };
        let shards = places.directories().enumerate();
        let shards =
            shards.map(|(index, directory)| Shard::open(ShardId(index as u32), &directory, &with));
        let shards: Arc<[Shard]> = shards.collect::<Result<Vec<_>>>()?.into();
        let (spaces, dropping) = Spaces::open(shards[0].db())?;
        places.finish()?;
        let capability = capability(shards.len() as u32);
        let engine = Self {
            shards,
            chores: RangeCompactor::default(),
            spaces,
            settings,
            clock,
            capability,
            cache,
            _places: places,
        };
        // What the disk does not let remove now keeps no store closed.
        dropping.into_iter().for_each(|space| engine.complete_drop_soon(space));
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
            shards => (hash(shard_key) % shards as u64) as usize,
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

    pub(crate) fn chores(&self) -> &RangeCompactor {
        &self.chores
    }

    pub(crate) fn limits(&self) -> &Capability {
        &self.capability
    }
}

impl Drop for RocksEngine {
    /// Background work is cancelled, so that closing does not wait for a long compaction.
    fn drop(&mut self) {
        self.shards.iter().for_each(|shard| shard.db().close_log());
        self.shards.iter().for_each(|shard| shard.db().cancel_all_background_work(false));
        self.chores.stop();
    }
}

/// Keys of shard-prefixed spaces name their shard in two bytes.
const PLACED_SHARDS_MAX: u32 = 1 << 16;

fn capability(shards: u32) -> Capability {
    Capability {
        key_bytes_max: 64 << 10,
        value_bytes_max: 1 << 30,
        batch_bytes_max: 1 << 30,
        total_order: true,
        absolute_consistency: true,
        fsync: true,
        persistent: true,
        checkpoint: true,
        placed_spaces: shards <= PLACED_SHARDS_MAX,
        shards,
    }
}

impl Engine for RocksEngine {
    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn create_space(&self, name: &str, shape: &KeyShape) -> Result<SpaceId> {
        if shape.is_shard_prefixed() && !self.capability.placed_spaces {
            return Err(Error::unsupported(
                "a store of more than 65,536 data directories has no indexes: use fewer directories",
            ));
        }
        self.spaces.create(self.shards[0].db(), name, shape)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        Ok(self.spaces.list())
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.drop_whole_space(space)
    }

    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        ShardId(self.shard_index(shard_key) as u32)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.read_keys(space, keys, options, rows)
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(self.scan_ranges(space, ranges, options)?))
    }

    fn split(&self, space: SpaceId, parts: usize) -> Result<Ranges> {
        self.split_space(space, parts)
    }

    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        self.estimate_rows(space, ranges)
    }

    fn write(&self, batch: &WriteBatch, durability: Durability) -> Result<WriteOutcome> {
        self.write_batch(batch, durability)
    }

    fn write_many(
        &self,
        batches: &[WriteBatch],
        durability: Durability,
    ) -> Vec<Result<WriteOutcome>> {
        self.write_batches(batches, durability)
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession + '_>> {
        crate::load::open_session(self, options)
    }

    fn delete_range(&self, space: SpaceId, ranges: &Ranges, durability: Durability) -> Result<()> {
        self.delete_ranges(space, ranges, durability)
    }

    fn sync(&self) -> Result<()> {
        self.sync_all()
    }

    fn settle(&self) -> Result<()> {
        self.wait_for_compaction()
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.copy_to(directory)
    }

    fn verify(&self) -> Result<VerifyReport> {
        self.verify_all()
    }

    fn statistics(&self) -> Result<Statistics> {
        self.read_statistics()
    }
}
