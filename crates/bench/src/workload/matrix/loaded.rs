//! A system that holds the data of its cells.

use tonnage::Result;

use super::cell::{CellData, MatrixCell};
use super::options::MatrixOptions;
use crate::measure::{Measured, Watcher};
use crate::report::Run;
use crate::system::System;
use crate::workload::harness::{OpenedSystem, settle};
use crate::workload::ycsb::{CoreOptions, Dataset, LoadPlan, Mix, Requests, RunPlan};

/// A system that holds the data of its cells.
pub(super) struct LoadedSystem<'a> {
    system: &'a dyn System,
    dataset: Dataset<'a>,
    data: CellData,
}

impl<'a> LoadedSystem<'a> {
    /// Loads the data in bulk, lets the system tidy up, and warms its cache. Also gives the load as
    /// a run.
    pub(super) fn load(
        opened: &'a OpenedSystem,
        options: &MatrixOptions,
        data: &CellData,
        watcher: &dyn Watcher,
    ) -> Result<(Self, Run)> {
        let system = &*opened.system;
        let threads = tonnage::cores();
        let plan = LoadPlan {
            name: format!("load {} {}", data.name(), system.name()),
            threads,
            bulk: true,
        };
        let (dataset, measured) =
            Dataset::load(system, &options.core_of_size(data.size), &plan, watcher)?;
        let mut loaded = LoadedSystem { system, dataset, data: data.clone() };
        let settle_seconds = loaded.settle(watcher)?;
        loaded.warm(options, watcher)?;
        let mut labels = data.labels();
        labels.insert("phase".to_owned(), "load".to_owned());
        let mut run = Run::from_repeats(
            &format!("load / {}", data.name()),
            labels,
            system,
            threads,
            vec![measured],
        );
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        run.figures.insert("settled_disk_bytes".to_owned(), system.gauges()?.disk_bytes as f64);
        Ok((loaded, run))
    }

    /// Reads as many records as the memory holds, each once, but no longer than two cells.
    fn warm(&mut self, options: &MatrixOptions, watcher: &dyn Watcher) -> Result<()> {
        let core = options.core_of_size(self.data.size);
        let mix = Mix { read: 1.0, ..Mix::default() };
        let operation_count = core.record_count.min(options.core_of_size(1.0).record_count);
        let core = CoreOptions {
            operation_count,
            mix,
            requests: Requests::Sequential,
            read_all_fields: true,
            ..core
        };
        let name = format!("warm {} {}", self.data.name(), self.system.name());
        let threads = options.threads.iter().copied().max().unwrap_or(1);
        let plan = RunPlan {
            name,
            threads,
            warm_up: Default::default(),
            seconds_max: Some(2 * options.cell),
            seed: 0,
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
        let plan = RunPlan {
            name: format!(
                "{} {} ({} of {})",
                cell.name(),
                self.system.name(),
                repeat + 1,
                options.run.repeats
            ),
            threads: cell.threads,
            warm_up: options.run.warm_up,
            seconds_max: Some(options.cell),
            seed: repeat as u64,
        };
        self.dataset.run(&cell.core(options), &plan, watcher)
    }

    /// Waits until the system has nothing left to tidy up. Tells how many seconds that took.
    pub(super) fn settle(&self, watcher: &dyn Watcher) -> Result<f64> {
        settle(self.system, &format!("{} {}", self.data.name(), self.system.name()), watcher)
    }

    /// The repeats of a cell as a run.
    pub(super) fn report(&self, cell: &MatrixCell, repeats: Vec<Measured>) -> Run {
        Run::from_repeats(&cell.name(), cell.labels(), self.system, cell.threads, repeats)
    }
}
