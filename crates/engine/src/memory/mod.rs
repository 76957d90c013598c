//! The memory engine: the strict model of the contract, and what `memory:` opens.
//!
//! Each space is one ordered map under one lock. Where the contract leaves a choice, this engine
//! takes the strictest one. So code that works here works on every engine:
//!
//! - It checks every bound of the capability and every key before it changes anything.
//! - A scan holds no lock between its batches, and fails once its space is dropped.
//! - A write takes its version under the lock of the space, and a load stores no older row over a
//!   newer one: the version of a row never decreases.
//! - Pushed entries are invisible until a flush, or until they outgrow the memory of their session.
//!
//! Nothing outlives the process. All three durabilities are accepted and mean the same. The
//! capability says so with `fsync: false` and `persistent: false`.

mod scanner;
mod session;
mod snapshot;
mod space;
mod store;
mod versions;
mod write;

use std::path::Path;
use std::sync::Arc;

use crate::sync::write;
use crate::{
    Capability, Clock, Cuts, Deadline, Durability, Engine, Error, KeyShape, LoadOptions,
    LoadSession, Maintenance, Part, Ranges, ReadOptions, Result, Rows, ScanOptions, Scanner,
    ShardId, ShardStatistics, Slices, Snapshot, SpaceId, SpaceInfo, Statistics, SystemClock,
    TrackedRange, VerifyReport, WriteBatch, WriteOutcome,
};

use scanner::MemoryScanner;
use session::MemoryLoad;
use snapshot::MemorySnapshot;
use space::MemorySpace;
use store::{MemoryStore, no_such_space};
use write::BatchSpaces;

/// An engine whose rows live as long as it does.
#[derive(Debug)]
pub struct MemoryEngine {
    store: Arc<MemoryStore>,
}

impl MemoryEngine {
    /// An empty store on the machine's clock.
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// An empty store that tells its callers that other processes may have it open, as an engine on
    /// a cluster does. Several stores over this engine mean those processes.
    pub fn shared() -> Self {
        Self::build(Arc::new(SystemClock), true)
    }

    /// An empty store on a clock of the caller's.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self::build(clock, false)
    }

    fn build(clock: Arc<dyn Clock>, shared: bool) -> Self {
        Self { store: Arc::new(MemoryStore::new(clock, shared)) }
    }
}

