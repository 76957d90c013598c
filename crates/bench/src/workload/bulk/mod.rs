//! `bench bulk`: bulk put and bulk get against the naive loop.
//!
//! 1. Puts: for each durability, into an empty system each time: the loop on one thread, the loop
//!    on several, one bulk put. Of each put some records are looked up afterwards, and a bulk put
//!    must count every record as stored, or as left alone.
//! 2. Gets, from a system that a bulk put has filled and that has settled, all keys once got
//!    before: the loop on one thread, the loop on several, one bulk get, and bulk gets with more
//!    and more requests in flight. Every call must find what is there.
//! 3. The verdict: how many times the loop's rate the bulk call reaches, in rows.

mod calls;
mod data;
mod options;
mod summary;

pub use options::{BulkBenchOptions, DataKind, KeyPart};
use tonnage::Result;

use self::calls::BulkCall;
use self::data::BulkData;
use super::harness::BenchRun;
use crate::measure::Watcher;
use crate::report::Report;
use crate::system::Feature;

/// Measures puts and gets of each kind of data on each system.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole.
pub fn run(options: &BulkBenchOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let harness = BenchRun { workload: "bulk", options: &options.run, watcher };
    let mut report = harness.report(options.settings());
    for &kind in &options.data {
        let data = BulkData::new(options, kind);
        for system in &options.run.systems {
            let needs_tables = !data.definitions().is_empty();
            if needs_tables && !harness.open(system)?.system.offers(Feature::Tables) {
                report.note(format!("{system} does not offer tables: {kind} were left out."));
                continue;
            }
            let call = BulkCall::new(options, &harness, kind, &data);
            report.runs.extend(call.puts(system)?);
            report.runs.extend(call.gets(system)?);
        }
    }
    summary::add_to(&mut report, options);
    Ok(report)
}
