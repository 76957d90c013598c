//! The threads of a running read, and the queues between them and its reader.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result, catch_panic};

use crate::budget::Loan;
use crate::read::ahead::CountedPiece;
use crate::read::control::{ReadControl, ReadMetrics};
use crate::read::dispatch::{dispatch, source_panicked};
use crate::read::job::{PieceMessage, PieceResult, QUEUED_BATCHES_MAX};
use crate::read::key_batches::TASKS_MOST;
use crate::read::open_scan::OpenScan;
use crate::read::paused_scans::{PausableScan, PausedScans};
use crate::read::piece_sender::PieceSender;
use crate::read::plan::{ReadPlan, Shaper};
use crate::read::task::{ReadTask, TaskSource};
use crate::read::task_sink::TaskSink;
use crate::read::worker::ReadWorker;

/// The most tasks that are handed over at once.
const TASKS_AT_HAND_MAX: usize = 1_024;

/// The threads of a read, and the queues to them.
pub(crate) struct RunningRead<T> {
    control: Arc<ReadControl>,
    /// Ordered: the queue of each task, in the order of the tasks. Unordered: one queue for all,
    /// once.
    queues: Receiver<Receiver<PieceMessage<T>>>,
    current: Receiver<PieceMessage<T>>,
    /// Where the pieces are that come before those of `current`.
    rest: Option<Receiver<PieceResult<T>>>,
    failure: Arc<Mutex<Option<Error>>>,
    stop: Option<Sender<()>>,
    workers: Vec<JoinHandle<()>>,
    /// Given back when the workers have ended.
    _threads: Option<Loan>,
    /// While it is here nothing is read ahead of the first piece.
    brake: Option<Sender<()>>,
    is_first_taken: bool,
    /// Starts threads that are wanted now: for paused scans whose queues have room again,
    /// and for the workers of a read that is no longer held back, or whose reader waits.
    start_threads: ThreadStarter,
}

/// The answer to the reader's question for threads, whether or not it waits.
type ThreadStarter = Box<dyn FnMut(&mut Vec<JoinHandle<()>>, ReaderState) + Send + Sync>;

/// What a reader does that asks for threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReaderState {
    /// It looks whether something is there.
    Polling,
    /// It has waited for a while.
    Waiting,
}

