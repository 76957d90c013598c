//! An engine that reads the store as of a snapshot.
//!
//! Spaces are those that there are now: one that was dropped since is gone here, too. Rows expire
//! as time passes. Sizes and cuts are those of the current store.

use std::path::Path;
use std::sync::Arc;

use tonnage_engine::{
    Capability, Cuts, Deadline, Durability, Engine, Error, KeyShape, LoadOptions, LoadSession,
    Maintenance, Part, Ranges, ReadOptions, Result, Rows, ScanOptions, Scanner, ShardId, Slices,
    SpaceId, SpaceInfo, Statistics, VerifyReport, WriteBatch, WriteOutcome,
};

use super::shard_snapshots::ShardSnapshots;
use crate::open_store::OpenStore;
use crate::scan::ScanSource;

/// The store as of a snapshot, to be read.
pub(super) struct SnapshotEngine {
    snapshots: Arc<ShardSnapshots>,
}

impl SnapshotEngine {
    pub(super) fn new(snapshots: ShardSnapshots) -> Self {
        Self { snapshots: Arc::new(snapshots) }
    }

    fn store(&self) -> &OpenStore {
        self.snapshots.store()
    }
}

#[cold]
fn read_only() -> Error {
    Error::invalid("a snapshot is not written to: write to its store")
}

impl Engine for SnapshotEngine {
    fn capability(&self) -> &Capability {
        self.store().limits()
    }

    fn create_space_by(&self, _: &str, _: &KeyShape, _: Deadline) -> Result<SpaceId> {
        Err(read_only())
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        Ok(self.store().spaces_list().list())
    }

    fn drop_space_by(&self, _: SpaceId, _: Deadline) -> Result<()> {
        Err(read_only())
    }

    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        ShardId(self.store().shard_index(shard_key) as u32)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.store().read_keys(space, keys, options, Some(self.snapshots.as_ref()), rows)
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        ScanSource::Then(Arc::clone(&self.snapshots)).scan(space, ranges, options)
    }

    fn split(&self, space: SpaceId, parts: usize, cuts: Cuts) -> Result<Vec<Part>> {
        self.store().split_space(space, parts, cuts)
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
        self.store().estimate_rows(space, ranges)
    }

    fn write_by(&self, _: &WriteBatch, _: Durability, _: Deadline) -> Result<WriteOutcome> {
        Err(read_only())
    }

    fn load(&self, _: LoadOptions) -> Result<Box<dyn LoadSession>> {
        Err(read_only())
    }

    fn delete_range_by(&self, _: SpaceId, _: &Ranges, _: Durability, _: Deadline) -> Result<()> {
        Err(read_only())
    }
}

impl Maintenance for SnapshotEngine {
    fn sync(&self) -> Result<()> {
        self.store().sync_all()
    }

    fn settle_by(&self, deadline: Deadline) -> Result<()> {
        self.store().wait_for_compaction(deadline)
    }

    fn checkpoint(&self, _: &Path) -> Result<()> {
        Err(Error::unsupported("a snapshot is not copied to a directory: copy its store instead"))
    }

    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport> {
        self.store().verify_all(deadline)
    }

    fn statistics(&self) -> Result<Statistics> {
        self.store().read_statistics()
    }
}
