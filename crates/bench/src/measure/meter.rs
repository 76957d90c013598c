//! Measures one run: histograms by operation, a reading about every second, progress.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use tonnage::Result;

use super::Watcher;
use crate::report::{OperationReport, ProgressPoint, Second};
use crate::target::Target;

/// How a run is measured.
#[derive(Clone, Debug, Default)]
pub struct MeasurePlan {
    /// What it is called in progress lines.
    pub phase: String,
    /// The operations' names; a recorder names one by its number.
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
    _plan: PhantomData<&'a ()>,
}

/// What one thread tells what it did. Hands its numbers over when it is dropped, and about every second before.
pub struct Recorder<'a> {
    _meter: PhantomData<&'a ()>,
}

impl Meter<'_> {
    /// A recorder for one thread.
    pub fn recorder(&self) -> Recorder<'_> {
        unimplemented!("the measuring part")
    }

    /// Rows of a bulk call went by: they count for throughput, series and progress.
    pub fn add(&self, rows: u64, bytes: u64) {
        let _ = (rows, bytes);
        unimplemented!("the measuring part")
    }

    /// Something failed outside of any recorder: counted, and kept in words if it is among the first.
    pub fn fail(&self, failures: u64, message: &str) {
        let _ = (failures, message);
        unimplemented!("the measuring part")
    }

    /// Whether the threads should end: the time is over, or the watcher cancelled. Cheap: asked before each operation.
    pub fn is_over(&self) -> bool {
        unimplemented!("the measuring part")
    }

    /// The moment the run began: what due times are counted from.
    pub fn started(&self) -> Instant {
        unimplemented!("the measuring part")
    }
}

impl Recorder<'_> {
    /// An operation ended just now. `due` is when it should have started at a fixed rate; `outcome` is whether it worked:
    /// failures are counted apart and are in no histogram. Gives whether it worked.
    pub fn record(&mut self, operation: usize, started: Instant, due: Option<Instant>, outcome: Result<()>) -> bool {
        let _ = (operation, started, due, outcome);
        unimplemented!("the measuring part")
    }
}

/// What was measured in one run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Seconds, warm-up cut.
    pub seconds: f64,
    /// Operations that worked (or rows), warm-up cut.
    pub count: u64,
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

/// Measures `work`, which drives `target` from as many threads as it likes. A thread of this function reads the target's gauges
/// and the process's figures about every second while it runs, and tells the watcher.
///
/// # Errors
/// Those of `work`. Failures that it recorded are no errors.
pub fn measure(
    plan: &MeasurePlan,
    target: &dyn Target,
    watcher: &dyn Watcher,
    work: impl FnOnce(&Meter<'_>) -> Result<()>,
) -> Result<Measured> {
    let _ = (plan, target, watcher, work);
    unimplemented!("the measuring part")
}
