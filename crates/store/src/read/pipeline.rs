//! The machinery of a bulk read: tasks in, shaped batches out, whatever they are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use tonnage_engine::{
    Engine, Error, KeyFilter, Part, Projection, Ranges, Result, Rows, ScanOptions, Slices, SpaceId,
};

use crate::read::control::{ReadControl, ReadMetrics};
use crate::read::dispatch::{dispatch, panicked};
use crate::read::key_batches::TASKS_MOST;
use crate::read::origin::KeyOrigin;
use crate::read::rest::Resting;
use crate::read::worker::{Worker, read_task};

/// Batches that may wait for the reader, for each queue.
pub(crate) const QUEUED_BATCHES_MAX: usize = 4;
/// The most batches that are read without a thread; starting threads costs more than reading these.
const INLINE_BATCHES_MAX: usize = 2;
/// The most tasks that are handed over at once.
const TASKS_AT_HAND_MAX: usize = 1_024;

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
    fn is_lookup(&self) -> bool {
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
    type Output: Send + 'static;

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

/// How to read.
pub(crate) struct ReadPlan<S> {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) space: SpaceId,
    pub(crate) projection: Projection,
    pub(crate) scan: ScanOptions,
    pub(crate) ordered: bool,
    pub(crate) workers: usize,
    pub(crate) control: Arc<ReadControl>,
    pub(crate) shaper: S,
}

impl<S: Shaper> ReadPlan<S> {
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

/// A piece of a result on its way to the reader.
pub(crate) struct Answer<T> {
    pub(crate) result: Result<T>,
    /// Where what must come right behind it is.
    pub(crate) rest: Option<Receiver<Result<T>>>,
}

/// A read under way: an iterator of what the shaper makes of the rows.
///
/// Dropping it stops the workers and waits for them. The threads that draw keys and make tasks of
/// them may be inside the caller's key source: they hold nothing of the store, and end with the
/// next key.
pub(crate) struct ReadPipeline<S: Shaper> {
    plan: Arc<ReadPlan<S>>,
    state: State<S::Output>,
}

enum State<T> {
    Fresh(Box<dyn TaskSource>),
    /// Everything fitted into one small task, which was read without a thread.
    Inline(std::vec::IntoIter<T>),
    Running(Running<T>),
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

