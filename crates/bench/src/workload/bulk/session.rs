//! What puts and gets share: the harness, and how loops and bulk calls are measured.

use tonnage::{Durability, Result};

use super::BulkBenchOptions;
use super::data::Data;
use super::labels::{CallMethod, Labels, PutOrGet};
use crate::measure::{MeasurePlan, Measured, Meter, measure};
use crate::report::Run;
use crate::system::{BulkDone, BulkOptions, Client, PutInput, System, SystemKind, TellRows};
use crate::workload::harness::{BenchRun, OpenedSystem};
use crate::workload::loops::one_by_one;

pub(super) struct BulkSession<'a> {
    pub(super) options: &'a BulkBenchOptions,
    pub(super) harness: BenchRun<'a>,
}

impl BulkSession<'_> {
    /// A system that is empty but for the tables of a kind of data.
    pub(super) fn open_for(&self, kind: SystemKind, data: &dyn Data) -> Result<OpenedSystem> {
        let opened = self.harness.open(kind)?;
        data.definitions().iter().try_for_each(|definition| opened.system.define(definition))?;
        Ok(opened)
    }

    fn bulk_options<'p>(&self, durability: Durability, tell: TellRows<'p>) -> BulkOptions<'p> {
        BulkOptions {
            memory_bytes_max: self.options.bulk_memory_bytes,
            overwrite: !self.options.keep_existing,
            ..BulkOptions::new(durability, tell)
        }
    }

    /// How one is done that nobody looks at.
    pub(super) fn quietly(&self) -> BulkOptions<'static> {
        self.bulk_options(Durability::Write, &|_, _| {})
    }

    pub(super) fn measure_loop(
        &self,
        system: &dyn System,
        labels: Labels,
        count: u64,
        operation: impl Fn(&mut dyn Client, u64) -> Result<()> + Sync,
    ) -> Result<Measured> {
        let name = if labels.phase == PutOrGet::Put { "PUT" } else { "GET" };
        let plan = MeasurePlan {
            operations: vec![name],
            warm_up: self.options.run.warm_up,
            seconds_max: self.options.run.seconds_max,
            ..plan(system, labels, count)
        };
        measure(&plan, &|| system.gauges(), self.harness.watcher, |meter| {
            one_by_one(meter, system, self.threads(labels), count, operation)
        })
    }

    /// Measures a bulk call by which so many rows go. It has no beginning worth cutting: it is one
    /// operation.
    pub(super) fn measure_bulk(
        &self,
        system: &dyn System,
        labels: Labels,
        rows: u64,
        call: impl FnOnce(&Meter<'_>, &BulkOptions<'_>) -> Result<()>,
    ) -> Result<Measured> {
        let plan = plan(system, labels, rows);
        measure(&plan, &|| system.gauges(), self.harness.watcher, |meter| {
            let progress = |rows, bytes| meter.add(rows, bytes);
            let durability = labels.durability.unwrap_or(Durability::Write);
            let options = self.bulk_options(durability, &progress);
            call(meter, &BulkOptions { parallelism: labels.parallelism, ..options })
        })
    }

    /// Threads that a method keeps busy.
    fn threads(&self, labels: Labels) -> usize {
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
    let phase = format!("{} {}", system.name(), labels.name());
    MeasurePlan { phase, total: Some(total), ..MeasurePlan::default() }
}

/// Puts in bulk, one input after the other: a call puts into one table.
pub(super) fn put_each(
    system: &dyn System,
    inputs: Vec<PutInput>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    for input in inputs {
        done.add(&system.bulk_put(input, options)?);
    }
    Ok(done)
}
