//! The plan of a bulk read, and the shaper that turns its rows into output.

use std::sync::Arc;

use tonnage_engine::{Engine, Projection, Result, Rows, ScanOptions, SpaceId};

use crate::budget::Budget;
use crate::read::ahead::{BatchMax, ReadAhead, ReadPiece};
use crate::read::control::ReadControl;
use crate::read::task::ReadTask;

/// Turns the rows that an engine gives into what the caller wants.
pub(crate) trait Shaper: Send + Sync + 'static {
    /// What the caller wants.
    type Output: ReadPiece + Send + 'static;

    /// What is kept from batch to batch of one task.
    type Memory: Default + Send;

    /// What is kept when a task begins.
    fn begin(&self, _task: &ReadTask) -> Self::Memory {
        Self::Memory::default()
    }

    /// Shapes one batch of rows, whose origins count the keys or ranges of the task; hands each
    /// piece to `emit`, which answers false when no reader wants more.
    fn shape(
        &self,
        engine: &dyn Engine,
        rows: &mut Rows,
        memory: &mut Self::Memory,
        emit: &mut dyn FnMut(Self::Output) -> bool,
    ) -> Result<()>;

    /// The task is read to its end: hands over what was kept back for more rows to come.
    fn end(
        &self,
        _engine: &dyn Engine,
        _memory: Self::Memory,
        _emit: &mut dyn FnMut(Self::Output) -> bool,
    ) -> Result<()> {
        Ok(())
    }

    /// Whether the next piece of the same task must directly follow this one.
    fn is_cut(_output: &Self::Output) -> bool {
        false
    }
}

/// How much the batches of a read hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchSize {
    /// Little at first, and more with each that the reader takes.
    Growing,
    /// What the options of the read say.
    Full,
}

/// How to read.
pub(crate) struct ReadPlan<S> {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) space: SpaceId,
    pub(crate) projection: Projection,
    pub(crate) scan: ScanOptions,
    pub(crate) ordered: bool,
    pub(crate) workers: usize,
    pub(crate) control: Arc<ReadControl>,
    pub(crate) ahead: Arc<ReadAhead>,
    pub(crate) threads: Arc<Budget>,
    pub(crate) shaper: S,
}

impl<S: Shaper> ReadPlan<S> {
    /// How much the next batch holds.
    pub(crate) fn batch_max(&self, size: BatchSize) -> BatchMax {
        let most = BatchMax { rows: self.scan.batch_rows_max, bytes: self.scan.batch_bytes_max };
        match size {
            BatchSize::Growing => self.ahead.growing(self.control.taken(), most),
            BatchSize::Full => self.ahead.within_bound(most),
        }
    }

    /// Whether the next piece of a task must directly follow this one. The pieces of an ordered
    /// task have a queue of their own in any case.
    pub(crate) fn cuts(&self, piece: &S::Output) -> bool {
        !self.ordered && S::is_cut(piece)
    }
}
