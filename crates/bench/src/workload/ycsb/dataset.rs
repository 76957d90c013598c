//! A system that holds a workload's records, and the two phases on it.
//!
//! The load phase inserts every record, one by one as YCSB does it, or in bulk. In the run phase:
//!
//! 1. Threads take numbers of operations from one counter, so that a slow thread leaves none
//!    undone.
//! 2. A thread draws its operation and its values, then waits until the number is due, if there is
//!    a rate.
//! 3. It does the operation, and only that is timed: from its start, and from when it was due.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tonnage::{Durability, Error, Result};

use super::CoreOptions;
use super::inserter::{CoreSource, Inserter};
use super::pace::RatePace;
use super::session::{CoreWorkload, OperationSession, YcsbOperation};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::system::{BulkOptions, Client, PutInput, RecordSource, System};
use crate::workload::loops::{each, split};

/// How records are loaded.
#[derive(Clone, Debug)]
pub(crate) struct LoadPlan {
    /// What it is called in progress lines.
    pub(crate) name: String,
    /// Threads, or sources of the bulk put.
    pub(crate) threads: usize,
    /// Whether records are put in bulk instead of one by one. A bulk put is durable at its end, and
    /// knows no rate.
    pub(crate) bulk: bool,
}

/// How the operations are run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunPlan {
    /// What it is called in progress lines.
    pub(crate) name: String,
    pub(crate) threads: usize,
    /// What is done in the beginning counts only for the series; it is part of the workload's
    /// `operationcount`.
    pub(crate) warm_up: Duration,
    /// The run ends after so long, warm-up not counted; the workload's own `maxexecutiontime` when
    /// none.
    pub(crate) seconds_max: Option<Duration>,
    /// Draws that are different: the number of the repeat.
    pub(crate) seed: u64,
}

/// A system that holds a workload's records.
///
/// It remembers the records that runs inserted, so that the next run of the same data inserts new
/// ones and may ask for all.
pub(crate) struct Dataset<'a> {
    system: &'a dyn System,
    loaded: CoreOptions,
    /// Records are numbered from `insertstart` up to this, exclusive.
    pub(super) records_end: u64,
}

impl<'a> Dataset<'a> {
    /// Makes the place for the records of a workload in an empty system and puts them there: YCSB's
    /// load phase. Failed inserts are no errors: they are counted.
    pub(crate) fn load(
        system: &'a dyn System,
        core: &CoreOptions,
        plan: &LoadPlan,
        watcher: &dyn Watcher,
    ) -> Result<(Self, Measured)> {
        core.check()?;
        system.create_records(&core.shape())?;
        let measure_plan = MeasurePlan {
            phase: plan.name.clone(),
            operations: YcsbOperation::ALL.map(YcsbOperation::name).to_vec(),
            total: Some(core.loaded_count()),
            ..MeasurePlan::default()
        };
        let clients = clients(system, plan.threads)?;
        let gauges = || system.gauges();
        let measured = measure(&measure_plan, &gauges, watcher, |meter| match plan.bulk {
            true => load_in_bulk(system, core, plan, meter),
            false => load_one_by_one(clients, core, meter),
        })?;
        let records_end = core.insert_start + core.loaded_count();
        Ok((Dataset { system, loaded: core.clone(), records_end }, measured))
    }

