//! All workloads on all systems.

use tonnage::Result;

use super::{Dataset, LoadPlan, Phase, RunPlan, Workload, YcsbOptions, summary};
use crate::measure::{Measured, Watcher};
use crate::report::{Report, Run, format};
use crate::system::{System, SystemKind};
use crate::workload::harness::BenchRun;

/// Runs the workloads, one after the other, each on each system in turn. A system is loaded afresh
/// for each workload, so that none finds what another left behind; the runs of one workload follow
/// each other on the same data.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole. Operations
/// that fail are counted instead.
pub fn run(options: &YcsbOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let mut harness = BenchRun::start("ycsb", &options.run, summary::settings(options), watcher);
    harness.report.notes.extend(summary::notes(options));
    for workload in &options.workloads {
        for &kind in &options.run.systems {
            Bench { options, workload, kind, harness: &mut harness }.run()?;
        }
    }
    if harness.is_over() {
        harness
            .note("The benchmark was stopped before its end: the last runs are short or missing.");
    }
    harness.report.charts = summary::charts(&harness.report.runs);
    Ok(harness.report)
}

/// One workload on one system.
struct Bench<'b, 'a> {
    options: &'a YcsbOptions,
    workload: &'a Workload,
    kind: SystemKind,
    harness: &'b mut BenchRun<'a>,
}

impl Bench<'_, '_> {
    fn run(&mut self) -> Result<()> {
        // Counts of threads that are measured.
        let threads = match self.options.threads.as_slice() {
            [] => &[self.workload.core.threads.unwrap_or(1)],
            threads => threads,
        };
        match self.options.phase {
            Phase::Load => threads.iter().try_for_each(|count| self.measure_loads(*count)),
            Phase::Run | Phase::Both => self.measure_runs(threads),
        }
    }

    /// The load phase alone, each time into an empty system.
    fn measure_loads(&mut self, threads: usize) -> Result<()> {
        let (mut opened, mut settled) = (None, 0.0);
        let repeats = self.harness.repeats(|repeat| {
            // Two systems at once would take twice the memory.
            drop(opened.take());
            let system = &*opened.insert(self.harness.open(self.kind)?).system;
            let (_, measured) = self.load(system, threads, repeat)?;
            settled = self.harness.settle(system, self.kind.name())?;
            Ok(measured)
        })?;
        if let Some(opened) = opened {
            self.report(&*opened.system, "load", threads, repeats, Some(settled));
        }
        Ok(())
    }

    /// The run phase with each count of threads, on records that are loaded once.
    fn measure_runs(&mut self, threads: &[usize]) -> Result<()> {
        if self.harness.is_over() {
            return Ok(());
        }
        let opened = self.harness.open(self.kind)?;
        let system = &*opened.system;
        let threads_max = threads.iter().copied().max().unwrap_or(1);
        let (mut dataset, loaded) = self.load(system, threads_max, 0)?;
        let settled = self.harness.settle(system, self.kind.name())?;
        if self.options.phase == Phase::Both {
            self.report(system, "load", threads_max, vec![loaded], Some(settled));
        }
        for &threads in threads {
            let repeats = self.harness.repeats(|repeat| {
                let plan = RunPlan {
                    name: self.name("run", threads, repeat),
                    threads,
                    warm_up: self.options.run.warm_up,
                    seconds_max: self.options.run.seconds_max,
                    seed: repeat as u64,
                };
                dataset.run(&self.workload.core, &plan, self.harness.watcher)
            })?;
            if !repeats.is_empty() {
                self.report(system, "run", threads, repeats, None);
            }
        }
        Ok(())
    }

    fn load<'s>(
        &self,
        system: &'s dyn System,
        threads: usize,
        repeat: usize,
    ) -> Result<(Dataset<'s>, Measured)> {
        // What is not reported is got over with in bulk.
        let bulk = self.options.bulk_load || self.options.phase == Phase::Run;
        let plan = LoadPlan { name: self.name("load", threads, repeat), threads, bulk };
        Dataset::load(system, &self.workload.core, &plan, self.harness.watcher)
    }

    fn report(
        &mut self,
        system: &dyn System,
        phase: &str,
        threads: usize,
        repeats: Vec<Measured>,
        settle_seconds: Option<f64>,
    ) {
        let name = format!("{} / {phase}", self.workload.name);
        let labels = summary::labels(self.workload, phase, threads);
        let mut run = Run::from_repeats(&name, labels, system, threads, repeats);
        run.figures.insert("dataset_bytes".to_owned(), self.workload.core.loaded_bytes() as f64);
        run.figures.extend(settle_seconds.map(|seconds| ("settle_seconds".to_owned(), seconds)));
        self.harness.add(run);
    }

    /// What a measurement is called in progress lines.
    fn name(&self, phase: &str, threads: usize, repeat: usize) -> String {
        let (workload, system) = (&self.workload.name, self.kind.name());
        let repeat = self.harness.repeat_name(repeat);
        format!("{workload} / {phase} / {system} / {}{repeat}", format::threads(threads))
    }
}
