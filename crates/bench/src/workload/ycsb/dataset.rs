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
use std::time::Instant;

use tonnage::{Durability, Error, Result};

use super::CoreOptions;
use super::maker::{RecordMaker, records};
use super::pace::RatePace;
use super::session::{CoreWorkload, OperationSession, YcsbOperation};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::system::{BulkOptions, Client, PutInput, System};
use crate::threads::each;
use crate::workload::loops::split;

/// How records are loaded.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// What it is called in progress lines.
    pub name: String,
    /// Threads, or sources of the bulk put.
    pub threads: usize,
    /// Whether records are put in bulk instead of one by one. A bulk put is durable at its end, and
    /// knows no rate.
    pub bulk: bool,
}

/// A system that holds a workload's records.
///
/// It remembers the records that runs inserted, so that the next run of the same data inserts new
/// ones and may ask for all.
pub struct Dataset<'a> {
    /// The system.
    pub system: &'a dyn System,
    watcher: &'a dyn Watcher,
    loaded: CoreOptions,
    /// Records are numbered from `insertstart` up to this, exclusive.
    pub records_end: u64,
}

impl<'a> Dataset<'a> {
    /// Makes the place for the records of a workload in an empty system and puts them there: YCSB's
    /// load phase. Failed inserts are not errors: they are counted.
    pub fn load(
        system: &'a dyn System,
        core: &CoreOptions,
        plan: &LoadPlan,
        watcher: &'a dyn Watcher,
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
        Ok((Dataset { system, watcher, loaded: core.clone(), records_end }, measured))
    }

    /// Runs a workload's mix of operations on the records: YCSB's run phase. The workload must be
    /// of the same records as the one that was loaded; its mix, its distribution and its rate may
    /// differ.
    ///
    /// New records are numbered on from the last one that is there: no other client loads what
    /// `insertcount` leaves out.
    ///
    /// The warm-up of the plan is part of the workload's `operationcount`; the run ends after the
    /// workload's own `maxexecutiontime` when the plan has none. `seed` makes draws that are
    /// different: it is the number of the repeat.
    pub fn run(
        &mut self,
        core: &CoreOptions,
        plan: MeasurePlan,
        threads: usize,
        seed: u64,
    ) -> Result<Measured> {
        core.check()?;
        if !core.has_records_of(&self.loaded) {
            return Err(Error::invalid(
                "the workload asks for other records than were loaded: load those first",
            ));
        }
        let (system, total) = (self.system, Some(core.operation_count).filter(|&count| count > 0));
        let workload = CoreWorkload::new(core, self.records_end)?;
        // Built before the clock starts: distributions and values take time to set up.
        let sessions = workload.sessions(clients(system, threads)?, seed);
        let plan = MeasurePlan {
            operations: YcsbOperation::ALL.map(YcsbOperation::name).to_vec(),
            seconds_max: plan.seconds_max.or(core.seconds_max),
            total,
            ..plan
        };
        let measured = measure(&plan, &|| system.gauges(), self.watcher, |meter| {
            let (next, end) = (AtomicU64::new(0), total.unwrap_or(u64::MAX));
            each(sessions, |session| {
                // A number says only when its operation is due: what it is, the session draws.
                let prepare = |session: &mut OperationSession<'_>, _| session.prepare();
                in_turn(meter, (&next, end), core, session, prepare, OperationSession::perform)
            })
            .map(drop)
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
    let maker = RecordMaker::new(core, 0);
    let makers = (0..).map(|thread| maker.seeded(thread));
    each(makers.zip(clients).collect(), |worker| {
        let make = |(maker, _): &mut (RecordMaker, Box<dyn Client + '_>), number| {
            maker.make(core.insert_start + number);
            YcsbOperation::Insert
        };
        in_turn(meter, (&next, end), core, worker, make, |(maker, client), _| {
            insert(maker, client.as_mut(), core, meter)
        })
    })
    .map(drop)
}

/// Inserts a record, again and again as far as the workload allows. It counts once, with the time
/// of all tries.
fn insert(
    maker: &RecordMaker,
    client: &mut dyn Client,
    core: &CoreOptions,
    meter: &Meter<'_>,
) -> Result<()> {
    let mut outcome = maker.insert(client);
    for _ in 0..core.insert_retries {
        let next_try = Instant::now().checked_add(core.insert_retry_interval);
        if outcome.is_ok() || !RatePace::wait(next_try, || meter.is_over()) {
            break;
        }
        outcome = maker.insert(client);
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
    let maker = RecordMaker::new(core, 0);
    let source = |(thread, numbers)| records(maker.seeded(thread), numbers, meter.stop_flag());
    let sources = (0..).zip(split(numbers, plan.threads)).map(source).collect();
    let done = system.bulk_put(PutInput::Records(core.shape(), sources), &options)?;
    meter.expect("records that failed", 0, done.failed);
    meter.expect("records that were there before", 0, done.existed);
    Ok(())
}
