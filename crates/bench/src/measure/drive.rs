//! One measured run from its start to its end.

use std::sync::mpsc;
use std::time::Instant;

use tonnage::Result;

use super::sampler::{SampledRun, Sampler};
use super::{MeasurePlan, Measured, Meter, Watcher};
use crate::report::format;
use crate::system::System;

/// Measures `work`, which drives `system` from as many threads as it likes. A thread of this
/// function reads the system's gauges and the process's figures about every second while it runs,
/// and tells the watcher, which sees the beginning and the end too.
///
/// # Errors
/// Those of `work`. Failures that it recorded are no errors.
pub fn measure(
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
    let (outcome, ended, sampled) =
        while_sampling(Sampler::start(plan, &meter, system, watcher), || work(&meter));
    outcome?;
    let mut measured = meter.finish(ended);
    sampled.add_to(&mut measured);
    Ok(measured)
}

/// Does `work` while the sampler runs in a thread beside it. The sampler ends when `running` is
/// dropped, which happens when the work panics, too: else this would wait for ever.
fn while_sampling<T>(sampler: Sampler<'_>, work: impl FnOnce() -> T) -> (T, Instant, SampledRun) {
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
    let mut text = format!(
        "{} in {}, {}/s",
        format::count(measured.count as f64),
        format::seconds(measured.seconds),
        format::count(measured.throughput())
    );
    if let Some(operation) = measured.operations.last() {
        text += &format!(", p99 {}", format::micros(operation.service.at(99.0)));
    }
    if measured.failures > 0 {
        text += &format!(", {} failed", format::count(measured.failures as f64));
    }
    text
}
