//! How the two phases are done.

use std::time::Duration;

/// How records are loaded.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// What it is called in progress lines.
    pub name: String,
    /// Threads, or sources of the bulk put.
    pub threads: usize,
    /// Whether records are put in bulk instead of one by one. A bulk put is durable at its end, and
    /// knows no rate.
    pub bulk: bool,
}

/// How the operations are run.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// What it is called in progress lines.
    pub name: String,
    /// Threads.
    pub threads: usize,
    /// What is done in the beginning counts only for the series; it is part of the workload's
    /// `operationcount`.
    pub warm_up: Duration,
    /// The run ends after so long, warm-up not counted; the workload's own `maxexecutiontime` when
    /// none.
    pub seconds_max: Option<Duration>,
    /// Draws that are different: the number of the repeat.
    pub seed: u64,
}
