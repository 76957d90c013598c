//! All workloads on all systems.

use tonnage::Result;

use super::{Dataset, LoadPlan, Phase, RunPlan, Workload, YcsbOptions, charts, summary};
use crate::measure::{Measured, Watcher};
use crate::report::{Report, Run};
use crate::system::{System, SystemKind};
use crate::workload::harness::{Harness, settle};

/// Runs the workloads, one after the other, each on each system in turn. A system is loaded afresh
/// for each workload, so that none finds what another left behind; the runs of one workload follow
/// each other on the same data.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole. Operations
/// that fail are counted instead.
pub fn run(options: &YcsbOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let mut harness = Harness::start("ycsb", &options.run, summary::settings(options), watcher);
    harness.report.notes.extend(summary::notes(options));
    for workload in &options.workloads {
        for &kind in &options.run.systems {
            let mut runs = Vec::new();
            Bench { options, workload, kind, harness: &harness }.run(&mut runs)?;
            harness.report.runs.extend(runs);
        }
    }
    if harness.is_over() {
        harness.note(
            "The benchmark was stopped before its end: the last runs are short or missing."
                .to_owned(),
        );
    }
    harness.report.charts = charts::charts(&harness.report.runs);
    Ok(harness.report)
}

/// One workload on one system.
struct Bench<'a> {
    options: &'a YcsbOptions,
    workload: &'a Workload,
    kind: SystemKind,
    harness: &'a Harness<'a>,
}

impl Bench<'_> {
    fn run(&self, runs: &mut Vec<Run>) -> Result<()> {
        match self.options.phase {
            Phase::Load => {
                self.threads().into_iter().try_for_each(|threads| self.measure_loads(threads, runs))
            }
            Phase::Run | Phase::Both => self.measure_runs(runs),
        }
    }

    /// Counts of threads that are measured.
    fn threads(&self) -> Vec<usize> {
        match self.options.threads.is_empty() {
            true => vec![self.workload.core.threads.unwrap_or(1)],
            false => self.options.threads.clone(),
        }
    }

    /// The load phase alone, each time into an empty system.
    fn measure_loads(&self, threads: usize, runs: &mut Vec<Run>) -> Result<()> {
        let mut repeats = Vec::new();
        let mut settled = 0.0;
        let mut opened = None;
        for repeat in self.repeats() {
            // Two systems at once would take twice the memory.
            drop(opened.take());
            let system = &opened.insert(self.harness.open(self.kind)?).system;
            let plan =
                LoadPlan { name: self.name("load", threads, repeat), ..self.load_plan(threads) };
            repeats.push(
                Dataset::load(system.as_ref(), &self.workload.core, &plan, self.harness.watcher)?.1,
            );
            settled = settle(system.as_ref(), self.kind.name(), self.harness.watcher)?;
        }
        if let Some(opened) = opened {
            runs.push(self.load_run(opened.system.as_ref(), threads, repeats, settled));
        }
        Ok(())
    }

    /// The run phase with each count of threads, on records that are loaded once.
    fn measure_runs(&self, runs: &mut Vec<Run>) -> Result<()> {
        if self.harness.watcher.is_cancelled() {
            return Ok(());
        }
        let opened = self.harness.open(self.kind)?;
        let system = opened.system.as_ref();
        let threads_max = self.threads().into_iter().max().unwrap_or(1);
        let plan =
            LoadPlan { name: self.name("load", threads_max, 0), ..self.load_plan(threads_max) };
        let (mut dataset, loaded) =
            Dataset::load(system, &self.workload.core, &plan, self.harness.watcher)?;
        let settled = settle(system, self.kind.name(), self.harness.watcher)?;
        if self.options.phase == Phase::Both {
            runs.push(self.load_run(system, threads_max, vec![loaded], settled));
        }
        for threads in self.threads() {
            let repeats: Vec<Measured> = self
                .repeats()
                .map(|repeat| self.measure_run(&mut dataset, threads, repeat))
                .collect::<Result<_>>()?;
            if !repeats.is_empty() {
                runs.push(self.report(system, "run", threads, repeats));
            }
        }
        Ok(())
    }

    fn measure_run(
        &self,
        dataset: &mut Dataset<'_>,
        threads: usize,
        repeat: usize,
    ) -> Result<Measured> {
        let plan = RunPlan {
            name: self.name("run", threads, repeat),
            threads,
            warm_up: self.options.run.warm_up,
            seconds_max: self.options.run.seconds_max,
            seed: repeat as u64,
        };
        dataset.run(&self.workload.core, &plan, self.harness.watcher)
    }

    /// Repeats until somebody stops them.
    fn repeats(&self) -> impl Iterator<Item = usize> {
        (0..self.options.run.repeats).take_while(|_| !self.harness.watcher.is_cancelled())
    }

    fn load_plan(&self, threads: usize) -> LoadPlan {
        // What is not reported is got over with in bulk.
        let bulk = self.options.bulk_load || self.options.phase == Phase::Run;
        LoadPlan { name: String::new(), threads, bulk }
    }

    fn load_run(
        &self,
        system: &dyn System,
        threads: usize,
        repeats: Vec<Measured>,
        settled: f64,
    ) -> Run {
        let mut run = self.report(system, "load", threads, repeats);
        run.figures.insert("settle_seconds".to_owned(), settled);
        run
    }

    fn report(
        &self,
        system: &dyn System,
        phase: &str,
        threads: usize,
        repeats: Vec<Measured>,
    ) -> Run {
        let name = format!("{} / {phase}", self.workload.name);
        let mut run = Run::from_repeats(
            &name,
            summary::labels(self.workload, phase, threads),
            system,
            threads,
            repeats,
        );
        run.figures.insert("dataset_bytes".to_owned(), self.workload.core.loaded_bytes() as f64);
        run
    }

    /// What a measurement is called in progress lines.
    fn name(&self, phase: &str, threads: usize, repeat: usize) -> String {
        let Bench { options, workload, kind, .. } = self;
        let repeat = match options.run.repeats {
            1 => String::new(),
            repeats => format!(", repeat {} of {repeats}", repeat + 1),
        };
        let threads =
            if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        format!("{} / {phase} / {} / {threads}{repeat}", workload.name, kind.name())
    }
}
