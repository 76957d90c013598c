//! `bench tables`: many small tables in one call, against one by one.
//!
//! 1. Put: ten thousand rows of one table, ten thousand and a hundred thousand of each of ten,
//!    mixed as they come in from a queue: a loop of single puts, and one multi put. New tables
//!    for each repeat.
//! 2. Get: rows by their keys: a loop of single gets, and one multi get.
//! 3. Queries over ten and a hundred tables, and over a large table beside them: see `queries`.

mod call;
mod options;
mod queries;
mod rows;
mod summary;
#[cfg(test)]
mod tests;

use tonnage::Result;

use self::call::{TableCall, TableMethod};
use self::options::Size;
pub use self::options::{Subject, TableKey, TablesOptions};
use super::harness::BenchRun;
use crate::measure::Watcher;
use crate::report::Report;
use crate::system::{Feature, SystemKind};

/// Measures what is wanted on each system.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a system as a whole.
pub fn run(options: &TablesOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let mut harness = BenchRun::start("tables", &options.run, options.settings(), watcher);
    for kind in &options.run.systems {
        let first = harness.report.runs.len();
        run_system(options, *kind, &mut harness)?;
        let place = |name: &String| Subject::ALL.iter().position(|known| known.name() == name);
        harness.report.runs[first..].sort_by_key(|run| place(&run.labels["subject"]));
    }
    summary::add_to(&mut harness.report);
    Ok(harness.report)
}

fn run_system(options: &TablesOptions, kind: SystemKind, harness: &mut BenchRun<'_>) -> Result<()> {
    let opened = harness.open(kind)?;
    let (system, name) = (&*opened.system, kind.name());
    if !system.offers(Feature::MultiTable) {
        harness.note(format!("{name} does not offer calls over several tables: it was left out."));
        return Ok(());
    }
    let sizes = [(Subject::Put, options.put_sizes()), (Subject::Get, options.get_sizes())];
    for (subject, sizes) in sizes {
        for size in sizes.into_iter().filter(|_| options.wants(subject)) {
            for method in TableMethod::ALL {
                if !harness.is_over() {
                    let run =
                        TableCall { options, system, harness, size, subject, method }.run()?;
                    harness.add(run);
                }
            }
        }
    }
    if system.offers(Feature::Queries) {
        return queries::run(options, system, harness);
    }
    harness.note(format!("{name} does not offer queries: they were left out."));
    Ok(())
}