impl Default for MemoryEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for MemoryEngine {
    fn capability(&self) -> &Capability {
        &self.store.capability
    }

    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        self.store.check_writable()?;
        deadline.check("its turn")?;
        let mut spaces = write(&self.store.spaces);
        if spaces.names.contains(name) {
            return Err(Error::conflict(format!(
                "a space named '{name}' exists: drop it first or choose another name"
            )));
        }
        let id = SpaceId(spaces.next_id);
        spaces.next_id =
            id.0.checked_add(1)
                .ok_or_else(|| Error::exhausted("all space numbers of this store are used up"))?;
        spaces.names.insert(name.to_owned());
        spaces.by_id.insert(
            id,
            Arc::new(MemorySpace::new(SpaceInfo {
                id,
                name: name.to_owned(),
                shape: shape.clone(),
            })),
        );
        Ok(id)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        Ok(self.store.all_spaces().iter().map(|space| space.info().clone()).collect())
    }

    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        self.store.check_writable()?;
        deadline.check("its turn")?;
        let mut spaces = write(&self.store.spaces);
        let dropped = spaces.by_id.remove(&space).ok_or_else(|| no_such_space(space))?;
        spaces.names.remove(&dropped.info().name);
        Ok(())
    }

    fn shard_of(&self, _shard_key: &[u8]) -> ShardId {
        ShardId(0)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        rows.clear();
        options.deadline.check("its turn")?;
        let space = self.store.space(space)?;
        options
            .keys
            .clone()
            .try_for_each(|index| space.check_key(keys.get(index), &self.store.capability))?;
        Ok(space.read(keys, options, self.store.clock.now_ms(), rows))
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.store.space(space)?;
        Ok(Box::new(MemoryScanner::open(Arc::clone(&self.store), space, ranges, options)?))
    }

    fn scan_part(
        &self,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.scan(space, part.keys()?, options)
    }

    /// Cuts by the count of rows, even where there are few, so that what reads in parts is tested
    /// with a handful of rows.
    fn split(&self, space: SpaceId, parts: usize, cuts: Cuts) -> Result<Vec<Part>> {
        Ok(Part::between(&self.store.space(space)?.split(parts, cuts)?))
    }

    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        Ok(self.store.space(space)?.count(ranges))
    }

    fn change_count(&self, space: SpaceId) -> Result<Option<u64>> {
        Ok(Some(self.store.space(space)?.change_count()).filter(|_| !self.store.capability.shared))
    }

    fn snapshot(&self, followed: &[SpaceId]) -> Result<Option<Arc<dyn Snapshot>>> {
        // Where it acts as a cluster, others write what this process does not see.
        if self.store.capability.shared {
            return Ok(None);
        }
        let open = |store| Arc::new(MemoryEngine { store: Arc::new(store) }) as Arc<dyn Engine>;
        Ok(Some(Arc::new(MemorySnapshot::take(&self.store, followed, open)?)))
    }

    fn track(&self, space: SpaceId, range: &TrackedRange, snapshot: &dyn Snapshot) -> Result<bool> {
        let (Some(id), Some(settled)) = (range.id, snapshot.settled(space, range.shard)) else {
            return Ok(false);
        };
        let space = self.store.space(space)?;
        let mut book = space.book();
        Ok(book.as_mut().is_some_and(|book| book.track(&range.start, &range.end, id, settled)))
    }

    fn untrack(&self, space: SpaceId, id: u128) -> Result<()> {
        if let Some(book) = &mut *self.store.space(space)?.book() {
            book.untrack(id);
        }
        Ok(())
    }

    fn write_by(
        &self,
        batch: &WriteBatch,
        _durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        self.store.check_writable()?;
        deadline.check("its turn")?;
        let spaces = BatchSpaces::find(batch, |space| self.store.space(space))?;
        self.store.check_batch_size(batch)?;
        spaces.check(batch, &self.store.capability)?;
        Ok(spaces.write(batch, self.store.clock.now_ms(), &self.store.versions))
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>> {
        self.store.check_writable()?;
        Ok(Box::new(MemoryLoad::new(Arc::clone(&self.store), options)))
    }

    fn delete_range_by(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        _durability: Durability,
        deadline: Deadline,
    ) -> Result<()> {
        self.store.check_writable()?;
        deadline.check("its turn")?;
        self.store.space(space)?.delete_ranges(ranges);
        Ok(())
    }
}

impl Maintenance for MemoryEngine {
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    /// Lets go of expired rows: the only work that this engine puts off.
    fn settle_by(&self, deadline: Deadline) -> Result<()> {
        deadline.check("background work")?;
        let now_ms = self.store.clock.now_ms();
        self.store.all_spaces().iter().for_each(|space| space.remove_expired(now_ms));
        Ok(())
    }

    fn checkpoint(&self, _directory: &Path) -> Result<()> {
        Err(Error::unsupported(
            "a memory store cannot be copied to a directory: keep it in a `rocksdb:` store instead",
        ))
    }

    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        for space in self.store.all_spaces() {
            deadline.check("the verification of all rows")?;
            let (rows, bytes) = space.size(self.store.clock.now_ms());
            report.rows += rows;
            report.bytes += bytes;
        }
        Ok(report)
    }

    fn statistics(&self) -> Result<Statistics> {
        let mut shard =
            ShardStatistics { location: "memory".to_owned(), ..ShardStatistics::default() };
        for space in self.store.all_spaces() {
            let (rows, bytes) = space.stored_size();
            shard.rows_estimate += rows;
            shard.memtable_bytes += bytes;
        }
        Ok(Statistics { shards: vec![shard] })
    }
}
