//! A system that holds the data of its cells.

use tonnage::Result;

use super::cell::{CellData, MatrixCell};
use super::options::MatrixOptions;
use crate::measure::{Measured, Watcher};
use crate::report::Run;
use crate::system::System;
use crate::workload::harness::{BenchRun, OpenedSystem};
use crate::workload::ycsb::{CoreOptions, Dataset, LoadPlan, Mix, Requests, RunPlan};

/// A system that holds the data of its cells.
pub(super) struct LoadedSystem<'a> {
    system: &'a dyn System,
    dataset: Dataset<'a>,
    /// What progress lines call it.
    name: String,
}

impl<'a> LoadedSystem<'a> {
    /// Loads the data in bulk, lets the system tidy up, and warms its cache. Also gives the load as
    /// a run.
    pub(super) fn load(
        opened: &'a OpenedSystem,
        options: &MatrixOptions,
        data: &CellData,
        harness: &BenchRun<'_>,
    ) -> Result<(Self, Run)> {
        let (system, threads) = (&*opened.system, tonnage::cores());
        let name = format!("{} {}", data.name(), system.name());
        let plan = LoadPlan { name: format!("load {name}"), threads, bulk: true };
        let core = options.core_of_size(data.size);
        let (dataset, measured) = Dataset::load(system, &core, &plan, harness.watcher)?;
        let mut loaded = LoadedSystem { system, dataset, name };
        let settle_seconds = loaded.settle(harness)?;
        loaded.warm(options, core, harness.watcher)?;
        let mut labels = data.labels();
        labels.insert("phase".to_owned(), "load".to_owned());
        let name = format!("load / {}", data.name());
        let mut run = Run::from_repeats(&name, labels, system, threads, vec![measured]);
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        run.figures.insert("settled_disk_bytes".to_owned(), system.gauges()?.disk_bytes as f64);
        Ok((loaded, run))
    }

    /// Reads as many records as the memory holds, each once, but no longer than two cells.
    fn warm(
        &mut self,
        options: &MatrixOptions,
        core: CoreOptions,
        watcher: &dyn Watcher,
    ) -> Result<()> {
        let core = CoreOptions {
            operation_count: core.record_count.min(options.core_of_size(1.0).record_count),
            mix: Mix { read: 1.0, ..Mix::default() },
            requests: Requests::Sequential,
            read_all_fields: true,
            ..core
        };
        let plan = RunPlan {
            name: format!("warm {}", self.name),
            threads: options.threads.iter().copied().max().unwrap_or(1),
            seconds_max: Some(2 * options.cell),
            ..RunPlan::default()
        };
        self.dataset.run(&core, &plan, watcher).map(drop)
    }

    /// Measures a cell once.
    pub(super) fn run(
        &mut self,
        options: &MatrixOptions,
        cell: &MatrixCell,
        repeat: usize,
        watcher: &dyn Watcher,
    ) -> Result<Measured> {
        let (name, of) = (format!("{} {}", cell.name(), self.system.name()), options.run.repeats);
        let plan = RunPlan {
            name: format!("{name} ({} of {of})", repeat + 1),
            threads: cell.threads,
            warm_up: options.run.warm_up,
            seconds_max: Some(options.cell),
            seed: repeat as u64,
        };
        self.dataset.run(&cell.core(options), &plan, watcher)
    }

    /// Waits until the system has nothing left to tidy up. Tells how many seconds that took.
    pub(super) fn settle(&self, harness: &BenchRun<'_>) -> Result<f64> {
        harness.settle(self.system, &self.name)
    }

    /// The repeats of a cell as a run.
    pub(super) fn report(&self, cell: &MatrixCell, repeats: Vec<Measured>) -> Run {
        Run::from_repeats(&cell.name(), cell.labels(), self.system, cell.threads, repeats)
    }
}
