//! The contract over a cluster.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Capability, Clock, Cuts, Deadline, Durability, Engine, Error, ErrorKind, KeyShape, Levels,
    LoadOptions, LoadSession, Maintenance, Part, Ranges, ReadOptions, Result, Rows, ScanOptions,
    Scanner, ShardId, Slices, SpaceId, SpaceInfo, Statistics, SystemClock, VerifyReport,
    WriteBatch, WriteOutcome,
};

use crate::address::Address;
use crate::blocking::with_deadline;
use crate::clock_watch::watch_clocks;
use crate::load::ClusterLoad;
use crate::stamp::VERSION_STEP;
use crate::store::ClusterStore;

/// An engine whose rows are in Apache Cassandra or ScyllaDB.
pub struct CassandraEngine {
    store: Arc<ClusterStore>,
    levels: Levels,
}

impl CassandraEngine {
    /// Opens the store at an address, and makes it if the keyspace has none.
    ///
    /// # Errors
    /// `Unavailable` when no node answers; `NotFound` for a keyspace that does not exist and must
    /// not be created; `Unsupported` for the store of a newer Tonnage.
    pub fn open(address: &Address) -> Result<Self> {
        Self::open_with_clock(address, Arc::new(SystemClock))
    }

    /// The same with a clock that decides what has expired.
    ///
    /// # Errors
    /// As [`CassandraEngine::open`].
    pub fn open_with_clock(address: &Address, clock: Arc<dyn Clock>) -> Result<Self> {
        let store = ClusterStore::open(address, clock)?;
        watch_clocks(&store);
        Ok(Self { store, levels: Levels::default() })
    }
}

/// Opens the store at a URL: what a program hands to the library, so that it opens clusters too.
///
/// # Errors
/// As [`CassandraEngine::open`], and `Invalid` for a URL that is not an address; `NotFound` where
/// there is no store and none must be created.
pub fn open_url(url: &str, create: bool, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    let address = Address { create_if_missing: create, ..Address::parse(url)? };
    Ok(Arc::new(CassandraEngine::open_with_clock(&address, clock)?))
}

impl Engine for CassandraEngine {
    fn capability(&self) -> &Capability {
        &self.store.capability
    }

    fn at(&self, levels: Levels) -> Option<Arc<dyn Engine>> {
        Some(Arc::new(Self { store: Arc::clone(&self.store), levels }))
    }

    /// A change of the schema that has begun is carried through: it takes a second or so.
    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        deadline.check("the cluster to make a table")?;
        self.store.runtime.wait(self.store.create_space(name, shape))
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        self.store.runtime.wait(self.store.spaces())
    }

    /// Once it has begun, a deadline leaves the space in doubt: it is listed until its table is
    /// gone, and may be dropped again.
    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        deadline.check("the cluster to drop a table")?;
        let drop =
            with_deadline(deadline, "the cluster to drop a table", self.store.drop_space(space));
        self.store.runtime.wait(drop).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => half_dropped(space),
            _ => error,
        })
    }

    /// Which node has a shard is the cluster's own business, and changes.
    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        self.store.shard(shard_key)
    }

    /// Versions are microseconds, and count within one.
    fn version_time_ms(&self, version: u64) -> Option<u64> {
        Some(version / VERSION_STEP / 1_000)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        let consistency = self.levels.consistency;
        let read = self.store.read_keys(space, keys, options, consistency, rows);
        self.store.runtime.wait(read)
    }

    fn read_settled(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.store.runtime.wait(self.store.read_settled(space, keys, options, rows))
    }

    fn delete_older(
        &self,
        space: SpaceId,
        entries: &Slices,
        age: Duration,
        deadline: Deadline,
    ) -> Result<u64> {
        self.store.runtime.wait(self.store.delete_older(space, entries, age, deadline))
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.store.open_scan(space, &ranges, options, self.levels.consistency)
    }

    fn split(&self, space: SpaceId, parts: usize, _cuts: Cuts) -> Result<Vec<Part>> {
        self.store.runtime.wait(self.store.split_space(space, parts))
    }

    fn scan_part(
        &self,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.store.open_scan_of_part(space, part, options, self.levels.consistency)
    }

    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        self.store.runtime.wait(self.store.estimate_rows(space, ranges))
    }

    /// Every durability is the same: so many replicas have the write as its level says.
    fn write_by(
        &self,
        batch: &WriteBatch,
        _durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        let written = self.store.write_batch(batch, self.levels.acks, deadline);
        self.store.runtime.wait(written)
    }

    fn write_many_by(
        &self,
        batches: &[WriteBatch],
        _durability: Durability,
        deadline: Deadline,
    ) -> Vec<Result<WriteOutcome>> {
        let written = self.store.write_batches(batches, self.levels.acks, deadline);
        self.store.runtime.wait(written)
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>> {
        let store = Arc::clone(&self.store);
        Ok(Box::new(ClusterLoad::open(store, options, self.levels.acks)?))
    }

    fn delete_range_by(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        _durability: Durability,
        deadline: Deadline,
    ) -> Result<()> {
        let deleted = self.store.delete_ranges(space, ranges, self.levels.acks, deadline);
        self.store.runtime.wait(deleted)
    }
}

impl Maintenance for CassandraEngine {
    /// A quorum has whatever was acknowledged. When a node's log reaches its disk is the node's own
    /// setting, which the capability tells.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn settle_by(&self, _deadline: Deadline) -> Result<()> {
        Err(Error::unsupported(
            "a cluster compacts by itself, and cannot be waited for: use nodetool on its nodes",
        ))
    }

    fn checkpoint(&self, _directory: &Path) -> Result<()> {
        Err(Error::unsupported(
            "a cluster cannot be copied to a directory: take snapshots with nodetool, or unload its tables",
        ))
    }

    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport> {
        self.store.verify_all(deadline)
    }

    fn statistics(&self) -> Result<Statistics> {
        self.store.runtime.wait(self.store.read_statistics())
    }
}

#[cold]
fn half_dropped(space: SpaceId) -> Error {
    Error::unavailable(format!(
        "space {}: the deadline passed while the cluster dropped its table, which may be gone or not: drop it again",
        space.0
    ))
}
