//! What puts and gets share: the harness, and how loops and bulk calls are measured.

use std::time::Duration;

use tonnage::{Durability, Error, Result};

use super::BulkBenchOptions;
use super::data::Data;
use super::labels::{CallMethod, Labels};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::report::Run;
use crate::system::{BulkOptions, Client, Feature, System, SystemKind};
use crate::workload::harness::{BenchRun, OpenedSystem};
use crate::workload::loops::one_by_one;

/// The benchmark under way.
pub(super) struct BulkSession<'a> {
    pub(super) options: &'a BulkBenchOptions,
    pub(super) harness: BenchRun<'a>,
}

/// What the naive loop does, operation by operation.
pub(super) struct Loop<'a> {
    pub(super) operation: &'static str,
    pub(super) count: u64,
    pub(super) each: &'a (dyn Fn(&mut dyn Client, u64) -> Result<()> + Sync),
}

impl<'a> BulkSession<'a> {
    pub(super) fn new(options: &'a BulkBenchOptions, watcher: &'a dyn Watcher) -> Self {
        let harness = BenchRun::start("bulk", &options.run, options.settings(), watcher);
        BulkSession { options, harness }
    }

    /// Whether a system has what a kind of data needs.
    pub(super) fn can_hold(&self, kind: SystemKind, data: &dyn Data) -> Result<bool> {
        Ok(!data.needs_tables() || self.harness.open(kind)?.system.offers(Feature::Tables))
    }

    /// A system that is empty but for the tables of a kind of data.
    pub(super) fn open_for(&self, kind: SystemKind, data: &dyn Data) -> Result<OpenedSystem> {
        let opened = self.harness.open(kind)?;
        data.define(&*opened.system)?;
        Ok(opened)
    }

    /// How a bulk call is done.
    pub(super) fn bulk_options<'p>(
        &self,
        durability: Durability,
        progress: &'p (dyn Fn(u64, u64) + Sync),
    ) -> BulkOptions<'p> {
        BulkOptions {
            memory_bytes_max: self.options.bulk_memory_bytes,
            overwrite: !self.options.keep_existing,
            ..BulkOptions::new(durability, progress)
        }
    }

    /// How one is done that nobody looks at.
    pub(super) fn quietly(&self) -> BulkOptions<'static> {
        self.bulk_options(Durability::Write, &|_, _| {})
    }

    /// Measures the loop on some threads.
    pub(super) fn measure_loop(
        &self,
        system: &dyn System,
        labels: Labels,
        threads: usize,
        work: &Loop<'_>,
    ) -> Result<Measured> {
        let plan = MeasurePlan {
            operations: vec![work.operation],
            warm_up: self.options.run.warm_up,
            seconds_max: self.options.run.seconds_max,
            ..plan(system, labels, work.count)
        };
        measure(&plan, system, self.harness.watcher, |meter| {
            one_by_one(meter, system, threads, work.count, work.each)
        })
    }

    /// Measures a bulk call by which so many rows go. It has no beginning worth cutting: it is one
    /// operation.
    pub(super) fn measure_bulk(
        &self,
        system: &dyn System,
        labels: Labels,
        rows: u64,
        call: impl FnOnce(&Meter<'_>) -> Result<()>,
    ) -> Result<Measured> {
        measure(&plan(system, labels, rows), system, self.harness.watcher, call)
    }

    /// Threads that a method keeps busy.
    pub(super) fn threads(&self, labels: Labels) -> usize {
        match labels.method {
            CallMethod::Single => 1,
            CallMethod::Threads => self.options.threads,
            CallMethod::Bulk => labels.parallelism.unwrap_or_else(tonnage::cores),
        }
    }

    /// Makes a run of its repeats. `rows_per_operation` turns its throughput into rows: loops count
    /// operations, bulk calls rows.
    pub(super) fn run_of(
        &self,
        labels: Labels,
        system: &dyn System,
        repeats: Vec<Measured>,
        rows_per_operation: f64,
    ) -> Run {
        let (name, threads) = (labels.name(), self.threads(labels));
        let mut run = Run::from_repeats(&name, labels.to_map(), system, threads, repeats);
        let rows_per_second = run.throughput() * rows_per_operation;
        run.figures.insert("rows_per_second".to_owned(), rows_per_second);
        run
    }
}

fn plan(system: &dyn System, labels: Labels, total: u64) -> MeasurePlan {
    MeasurePlan {
        phase: format!("{} {}", system.name(), labels.name()),
        warm_up: Duration::ZERO,
        total: Some(total),
        ..MeasurePlan::default()
    }
}

/// Records a failure unless the counts are as they must be.
pub(super) fn check_counts(meter: &Meter<'_>, what: &str, expected: u64, counted: u64) {
    meter.expect(expected, counted, || format!("{what}: {counted}, but it must be {expected}"));
}

/// Likewise for one operation of a loop.
pub(super) fn check_found(expected: u64, found: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::internal(format!("rows found: {found}, but there are {expected}")))
}
