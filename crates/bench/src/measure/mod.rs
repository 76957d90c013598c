//! Clocks, histograms, a reading every second, and the machine.
//!
//! 1. `measure()` starts the run's clock and a sampler thread, and calls the work with a `Meter`.
//! 2. Each thread of the work takes a `Recorder`. It writes to histograms of its own. Their lock is
//!    nearly always free: beside the thread only the sampler takes it, and only briefly.
//! 3. About every second the sampler takes a reading: what was done, and the times since the
//!    reading before, from which its 99th percentile is computed.
//! 4. When the work returns, everything is put together as `Measured`.

mod environment;
mod meter;
mod process;
mod sampler;
mod totals;

use std::sync::mpsc;
use std::time::Instant;

pub use environment::{DataDirectory, Disk, Environment};
pub use meter::{MeasurePlan, Meter, Recorder};
use sampler::Sampler;
pub use sampler::{NoWatcher, SystemGauges, Watcher};
/// Whether a run is over. Set once, never taken back.
pub(crate) use tonnage::Cancel as StopFlag;
use tonnage::Result;

/// What was measured in one run, which has no name yet.
pub use crate::report::Run as Measured;
use crate::report::format;

/// Measures `work`, which drives a system from as many threads as it likes. A thread of this
/// function reads the system's gauges and the process's figures about every second while it runs,
/// and tells the watcher, which sees the beginning and the end too.
///
/// # Errors
/// Those of `work`. Failures that it recorded are not errors.
pub fn measure(
    plan: &MeasurePlan,
    gauges: &SystemGauges<'_>,
    watcher: &dyn Watcher,
    work: impl FnOnce(&Meter<'_>) -> Result<()>,
) -> Result<Measured> {
    watcher.begin(&plan.phase, plan.total);
    let meter = Meter::start(plan);
    let mut sampler = Sampler::start(&meter, gauges, watcher);
    let (outcome, ended) = std::thread::scope(|scope| {
        // Dropped however the work ends, even in a panic: that ends the sampler.
        let (_running, is_running) = mpsc::channel();
        let sampler = &mut sampler;
        scope.spawn(move || sampler.run(&is_running));
        (work(&meter), Instant::now())
    });
    let sampled = sampler.finish(ended);
    if let Err(error) = outcome {
        watcher.end(&format!("failed: {error}"));
        return Err(error);
    }
    let measured = meter.finish(ended, sampled);
    watcher.end(&summary(&measured));
    Ok(measured)
}

fn summary(measured: &Measured) -> String {
    let [count, rate] =
        [measured.operations_count as f64, measured.throughput()].map(format::count);
    let mut text = format!("{count} in {}, {rate}/s", format::seconds(measured.seconds));
    if let Some(operation) = measured.operations.last() {
        text += &format!(", p99 {}", format::micros(operation.service.at(99.0)));
    }
    if measured.failures > 0 {
        text += &format!(", {} failed", format::count(measured.failures as f64));
    }
    text
}
