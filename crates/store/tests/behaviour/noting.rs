//! An engine that notes at which levels it is asked to write and read.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tonnage::{Clock, Deadline, Durability, Result};
use tonnage_engine::{
    Capability, Cuts, Engine, KeyShape, Levels, LoadOptions, LoadSession, MemoryEngine, Part,
    Ranges, ReadOptions, Rows, ScanOptions, Scanner, ShardId, Slices, SpaceId, SpaceInfo,
    Statistics, VerifyReport, WriteBatch, WriteOutcome,
};

/// What was asked of an engine, and at which levels.
pub(crate) type Notes = Vec<(&'static str, Levels)>;

/// The notes of each URL.
static NOTED: Mutex<Option<HashMap<String, Notes>>> = Mutex::new(None);

/// An engine that notes at which levels it is asked to write and read.
struct Noting {
    engine: Arc<MemoryEngine>,
    capability: Capability,
    url: String,
    levels: Levels,
}

impl Noting {
    fn note(&self, what: &'static str) {
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = noted.get_or_insert_default().entry(self.url.clone()).or_default();
        noted.push((what, self.levels));
    }
}

impl Engine for Noting {
    fn at(&self, levels: Levels) -> Option<Arc<dyn Engine>> {
        let (engine, url) = (self.engine.clone(), self.url.clone());
        let capability = self.capability.clone();
        Some(Arc::new(Self { engine, capability, url, levels }))
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        self.engine.create_space_by(name, shape, deadline)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        self.engine.spaces()
    }

    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        self.engine.drop_space_by(space, deadline)
    }

    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        self.engine.shard_of(shard_key)
    }

    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.note("read");
        self.engine.read_some(space, keys, options, rows)
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.note("scan");
        self.engine.scan(space, ranges, options)
    }

    fn split(&self, space: SpaceId, parts: usize, cuts: Cuts) -> Result<Vec<Part>> {
        self.engine.split(space, parts, cuts)
    }

    fn scan_part(
        &self,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.note("scan");
        self.engine.scan_part(space, part, options)
    }

    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64> {
        self.engine.rows_estimate(space, ranges)
    }

    fn write_by(
        &self,
        batch: &WriteBatch,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome> {
        self.note("write");
        self.engine.write_by(batch, durability, deadline)
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>> {
        self.note("load");
        self.engine.load(options)
    }

    fn delete_range_by(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<()> {
        self.engine.delete_range_by(space, ranges, durability, deadline)
    }

    fn sync(&self) -> Result<()> {
        self.engine.sync()
    }

    fn settle_by(&self, deadline: Deadline) -> Result<()> {
        self.engine.settle_by(deadline)
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.engine.checkpoint(directory)
    }

    fn verify_by(&self, deadline: Deadline) -> Result<VerifyReport> {
        self.engine.verify_by(deadline)
    }

    fn statistics(&self) -> Result<Statistics> {
        self.engine.statistics()
    }
}

/// Opens a store that notes what it is asked. It has copies on a cluster, as far as it says.
pub(crate) fn open(url: &str, _create: bool, _clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    let engine = Arc::new(MemoryEngine::shared());
    let capability = Capability { acks_all: true, ..engine.capability().clone() };
    Ok(Arc::new(Noting { engine, capability, url: url.to_owned(), levels: Levels::default() }))
}

/// What a call asks of the engine that is not on its own levels, and at which; once what it asks
/// several times in a row.
pub(crate) fn noted(url: &str, call: impl FnOnce()) -> Notes {
    let take = || {
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get_or_insert_default().remove(url).unwrap_or_default()
    };
    take();
    call();
    let mut noted = take();
    noted.retain(|(_, levels)| *levels != Levels::default());
    noted.dedup();
    noted
}
