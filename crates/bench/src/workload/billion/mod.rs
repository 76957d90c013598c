//! `bench billion`: a great many small records in, and then out again, over many connections.
//!
//! 1. Each system starts empty. All records are put; the phase ends when they are on the disk. What
//!    the system then still has to tidy up is waited for and reported separately.
//! 2. Each record is got once, in another order. Every one must be found.
//! 3. Overlap: one of so many operations puts a new record, the others get old ones, at the same
//!    time.
//!
//! Nothing is kept for each record: keys and values follow from the record's number, the order of
//! the gets is a `Permutation`. So the number of records is bounded by the disk alone.

mod job;
mod options;
mod source;
mod summary;

use std::sync::Arc;

pub use options::{Api, BillionOptions, Phase};
use tonnage::Result;

use self::job::BillionJob;
use self::summary::BillionSummary;
use super::harness::BenchRun;
use crate::generate::ValueGenerator;
use crate::measure::Watcher;
use crate::report::Report;

/// Puts and gets the records on each system, and again for each repeat, the systems in turn.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole.
pub fn run(options: &BillionOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let values = Arc::new(ValueGenerator::new(options.value_bytes, options.compressible));
    let mut settings = options.settings();
    settings.insert("key_bytes".to_owned(), "16".to_owned());
    settings.insert("data_bytes".to_owned(), options.data_bytes().to_string());
    let harness = BenchRun { workload: "billion", options: &options.run, watcher };
    let mut report = harness.report(settings);
    let mut summary = BillionSummary::new(options);
    for repeat in 0..options.run.repeats {
        for target in &options.run.systems {
            if harness.is_over() {
                break;
            }
            let opened = harness.open(target)?;
            let name = format!("{target}{}", harness.repeat_name(repeat));
            let (system, values) = (&*opened.system, values.clone());
            let job = BillionJob { system, options, values, watcher, name };
            for phase in Phase::ALL {
                let is_asked_for = options.phases.contains(&phase);
                // Records are put in any case: without them there is nothing to get.
                if harness.is_over() || (phase != Phase::Put && !is_asked_for) {
                    continue;
                }
                let measured = job.run(phase)?;
                // After each phase, reported or not: the next one must not pay for what is left.
                let settle_seconds = harness.settle(system, &job.name)?;
                if is_asked_for {
                    summary.add(&mut report, system, phase, measured, settle_seconds)?;
                }
            }
        }
    }
    summary.finish(&mut report, watcher.is_cancelled());
    Ok(report)
}