    /// Runs a workload's mix of operations on the records: YCSB's run phase. The workload must be
    /// of the same records as the one that was loaded; its mix, its distribution and its rate may
    /// differ.
    ///
    /// New records are numbered on from the last one that is there: nobody else loads what
    /// `insertcount` leaves out.
    pub(crate) fn run(
        &mut self,
        core: &CoreOptions,
        plan: &RunPlan,
        watcher: &dyn Watcher,
    ) -> Result<Measured> {
        core.check()?;
        if !core.has_records_of(&self.loaded) {
            return Err(Error::invalid(
                "the workload asks for other records than were loaded: load those first",
            ));
        }
        let seconds_max = plan.seconds_max.or(core.seconds_max);
        let total = Some(core.operation_count).filter(|&count| count > 0);
        let workload = CoreWorkload::new(core, self.records_end)?;
        let sessions = workload.sessions(clients(self.system, plan.threads)?, plan.seed);
        let (phase, warm_up) = (plan.name.clone(), plan.warm_up);
        let operations = YcsbOperation::ALL.map(YcsbOperation::name).to_vec();
        let measure_plan = MeasurePlan { phase, operations, warm_up, seconds_max, total };
        let system = self.system;
        let measured = measure(&measure_plan, &|| system.gauges(), watcher, |meter| {
            let (next, end) = (AtomicU64::new(0), total.unwrap_or(u64::MAX));
            each(sessions, |session| {
                let prepare = |session: &mut OperationSession<'_>, _| session.prepare();
                in_turn(meter, (&next, end), core, session, prepare, OperationSession::perform)
            })
        })?;
        self.records_end = workload.records_end();
        Ok(measured)
    }
}

/// Opens a client for each thread, before any of them begins.
fn clients(system: &dyn System, threads: usize) -> Result<Vec<Box<dyn Client + '_>>> {
    (0..threads).map(|_| system.client()).collect()
}

/// Does the operations of the numbers that this thread gets of those up to an end. Only `perform`
/// is timed.
fn in_turn<W>(
    meter: &Meter<'_>,
    (next, end): (&AtomicU64, u64),
    core: &CoreOptions,
    mut worker: W,
    prepare: impl Fn(&mut W, u64) -> YcsbOperation,
    perform: impl Fn(&mut W, YcsbOperation) -> Result<()>,
) -> Result<()> {
    let (mut recorder, pace) = (meter.recorder(), RatePace::new(meter.started(), core.rate));
    while !meter.is_over() {
        let number = next.fetch_add(1, Relaxed);
        if number >= end {
            break;
        }
        let operation = prepare(&mut worker, number);
        let due = pace.due(number);
        if !RatePace::wait(due, || meter.is_over()) {
            break;
        }
        let started = Instant::now();
        let outcome = perform(&mut worker, operation);
        recorder.record(operation as usize, started, due, outcome.map(|()| 1));
    }
    Ok(())
}

fn load_one_by_one(
    clients: Vec<Box<dyn Client + '_>>,
    core: &CoreOptions,
    meter: &Meter<'_>,
) -> Result<()> {
    let (next, end) = (AtomicU64::new(0), core.loaded_count());
    let inserters = (0..).map(|thread| Inserter::new(core, thread));
    each(inserters.zip(clients).collect(), |worker| {
        let make = |(inserter, _): &mut (Inserter, Box<dyn Client + '_>), number| {
            inserter.make(core.insert_start + number);
            YcsbOperation::Insert
        };
        in_turn(meter, (&next, end), core, worker, make, |(inserter, client), _| {
            insert(inserter, client.as_mut(), core, meter)
        })
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
        let next_try = Instant::now().checked_add(core.insert_retry_interval);
        if outcome.is_ok() || !RatePace::wait(next_try, || meter.is_over()) {
            break;
        }
        outcome = inserter.insert(client);
    }
    outcome
}

fn load_in_bulk(
    system: &dyn System,
    core: &CoreOptions,
    plan: &LoadPlan,
    meter: &Meter<'_>,
) -> Result<()> {
    let progress = |rows, bytes| meter.add(rows, bytes);
    let options = BulkOptions::new(Durability::Fsync, &progress);
    let numbers = core.insert_start..core.insert_start + core.loaded_count();
    let source = |(thread, numbers)| -> RecordSource {
        Box::new(CoreSource::new(Inserter::new(core, thread), numbers, meter.stop_flag()))
    };
    let sources = split(numbers, plan.threads).enumerate().map(source).collect();
    let done = system.bulk_put(PutInput::Records(core.shape(), sources), &options)?;
    meter.expect("records that failed", 0, done.failed);
    meter.expect("records that were there before", 0, done.existed);
    Ok(())
}
