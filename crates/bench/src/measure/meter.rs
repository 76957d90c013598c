//! How a run is measured, and what its threads tell what they did.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use tonnage::{Cancel, Result};

use super::totals::{Totals, new_histogram};
use crate::report::Run;

/// How a run is measured.
#[derive(Clone, Debug, Default)]
pub struct MeasurePlan {
    /// What it is called in progress lines.
    pub phase: String,
    /// The operations' names; a recorder names one by its number. When there are none, only
    /// [`Meter::add`] counts.
    pub operations: Vec<&'static str>,
    /// What is measured in the beginning counts only for the series.
    pub warm_up: Duration,
    /// The run ends after so long, warm-up not counted, done or not.
    pub seconds_max: Option<Duration>,
    /// Operations (or rows) that the whole run has, where it is known: for progress.
    pub total: Option<u64>,
}

/// What the threads of a run tell what they did. Shared by all of them.
pub struct Meter<'a> {
    pub(super) plan: &'a MeasurePlan,
    started: Instant,
    /// What started before this belongs to the warm-up.
    pub(super) measured_from: Instant,
    over: Cancel,
    threads: Mutex<Vec<Arc<Mutex<Totals>>>>,
    /// What no recorder receives: rows of bulk calls, and failures.
    bulk: Arc<Mutex<Totals>>,
}

impl<'a> Meter<'a> {
    pub(super) fn start(plan: &'a MeasurePlan) -> Self {
        let (started, over) = (Instant::now(), Cancel::default());
        let bulk = Arc::new(Mutex::new(Totals::new(0)));
        let threads = Mutex::new(vec![bulk.clone()]);
        Meter { plan, started, measured_from: started + plan.warm_up, over, threads, bulk }
    }

    /// A recorder for one thread.
    pub fn recorder(&self) -> Recorder<'_> {
        let thread = Arc::new(Mutex::new(Totals::new(self.plan.operations.len())));
        self.threads.lock().push(thread.clone());
        Recorder { meter: self, thread }
    }

    /// Rows of a bulk call went by: they count for throughput, series and progress.
    pub fn add(&self, rows: u64, bytes: u64) {
        let mut bulk = self.bulk.lock();
        bulk.done += rows;
        if Instant::now() >= self.measured_from {
            bulk.measured.operations_count += rows;
            bulk.bytes += bytes;
        }
    }

    /// Counts as failures, outside of any recorder, what is missing of an expected count or beyond
    /// it.
    pub fn expect(&self, what: &str, expected: u64, counted: u64) {
        if counted != expected {
            let message = || format!("{what}: {counted}, but it must be {expected}");
            self.bulk.lock().failed(None, counted.abs_diff(expected), message);
        }
    }

    /// Whether the threads should end: the time is over, or the watcher cancelled. Cheap: asked
    /// before each operation.
    pub fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// The same for sources, which outlive the meter.
    pub fn stop_flag(&self) -> Cancel {
        self.over.clone()
    }

    /// The start of the run, from which due times are counted.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Operations and rows that were done so far, warm-up included.
    pub(super) fn done(&self) -> u64 {
        self.threads.lock().iter().map(|thread| thread.lock().done).sum()
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

    /// Puts together what was measured up to a time, with what the sampler saw.
    pub(super) fn finish(self, ended: Instant, sampled: Run) -> Run {
        let names = &self.plan.operations;
        let mut totals = Totals::new(names.len());
        totals.measured = sampled;
        for thread in self.threads.into_inner() {
            totals.merge(&mut thread.lock());
        }
        let seconds = ended.saturating_duration_since(self.measured_from).as_secs_f64();
        if seconds == 0.0 {
            let warm_up = self.plan.warm_up.as_secs_f64();
            totals.measured.failure_messages.push(format!(
                "nothing was measured: the run ended within its warm-up of {warm_up} s"
            ));
        }
        let rate = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        let throughputs = vec![rate(totals.measured.operations_count)];
        let bytes = rate(totals.bytes);
        let figure = (bytes > 0.0).then(|| ("bytes_per_second".to_owned(), bytes));
        totals.measured.figures.extend(figure);
        Run { seconds, throughputs, operations: totals.reports(names), ..totals.measured }
    }
}

/// What one thread records.
pub struct Recorder<'a> {
    meter: &'a Meter<'a>,
    thread: Arc<Mutex<Totals>>,
}

impl Recorder<'_> {
    /// An operation ended just now. `due` is when it should have started at a fixed rate; `outcome`
    /// is how many rows it did: failures are counted apart and are in no histogram. One without
    /// rows, which [`Meter::add`] counted or are those of another operation that it is part of, is
    /// only timed, under its own name.
    pub fn record(
        &mut self,
        operation: usize,
        started: Instant,
        due: Option<Instant>,
        outcome: Result<u64>,
    ) {
        let ended = Instant::now();
        let mut totals = self.thread.lock();
        match outcome {
            Ok(rows) => {
                let service = ended.saturating_duration_since(started);
                let intended = due.map(|due| ended.saturating_duration_since(due));
                let is_warm_up = started < self.meter.measured_from;
                totals.worked(operation, rows, service, intended, is_warm_up);
            }
            Err(error) => totals.failed(Some(operation), 1, || error.to_string()),
        }
    }
}
