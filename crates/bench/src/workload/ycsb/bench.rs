//! All workloads on all targets.

use std::time::{Duration, Instant};

use tonnage::Result;

use super::{Dataset, LoadPlan, Phase, RunPlan, Workload, YcsbOptions, charts, notes};
use crate::measure::{Environment, Measured, Watcher};
use crate::report::{Report, Run};
use crate::target::{Target, TargetKind, TargetSpec};
use crate::workload::Scratch;

/// Runs the workloads, one after the other, each on each target in turn. A target is loaded afresh
/// for each workload, so that none finds what another left behind; the runs of one workload follow
/// each other on the same data.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a target as a whole. Operations
/// that fail are counted instead.
pub fn run(options: &YcsbOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let place = &options.place;
    let environment = Environment::read(&[(place.label.clone(), place.directory.clone())]);
    let mut report = Report::new("ycsb", &options.command, notes::settings(options), environment);
    report.notes.extend(notes::notes(options));
    for workload in &options.workloads {
        for &target in &options.targets {
            Bench { options, workload, target, watcher }.run(&mut report.runs)?;
        }
    }
    if watcher.is_cancelled() {
        report.notes.push(
            "The benchmark was stopped before its end: the last runs are short or missing."
                .to_owned(),
        );
    }
    report.charts = charts::charts(&report.runs);
    Ok(report)
}

/// One workload on one target.
struct Bench<'a> {
    options: &'a YcsbOptions,
    workload: &'a Workload,
    target: TargetKind,
    watcher: &'a dyn Watcher,
}

/// A target and the directory that goes away with it. Fields are dropped in order: the target is
/// closed first.
struct Opened {
    target: Box<dyn Target>,
    _scratch: Scratch,
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

    /// The load phase alone, each time into an empty target.
    fn measure_loads(&self, threads: usize, runs: &mut Vec<Run>) -> Result<()> {
        let mut repeats = Vec::new();
        let mut settled = Duration::ZERO;
        let mut opened = None;
        for repeat in self.repeats() {
            // Two targets at once would take twice the memory.
            drop(opened.take());
            let target = &opened.insert(self.open()?).target;
            let plan =
                LoadPlan { name: self.name("load", threads, repeat), ..self.load_plan(threads) };
            repeats
                .push(Dataset::load(target.as_ref(), &self.workload.core, &plan, self.watcher)?.1);
            settled = settle(target.as_ref())?;
        }
        if let Some(opened) = opened {
            runs.push(self.load_run(opened.target.as_ref(), threads, repeats, settled));
        }
        Ok(())
    }

    /// The run phase with each count of threads, on records that are loaded once.
    fn measure_runs(&self, runs: &mut Vec<Run>) -> Result<()> {
        if self.watcher.is_cancelled() {
            return Ok(());
        }
        let opened = self.open()?;
        let target = opened.target.as_ref();
        let threads_max = self.threads().into_iter().max().unwrap_or(1);
        let plan =
            LoadPlan { name: self.name("load", threads_max, 0), ..self.load_plan(threads_max) };
        let (mut dataset, loaded) =
            Dataset::load(target, &self.workload.core, &plan, self.watcher)?;
        let settled = settle(target)?;
        if self.options.phase == Phase::Both {
            runs.push(self.load_run(target, threads_max, vec![loaded], settled));
        }
        for threads in self.threads() {
            let repeats: Vec<Measured> = self
                .repeats()
                .map(|repeat| self.measure_run(&mut dataset, threads, repeat))
                .collect::<Result<_>>()?;
            if !repeats.is_empty() {
                runs.push(self.report(target, "run", threads, repeats));
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
            warm_up: self.options.warm_up,
            seconds_max: self.options.seconds_max,
            seed: repeat as u64,
        };
        dataset.run(&self.workload.core, &plan, self.watcher)
    }

    /// Repeats until somebody stops them.
    fn repeats(&self) -> impl Iterator<Item = usize> {
        (0..self.options.repeats).take_while(|_| !self.watcher.is_cancelled())
    }

    fn load_plan(&self, threads: usize) -> LoadPlan {
        // What is not reported is got over with in bulk.
        let bulk = self.options.bulk_load || self.options.phase == Phase::Run;
        LoadPlan { name: String::new(), threads, bulk }
    }

    fn open(&self) -> Result<Opened> {
        let scratch = self.options.place.scratch(&format!(
            "ycsb-{}-{}",
            self.workload.name,
            self.target.name()
        ))?;
        let spec = TargetSpec {
            memory_bytes: self.options.memory_bytes,
            direct_io: self.options.direct_io,
            durability: self.options.durability,
            ..TargetSpec::new(self.target, scratch.path().join("data"))
        };
        Ok(Opened { target: spec.open()?, _scratch: scratch })
    }

    fn load_run(
        &self,
        target: &dyn Target,
        threads: usize,
        repeats: Vec<Measured>,
        settled: Duration,
    ) -> Run {
        let mut run = self.report(target, "load", threads, repeats);
        run.figures.insert("settle_seconds".to_owned(), settled.as_secs_f64());
        run
    }

    fn report(
        &self,
        target: &dyn Target,
        phase: &str,
        threads: usize,
        repeats: Vec<Measured>,
    ) -> Run {
        let name = format!("{} / {phase}", self.workload.name);
        let mut run = Run::from_repeats(
            &name,
            notes::labels(self.workload, phase, threads),
            target,
            threads,
            repeats,
        );
        run.figures.insert("dataset_bytes".to_owned(), self.workload.core.loaded_bytes() as f64);
        run
    }

    /// What a measurement is called in progress lines.
    fn name(&self, phase: &str, threads: usize, repeat: usize) -> String {
        let Bench { options, workload, target, .. } = self;
        let repeat = match options.repeats {
            1 => String::new(),
            repeats => format!(", repeat {} of {repeats}", repeat + 1),
        };
        let threads =
            if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        format!("{} / {phase} / {} / {threads}{repeat}", workload.name, target.name())
    }
}

/// Lets a target finish what loading left it to do; gives how long that took.
fn settle(target: &dyn Target) -> Result<Duration> {
    let started = Instant::now();
    target.sync()?;
    target.settle()?;
    Ok(started.elapsed())
}