impl<T: Send + 'static> RunningRead<T> {
    /// Starts workers, and a dispatcher that has them read the first task and those after it.
    pub(crate) fn start<S: Shaper<Output = T>>(
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
        // What waits for keys, or looks them up, is not held back: its tasks are small at first.
        let is_scan = first.as_ref().is_some_and(|task| !task.is_lookup());
        let (brake, go_ahead) = bounded::<()>(0);
        let brake = is_scan.then_some(brake);
        let paused = Arc::new(PausedScans::new(go_ahead));
        let worker = ReadWorker { plan: plan.clone(), jobs: [jobs, lookups], stop, paused };
        let threads = plan.threads.lend(if single { 1 } else { plan.workers }, 1);
        let count = threads.amount();
        let at_once = if is_scan { 1 } else { count };
        // The first must be had; others do the part of those that cannot.
        let workers: Vec<_> = (0..at_once).map_while(|_| worker.spawn(None)).collect();
        let start_threads = thread_starter(worker, count - at_once);
        let ordered = plan.ordered;
        let noted = failure.clone();
        let lead = move || {
            let mut sink = TaskSink {
                ordered,
                jobs: jobs_sender,
                lookups: lookups_sender,
                queues: queues_sender,
                shared: None,
            };
            let ended = catch_panic(|| dispatch(first, source, &mut sink), source_panicked);
            if let Err(error) = ended {
                *lock(&noted) = Some(error);
            }
            // The sink is dropped last: its end makes the reader check for a failure.
            drop(sink);
        };
        if workers.is_empty() || std::thread::Builder::new().spawn(lead).is_err() {
            plan.control.set_no_thread();
        }
        Self {
            control: plan.control.clone(),
            queues,
            current: closed_receiver(),
            rest: None,
            failure,
            stop: Some(stop_sender),
            workers,
            _threads: Some(threads),
            brake,
            is_first_taken: false,
            start_threads,
        }
    }

    /// Continues a single scan that began without a thread.
    pub(crate) fn resume_scan<S: Shaper<Output = T>>(
        plan: &Arc<ReadPlan<S>>,
        scan: OpenScan<S>,
    ) -> Self {
        let (stop_sender, stop) = bounded::<()>(0);
        let (results, current) = bounded(QUEUED_BATCHES_MAX);
        // A closed queue is the go-ahead: the reader has taken the first batches by itself.
        let paused = Arc::new(PausedScans::new(closed_receiver()));
        let worker = ReadWorker {
            plan: plan.clone(),
            jobs: [closed_receiver(), closed_receiver()],
            stop,
            paused,
        };
        let scan = PausableScan::new(scan, PieceSender::to(results));
        let workers: Vec<_> = worker.spawn(Some(scan)).into_iter().collect();
        if workers.is_empty() {
            plan.control.set_no_thread();
        }
        Self {
            control: plan.control.clone(),
            queues: closed_receiver(),
            current,
            rest: None,
            failure: Arc::default(),
            stop: Some(stop_sender),
            workers,
            // Its thread ends when the scan is paused, so it is not counted.
            _threads: None,
            brake: None,
            is_first_taken: false,
            start_threads: thread_starter(worker, 0),
        }
    }

    /// The next piece; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        if self.is_first_taken {
            self.brake = None;
        }
        self.is_first_taken = true;
        let next = self.next_result()?;
        Ok(next.transpose()?.map(CountedPiece::take))
    }

    /// How many workers have a thread.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.workers.iter().filter(|thread| !thread.is_finished()).count()
    }

    /// The next piece; an error of its own when the read was called off.
    fn next_result(&mut self) -> Result<Option<PieceResult<T>>> {
        let Self { control, workers, start_threads, .. } = self;
        loop {
            start_threads(workers, ReaderState::Polling);
            control.check_threads()?;
            let mut at_look = || start_threads(workers, ReaderState::Waiting);
            // Pieces that must directly follow the last one have a queue of their own, which is
            // emptied first.
            if let Some(rest) = &self.rest
                && let Some(result) = control.recv(rest, &mut at_look)?
            {
                return Ok(Some(result));
            }
            if self.rest.take().is_some() {
                continue;
            }
            if let Some(message) = control.recv(&self.current, &mut at_look)? {
                self.rest = message.rest;
                return Ok(Some(message.result));
            }
            match control.recv(&self.queues, &mut at_look)? {
                Some(queue) => self.current = queue,
                // The dispatcher lets go of this queue only after it has noted its failure.
                None => {
                    let mut failure = lock(&self.failure);
                    return Ok(failure.take().map(Err));
                }
            }
        }
    }
}

impl<T> Drop for RunningRead<T> {
    fn drop(&mut self) {
        self.control.close();
        let ReadMetrics { keys, rows, bytes, batches, .. } = self.control.progress.metrics();
        tracing::debug!(keys, rows, bytes, batches, "bulk read ended");
        drop(self.stop.take());
        drop(self.brake.take());
        self.current = closed_receiver();
        self.rest = None;
        // Workers that wait for room in a queue are freed when its receiver is dropped.
        while self.queues.try_recv().is_ok() {}
        self.queues = closed_receiver();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// Starts so many more workers once they are wanted, and threads for paused scans.
fn thread_starter<S: Shaper>(worker: ReadWorker<S>, mut to_start: usize) -> ThreadStarter {
    Box::new(move |threads, reader| {
        if to_start > 0 && (reader == ReaderState::Waiting || !worker.paused.is_held_back()) {
            threads.extend((0..to_start).map_while(|_| worker.spawn(None)));
            to_start = 0;
        }
        let ready = worker.paused.take_ready();
        if !ready.is_empty() {
            threads.retain(|thread| !thread.is_finished());
            for scan in ready {
                match worker.spawn(Some(scan)) {
                    Some(thread) => threads.push(thread),
                    None => worker.plan.control.set_no_thread(),
                }
            }
        }
    })
}

/// A queue that nothing comes from.
fn closed_receiver<T>() -> Receiver<T> {
    bounded(0).1
}
