//! What was measured in one run.

use crate::report::{OperationReport, ProgressPoint, Second};

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
