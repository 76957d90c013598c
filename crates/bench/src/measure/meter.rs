//! What the threads of a run tell what they did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use hdrhistogram::Histogram;
use parking_lot::{Mutex, MutexGuard};
use tonnage::Result;

use super::totals::{Readings, Totals, new_histogram, record};
use super::{MeasurePlan, Measured};

/// What the threads of a run tell what they did. Shared by all of them.
pub(crate) struct Meter<'a> {
    plan: &'a MeasurePlan,
    started: Instant,
    /// What started before this belongs to the warm-up.
    pub(super) measured_from: Instant,
    over: StopFlag,
    /// The number of the reading that is going on. A recorder that sees another one than before
    /// hands over.
    pub(super) reading: AtomicUsize,
    /// What was done in all, warm-up included, but for what the live recorders did.
    done: AtomicU64,
    /// Rows and bytes of bulk calls, warm-up cut.
    rows: AtomicU64,
    bytes: AtomicU64,
    tallies: Mutex<Vec<Arc<OperationTally>>>,
    totals: Mutex<Totals>,
    readings: Mutex<Readings>,
}

impl<'a> Meter<'a> {
    pub(super) fn start(plan: &'a MeasurePlan) -> Self {
        let started = Instant::now();
        Meter {
            plan,
            started,
            measured_from: started + plan.warm_up,
            over: StopFlag::default(),
            reading: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            tallies: Mutex::default(),
            totals: Mutex::new(Totals::new(plan.operations.len())),
            readings: Mutex::default(),
        }
    }

    /// A recorder for one thread.
    pub(crate) fn recorder(&self) -> Recorder<'_> {
        let tally = Arc::new(OperationTally::default());
        self.tallies.lock().push(tally.clone());
        let totals = Totals::new(self.plan.operations.len());
        let reading = self.reading.load(Ordering::Relaxed);
        Recorder { meter: self, tally, totals, reading, times: new_histogram() }
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
        let tallies = self.tallies.lock();
        let live: u64 = tallies.iter().map(|tally| tally.get()).sum();
        live + self.done.load(Ordering::Relaxed)
    }

    /// The times by reading.
    pub(super) fn readings(&self) -> MutexGuard<'_, Readings> {
        self.readings.lock()
    }

    /// A recorder is gone: its count moves to the meter while nobody can count it twice.
    pub(super) fn retire(&self, tally: &Arc<OperationTally>, totals: Totals) {
        self.totals.lock().merge(totals);
        let mut tallies = self.tallies.lock();
        tallies.retain(|other| !Arc::ptr_eq(tally, other));
        self.done.fetch_add(tally.get(), Ordering::Relaxed);
    }

    /// Puts together what was measured up to a moment; the sampler adds what it saw.
    pub(super) fn finish(self, ended: Instant) -> Measured {
        let mut totals = self.totals.into_inner();
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

/// How many operations of a thread worked, for the sampler to read. Alone in its cache lines,
/// because its thread writes it after each operation.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct OperationTally(AtomicU64);

impl OperationTally {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One thread alone writes: a load and a store are enough, and cheaper than an atomic addition.
    fn add(&self, rows: u64) {
        self.0.store(self.get() + rows, Ordering::Relaxed);
    }
}

/// What one thread tells what it did. Hands its numbers over when it is dropped, and about every
/// second before.
pub(crate) struct Recorder<'a> {
    meter: &'a Meter<'a>,
    tally: Arc<OperationTally>,
    totals: Totals,
    /// The reading that `times` belongs to.
    reading: usize,
    /// Service times of the operations that ended in it, warm-up or not.
    times: Histogram<u32>,
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
        let rows = match outcome {
            Ok(rows) => rows,
            Err(error) => return self.totals.failed(Some(operation), 1, || error.to_string()),
        };
        if !self.totals.knows(operation) {
            return;
        }
        self.keep_up_with_readings();
        let service = ended.saturating_duration_since(started);
        if rows > 0 {
            self.tally.add(rows);
            record(&mut self.times, service);
        }
        if started >= self.meter.measured_from {
            let intended = due.map(|due| ended.saturating_duration_since(due));
            self.totals.worked(operation, rows, service, intended);
        }
    }

    fn keep_up_with_readings(&mut self) {
        let reading = self.meter.reading.load(Ordering::Relaxed);
        if reading != self.reading {
            self.hand_over();
            self.reading = reading;
        }
    }

    fn hand_over(&mut self) {
        if !self.times.is_empty() {
            self.meter.readings().add(self.reading, &self.times);
            self.times.reset();
        }
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        self.hand_over();
        let totals = std::mem::replace(&mut self.totals, Totals::new(0));
        self.meter.retire(&self.tally, totals);
    }
}