    /// Reads the first task; when it is all there is, and small, no thread is started.
    fn start(&mut self, mut source: Box<dyn TaskSource>) -> Result<State<S::Output>> {
        if !source.is_at_hand() {
            return Ok(State::Running(Running::start(&self.plan, None, source)));
        }
        let Some(first) = source.next_task()? else { return Ok(State::Over) };
        if source.is_exhausted()
            && let Some(batches) = read_few(&self.plan, &first)?
        {
            return Ok(State::Inline(batches.into_iter()));
        }
        Ok(State::Running(Running::start(&self.plan, Some(first), source)))
    }
}

#[cfg(test)]
impl<S: Shaper> ReadPipeline<S> {
    /// How many workers have a thread.
    pub(crate) fn threads(&self) -> usize {
        match &self.state {
            State::Running(running) => {
                running.workers.iter().filter(|thread| !thread.is_finished()).count()
            }
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
            let next = match &mut self.state {
                State::Over => return None,
                State::Inline(batches) => batches.next().map(Ok),
                State::Running(running) => running.next(),
                State::Fresh(_) => {
                    let State::Fresh(source) = std::mem::replace(&mut self.state, State::Over)
                    else {
                        unreachable!("just seen")
                    };
                    match self.start(source) {
                        Ok(state) => {
                            self.state = state;
                            continue;
                        }
                        Err(error) => Some(Err(error)),
                    }
                }
            };
            if !matches!(next, Some(Ok(_))) {
                // Dropping what ran stops its workers and joins them.
                self.state = State::Over;
            }
            return next;
        }
    }
}

/// The threads of a read, and the queues to them.
struct Running<T> {
    control: Arc<ReadControl>,
    /// Ordered: the queue of each task, in the order of the tasks. Unordered: one queue for all,
    /// once.
    queues: Receiver<Receiver<Answer<T>>>,
    current: Receiver<Answer<T>>,
    /// Where the pieces are that come before those of `current`.
    rest: Option<Receiver<Result<T>>>,
    failure: Arc<Mutex<Option<Error>>>,
    stop: Option<Sender<()>>,
    workers: Vec<JoinHandle<()>>,
    /// Starts threads for scans that rested and whose queues have room again.
    wake: Wake,
}

type Wake = Box<dyn Fn(&mut Vec<JoinHandle<()>>) + Send + Sync>;

impl<T: Send + 'static> Running<T> {
    fn start<S: Shaper<Output = T>>(
        plan: &Arc<ReadPlan<S>>,
        first: Option<ReadTask>,
        source: Box<dyn TaskSource>,
    ) -> Self {
        let (stop_sender, stop) = bounded::<()>(0);
        let at_hand = source.count_at_hand().min(TASKS_AT_HAND_MAX);
        let (jobs_sender, jobs) = bounded(plan.workers.max(at_hand));
        // The keys of these are gathered already, and the next are gathered while they wait.
        let (lookups_sender, lookups) = bounded(TASKS_MOST);
        let (queues_sender, queues) = bounded((2 * plan.workers).max(at_hand));
        let failure = Arc::new(Mutex::new(None));
        let single = source.is_exhausted();
        let resting = Arc::new(Resting::default());
        let worker =
            Worker { plan: plan.clone(), jobs: [jobs, lookups], stop, resting: resting.clone() };
        let start = |worker: &Worker<S>, scan| {
            let worker = worker.clone();
            std::thread::spawn(move || worker.work(scan))
        };
        let count = if single { 1 } else { plan.workers };
        let workers = (0..count).map(|_| start(&worker, None)).collect();
        let wake: Wake = Box::new(move |threads| {
            let awake = resting.take_awake();
            if !awake.is_empty() {
                threads.retain(|thread| !thread.is_finished());
                threads.extend(awake.into_iter().map(|scan| start(&worker, Some(scan))));
            }
        });
        let ordered = plan.ordered;
        let noted = failure.clone();
        std::thread::spawn(move || {
            let mut outlet = Outlet {
                ordered,
                jobs: jobs_sender,
                lookups: lookups_sender,
                queues: queues_sender,
                shared: None,
            };
            let ended = catch_unwind(AssertUnwindSafe(|| dispatch(first, source, &mut outlet)));
            let ended = ended.unwrap_or_else(|panic| Err(panicked(&*panic)));
            if let Err(error) = ended {
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            // The outlet goes last: its end is what tells the reader to look at the failure.
            drop(outlet);
        });
        Self {
            control: plan.control.clone(),
            queues,
            current: ended(),
            rest: None,
            failure,
            stop: Some(stop_sender),
            workers,
            wake,
        }
    }

    /// Goes on to the next queue; false when there is none.
    fn advance(&mut self) -> Result<bool> {
        let next = self.control.recv(&self.queues)?;
        Ok(next.map(|queue| self.current = queue).is_some())
    }

    fn next(&mut self) -> Option<Result<T>> {
        self.draw().unwrap_or_else(|error| Some(Err(error)))
    }

    /// The next piece; an error of its own when the read was called off.
    fn draw(&mut self) -> Result<Option<Result<T>>> {
        loop {
            (self.wake)(&mut self.workers);
            if let Some(rest) = &self.rest
                && let Some(result) = self.control.recv(rest)?
            {
                return Ok(Some(result));
            }
            if self.rest.take().is_some() {
                continue;
            }
            if let Some(answer) = self.control.recv(&self.current)? {
                self.rest = answer.rest;
                return Ok(Some(answer.result));
            }
            if !self.advance()? {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(failure.take().map(Err));
            }
        }
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.control.leave();
        let ReadMetrics { keys, rows, bytes, batches, .. } = self.control.progress.metrics();
        tracing::debug!(keys, rows, bytes, batches, "bulk read ended");
        drop(self.stop.take());
        self.current = ended();
        self.rest = None;
        // Workers that wait for room in a queue are freed when its receiver goes.
        while self.queues.try_recv().is_ok() {}
        self.queues = ended();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// A queue that nothing comes from.
fn ended<T>() -> Receiver<T> {
    bounded(0).1
}

/// Where the dispatcher puts tasks.
pub(crate) struct Outlet<T> {
    ordered: bool,
    jobs: Sender<Job<T>>,
    /// Point reads whose results need no order.
    lookups: Sender<Job<T>>,
    queues: Sender<Receiver<Answer<T>>>,
    shared: Option<Sender<Answer<T>>>,
}

impl<T> Outlet<T> {
    /// Hands a task to the workers; false when nobody wants more.
    pub(crate) fn put(&mut self, task: ReadTask) -> bool {
        let results = match &self.shared {
            Some(shared) => shared.clone(),
            None => {
                let (results, queue) = bounded(QUEUED_BATCHES_MAX);
                if self.queues.send(queue).is_err() {
                    return false;
                }
                if !self.ordered {
                    self.shared = Some(results.clone());
                }
                results
            }
        };
        // Ordered tasks go through one queue: a worker that took a later one first could wait for
        // its reader, who waits for the earlier one, for which there is no worker left.
        let jobs = if !self.ordered && task.is_lookup() { &self.lookups } else { &self.jobs };
        jobs.send(Job { task, results }).is_ok()
    }
}
