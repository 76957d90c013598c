//! `bench matrix`: YCSB's workloads on data inside and beyond memory, on one or more disks.
//!
//! 1. For each place and size, every system is made empty, loaded in bulk with the same records,
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
//!    it, and goes on with the cells that are missing; the data is made again.

mod cell;
mod charts;
mod loaded;
mod options;
mod outcome;
#[cfg(test)]
mod tests;

pub use options::MatrixOptions;
use tonnage::Result;

use self::cell::{CellData, MatrixCell};
use self::loaded::LoadedSystem;
use self::outcome::MatrixReport;
use crate::measure::Watcher;
use crate::report::{Report, Run};
use crate::system::SystemKind;
use crate::workload::harness::BenchRun;

/// Measures the cells.
///
/// # Errors
/// `Invalid` for options that do not fit together, or that are not those of the run that is to be
/// taken up again; and what stops a system as a whole.
pub fn run(options: &MatrixOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let mut outcome = MatrixReport::open(options, watcher)?;
    for data in CellData::all(options) {
        let mut cells = data.cells(options);
        cells.retain(|cell| !outcome.has(cell));
        if !cells.is_empty() && !watcher.is_cancelled() {
            run_data(options, &data, &cells, &mut outcome)?;
        }
    }
    Ok(outcome.into_report(watcher.is_cancelled()))
}

fn run_data(
    options: &MatrixOptions,
    data: &CellData,
    cells: &[MatrixCell],
    outcome: &mut MatrixReport<'_>,
) -> Result<()> {
    let open = |kind: &SystemKind| outcome.harness.open_in(*kind, &data.place);
    let opened = options.run.systems.iter().map(open).collect::<Result<Vec<_>>>()?;
    let mut systems = Vec::with_capacity(opened.len());
    for opened in &opened {
        if outcome.harness.is_over() {
            return Ok(());
        }
        let (system, run) = LoadedSystem::load(opened, options, data, &outcome.harness)?;
        outcome.add_load(run);
        systems.push(system);
    }
    for cell in cells {
        // What is measured of a cell before it is broken off is no cell.
        let runs = run_cell(options, cell, &mut systems, &outcome.harness)?;
        let Some(runs) = runs else { return Ok(()) };
        outcome.add(runs)?;
    }
    Ok(())
}

/// Measures a cell on all systems. None when it was broken off.
fn run_cell(
    options: &MatrixOptions,
    cell: &MatrixCell,
    systems: &mut [LoadedSystem<'_>],
    harness: &BenchRun<'_>,
) -> Result<Option<Vec<Run>>> {
    let mut repeats = vec![Vec::with_capacity(options.run.repeats); systems.len()];
    for repeat in 0..options.run.repeats {
        for turn in 0..systems.len() {
            let place = (turn + repeat) % systems.len();
            let measured = systems[place].run(options, cell, repeat, harness.watcher)?;
            if harness.is_over() {
                return Ok(None);
            }
            repeats[place].push(measured);
        }
    }
    if cell.writes() {
        systems.iter().try_for_each(|system| system.settle(harness).map(drop))?;
    }
    let runs = systems.iter().zip(repeats);
    Ok(Some(runs.map(|(system, repeats)| system.report(cell, repeats)).collect()))
}
