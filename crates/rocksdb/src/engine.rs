//! The engine: the contract on top of an open store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tonnage_engine::{
    Capability, Clock, Cuts, Deadline, Durability, Engine, Error, KeyShape, LoadOptions,
    LoadSession, Maintenance, Part, Ranges, ReadOptions, Result, Rows, ScanOptions, Scanner,
    ShardId, Slices, Snapshot, SpaceId, SpaceInfo, StagedCheckpoint, Statistics, SystemClock,
    TrackedRange, VerifyReport, WriteBatch, WriteOutcome,
};

use crate::open_store::OpenStore;
use crate::scan::ScanSource;
use crate::settings::Settings;
use crate::tracking::snapshot::RocksSnapshot;

/// A store in RocksDB, open until it is dropped, and every scan and load of it with it.
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
    store: Arc<OpenStore>,
}

impl RocksEngine {
    /// Opens the store in a directory, and makes it when there is none and the settings allow it.
    ///
    /// # Errors
    /// - `NotFound` when there is no store and none may be created;
    /// - `Invalid` for a directory that holds something else, for other data directories than those
    ///   of the store's creation, and for data directories that were mixed up;
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
        let store = OpenStore::open(&path.into(), settings, clock)?;
        Ok(Self { store: Arc::new(store) })
    }

    /// The store below the contract.
    #[cfg(test)]
    pub(crate) fn store(&self) -> &Arc<OpenStore> {
        &self.store
    }
}

impl Engine for RocksEngine {
    fn capability(&self) -> &Capability {
        self.store.limits()
    }

    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        if shape.is_shard_prefixed() && !self.store.limits().shard_prefixed_spaces {
            return Err(Error::unsupported(
                "a store of more than 65,536 data directories has no indexes: use fewer directories",
            ));
        }
        self.store.spaces_list().create(self.store.shards()[0].db(), name, shape, deadline)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        Ok(self.store.spaces_list().list())
    }

    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        self.store.drop_whole_space(space, deadline)
    }

    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        ShardId(self.store.shard_index(shard_key) as u32)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.store.read_keys(space, keys, options, None, rows)
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        ScanSource::Now(Arc::clone(&self.store)).scan(space, ranges, options)
    }

    fn split(&self, space: SpaceId, parts: usize, cuts: Cuts) -> Result<Vec<Part>> {
        self.store.split_space(space, parts, cuts)
    }

    fn scan_part(
        &self,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.scan(space, part.keys()?, options)
    }

    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        self.store.estimate_rows(space, ranges)
    }

    fn change_count(&self, space: SpaceId) -> Result<Option<u64>> {
        self.store.space(space)?;
        let counts = self.store.shards().iter().map(|shard| shard.changes.count(space));
        Ok(counts.sum())
    }

    fn snapshot(&self, followed: &[SpaceId]) -> Result<Option<Arc<dyn Snapshot>>> {
        Ok(Some(Arc::new(RocksSnapshot::take(&self.store, followed)?)))
    }

    fn track(&self, space: SpaceId, range: &TrackedRange, snapshot: &dyn Snapshot) -> Result<bool> {
        self.store.space(space)?;
        let shard = self.store.shards().get(range.shard.0 as usize);
        let (Some(shard), Some(settled)) = (shard, snapshot.settled(space, range.shard)) else {
            return Ok(false);
        };
        Ok(shard.books.track(space, range, settled))
    }

    fn untrack(&self, space: SpaceId, id: u128) -> Result<()> {
        self.store.space(space)?;
        self.store.shards().iter().for_each(|shard| shard.books.untrack(space, id));
        Ok(())
    }

    fn write_by(
        &self,
        batch: &WriteBatch,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        self.store.write_batch(batch, durability, deadline)
    }

    fn write_many_by(
        &self,
        batches: &[WriteBatch],
        durability: Durability,
        deadline: Deadline,
    ) -> Vec<Result<WriteOutcome>> {
        self.store.write_batches(batches, durability, deadline)
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>> {
        crate::load::open_session(&self.store, options)
    }

    fn delete_range_by(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<()> {
        self.store.delete_ranges(space, ranges, durability, deadline)
    }
}

impl Maintenance for RocksEngine {
    fn sync(&self) -> Result<()> {
        self.store.sync_all()
    }

    fn settle_by(&self, deadline: Deadline) -> Result<()> {
        self.store.wait_for_compaction(deadline)
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.store.copy_to(directory)
    }

    fn stage_checkpoint(&self) -> Result<StagedCheckpoint> {
        self.store.stage_files()
    }

    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport> {
        self.store.verify_all(deadline)
    }

    fn statistics(&self) -> Result<Statistics> {
        self.store.read_statistics()
    }
}

impl std::fmt::Debug for RocksEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RocksEngine").finish_non_exhaustive()
    }
}
