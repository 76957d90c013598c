//! What puts and gets share: the harness, and how loops and bulk calls are measured.

use std::time::Duration;

use tonnage::{Durability, Error, Result};

use super::BulkBenchOptions;
use super::data::Data;
use super::labels::{CallMethod, Labels};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::report::Run;
use crate::system::{BulkOptions, Client, Feature, System, SystemKind};
use crate::workload::harness::{Harness, OpenedSystem};
use crate::workload::one_by_one::one_by_one;

/// The benchmark under way.
pub(super) struct BulkSession<'a> {
    pub(super) options: &'a BulkBenchOptions,
    pub(super) harness: Harness<'a>,
}

/// What the naive loop does, operation by operation.
pub(super) struct Loop<'a> {
    pub(super) operation: &'static str,
    pub(super) count: u64,
    pub(super) each: &'a (dyn Fn(&mut dyn Client, u64) -> Result<()> + Sync),
}

impl<'a> BulkSession<'a> {
    pub(super) fn new(options: &'a BulkBenchOptions, watcher: &'a dyn Watcher) -> Self {
        let settings = super::summary::settings(options);
        BulkSession { options, harness: Harness::start("bulk", &options.run, settings, watcher) }
    }

    /// Whether a system offers what a kind of data needs.
    pub(super) fn offers(&self, kind: SystemKind, feature: Option<Feature>) -> Result<bool> {
        let Some(feature) = feature else { return Ok(true) };
        Ok(self.harness.open(kind)?.system.offers(feature))
    }

    /// A system that is empty but for the tables of a kind of data.
    pub(super) fn open_for(&self, kind: SystemKind, data: &dyn Data) -> Result<OpenedSystem> {
        let opened = self.harness.open(kind)?;
        data.define(&*opened.system)?;
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
        system: &dyn System,
        labels: Labels,
        threads: usize,
        work: &Loop<'_>,
    ) -> Result<Measured> {
        let plan = MeasurePlan {
            operations: vec![work.operation],
            seconds_max: self.options.run.seconds_max,
            total: Some(work.count),
            ..self.plan(system, labels)
        };
        measure(&plan, system, self.harness.watcher, |meter| {
            one_by_one(meter, system, threads, work.count, work.each)
        })
    }

    /// Measures a bulk call; `total` is how many rows go by.
    pub(super) fn measure_bulk(
        &self,
        system: &dyn System,
        labels: Labels,
        total: u64,
        call: impl FnOnce(&Meter<'_>) -> Result<()>,
    ) -> Result<Measured> {
        let plan = MeasurePlan { total: Some(total), ..self.plan(system, labels) };
        measure(&plan, system, self.harness.watcher, call)
    }

    fn plan(&self, system: &dyn System, labels: Labels) -> MeasurePlan {
        // A bulk call has no beginning worth cutting: it is one operation.
        let warm_up = if labels.method == CallMethod::Bulk {
            Duration::ZERO
        } else {
            self.options.run.warm_up
        };
        MeasurePlan {
            phase: format!("{} {}", system.name(), labels.name()),
            warm_up,
            ..MeasurePlan::default()
        }
    }

    /// Threads that a method keeps busy.
    pub(super) fn threads(&self, method: CallMethod, parallelism: Option<usize>) -> usize {
        match method {
            CallMethod::Single => 1,
            CallMethod::Threads => self.options.threads,
            CallMethod::Bulk => parallelism.unwrap_or_else(tonnage::cores),
        }
    }
}

/// Makes a run of its repeats. `rows_per_operation` turns its throughput into rows: loops count
/// operations, bulk calls rows.
pub(super) fn run_of(
    labels: Labels,
    system: &dyn System,
    threads: usize,
    repeats: Vec<Measured>,
    rows_per_operation: f64,
) -> Run {
    let mut run = Run::from_repeats(&labels.name(), labels.to_map(), system, threads, repeats);
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
