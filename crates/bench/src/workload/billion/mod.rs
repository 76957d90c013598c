//! `bench billion`: a great many small records in, and then out again, over many connections.
//!
//! 1. Each target starts empty. All records are put; the phase ends when they are on the disk. What
//!    the target then still has to tidy up is waited for and told apart.
//! 2. Each record is got once, in another order. Every one must be found.
//! 3. Overlap: one of so many operations puts a new record, the others get old ones, at the same
//!    time.
//!
//! Nothing is kept for each record: keys and values follow from the record's number, the order of
//! the gets is a [`crate::generate::Permutation`]. So the number of records is bounded by the disk
//! alone.

mod bulk;
mod job;
mod options;
mod outcome;
mod pace;
mod single;
mod source;
mod stop;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

pub use options::{Api, BillionOptions, Order, Phase};
use tonnage::Result;

use self::job::Job;
use self::outcome::Outcome;
use crate::generate::Values;
use crate::measure::Watcher;
use crate::report::Report;
use crate::target::{Target, TargetKind, TargetSpec};

/// Puts and gets the records on each target, and again for each repeat, the targets in turn.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a target as a whole.
pub fn run(options: &BillionOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let values = Arc::new(Values::new(options.value_bytes, options.compressible));
    let mut outcome = Outcome::new(options);
    for repeat in 0..options.repeats {
        for kind in &options.targets {
            if watcher.is_cancelled() {
                break;
            }
            run_target(options, *kind, repeat, &values, &mut outcome, watcher)?;
        }
    }
    Ok(outcome.into_report(watcher.is_cancelled()))
}

fn run_target(
    options: &BillionOptions,
    kind: TargetKind,
    repeat: usize,
    values: &Arc<Values>,
    outcome: &mut Outcome<'_>,
    watcher: &dyn Watcher,
) -> Result<()> {
    let scratch = options.place.scratch(&format!("billion-{}", kind.name()))?;
    let spec = TargetSpec {
        memory_bytes: options.memory_bytes,
        direct_io: options.direct_io,
        durability: options.durability,
        ..TargetSpec::new(kind, scratch.path())
    };
    let target = spec.open()?;
    let name = match options.repeats {
        1 => kind.name().to_owned(),
        repeats => format!("{} ({} of {repeats})", kind.name(), repeat + 1),
    };
    let job = Job { target: &*target, options, values: values.clone(), name };
    for phase in [Phase::Put, Phase::Get, Phase::Overlap] {
        if watcher.is_cancelled() || (phase != Phase::Put && !options.phases.contains(&phase)) {
            continue;
        }
        let measured = job.run(phase, watcher)?;
        let settle_seconds = settle(&job, watcher)?;
        if options.phases.contains(&phase) {
            outcome.add(&*target, phase, measured, settle_seconds)?;
        }
    }
    Ok(())
}

/// Waits for what the target still has to tidy up, so that one phase does not pay for another.
/// Tells how long it took.
fn settle(job: &Job<'_>, watcher: &dyn Watcher) -> Result<f64> {
    if watcher.is_cancelled() {
        return Ok(0.0);
    }
    watcher.begin(&format!("{} settle", job.name), None);
    let started = Instant::now();
    Target::settle(job.target)?;
    let seconds = started.elapsed().as_secs_f64();
    watcher.end(&format!("{seconds:.1} s"));
    Ok(seconds)
}
