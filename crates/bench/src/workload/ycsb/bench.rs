//! All workloads on all systems.

use tonnage::Result;

use super::{Dataset, LoadPlan, Phase, Workload, YcsbOptions, summary};
use crate::measure::{MeasurePlan, Measured, Watcher};
use crate::report::{Report, Run, format};
use crate::system::{System, Target};
use crate::workload::harness::BenchRun;

/// Runs the workloads, one after the other, each on each system in turn. A system is loaded afresh
/// for each workload, so that none finds what another left; the runs of one workload follow each
/// other on the same data.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole. Operations
/// that fail are counted instead.
pub fn run(options: &YcsbOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let harness = BenchRun { workload: "ycsb", options: &options.run, watcher };
    let mut report = harness.report(summary::settings(options));
    summary::add_notes(&mut report, options);
    for workload in &options.workloads {
        for target in &options.run.systems {
            let runs = Bench { options, workload, target, harness }.run()?;
            report.runs.extend(runs);
        }
    }
    report.note_if(
        harness.is_over(),
        "The benchmark was stopped before its end: the last runs are short or missing.",
    );
    report.charts = summary::charts(&report.runs);
    Ok(report)
}

/// One workload on one system.
struct Bench<'a> {
    options: &'a YcsbOptions,
    workload: &'a Workload,
    target: &'a Target,
    harness: BenchRun<'a>,
}

impl Bench<'_> {
    fn run(&self) -> Result<Vec<Run>> {
        // Counts of threads that are measured.
        let threads = match self.options.threads.as_slice() {
            [] => &[self.workload.core.threads.unwrap_or(1)],
            threads => threads,
        };
        match self.options.phase {
            Phase::Load => {
                let loads = threads.iter().map(|count| self.measure_loads(*count));
                loads.filter_map(Result::transpose).collect()
            }
            Phase::Run | Phase::Both => self.measure_runs(threads),
        }
    }

    /// The load phase alone, each time into an empty system.
    fn measure_loads(&self, threads: usize) -> Result<Option<Run>> {
        let (mut opened, mut settled) = (None, 0.0);
        let repeats = self.harness.repeats(|repeat| {
            // Two systems at once would take twice the memory.
            drop(opened.take());
            let system = &*opened.insert(self.harness.open(self.target)?).system;
            let (_, measured) = self.load(system, threads, repeat)?;
            settled = self.harness.settle(system, self.target.name())?;
            Ok(measured)
        })?;
        Ok(opened
            .map(|opened| self.run_of(&*opened.system, "load", threads, repeats, Some(settled))))
    }

    /// The run phase with each count of threads, on records that are loaded once.
    fn measure_runs(&self, threads: &[usize]) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        if self.harness.is_over() {
            return Ok(runs);
        }
        let opened = self.harness.open(self.target)?;
        let system = &*opened.system;
        // One load serves all counts of threads, so it takes as many as the largest of them.
        let threads_max = threads.iter().copied().max().unwrap_or(1);
        let (mut dataset, loaded) = self.load(system, threads_max, 0)?;
        let settled = self.harness.settle(system, self.target.name())?;
        if self.options.phase == Phase::Both {
            runs.push(self.run_of(system, "load", threads_max, vec![loaded], Some(settled)));
        }
        for &threads in threads {
            let repeats = self.harness.repeats(|repeat| {
                let plan = MeasurePlan {
                    phase: self.name("run", threads, repeat),
                    warm_up: self.options.run.warm_up,
                    seconds_max: self.options.run.seconds_max,
                    ..MeasurePlan::default()
                };
                dataset.run(&self.workload.core, plan, threads, repeat as u64)
            })?;
            // What was stopped before its first repeat is left out: it would be reported as 0.
            if !repeats.is_empty() {
                runs.push(self.run_of(system, "run", threads, repeats, None));
            }
        }
        Ok(runs)
    }

    fn load<'s>(
        &'s self,
        system: &'s dyn System,
        threads: usize,
        repeat: usize,
    ) -> Result<(Dataset<'s>, Measured)> {
        // What is not reported is got over with in bulk.
        let bulk = self.options.bulk_load || self.options.phase == Phase::Run;
        let plan = LoadPlan { name: self.name("load", threads, repeat), threads, bulk };
        Dataset::load(system, &self.workload.core, &plan, self.harness.watcher)
    }

    fn run_of(
        &self,
        system: &dyn System,
        phase: &str,
        threads: usize,
        repeats: Vec<Measured>,
        settle_seconds: Option<f64>,
    ) -> Run {
        let name = format!("{} / {phase}", self.workload.name);
        let labels = summary::labels(self.workload, phase, threads);
        let mut run = Run::from_repeats(&name, labels, system, threads, repeats);
        run.figures.insert("dataset_bytes".to_owned(), self.workload.core.loaded_bytes() as f64);
        run.figures.extend(settle_seconds.map(|seconds| ("settle_seconds".to_owned(), seconds)));
        run
    }

    /// What a measurement is called in progress lines.
    fn name(&self, phase: &str, threads: usize, repeat: usize) -> String {
        let (workload, system) = (&self.workload.name, self.target.name());
        let repeat = self.harness.repeat_name(repeat);
        format!("{workload} / {phase} / {system} / {}{repeat}", format::threads(threads))
    }
}
