//! A target that holds the data of its cells.

use std::time::Instant;

use tonnage::Result;

use super::cell::{Cell, Data};
use super::options::MatrixOptions;
use crate::measure::{Measured, Watcher};
use crate::report::Run;
use crate::target::{Target, TargetSpec};
use crate::workload::Scratch;
use crate::workload::ycsb::{CoreOptions, Dataset, LoadPlan, Mix, Requests, RunPlan};

/// A target, open and empty, with the directory that goes away after it.
pub(super) struct Opened {
    // Dropped in this order: a target first, its directory after it.
    target: Box<dyn Target>,
    _scratch: Scratch,
}

/// Opens all targets side by side.
pub(super) fn open(options: &MatrixOptions, data: &Data) -> Result<Vec<Opened>> {
    let open = |kind: &crate::target::TargetKind| {
        let scratch = data.place.scratch(&format!("matrix-{}", kind.name()))?;
        let spec = TargetSpec {
            memory_bytes: Some(options.memory_bytes),
            direct_io: options.direct_io,
            durability: options.durability,
            ..TargetSpec::new(*kind, scratch.path())
        };
        Ok(Opened { target: spec.open()?, _scratch: scratch })
    };
    options.targets.iter().map(open).collect()
}

/// A target that holds the data of its cells.
pub(super) struct Loaded<'a> {
    target: &'a dyn Target,
    dataset: Dataset<'a>,
    data: Data,
}

impl<'a> Loaded<'a> {
    /// Loads the data in bulk, lets the target tidy up, and warms its cache. Also gives the load as
    /// a run.
    pub(super) fn load(
        opened: &'a Opened,
        options: &MatrixOptions,
        data: &Data,
        watcher: &dyn Watcher,
    ) -> Result<(Self, Run)> {
        let target = &*opened.target;
        let threads = tonnage::cores();
        let plan = LoadPlan {
            name: format!("load {} {}", data.name(), target.name()),
            threads,
            bulk: true,
        };
        let (dataset, measured) =
            Dataset::load(target, &options.core_of_size(data.size), &plan, watcher)?;
        let mut loaded = Loaded { target, dataset, data: data.clone() };
        let started = Instant::now();
        loaded.settle(watcher)?;
        let settle_seconds = started.elapsed().as_secs_f64();
        loaded.warm(options, watcher)?;
        let mut labels = data.labels();
        labels.insert("phase".to_owned(), "load".to_owned());
        let mut run = Run::from_repeats(
            &format!("load / {}", data.name()),
            labels,
            target,
            threads,
            vec![measured],
        );
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        run.figures.insert("settled_disk_bytes".to_owned(), target.gauges()?.disk_bytes as f64);
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
        let name = format!("warm {} {}", self.data.name(), self.target.name());
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
        cell: &Cell,
        repeat: usize,
        watcher: &dyn Watcher,
    ) -> Result<Measured> {
        let plan = RunPlan {
            name: format!(
                "{} {} ({} of {})",
                cell.name(),
                self.target.name(),
                repeat + 1,
                options.repeats
            ),
            threads: cell.threads,
            warm_up: options.warm_up,
            seconds_max: Some(options.cell),
            seed: repeat as u64,
        };
        self.dataset.run(&cell.core(options), &plan, watcher)
    }

    /// Waits until the target has nothing left to tidy up.
    pub(super) fn settle(&self, watcher: &dyn Watcher) -> Result<()> {
        if watcher.is_cancelled() {
            return Ok(());
        }
        watcher.begin(&format!("settle {} {}", self.data.name(), self.target.name()), None);
        let started = Instant::now();
        self.target.settle()?;
        watcher.end(&format!("{:.1} s", started.elapsed().as_secs_f64()));
        Ok(())
    }

    /// The repeats of a cell as a run.
    pub(super) fn report(&self, cell: &Cell, repeats: Vec<Measured>) -> Run {
        Run::from_repeats(&cell.name(), cell.labels(), self.target, cell.threads, repeats)
    }
}
