//! A run: how it is measured, who is told how far it is, and what was measured.

use std::time::Duration;

use crate::report::{OperationReport, ProgressPoint, Second};

/// How a run is measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeasurePlan {
    /// What it is called in progress lines.
    pub(crate) phase: String,
    /// The operations' names; a recorder names one by its number. When there are none, only
    /// [`Meter::add`](super::Meter::add) counts.
    pub(crate) operations: Vec<&'static str>,
    /// What is measured in the beginning counts only for the series.
    pub(crate) warm_up: Duration,
    /// The run ends after so long, warm-up not counted, done or not.
    pub(crate) seconds_max: Option<Duration>,
    /// Operations (or rows) that the whole run has, where it is known: for progress.
    pub(crate) total: Option<u64>,
}

/// What was measured in one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// Seconds, warm-up cut.
    pub(crate) seconds: f64,
    /// Operations that worked (or rows), warm-up cut.
    pub(crate) count: u64,
    /// Bytes of rows that went by in bulk calls, warm-up cut.
    pub(crate) bytes: u64,
    /// Operations that failed, warm-up included.
    pub(crate) failures: u64,
    /// The first failures in words.
    pub(crate) failure_messages: Vec<String>,
    /// By operation, only those that occurred; `ALL` at the end when there is more than one.
    pub(crate) operations: Vec<OperationReport>,
    /// Reading by reading, warm-up included.
    pub(crate) series: Vec<Second>,
    /// Rate against share of the work: about 50 points.
    pub(crate) progress: Vec<ProgressPoint>,
    /// The highest memory of the process during the run, bytes.
    pub(crate) memory_peak_bytes: u64,
}

impl Measured {
    /// Operations (or rows) per second.
    pub(crate) fn throughput(&self) -> f64 {
        if self.seconds > 0.0 { self.count as f64 / self.seconds } else { 0.0 }
    }
}

/// Is told how far a benchmark is, and may stop it.
pub trait Watcher: Sync {
    /// A phase begins: what it is, and how many operations (or rows) it has, if that is known.
    fn begin(&self, _phase: &str, _total: Option<u64>) {}

    /// How many operations (or rows) of the phase are done, and how many a second lately. Called
    /// about once a second.
    fn at(&self, _done: u64, _per_second: f64) {}

    /// The phase has ended; a line that sums it up.
    fn end(&self, _summary: &str) {}

    /// Whether the benchmark should stop at the next good moment, as after Ctrl-C. What was
    /// measured so far still counts.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Is told and says nothing.
#[cfg(test)]
pub(crate) struct NoWatcher;

#[cfg(test)]
impl Watcher for NoWatcher {}

/// Remembers the phases, and gives up when it has seen so many.
#[cfg(test)]
pub(crate) struct PhaseWatcher {
    seen: std::sync::Mutex<Vec<String>>,
    phases_max: usize,
}

#[cfg(test)]
impl PhaseWatcher {
    pub(crate) fn until(phases_max: usize) -> Self {
        PhaseWatcher { seen: Default::default(), phases_max }
    }

    /// How many began with a prefix.
    pub(crate) fn seen(&self, prefix: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|phase| phase.starts_with(prefix)).count()
    }
}

#[cfg(test)]
impl Watcher for PhaseWatcher {
    fn begin(&self, phase: &str, _total: Option<u64>) {
        self.seen.lock().unwrap().push(phase.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.seen("") >= self.phases_max
    }
}
