//! What the threads of a run tell what they did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use tonnage::Result;

use super::totals::{Totals, new_histogram, record};
use super::{MeasurePlan, Measured};

/// What the threads of a run tell what they did. Shared by all of them.
pub(crate) struct Meter<'a> {
    plan: &'a MeasurePlan,
    started: Instant,
    /// What started before this belongs to the warm-up.
    pub(super) measured_from: Instant,
    over: StopFlag,
    /// Rows of bulk calls, warm-up included.
    done: AtomicU64,
    /// Rows and bytes of bulk calls, warm-up cut.
    rows: AtomicU64,
    bytes: AtomicU64,
    threads: Mutex<Vec<Arc<Mutex<ThreadRecord>>>>,
    /// What no thread recorded.
    totals: Mutex<Totals>,
}

impl<'a> Meter<'a> {
    pub(super) fn start(plan: &'a MeasurePlan) -> Self {
        let started = Instant::now();
        Meter {
            plan,
            started,
            measured_from: started + plan.warm_up,
            over: StopFlag::default(),
            done: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            threads: Mutex::default(),
            totals: Mutex::new(Totals::new(plan.operations.len())),
        }
    }

    /// A recorder for one thread.
    pub(crate) fn recorder(&self) -> Recorder<'_> {
        let totals = Totals::new(self.plan.operations.len());
        let thread = ThreadRecord { totals, done: 0, times: new_histogram() };
        let thread = Arc::new(Mutex::new(thread));
        self.threads.lock().push(thread.clone());
        Recorder { meter: self, thread }
    }

    /// Rows of a bulk call went by: they count for throughput, series and progress.
    pub(crate) fn add(&self, rows: u64, bytes: u64) {
        self.done.fetch_add(rows, Ordering::Relaxed);
        if Instant::now() >= self.measured_from {
            self.rows.fetch_add(rows, Ordering::Relaxed);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Counts as failures, outside of any recorder, what is missing of an expected count or beyond
    /// it.
    pub(crate) fn expect(&self, what: &str, expected: u64, counted: u64) {
        if counted != expected {
            let message = || format!("{what}: {counted}, but it must be {expected}");
            self.totals.lock().failed(None, counted.abs_diff(expected), message);
        }
    }

    /// Whether the threads should end: the time is over, or the watcher cancelled. Cheap: asked
    /// before each operation.
    pub(crate) fn is_over(&self) -> bool {
        self.over.is_set()
    }

    /// The same for sources, which outlive the meter.
    pub(crate) fn stop_flag(&self) -> StopFlag {
        self.over.clone()
    }

    /// The moment the run began: what due times are counted from.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Tells the threads to end.
    pub(super) fn end(&self) {
        self.over.set();
    }

    /// Operations and rows that were done so far, warm-up included.
    pub(super) fn done(&self) -> u64 {
        let threads = self.threads.lock();
        let recorded: u64 = threads.iter().map(|thread| thread.lock().done).sum();
        recorded + self.done.load(Ordering::Relaxed)
    }

    /// Adds the service times that were recorded since the last call.
    pub(super) fn take_times(&self, into: &mut Histogram<u32>) {
        let mut spare = new_histogram();
        for thread in self.threads.lock().iter() {
            // The thread waits no longer than a swap takes.
            std::mem::swap(&mut thread.lock().times, &mut spare);
            *into += &spare;
            spare.reset();
        }
    }

    /// Puts together what was measured up to a moment; the sampler adds what it saw.
    pub(super) fn finish(self, ended: Instant) -> Measured {
        let mut totals = self.totals.into_inner();
        for thread in self.threads.into_inner() {
            totals.merge(std::mem::replace(&mut thread.lock().totals, Totals::new(0)));
        }
        let seconds = ended.saturating_duration_since(self.measured_from).as_secs_f64();
        if seconds == 0.0 {
            let warm_up = self.plan.warm_up.as_secs_f64();
            totals.messages.push(format!(
                "nothing was measured: the run ended within its warm-up of {warm_up} s"
            ));
        }
        Measured {
            seconds,
            count: totals.count + self.rows.into_inner(),
            bytes: self.bytes.into_inner(),
            failures: totals.failures,
            failure_messages: std::mem::take(&mut totals.messages),
            operations: totals.reports(&self.plan.operations),
            ..Measured::default()
        }
    }
}

/// Whether a run is over. Set once, never taken back.
#[derive(Clone, Default)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one thread did. It writes after each operation, the sampler reads now and then: the lock is
/// free nearly always. Alone in its cache lines, so that threads do not slow each other down.
#[repr(align(128))]
struct ThreadRecord {
    totals: Totals,
    /// Rows of operations that worked, warm-up included.
    done: u64,
    /// Service times of the reading that goes on, warm-up or not.
    times: Histogram<u32>,
}

/// What one thread tells what it did.
pub(crate) struct Recorder<'a> {
    meter: &'a Meter<'a>,
    thread: Arc<Mutex<ThreadRecord>>,
}

impl Recorder<'_> {
    /// An operation ended just now. `due` is when it should have started at a fixed rate; `outcome`
    /// is how many rows it did: failures are counted apart and are in no histogram. One without
    /// rows, which were told by [`Meter::add`] or are those of another operation that it is part
    /// of, is only timed, under its own name.
    pub(crate) fn record(
        &mut self,
        operation: usize,
        started: Instant,
        due: Option<Instant>,
        outcome: Result<u64>,
    ) {
        let ended = Instant::now();
        let mut thread = self.thread.lock();
        let rows = match outcome {
            Ok(rows) => rows,
            Err(error) => return thread.totals.failed(Some(operation), 1, || error.to_string()),
        };
        if !thread.totals.knows(operation) {
            return;
        }
        let service = ended.saturating_duration_since(started);
        if rows > 0 {
            thread.done += rows;
            record(&mut thread.times, service);
        }
        if started >= self.meter.measured_from {
            let intended = due.map(|due| ended.saturating_duration_since(due));
            thread.totals.worked(operation, rows, service, intended);
        }
    }
}
