//! `bench tables`: many small tables in one call, against one by one.
//!
//! 1. Put: ten thousand rows of one table, ten thousand and a hundred thousand of each of ten,
//!    mixed as they come in from a queue: a loop of single puts, and one multi put. New tables
//!    for each repeat.
//! 2. Get: rows by their keys: a loop of single gets, and one multi get.
//! 3. Queries over ten and a hundred tables: of one row each, of all rows, and the five aggregates
//!    of each table.
//! 4. Queries over a large table of the same rows, or one of two numbers: a list of many keys
//!    against a bulk get, aggregates over everything, and a condition with an index against the
//!    same without it.
//!
//! The ways to the same answers take turns, repeat by repeat; the time of the whole answer is
//! measured, and the answers are held against the rows that were stored: how many, and what their
//! numbers add up to.

mod beside;
mod call;
mod contest;
mod options;
mod over;
mod question;
mod rows;
mod summary;

use tonnage::Result;

use self::call::{TableCall, TableMethod, TableSession};
pub use self::options::{Subject, TableKey, TablesOptions};
use super::harness::BenchRun;
use crate::measure::Watcher;
use crate::report::Report;
use crate::system::Feature;

/// Measures what is wanted on each system.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole.
pub fn run(options: &TablesOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let harness = BenchRun { workload: "tables", options: &options.run, watcher };
    let mut report = harness.report(options.settings());
    for target in &options.run.systems {
        let opened = harness.open(target)?;
        let first = report.runs.len();
        run_on(&TableSession { options, system: &*opened.system, harness }, &mut report)?;
        let place = |name: &String| Subject::ALL.iter().position(|known| known.name() == name);
        report.runs[first..].sort_by_key(|run| place(&run.labels["subject"]));
    }
    summary::add_to(&mut report);
    Ok(report)
}

fn run_on(session: &TableSession<'_>, report: &mut Report) -> Result<()> {
    let TableSession { options, system, harness } = session;
    let name = system.name();
    if !system.offers(Feature::MultiTable) {
        report.note(format!("{name} does not offer calls over several tables: it was left out."));
        return Ok(());
    }
    let sizes = [(Subject::Put, options.put_sizes()), (Subject::Get, options.get_sizes())];
    for (subject, sizes) in sizes.into_iter().filter(|(subject, _)| options.wants(*subject)) {
        for (size, method) in sizes.iter().flat_map(|size| TableMethod::ALL.map(|way| (*size, way)))
        {
            if !harness.is_over() {
                report.runs.push(TableCall { session, size, subject, method }.run()?);
            }
        }
    }
    // Asked only here: what offers no queries is still measured at puts and gets.
    if !system.offers(Feature::Queries) {
        report.note(format!("{name} does not offer queries: they were left out."));
        return Ok(());
    }
    // Each group of subjects fills tables of its own, which takes longer than asking them.
    let wants = |subjects: [Subject; 3]| subjects.into_iter().any(|one| options.wants(one));
    if wants([Subject::OneRow, Subject::Select, Subject::Aggregates]) {
        session.over(report)?;
    }
    if wants([Subject::List, Subject::Scan, Subject::Index]) {
        session.beside(report)?;
    }
    Ok(())
}
