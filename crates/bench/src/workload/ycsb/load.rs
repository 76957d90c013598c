//! The load phase: every record of the workload, one by one as YCSB does it, or in bulk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tonnage::{Durability, Result};

use super::operations::{CoreSource, Inserter, YcsbOperation};
use super::pace::RatePace;
use super::{CoreOptions, LoadPlan, threads};
use crate::generate::Counter;
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::system::{BulkOptions, Client, RecordSource, System};

/// Loads the records of a workload into a system that has a place for them.
pub(super) fn load(
    system: &dyn System,
    core: &CoreOptions,
    plan: &LoadPlan,
    watcher: &dyn Watcher,
) -> Result<Measured> {
    let measure_plan = MeasurePlan {
        phase: plan.name.clone(),
        operations: YcsbOperation::NAMES.to_vec(),
        total: Some(core.loaded_count()),
        ..MeasurePlan::default()
    };
    if plan.bulk {
        measure(&measure_plan, system, watcher, |meter| in_bulk(system, core, plan, meter))
    } else {
        let clients = threads::clients(system, plan.threads)?;
        measure(&measure_plan, system, watcher, |meter| one_by_one(clients, core, meter))
    }
}

fn one_by_one(
    clients: Vec<Box<dyn Client + '_>>,
    core: &CoreOptions,
    meter: &Meter<'_>,
) -> Result<()> {
    let numbers = Counter::new(core.insert_start, core.insert_start + core.loaded_count());
    let inserters = (0..).map(|thread| Inserter::new(core, thread));
    let pace = RatePace::new(meter.started(), core.rate);
    threads::each(inserters.zip(clients).collect(), |(mut inserter, mut client)| {
        let mut recorder = meter.recorder();
        while let Some(number) = numbers.next().filter(|_| !meter.is_over()) {
            inserter.make(number);
            let due = pace.due(number - core.insert_start);
            if !RatePace::wait(due, || meter.is_over()) {
                break;
            }
            let started = Instant::now();
            let outcome = insert(&inserter, client.as_mut(), core, meter);
            recorder.record(YcsbOperation::Insert as usize, started, due, outcome);
        }
    })
}

/// Inserts a record, again and again as far as the workload allows. It counts once, with the time
/// of all tries.
fn insert(
    inserter: &Inserter,
    client: &mut dyn Client,
    core: &CoreOptions,
    meter: &Meter<'_>,
) -> Result<()> {
    let mut outcome = inserter.insert(client);
    for _ in 0..core.insert_retries {
        if outcome.is_ok() || !pause(core.insert_retry_interval, meter) {
            break;
        }
        outcome = inserter.insert(client);
    }
    outcome
}

/// Waits before the next try. False when the run was over before.
fn pause(interval: Duration, meter: &Meter<'_>) -> bool {
    RatePace::wait(Instant::now().checked_add(interval), || meter.is_over())
}

fn in_bulk(
    system: &dyn System,
    core: &CoreOptions,
    plan: &LoadPlan,
    meter: &Meter<'_>,
) -> Result<()> {
    // The system keeps the sources for as long as it likes, so they hear through a flag of their
    // own that the run is over.
    let is_over = Arc::new(AtomicBool::new(false));
    let progress = |rows, bytes| {
        meter.add(rows, bytes);
        is_over.store(meter.is_over(), Ordering::Relaxed);
    };
    let options = BulkOptions {
        durability: Durability::Fsync,
        memory_bytes_max: None,
        parallelism: None,
        overwrite: false,
        progress: &progress,
    };
    let ranges = split(core.insert_start, core.loaded_count(), plan.threads as u64);
    let source = |(thread, numbers)| -> Box<dyn RecordSource> {
        Box::new(CoreSource::new(Inserter::new(core, thread), numbers, Arc::clone(&is_over)))
    };
    let sources = ranges.enumerate().map(source).collect();
    let done = system.bulk_put_records(&core.shape(), sources, &options)?;
    if done.failed + done.existed > 0 {
        let message = format!(
            "the bulk put reports {} failed records and {} that were there before",
            done.failed, done.existed
        );
        meter.fail(done.failed + done.existed, &message);
    }
    Ok(())
}

/// Cuts numbers into ranges of about the same length.
fn split(first: u64, count: u64, parts: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
    let cut =
        move |part: u64| first + (u128::from(count) * u128::from(part) / u128::from(parts)) as u64;
    (0..parts).map(move |part| cut(part)..cut(part + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_numbers_once() {
        let numbers: Vec<u64> = split(5, 11, 3).flatten().collect();
        assert_eq!(numbers, (5..16).collect::<Vec<_>>());
        assert_eq!(split(0, 2, 4).filter(|range| !range.is_empty()).count(), 2);
    }
}
