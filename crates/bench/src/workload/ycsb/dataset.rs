//! A system that holds a workload's records, and the two phases on it.

use tonnage::{Error, Result};

use super::{CoreOptions, LoadPlan, RunPlan, load, run_phase};
use crate::measure::{Measured, Watcher};
use crate::system::System;

/// A system that holds a workload's records.
///
/// It remembers the records that runs inserted, so that the next run of the same data inserts new
/// ones and may ask for all.
pub struct Dataset<'a> {
    system: &'a dyn System,
    loaded: CoreOptions,
    /// Records are numbered from `insertstart` up to this, exclusive.
    records_end: u64,
}

impl<'a> Dataset<'a> {
    /// Makes the place for the records of a workload in an empty system and puts them there: YCSB's
    /// load phase.
    ///
    /// # Errors
    /// `Invalid` for options that do not fit together, and what stops the system as a whole. Failed
    /// inserts are no errors: they are counted.
    pub fn load(
        system: &'a dyn System,
        core: &CoreOptions,
        plan: &LoadPlan,
        watcher: &dyn Watcher,
    ) -> Result<(Self, Measured)> {
        core.check()?;
        check_threads(plan.threads)?;
        system.create_records(&core.shape())?;
        let measured = load::load(system, core, plan, watcher)?;
        let records_end = core.insert_start + core.loaded_count();
        Ok((Dataset { system, loaded: core.clone(), records_end }, measured))
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
            run_phase::run(self.system, core, self.records_end, plan, watcher)?;
        self.records_end = records_end;
        Ok(measured)
    }
}

fn check_threads(threads: usize) -> Result<()> {
    if threads == 0 { Err(Error::invalid("0 threads do nothing: give 1 or more")) } else { Ok(()) }
}
