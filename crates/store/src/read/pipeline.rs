//! The machinery of a bulk read: tasks in, shaped batches out, whatever they are.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use tonnage_engine::{
    Engine, KeyFilter, Part, Projection, Ranges, Result, Rows, ScanOptions, Slices, SpaceId,
};

use crate::budget::Budget;
use crate::read::ahead::{BatchMax, Held, Piece, ReadAhead};
use crate::read::control::ReadControl;
use crate::read::open_scan::{Begun, BegunScan, OpenScan};
use crate::read::origin::KeyOrigin;
use crate::read::running::Running;
use crate::read::worker::read_task;

/// Batches that may wait for the reader, for each queue.
pub(crate) const QUEUED_BATCHES_MAX: usize = 4;
/// The most batches that are read without a thread; starting threads costs more than reading these.
const INLINE_BATCHES_MAX: usize = 2;

/// A piece of work for one worker.
pub(crate) enum ReadTask {
    /// Look these keys up.
    Keys(Slices),
    /// Read these ranges.
    Ranges(Ranges),
    /// Read this part of the space.
    Part(Part),
    /// Read of these ranges what a filter of their own lets through.
    Filtered {
        /// The ranges.
        ranges: Ranges,
        /// The filter.
        filter: Arc<dyn KeyFilter>,
    },
    /// Look up the keys that entries of an index led to.
    Entries {
        /// The keys.
        keys: Slices,
        /// The entry of each key.
        entries: Arc<Slices>,
    },
    /// Read this, and tell of each row which key it answers.
    Traced {
        /// What to read.
        task: Box<ReadTask>,
        /// Where each key or range of the task comes from.
        origins: Arc<Vec<KeyOrigin>>,
    },
}

impl ReadTask {
    /// The same task, whose rows tell which key they answer if there are origins.
    pub(crate) fn traced(self, origins: Vec<KeyOrigin>) -> Self {
        if origins.is_empty() {
            return self;
        }
        ReadTask::Traced { task: Box::new(self), origins: Arc::new(origins) }
    }

    /// Whether it looks keys up, rather than reading ranges.
    pub(crate) fn is_lookup(&self) -> bool {
        match self {
            ReadTask::Keys(_) | ReadTask::Entries { .. } => true,
            ReadTask::Ranges(_) | ReadTask::Part(_) | ReadTask::Filtered { .. } => false,
            ReadTask::Traced { task, .. } => task.is_lookup(),
        }
    }

    /// What is to be read, whether or not rows tell which key they answer.
    pub(crate) fn plain(&self) -> &ReadTask {
        match self {
            ReadTask::Traced { task, .. } => task.plain(),
            task => task,
        }
    }
}

/// Where tasks come from.
pub(crate) trait TaskSource: Send + 'static {
    /// The next task, `None` at the end.
    fn next_task(&mut self) -> Result<Option<ReadTask>>;

    /// Whether it is known already that no further task will come.
    fn is_exhausted(&self) -> bool;

    /// Whether the first task can be made at once, without waiting for somebody's keys.
    fn is_at_hand(&self) -> bool {
        true
    }

    /// How many tasks are at hand, at least: these need no thread that waits until they are taken.
    fn count_at_hand(&self) -> usize {
        0
    }

    /// Keys that may have to be waited for are drawn by a thread of their own from now on.
    fn detach(&mut self) {}
}

/// Turns the rows that an engine gives into what the caller wants.
pub(crate) trait Shaper: Send + Sync + 'static {
    /// What the caller wants.
    type Output: Piece + Send + 'static;

    /// What is kept from batch to batch of one task.
    type Memory: Default + Send;

    /// What is kept when a task begins.
    fn begin(&self, _task: &ReadTask) -> Self::Memory {
        Self::Memory::default()
    }

    /// Shapes one batch of rows, whose origins count the keys or ranges of the task; hands each
    /// piece to `emit`, which answers false when nobody wants more.
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

    /// Whether the next piece of the same task must come right behind this one.
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

    /// Whether the next piece of a task must come right behind this one. The pieces of an ordered
    /// task have a queue of their own in any case.
    pub(crate) fn cuts(&self, piece: &S::Output) -> bool {
        !self.ordered && S::is_cut(piece)
    }
}

