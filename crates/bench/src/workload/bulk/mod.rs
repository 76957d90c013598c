//! `bench bulk`: bulk put and bulk get against the naive loop.
//!
//! 1. Puts: for each durability, into an empty target each time: the loop on one thread, the loop
//!    on several, one bulk put. Of each put some records are looked up afterwards, and a bulk put
//!    must count every record as stored, or as left alone.
//! 2. Gets, from a target that a bulk put has filled and that has settled, all keys once got
//!    before: the loop on one thread, the loop on several, one bulk get, and bulk gets with more
//!    and more requests in flight. Every call must find what is there.
//! 3. The verdict: how many times the loop's rate the bulk call reaches, in rows.

mod data;
mod gets;
mod labels;
mod options;
mod puts;
mod session;
#[cfg(test)]
mod tests;
mod verdict;

pub use options::{BulkBenchOptions, DataKind, KeyOrder, KeyPart};
use tonnage::Result;

use self::session::Session;
use crate::measure::Watcher;
use crate::report::Report;
use crate::target::{Target, TargetKind};

/// Measures puts and gets of each kind of data on each target.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a target as a whole.
pub fn run(options: &BulkBenchOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let mut session = Session::new(options, watcher);
    for kind in &options.data {
        let data = data::of(*kind, options);
        for target in &options.targets {
            if session.offers(*target, data.feature())? {
                puts::run(&mut session, *target, *kind, &*data)?;
                gets::run(&mut session, *target, *kind, &*data)?;
            } else {
                session.note(format!(
                    "{} does not offer tables: {} were left out.",
                    target.name(),
                    kind.name()
                ));
            }
        }
    }
    let mut report = session.into_report();
    verdict::add_to(&mut report, options);
    Ok(report)
}

/// The durabilities that mean something to a target.
fn durabilities(options: &BulkBenchOptions, kind: TargetKind) -> &[tonnage::Durability] {
    let all = &options.durabilities;
    if kind == TargetKind::TonnageMemory { &all[..1] } else { all }
}

/// Settles, and tells how long it took.
fn settle(target: &dyn Target) -> Result<f64> {
    let started = std::time::Instant::now();
    target.settle()?;
    Ok(started.elapsed().as_secs_f64())
}
