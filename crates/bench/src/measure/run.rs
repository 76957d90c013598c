//! A run: how it is measured, who is told how far it is, and what was measured.

use std::time::Duration;

use crate::report::{OperationReport, ProgressPoint, Second};

/// How a run is measured.
#[derive(Clone, Debug, Default)]
pub struct MeasurePlan {
    /// What it is called in progress lines.
    pub phase: String,
    /// The operations' names; a recorder names one by its number. When there are none, only
    /// [`Meter::add`](super::Meter::add) counts.
    pub operations: Vec<&'static str>,
    /// What is measured in the beginning counts only for the series.
    pub warm_up: Duration,
    /// The run ends after so long, warm-up not counted, done or not.
    pub seconds_max: Option<Duration>,
    /// Operations (or rows) that the whole run has, where it is known: for progress.
    pub total: Option<u64>,
}

/// What was measured in one run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Seconds, warm-up cut.
    pub seconds: f64,
    /// Operations that worked (or rows), warm-up cut.
    pub count: u64,
    /// Bytes of rows that went by in bulk calls, warm-up cut.
    pub bytes: u64,
    /// Operations that failed, warm-up included.
    pub failures: u64,
    /// The first failures in words.
    pub failure_messages: Vec<String>,
    /// By operation, only those that occurred; `ALL` at the end when there is more than one.
    pub operations: Vec<OperationReport>,
    /// Reading by reading, warm-up included.
    pub series: Vec<Second>,
    /// Rate against share of the work: about 50 points.
    pub progress: Vec<ProgressPoint>,
    /// The highest memory of the process during the run, bytes.
    pub memory_peak_bytes: u64,
}

impl Measured {
    /// Operations (or rows) per second.
    pub fn throughput(&self) -> f64 {
        if self.seconds > 0.0 { self.count as f64 / self.seconds } else { 0.0 }
    }
}

/// Is told how far a benchmark is, and may stop it.
pub trait Watcher: Sync {
    /// A phase begins: what it is, and how many operations (or rows) it has, if that is known.
    fn begin(&self, phase: &str, total: Option<u64>);

    /// How many operations (or rows) of the phase are done, and how many a second lately. Called
    /// about once a second.
    fn at(&self, done: u64, per_second: f64);

    /// The phase has ended; a line that sums it up.
    fn end(&self, summary: &str);

    /// Whether the benchmark should stop at the next good moment, as after Ctrl-C. What was
    /// measured so far still counts.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Is told and says nothing.
pub struct NoWatcher;

impl Watcher for NoWatcher {
    fn begin(&self, _phase: &str, _total: Option<u64>) {}
    fn at(&self, _done: u64, _per_second: f64) {}
    fn end(&self, _summary: &str) {}
}
