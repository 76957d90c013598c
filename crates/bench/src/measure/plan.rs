//! How a run is measured.

use std::time::Duration;

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
