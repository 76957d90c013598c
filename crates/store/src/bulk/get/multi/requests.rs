//! The requests of a multi-get: which worker reads which.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use tonnage_engine::sync::lock;
use tonnage_engine::{Direction, Error, Result};

use super::super::ancestors::ChunkJoiner;
use super::super::chunk::RowChunk;
use super::super::keys::KeyTasks;
use super::super::shaper::TableShaper;
use super::super::table::key_read;
use super::super::{BulkGetOptions, KeySource};
use super::request_answer::RequestAnswer;
use crate::budget::{Budget, Loan};
use crate::inner::Inner;
use crate::read::control::no_thread;
use crate::read::pipeline::read_few;
use crate::read::worker::{catch_panic, read_task};
use crate::read::{ReadControl, ReadPlan, ReadTask, TaskSource};

/// A table with its keys.
pub(super) struct TableRequest {
    /// Whether everything of it was taken. Beside the lock, so that it can be seen while another
    /// thread holds that.
    is_over: AtomicBool,
    /// Whether its rows come in the order of its keys.
    ordered: bool,
    /// Ends the waits for its keys.
    control: Option<Arc<ReadControl>>,
    state: Mutex<Result<OpenRequest>>,
}

/// A request that can be read.
struct OpenRequest {
    plan: Arc<ReadPlan<TableShaper>>,
    tasks: KeyTasks,
    /// A task that was put back: it comes before the others.
    returned: Option<ReadTask>,
}

impl TableRequest {
    pub(super) fn new(
        store: &Inner,
        path: &str,
        keys: KeySource,
        options: &BulkGetOptions,
        is_sound: Result<()>,
    ) -> Self {
        let target = is_sound.and_then(|()| store.catalog.table(path));
        let open = target.and_then(|target| key_read(store, target, keys, options));
        let open =
            open.map(|(plan, tasks)| OpenRequest { plan: Arc::new(plan), tasks, returned: None });
        Self {
            is_over: AtomicBool::new(false),
            ordered: options.direction != Direction::Unordered,
            control: open.as_ref().ok().map(|open| open.plan.control.clone()),
            state: Mutex::new(open),
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Result<OpenRequest>> {
        lock(&self.state)
    }
}

impl OpenRequest {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        if self.returned.is_some() {
            return Ok(self.returned.take());
        }
        // Keys that may have to be waited for come from a thread of their own, so that the wait can
        // be ended.
        self.tasks.detach();
        self.tasks.next_task()
    }
}

/// What came of reading one task.
pub(super) enum InlineRead {
    /// These batches, or the end of a request.
    Answers(Vec<RequestAnswer>),
    /// More than is read at a time: the task was put back.
    TooLarge,
    /// There was none.
    Over,
}

/// Takes what was read; answers false when no reader wants more.
type EmitAnswer<'e> = dyn FnMut(RequestAnswer) -> bool + 'e;

/// All requests of a call.
pub(super) struct TableRequests {
    requests: Vec<TableRequest>,
    /// Those before this one are over.
    first: AtomicUsize,
    /// Whether the reader is gone. A request whose keys have no rows would not notice otherwise.
    is_stopped: AtomicBool,
    /// How many may work on them.
    workers: usize,
    threads: Arc<Budget>,
}

impl TableRequests {
    pub(super) fn new(
        requests: Vec<TableRequest>,
        options: &BulkGetOptions,
        threads: Arc<Budget>,
    ) -> Self {
        // One in order needs one worker, others may use all.
        let all_ordered = requests.iter().all(|request| request.ordered);
        let workers =
            if all_ordered { options.workers().min(requests.len()) } else { options.workers() };
        let (first, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { requests, first, is_stopped, workers, threads }
    }

    /// Threads to work on them.
    pub(super) fn lend_threads(&self) -> Loan {
        self.threads.lend(self.workers, 1)
    }

    /// No reader wants more.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        for control in self.requests.iter().filter_map(|request| request.control.as_ref()) {
            control.close();
        }
    }

