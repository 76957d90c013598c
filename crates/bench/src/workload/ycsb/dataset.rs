//! A target that holds a workload's records, and the two phases on it.

use std::time::Duration;

use tonnage::{Error, Result};

use super::{CoreOptions, load, run_phase};
use crate::measure::{Measured, Watcher};
use crate::target::Target;

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

/// How the operations are run.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// What it is called in progress lines.
    pub name: String,
    /// Threads.
    pub threads: usize,
    /// What is done in the beginning counts only for the series; it is part of the workload's
    /// `operationcount`.
    pub warm_up: Duration,
    /// The run ends after so long, warm-up not counted; the workload's own `maxexecutiontime` when
    /// none.
    pub seconds_max: Option<Duration>,
    /// Draws that are different: the number of the repeat.
    pub seed: u64,
}

/// A target that holds a workload's records.
///
/// It remembers the records that runs inserted, so that the next run of the same data inserts new
/// ones and may ask for all.
pub struct Dataset<'a> {
    target: &'a dyn Target,
    loaded: CoreOptions,
    /// Records are numbered from `insertstart` up to this, exclusive.
    records_end: u64,
}

impl<'a> Dataset<'a> {
    /// Makes the place for the records of a workload in an empty target and puts them there: YCSB's
    /// load phase.
    ///
    /// # Errors
    /// `Invalid` for options that do not fit together, and what stops the target as a whole. Failed
    /// inserts are no errors: they are counted.
    pub fn load(
        target: &'a dyn Target,
        core: &CoreOptions,
        plan: &LoadPlan,
        watcher: &dyn Watcher,
    ) -> Result<(Self, Measured)> {
        core.check()?;
        check_threads(plan.threads)?;
        target.create_records(&core.shape())?;
        let measured = load::load(target, core, plan, watcher)?;
        let records_end = core.insert_start + core.loaded_count();
        Ok((Dataset { target, loaded: core.clone(), records_end }, measured))
    }

    /// Runs a workload's mix of operations on the records: YCSB's run phase. The workload must be
    /// of the same records as the one that was loaded; its mix, its distribution and its rate may
    /// differ.
    ///
    /// New records are numbered on from the last one that is there: nobody else loads what
    /// `insertcount` leaves out.
    ///
    /// # Errors
    /// As for [`Dataset::load`].
    pub fn run(
        &mut self,
        core: &CoreOptions,
        plan: &RunPlan,
        watcher: &dyn Watcher,
    ) -> Result<Measured> {
        core.check()?;
        check_threads(plan.threads)?;
        if !core.has_records_of(&self.loaded) {
            return Err(Error::invalid(
                "the workload asks for other records than were loaded: load those first",
            ));
        }
        let (measured, records_end) =
            run_phase::run(self.target, core, self.records_end, plan, watcher)?;
        self.records_end = records_end;
        Ok(measured)
    }
}

fn check_threads(threads: usize) -> Result<()> {
    if threads == 0 { Err(Error::invalid("0 threads do nothing: give 1 or more")) } else { Ok(()) }
}
