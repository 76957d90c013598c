//! A benchmark under way: targets that are opened and gone again, and the report that grows.

use std::time::Duration;

use tonnage::{Durability, Error, Result};

use super::BulkBenchOptions;
use super::data::Data;
use super::labels::{Labels, Method};
use crate::measure::{Environment, MeasurePlan, Measured, Meter, Watcher, measure};
use crate::report::{Report, Run};
use crate::target::{BulkOptions, Client, Feature, Target, TargetKind, TargetSpec};
use crate::workload::Scratch;
use crate::workload::one_by_one::one_by_one;

/// A benchmark under way.
pub(super) struct Session<'a> {
    pub(super) options: &'a BulkBenchOptions,
    pub(super) watcher: &'a dyn Watcher,
    report: Report,
    opened: usize,
}

/// A target with its data, which goes away with it.
pub(super) struct Opened {
    // Dropped first: a target is closed before its directory goes.
    pub(super) target: Box<dyn Target>,
    _scratch: Scratch,
}

/// What the naive loop does, operation by operation.
pub(super) struct Loop<'a> {
    pub(super) operation: &'static str,
    pub(super) count: u64,
    pub(super) each: &'a (dyn Fn(&mut dyn Client, u64) -> Result<()> + Sync),
}

impl<'a> Session<'a> {
    pub(super) fn new(options: &'a BulkBenchOptions, watcher: &'a dyn Watcher) -> Self {
        let environment =
            Environment::read(&[(options.place.label.clone(), options.place.directory.clone())]);
        let report =
            Report::new("bulk", &options.command, super::verdict::settings(options), environment);
        Session { options, watcher, report, opened: 0 }
    }

    pub(super) fn into_report(self) -> Report {
        self.report
    }

    pub(super) fn note(&mut self, note: String) {
        self.report.notes.push(note);
    }

    pub(super) fn add(&mut self, run: Run) {
        self.report.runs.push(run);
    }

    /// Whether nothing further is to be measured.
    pub(super) fn is_over(&self) -> bool {
        self.watcher.is_cancelled()
    }

    /// Whether a target offers what a kind of data needs.
    pub(super) fn offers(&mut self, kind: TargetKind, feature: Option<Feature>) -> Result<bool> {
        let Some(feature) = feature else { return Ok(true) };
        Ok(self.open(kind)?.target.offers(feature))
    }

    /// An empty target.
    pub(super) fn open(&mut self, kind: TargetKind) -> Result<Opened> {
        self.opened += 1;
        let scratch =
            self.options.place.scratch(&format!("bulk-{}-{}", kind.name(), self.opened))?;
        let spec = TargetSpec {
            memory_bytes: self.options.memory_bytes,
            direct_io: self.options.direct_io,
            ..TargetSpec::new(kind, scratch.path())
        };
        Ok(Opened { target: spec.open()?, _scratch: scratch })
    }

    /// A target that is empty but for the tables of a kind of data.
    pub(super) fn open_for(&mut self, kind: TargetKind, data: &dyn Data) -> Result<Opened> {
        let opened = self.open(kind)?;
        data.define(&*opened.target)?;
        Ok(opened)
    }

    /// How a bulk call is done that nobody looks at.
    pub(super) fn quietly(&self, durability: Durability) -> BulkOptions<'static> {
        BulkOptions {
            durability,
            memory_bytes_max: self.options.bulk_memory_bytes,
            parallelism: None,
            overwrite: !self.options.keep_existing,
            progress: &|_, _| {},
        }
    }

    /// Measures the loop on some threads.
    pub(super) fn measure_loop(
        &self,
        target: &dyn Target,
        labels: Labels,
        threads: usize,
        work: &Loop<'_>,
    ) -> Result<Measured> {
        let plan = MeasurePlan {
            operations: vec![work.operation],
            seconds_max: self.options.seconds_max,
            total: Some(work.count),
            ..self.plan(target, labels)
        };
        measure(&plan, target, self.watcher, |meter| {
            one_by_one(meter, target, threads, work.count, work.each)
        })
    }

    /// Measures a bulk call; `total` is how many rows go by.
    pub(super) fn measure_bulk(
        &self,
        target: &dyn Target,
        labels: Labels,
        total: u64,
        call: impl FnOnce(&Meter<'_>) -> Result<()>,
    ) -> Result<Measured> {
        let plan = MeasurePlan { total: Some(total), ..self.plan(target, labels) };
        measure(&plan, target, self.watcher, call)
    }

    fn plan(&self, target: &dyn Target, labels: Labels) -> MeasurePlan {
        // A bulk call has no beginning worth cutting: it is one operation.
        let warm_up =
            if labels.method == Method::Bulk { Duration::ZERO } else { self.options.warm_up };
        MeasurePlan {
            phase: format!("{} {}", target.name(), labels.name()),
            warm_up,
            ..MeasurePlan::default()
        }
    }

    /// Threads that a method keeps busy.
    pub(super) fn threads(&self, method: Method, parallelism: Option<usize>) -> usize {
        match method {
            Method::Single => 1,
            Method::Threads => self.options.threads,
            Method::Bulk => parallelism.unwrap_or_else(tonnage::cores),
        }
    }
}

/// Makes a run of its repeats. `rows_per_operation` turns its throughput into rows: loops count
/// operations, bulk calls rows.
pub(super) fn run_of(
    labels: Labels,
    target: &dyn Target,
    threads: usize,
    repeats: Vec<Measured>,
    rows_per_operation: f64,
) -> Run {
    let mut run = Run::from_repeats(&labels.name(), labels.to_map(), target, threads, repeats);
    let rows_per_second = run.throughput() * rows_per_operation;
    run.figures.insert("rows_per_second".to_owned(), rows_per_second);
    run
}

/// Records a failure unless the counts are as they must be.
pub(super) fn check_counts(meter: &Meter<'_>, what: &str, expected: u64, counted: u64) {
    if counted != expected {
        meter.fail(
            counted.abs_diff(expected),
            &format!("{what}: {counted}, but it must be {expected}"),
        );
    }
}

/// Likewise for one operation of a loop.
pub(super) fn check_found(expected: u64, found: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::internal(format!("rows found: {found}, but there are {expected}")))
}
