//! A run: how it is measured, and who is told how far it is.

use std::time::Duration;

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
