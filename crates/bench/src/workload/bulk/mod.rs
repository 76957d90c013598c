//! `bench bulk`: bulk put and bulk get against the naive loop.
//!
//! 1. Puts: for each durability, into an empty system each time: the loop on one thread, the loop
//!    on several, one bulk put. Of each put some records are looked up afterwards, and a bulk put
//!    must count every record as stored, or as left alone.
//! 2. Gets, from a system that a bulk put has filled and that has settled, all keys once got
//!    before: the loop on one thread, the loop on several, one bulk get, and bulk gets with more
//!    and more requests in flight. Every call must find what is there.
//! 3. The verdict: how many times the loop's rate the bulk call reaches, in rows.

mod data;
mod gets;
mod labels;
mod options;
mod puts;
mod session;
mod summary;
#[cfg(test)]
mod tests;

pub use options::{BulkBenchOptions, DataKind, KeyPart};
use tonnage::Result;

use self::session::BulkSession;
use crate::measure::Watcher;
use crate::report::Report;

/// Measures puts and gets of each kind of data on each system.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole.
pub fn run(options: &BulkBenchOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let mut session = BulkSession::new(options, watcher);
    for kind in &options.data {
        let data = data::of(*kind, options);
        for system in &options.run.systems {
            if session.can_hold(*system, &*data)? {
                puts::run(&mut session, *system, *kind, &*data)?;
                gets::run(&mut session, *system, *kind, &*data)?;
            } else {
                let (system, kind) = (system.name(), kind.name());
                session
                    .harness
                    .note(format!("{system} does not offer tables: {kind} were left out."));
            }
        }
    }
    let mut report = session.harness.report;
    summary::add_to(&mut report, options);
    Ok(report)
}