    /// Reads one task on behalf of a reader that has no other thread, unless it is large.
    pub(super) fn read_inline(&self) -> InlineRead {
        let Some((number, mut request)) = self.pick() else { return InlineRead::Over };
        let mut answered = Vec::new();
        let task = self.next_task(number, &mut request, &mut |end| {
            answered.push(end);
            true
        });
        if let (Some(task), Ok(open)) = (task, &mut *request) {
            match catch_panic(|| read_few(&open.plan, &task)) {
                Ok(Some(chunks)) => {
                    let mut joiner = ChunkJoiner::default();
                    let parts = chunks.into_iter().flat_map(|chunk| joiner.join(chunk).parts);
                    answered.extend(parts.map(|part| (number, Ok(part))))
                }
                Ok(None) => {
                    open.returned = Some(task);
                    return InlineRead::TooLarge;
                }
                Err(error) => answered.push(self.end(number, error)),
            }
        }
        InlineRead::Answers(answered)
    }

    /// Ends all requests that are not over, for want of a thread that reads them.
    pub(super) fn fail_open_requests(&self) -> Vec<RequestAnswer> {
        let left = (0..self.requests.len()).filter(|number| !self.requests[*number].is_over());
        left.map(|number| self.end(number, no_thread())).collect()
    }

    /// Reads until there is nothing left, or no reader wants more.
    pub(super) fn work(&self, emit: &mut EmitAnswer<'_>) {
        let mut is_wanted = true;
        while is_wanted && let Some((number, mut request)) = self.pick() {
            while is_wanted && let Some(task) = self.next_task(number, &mut request, emit) {
                let Ok(open) = &*request else { break };
                let plan = open.plan.clone();
                if self.requests[number].ordered {
                    is_wanted = self.read(number, &plan, &task, emit);
                } else {
                    // Another worker draws the next keys while these are read.
                    drop(request);
                    is_wanted = self.read(number, &plan, &task, emit);
                    break;
                }
            }
        }
    }

    /// The first request with something left whose keys no worker is drawing. Without such a
    /// request, the first one that a worker is drawing, unless its rows must come in order: then it
    /// needs no second worker.
    fn pick(&self) -> Option<(usize, MutexGuard<'_, Result<OpenRequest>>)> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return None;
        }
        let is_left = |number: &usize| !self.requests[*number].is_over();
        let first = (self.first.load(Ordering::Relaxed)..self.requests.len()).find(is_left)?;
        self.first.fetch_max(first, Ordering::Relaxed);
        for number in (first..self.requests.len()).filter(is_left) {
            match self.requests[number].state.try_lock() {
                Ok(request) => return Some((number, request)),
                Err(TryLockError::Poisoned(request)) => {
                    return Some((number, request.into_inner()));
                }
                Err(TryLockError::WouldBlock) => {}
            }
        }
        let shared = (first..self.requests.len())
            .filter(is_left)
            .find(|number| !self.requests[*number].ordered);
        shared.map(|number| (number, self.requests[number].lock()))
    }

    /// The next task of a request; emits the error of one that ends with such.
    fn next_task(
        &self,
        number: usize,
        request: &mut Result<OpenRequest>,
        emit: &mut EmitAnswer<'_>,
    ) -> Option<ReadTask> {
        if self.requests[number].is_over() || self.is_stopped.load(Ordering::Relaxed) {
            return None;
        }
        let next = match request {
            Ok(open) => catch_panic(|| open.next_task()),
            // It is reported once: then the request is over.
            Err(refused) => {
                Err(std::mem::replace(refused, Error::internal("this request was answered")))
            }
        };
        match next {
            Ok(Some(task)) => return Some(task),
            Ok(None) => self.requests[number].is_over.store(true, Ordering::Relaxed),
            Err(error) => {
                emit(self.end(number, error));
            }
        }
        None
    }

    /// Reads a task and emits what comes of it. False when no reader wants more.
    fn read(
        &self,
        number: usize,
        plan: &ReadPlan<TableShaper>,
        task: &ReadTask,
        emit: &mut EmitAnswer<'_>,
    ) -> bool {
        let (mut is_wanted, mut joiner) = (true, ChunkJoiner::default());
        let mut emit_chunk = |chunk: RowChunk| {
            is_wanted = joiner.join(chunk).parts.into_iter().all(|part| emit((number, Ok(part))));
            is_wanted
        };
        match catch_panic(|| read_task(plan, task, &mut emit_chunk)) {
            Ok(()) => is_wanted,
            Err(error) => emit(self.end(number, error)),
        }
    }

    /// A request ends with an error.
    fn end(&self, number: usize, error: Error) -> RequestAnswer {
        self.requests[number].is_over.store(true, Ordering::Relaxed);
        (number, Err(error))
    }
}
