//! The run phase: the mix of operations, from several threads, at a rate or as fast as possible.
//!
//! 1. Threads take numbers of operations from one counter, so that a slow thread leaves none
//!    undone.
//! 2. A thread draws its operation and its values, then waits until the number is due, if there is
//!    a rate.
//! 3. It does the operation, and only that is timed: from its start, and from when it was due.

use std::time::{Duration, Instant};

use tonnage::{Error, Result};

use super::operations::{CoreWorkload, OperationSession, YcsbOperation};
use super::pace::RatePace;
use super::{CoreOptions, RunPlan, threads};
use crate::generate::Counter;
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::system::System;

/// Runs a workload on records that are there below a number; gives the number below which they are
/// afterwards.
pub(super) fn run(
    system: &dyn System,
    core: &CoreOptions,
    records_end: u64,
    plan: &RunPlan,
    watcher: &dyn Watcher,
) -> Result<(Measured, u64)> {
    let workload = CoreWorkload::new(core, records_end);
    let sessions = workload.sessions(threads::clients(system, plan.threads)?, plan.seed);
    let measure_plan = MeasurePlan {
        phase: plan.name.clone(),
        operations: YcsbOperation::NAMES.to_vec(),
        warm_up: plan.warm_up,
        seconds_max: Some(seconds_max(core, plan)?).filter(|&seconds| seconds < Duration::MAX),
        total: Some(core.operation_count).filter(|&count| count > 0),
    };
    let measured = measure(&measure_plan, system, watcher, |meter| drive(sessions, core, meter))?;
    Ok((measured, workload.records_end()))
}

/// When the run ends, done or not; a run must have some end.
fn seconds_max(core: &CoreOptions, plan: &RunPlan) -> Result<Duration> {
    match plan.seconds_max.or(core.seconds_max) {
        Some(seconds_max) => Ok(seconds_max),
        None if core.operation_count > 0 => Ok(Duration::MAX),
        None => Err(Error::invalid(
            "the run would never end: give operationcount, or a time as maxexecutiontime",
        )),
    }
}

fn drive(sessions: Vec<OperationSession<'_>>, core: &CoreOptions, meter: &Meter<'_>) -> Result<()> {
    let numbers =
        Counter::new(0, if core.operation_count == 0 { u64::MAX } else { core.operation_count });
    let pace = RatePace::new(meter.started(), core.rate);
    threads::each(sessions, |mut session| {
        let mut recorder = meter.recorder();
        while let Some(number) = numbers.next().filter(|_| !meter.is_over()) {
            let operation = session.prepare();
            let due = pace.due(number);
            if !RatePace::wait(due, || meter.is_over()) {
                break;
            }
            let started = Instant::now();
            let outcome = session.perform(operation);
            recorder.record(operation as usize, started, due, outcome);
        }
    })
}