/// One task with the queue for its results.
pub(crate) struct Job<T> {
    pub(crate) task: ReadTask,
    pub(crate) results: Sender<Answer<T>>,
}

/// A piece, or what came instead of it.
pub(crate) type HeldResult<T> = Result<Held<T>>;

/// A piece of a result on its way to the reader.
pub(crate) struct Answer<T> {
    pub(crate) result: HeldResult<T>,
    /// Where what must come right behind it is.
    pub(crate) rest: Option<Receiver<HeldResult<T>>>,
}

/// A read under way: an iterator of what the shaper makes of the rows.
///
/// Dropping it stops the workers and waits for them. The threads that draw keys and make tasks of
/// them may be inside the caller's key source: they hold nothing of the store, and end with the
/// next key.
pub(crate) struct ReadPipeline<S: Shaper> {
    plan: Arc<ReadPlan<S>>,
    state: State<S>,
}

enum State<S: Shaper> {
    Fresh(Box<dyn TaskSource>),
    /// Everything fitted into one small task, which was read without a thread.
    Inline(std::vec::IntoIter<S::Output>),
    /// A single scan that has no thread yet.
    Begun(BegunScan<S>),
    Running(Running<S::Output>),
    Over,
}

impl<S: Shaper> ReadPipeline<S> {
    pub(crate) fn new(plan: ReadPlan<S>, source: impl TaskSource) -> Self {
        Self { plan: Arc::new(plan), state: State::Fresh(Box::new(source)) }
    }

    /// How the read is made.
    pub(crate) fn plan(&self) -> &ReadPlan<S> {
        &self.plan
    }

    /// Takes the first task; when it is all there is, and small, no thread is started.
    fn start(&mut self, mut source: Box<dyn TaskSource>) -> Result<State<S>> {
        if !source.is_at_hand() {
            return Ok(State::Running(Running::start(&self.plan, None, source)));
        }
        let Some(first) = source.next_task()? else { return Ok(State::Over) };
        if source.is_exhausted() {
            if let Some(scan) = OpenScan::of(&self.plan, &first)? {
                return Ok(State::Begun(BegunScan::new(scan)));
            }
            if let Some(batches) = read_few(&self.plan, &first)? {
                return Ok(State::Inline(batches.into_iter()));
            }
        }
        Ok(State::Running(Running::start(&self.plan, Some(first), source)))
    }

    /// The next piece, if there is one without another state.
    fn step(&mut self) -> Result<Step<S>> {
        Ok(match &mut self.state {
            State::Over => Step::Piece(None),
            State::Inline(batches) => Step::Piece(batches.next()),
            State::Running(running) => Step::Piece(running.next()?),
            State::Begun(scan) => match scan.next(&self.plan)? {
                Begun::Piece(piece) => Step::Piece(Some(piece)),
                Begun::IsOver => Step::Piece(None),
                Begun::IsLarge(scan) => {
                    Step::Goes(State::Running(Running::go_on(&self.plan, scan)))
                }
            },
            State::Fresh(_) => {
                let State::Fresh(source) = std::mem::replace(&mut self.state, State::Over) else {
                    unreachable!("just seen")
                };
                Step::Goes(self.start(source)?)
            }
        })
    }
}

/// What a read does next.
enum Step<S: Shaper> {
    /// It gives a piece, or ends.
    Piece(Option<S::Output>),
    /// It goes on in another state.
    Goes(State<S>),
}

#[cfg(test)]
impl<S: Shaper> ReadPipeline<S> {
    /// How many workers have a thread.
    pub(crate) fn threads(&self) -> usize {
        match &self.state {
            State::Running(running) => running.threads(),
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
        if let State::Over = self.state {
            return None;
        }
        if let Err(error) = self.plan.control.check() {
            self.state = State::Over;
            return Some(Err(error));
        }
        loop {
            match self.step() {
                Ok(Step::Goes(state)) => self.state = state,
                Ok(Step::Piece(Some(piece))) => {
                    self.plan.control.note_taken();
                    return Some(Ok(piece));
                }
                end => {
                    // Dropping what ran stops its workers and joins them.
                    self.state = State::Over;
                    return end.err().map(Err);
                }
            }
        }
    }
}
