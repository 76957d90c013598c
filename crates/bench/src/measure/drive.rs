//! One measured run from its start to its end.

use std::sync::mpsc;
use std::time::Instant;

use tonnage::Result;

use super::sampler::Sampler;
use super::{MeasurePlan, Measured, Meter, Watcher};
use crate::report::format;
use crate::system::System;

/// Measures `work`, which drives `system` from as many threads as it likes. A thread of this
/// function reads the system's gauges and the process's figures about every second while it runs,
/// and tells the watcher, which sees the beginning and the end too.
///
/// # Errors
/// Those of `work`. Failures that it recorded are no errors.
pub(crate) fn measure(
    plan: &MeasurePlan,
    system: &dyn System,
    watcher: &dyn Watcher,
    work: impl FnOnce(&Meter<'_>) -> Result<()>,
) -> Result<Measured> {
    watcher.begin(&plan.phase, plan.total);
    let outcome = run(plan, system, watcher, work);
    match &outcome {
        Ok(measured) => watcher.end(&summary(measured)),
        Err(error) => watcher.end(&format!("failed: {error}")),
    }
    outcome
}

fn run(
    plan: &MeasurePlan,
    system: &dyn System,
    watcher: &dyn Watcher,
    work: impl FnOnce(&Meter<'_>) -> Result<()>,
) -> Result<Measured> {
    let meter = Meter::start(plan);
    let sampler = Sampler::start(plan, &meter, system, watcher);
    let (outcome, ended, sampled) = while_sampling(sampler, || work(&meter));
    outcome?;
    let Measured { series, progress, memory_peak_bytes, .. } = sampled;
    Ok(Measured { series, progress, memory_peak_bytes, ..meter.finish(ended) })
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
