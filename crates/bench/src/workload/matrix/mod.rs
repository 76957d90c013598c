//! `bench matrix`: YCSB's workloads on data inside and beyond memory, on one or more disks.
//!
//! 1. For each place and size, every system is created empty, loaded in bulk with the same records,
//!    and waited for until it has nothing left to tidy up. All systems stay open, each with a
//!    memory budget of its own: one that is not driven is at rest.
//! 2. As many records as the budget holds are read once, so that the first cell does not find a
//!    colder cache than the others.
//! 3. The cells follow, those that only read first, those that write most last. Updates change no
//!    record's size, and after each cell that wrote the systems tidy up, so that no cell pays for
//!    another.
//! 4. Within a cell the systems take turns, repeat by repeat, and the one that begins changes, so
//!    that a machine that grows slower or faster meanwhile does so for all of them.
//! 5. After each cell the report of all cells so far is written. A run that is taken up again reads
//!    it, and continues with the missing cells; the data is generated again.

mod cell;
mod charts;
mod options;
mod outcome;

pub use options::MatrixOptions;
use tonnage::Result;

use self::cell::{CellData, MatrixCell};
use self::outcome::MatrixReport;
use super::ycsb::{CoreOptions, Dataset, LoadPlan, Mix, Requests};
use crate::measure::{MeasurePlan, Watcher};
use crate::report::{Report, Run};
use crate::system::{System, Target};
use crate::workload::harness::BenchRun;

/// Measures the cells.
///
/// # Errors
/// `Invalid` for options that do not fit together, or that are not those of the run that is to be
/// taken up again; and what stops a system as a whole.
pub fn run(options: &MatrixOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let harness = BenchRun { workload: "matrix", options: &options.run, watcher };
    let mut outcome = MatrixReport::open(options, harness.report(options.all_settings()))?;
    for data in CellData::all(options) {
        let mut cells = data.cells(options);
        cells.retain(|cell| !outcome.has(cell));
        if !cells.is_empty() && !harness.is_over() {
            MatrixData { options, harness, data }.run(&cells, &mut outcome)?;
        }
    }
    Ok(outcome.into_report(harness.is_over()))
}

/// One set of data under way.
struct MatrixData<'a> {
    options: &'a MatrixOptions,
    harness: BenchRun<'a>,
    data: CellData<'a>,
}

impl MatrixData<'_> {
    fn run(&self, cells: &[MatrixCell], outcome: &mut MatrixReport<'_>) -> Result<()> {
        let open = |target: &Target| self.harness.open_in(target, self.data.place);
        let opened = self.options.run.systems.iter().map(open).collect::<Result<Vec<_>>>()?;
        let mut loaded = Vec::with_capacity(opened.len());
        for opened in &opened {
            if self.harness.is_over() {
                return Ok(());
            }
            let (dataset, run) = self.load(&*opened.system)?;
            outcome.add_load(run);
            loaded.push(dataset);
        }
        for cell in cells {
            // What is measured of a cell before it is broken off is not a cell.
            let Some(runs) = self.run_cell(cell, &mut loaded)? else { return Ok(()) };
            outcome.add(runs)?;
        }
        Ok(())
    }

    /// Loads the data in bulk, lets the system tidy up, and warms its cache. Also gives the load as
    /// a run.
    fn load<'s>(&'s self, system: &'s dyn System) -> Result<(Dataset<'s>, Run)> {
        let (name, threads) = (self.name_of(system), tonnage::cores());
        let plan = LoadPlan { name: format!("load {name}"), threads, bulk: true };
        let core = self.options.core_of_size(self.data.size);
        let (mut dataset, measured) = Dataset::load(system, &core, &plan, self.harness.watcher)?;
        let settle_seconds = self.harness.settle(system, &name)?;
        self.warm(core, &mut dataset)?;
        let mut labels = self.data.labels();
        labels.insert("phase".to_owned(), "load".to_owned());
        let name = format!("load / {}", self.data.name());
        let mut run = Run::from_repeats(&name, labels, system, threads, vec![measured]);
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        run.figures.insert("settled_disk_bytes".to_owned(), system.gauges()?.disk_bytes as f64);
        Ok((dataset, run))
    }

    /// What progress lines call a system that holds the data.
    fn name_of(&self, system: &dyn System) -> String {
        format!("{} {}", self.data.name(), system.name())
    }

    /// Reads as many records as the memory holds, each once, but no longer than two cells.
    fn warm(&self, core: CoreOptions, dataset: &mut Dataset<'_>) -> Result<()> {
        let core = CoreOptions {
            operation_count: core.record_count.min(self.options.core_of_size(1.0).record_count),
            mix: Mix { read: 1.0, ..Mix::default() },
            requests: Requests::Sequential,
            read_all_fields: true,
            ..core
        };
        let plan = MeasurePlan {
            phase: format!("warm {}", self.name_of(dataset.system)),
            seconds_max: Some(2 * self.options.cell),
            ..MeasurePlan::default()
        };
        let threads = self.options.threads.iter().copied().max().unwrap_or(1);
        dataset.run(&core, plan, threads, 0).map(drop)
    }

    /// Measures a cell on all systems. None when it was broken off.
    fn run_cell(&self, cell: &MatrixCell, loaded: &mut [Dataset<'_>]) -> Result<Option<Vec<Run>>> {
        let of = self.options.run.repeats;
        let mut repeats = vec![Vec::with_capacity(of); loaded.len()];
        for repeat in 0..of {
            for turn in 0..loaded.len() {
                // Another system begins each repeat: none always runs on a machine just warmed up.
                let place = (turn + repeat) % loaded.len();
                let system = loaded[place].system.name();
                let plan = MeasurePlan {
                    phase: format!("{} {system} ({} of {of})", cell.name, repeat + 1),
                    warm_up: self.options.run.warm_up,
                    seconds_max: Some(self.options.cell),
                    ..MeasurePlan::default()
                };
                // The repeat is the seed, so that within a repeat all systems get the same draws.
                let measured = loaded[place].run(&cell.core, plan, cell.threads, repeat as u64)?;
                if self.harness.is_over() {
                    return Ok(None);
                }
                repeats[place].push(measured);
            }
        }
        let systems = || loaded.iter().map(|dataset| dataset.system);
        if cell.writes() > 0.0 {
            let settle = |system| self.harness.settle(system, &self.name_of(system)).map(drop);
            systems().try_for_each(settle)?;
        }
        let run = |(system, repeats)| {
            Run::from_repeats(&cell.name, cell.labels.clone(), system, cell.threads, repeats)
        };
        Ok(Some(systems().zip(repeats).map(run).collect()))
    }
}
