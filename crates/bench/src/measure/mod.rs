//! Clocks, histograms, a reading every second, and the machine.
//!
//! 1. `measure()` starts the run's clock and a sampler thread, and calls the work with a `Meter`.
//! 2. Each thread of the work takes a `Recorder`. It writes to histograms of its own. Their lock is
//!    nearly always free: beside the thread only the sampler takes it, and only for a moment.
//! 3. About every second the sampler takes a reading: what was done, and the times since the
//!    reading before, from which its 99th percentile is made.
//! 4. When the work returns, everything is put together as `Measured`.

mod disk;
mod environment;
mod meter;
mod process;
mod run;
mod sampler;
#[cfg(test)]
mod tests;
mod totals;

use std::sync::mpsc;
use std::time::Instant;

pub use disk::Disk;
pub use environment::Environment;
pub(crate) use meter::{Meter, StopFlag};
pub use run::Watcher;
pub(crate) use run::{MeasurePlan, Measured};
#[cfg(test)]
pub(crate) use run::{NoWatcher, PhaseWatcher};
use sampler::{Sampler, SystemGauges};
use tonnage::Result;

use crate::report::format;

/// Measures `work`, which drives a system from as many threads as it likes. A thread of this
/// function reads the system's gauges and the process's figures about every second while it runs,
/// and tells the watcher, which sees the beginning and the end too.
///
/// # Errors
/// Those of `work`. Failures that it recorded are no errors.
pub(crate) fn measure(
    plan: &MeasurePlan,
    gauges: &SystemGauges<'_>,
    watcher: &dyn Watcher,
    work: impl FnOnce(&Meter<'_>) -> Result<()>,
) -> Result<Measured> {
    watcher.begin(&plan.phase, plan.total);
    let meter = Meter::start(plan);
    let sampler = Sampler::start(plan, &meter, gauges, watcher);
    let (outcome, ended, sampled) = while_sampling(sampler, || work(&meter));
    if let Err(error) = outcome {
        watcher.end(&format!("failed: {error}"));
        return Err(error);
    }
    let Measured { series, progress, memory_peak_bytes, .. } = sampled;
    let measured = Measured { series, progress, memory_peak_bytes, ..meter.finish(ended) };
    watcher.end(&summary(&measured));
    Ok(measured)
}

/// Does `work` while the sampler runs in a thread beside it. The sampler ends when `running` is
/// dropped, which happens when the work panics, too: else this would wait for ever.
fn while_sampling<T>(sampler: Sampler<'_>, work: impl FnOnce() -> T) -> (T, Instant, Measured) {
    std::thread::scope(|scope| {
        let (running, is_running) = mpsc::channel();
        let sampler = scope.spawn(move || sampler.run(&is_running));
        let outcome = work();
        let ended = Instant::now();
        drop(running);
        let sampler = sampler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (outcome, ended, sampler.finish(ended))
    })
}

fn summary(measured: &Measured) -> String {
    let [count, rate] = [measured.count as f64, measured.throughput()].map(format::count);
    let mut text = format!("{count} in {}, {rate}/s", format::seconds(measured.seconds));
    if let Some(operation) = measured.operations.last() {
        text += &format!(", p99 {}", format::micros(operation.service.at(99.0)));
    }
    if measured.failures > 0 {
        text += &format!(", {} failed", format::count(measured.failures as f64));
    }
    text
}
