//! The iterator of a bulk read: it takes tasks, and returns shaped batches.

use std::sync::Arc;

use tonnage_engine::Result;

use crate::read::open_scan::{InlineScan, OpenScan, ScanStep};
use crate::read::plan::{ReadPlan, Shaper};
use crate::read::running_read::RunningRead;
use crate::read::task::{ReadTask, TaskSource};
use crate::read::worker::read_task;

/// The most batches that are read without a thread; starting threads costs more than reading these.
const INLINE_BATCHES_MAX: usize = 2;

/// A read under way: an iterator of what the shaper makes of the rows.
///
/// Dropping it stops the workers and waits for them. The threads that draw keys and make tasks of
/// them may be inside the caller's key source: they hold nothing of the store, and end with the
/// next key.
pub(crate) struct ReadPipeline<S: Shaper> {
    plan: Arc<ReadPlan<S>>,
    state: PipelineState<S>,
}

enum PipelineState<S: Shaper> {
    Fresh(Box<dyn TaskSource>),
    /// Everything fitted into one small task, which was read without a thread.
    Inline(std::vec::IntoIter<S::Output>),
    /// A single scan that has no thread yet.
    Scan(InlineScan<S>),
    Running(RunningRead<S::Output>),
    Over,
}

impl<S: Shaper> ReadPipeline<S> {
    pub(crate) fn new(plan: ReadPlan<S>, source: impl TaskSource) -> Self {
        Self { plan: Arc::new(plan), state: PipelineState::Fresh(Box::new(source)) }
    }

    /// How to read.
    pub(crate) fn plan(&self) -> &ReadPlan<S> {
        &self.plan
    }

    /// Takes the first task; when it is all there is, and small, no thread is started.
    fn start(&mut self, mut source: Box<dyn TaskSource>) -> Result<PipelineState<S>> {
        if !source.is_at_hand() {
            return Ok(PipelineState::Running(RunningRead::start(&self.plan, None, source)));
        }
        let Some(first) = source.next_task()? else { return Ok(PipelineState::Over) };
        if source.is_exhausted() {
            if let Some(scan) = OpenScan::of(&self.plan, &first)? {
                return Ok(PipelineState::Scan(InlineScan::new(scan)));
            }
            if let Some(batches) = read_few(&self.plan, &first)? {
                return Ok(PipelineState::Inline(batches.into_iter()));
            }
        }
        Ok(PipelineState::Running(RunningRead::start(&self.plan, Some(first), source)))
    }

    /// The next piece, if there is one without another state.
    fn step(&mut self) -> Result<PipelineStep<S>> {
        Ok(match &mut self.state {
            PipelineState::Over => PipelineStep::Piece(None),
            PipelineState::Inline(batches) => PipelineStep::Piece(batches.next()),
            PipelineState::Running(running) => PipelineStep::Piece(running.next()?),
            PipelineState::Scan(scan) => match scan.next(&self.plan)? {
                ScanStep::Piece(piece) => PipelineStep::Piece(Some(piece)),
                ScanStep::IsOver => PipelineStep::Piece(None),
                ScanStep::IsLarge(scan) => PipelineStep::Enter(PipelineState::Running(
                    RunningRead::resume_scan(&self.plan, scan),
                )),
            },
            PipelineState::Fresh(_) => {
                let PipelineState::Fresh(source) =
                    std::mem::replace(&mut self.state, PipelineState::Over)
                else {
                    unreachable!("just seen")
                };
                PipelineStep::Enter(self.start(source)?)
            }
        })
    }
}

/// What a read does next.
enum PipelineStep<S: Shaper> {
    /// It gives a piece, or ends.
    Piece(Option<S::Output>),
    /// It continues in another state.
    Enter(PipelineState<S>),
}

#[cfg(test)]
impl<S: Shaper> ReadPipeline<S> {
    /// How many workers have a thread.
    pub(crate) fn threads(&self) -> usize {
        match &self.state {
            PipelineState::Running(running) => running.threads(),
            _ => 0,
        }
    }
}

/// All batches of a task, unless there are more than a few.
pub(crate) fn read_few<S: Shaper>(
    plan: &ReadPlan<S>,
    task: &ReadTask,
) -> Result<Option<Vec<S::Output>>> {
    let (mut batches, mut is_small) = (Vec::new(), true);
    read_task(plan, task, &mut |batch| {
        is_small = batches.len() < INLINE_BATCHES_MAX;
        if is_small {
            batches.push(batch);
        }
        is_small
    })?;
    Ok(is_small.then_some(batches))
}

impl<S: Shaper> Iterator for ReadPipeline<S> {
    type Item = Result<S::Output>;

    fn next(&mut self) -> Option<Self::Item> {
        if let PipelineState::Over = self.state {
            return None;
        }
        if let Err(error) = self.plan.control.check() {
            self.state = PipelineState::Over;
            return Some(Err(error));
        }
        loop {
            match self.step() {
                Ok(PipelineStep::Enter(state)) => self.state = state,
                Ok(PipelineStep::Piece(Some(piece))) => {
                    self.plan.control.note_taken();
                    return Some(Ok(piece));
                }
                end => {
                    // Dropping what ran stops its workers and joins them.
                    self.state = PipelineState::Over;
                    return end.err().map(Err);
                }
            }
        }
    }
}
