//! An engine in memory that several processes may have open, as far as it says, and that tells a
//! test what it is just about to do, and at which levels.

use std::path::Path;
use std::sync::Arc;

use tonnage::{Deadline, Durability, Result};
use tonnage_engine::{
    Capability, Cuts, Engine, KeyShape, Levels, LoadOptions, LoadSession, Maintenance,
    MemoryEngine, Part, Ranges, ReadOptions, Rows, ScanOptions, ScanPosition, Scanner, ShardId,
    Slices, SpaceId, SpaceInfo, Statistics, VerifyReport, WriteBatch, WriteOutcome,
};

/// What an engine does.
pub(crate) enum EngineStep<'s> {
    /// It is about to read rows by their keys.
    Read(Deadline),
    /// It is about to scan a space.
    Scan(SpaceId),
    /// A scan of a space has come to its end.
    Scanned(SpaceId),
    /// It is about to sync.
    Sync,
    /// It is about to write.
    Write(&'s WriteBatch),
    /// It is about to begin a load.
    Load,
    /// It is about to end decisions under way.
    Settle,
    /// It is about to drop a space.
    Drop(Deadline),
    /// It is about to list its spaces.
    List,
    /// It has listed its spaces.
    Listed,
}

/// What a test does at each step. Its error is the engine's.
type Hook = Arc<dyn Fn(EngineStep<'_>, Levels) -> Result<()> + Send + Sync>;

/// The engine.
#[derive(Clone)]
pub(crate) struct SteppedEngine {
    engine: Arc<MemoryEngine>,
    capability: Capability,
    levels: Levels,
    /// Whether writes wait in flight, after the last check of their deadline.
    sends_late: bool,
    hook: Hook,
}

impl SteppedEngine {
    pub(crate) fn over(
        engine: &Arc<MemoryEngine>,
        hook: impl Fn(EngineStep<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Engine> {
        Self::without_levels(engine, false, hook)
    }

    /// One whose writes are at the hook when it is too late to take them back.
    pub(crate) fn sending_late(
        engine: &Arc<MemoryEngine>,
        hook: impl Fn(EngineStep<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Engine> {
        Self::without_levels(engine, true, hook)
    }

    fn without_levels(
        engine: &Arc<MemoryEngine>,
        sends_late: bool,
        hook: impl Fn(EngineStep<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Engine> {
        let (engine, capability) = (engine.clone(), engine.capability().clone());
        let hook: Hook = Arc::new(move |step, _| hook(step));
        Arc::new(Self { engine, capability, levels: Levels::default(), sends_late, hook })
    }

    /// One that has copies on a cluster, as far as it says, and so takes levels.
    pub(crate) fn with_levels(
        hook: impl Fn(EngineStep<'_>, Levels) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Engine> {
        let engine = Arc::new(MemoryEngine::shared());
        let capability = Capability { acks_all: true, ..engine.capability().clone() };
        let (levels, hook) = (Levels::default(), Arc::new(hook));
        Arc::new(Self { engine, capability, levels, sends_late: false, hook })
    }

    fn step(&self, step: EngineStep<'_>) -> Result<()> {
        (self.hook)(step, self.levels)
    }
}

impl Engine for SteppedEngine {
    fn at(&self, levels: Levels) -> Option<Arc<dyn Engine>> {
        self.capability.acks_all.then(|| Arc::new(Self { levels, ..self.clone() }) as _)
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        self.engine.create_space_by(name, shape, deadline)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        self.step(EngineStep::List)?;
        let spaces = self.engine.spaces()?;
        self.step(EngineStep::Listed)?;
        Ok(spaces)
    }

    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        self.step(EngineStep::Drop(deadline))?;
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
        self.step(EngineStep::Read(options.deadline))?;
        self.engine.read_some(space, keys, options, rows)
    }

    fn read_settled(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.step(EngineStep::Settle)?;
        self.engine.read_some(space, keys, options, rows)
    }

    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        self.step(EngineStep::Scan(space))?;
        let scan = self.engine.scan(space, ranges, options)?;
        Ok(Box::new(SteppedScan { scan, space, engine: self.clone() }))
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
        self.step(EngineStep::Scan(space))?;
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
        self.step(EngineStep::Write(batch))?;
        let deadline = if self.sends_late { Deadline::NONE } else { deadline };
        self.engine.write_by(batch, durability, deadline)
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>> {
        self.step(EngineStep::Load)?;
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
}

impl Maintenance for SteppedEngine {
    fn sync(&self) -> Result<()> {
        self.step(EngineStep::Sync)?;
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

struct SteppedScan {
    scan: Box<dyn Scanner>,
    space: SpaceId,
    engine: SteppedEngine,
}

impl Scanner for SteppedScan {
    fn next_batch(&mut self, rows: &mut Rows) -> Result<bool> {
        let has_more = self.scan.next_batch(rows)?;
        if !has_more {
            self.engine.step(EngineStep::Scanned(self.space))?;
        }
        Ok(has_more)
    }

    fn position(&self) -> Result<ScanPosition> {
        self.scan.position()
    }

    fn release(&mut self) -> Result<()> {
        self.scan.release()
    }

    fn set_deadline(&mut self, deadline: Deadline) {
        self.scan.set_deadline(deadline);
    }

    fn set_batch_max(&mut self, rows: usize, bytes: usize) {
        self.scan.set_batch_max(rows, bytes);
    }
}
