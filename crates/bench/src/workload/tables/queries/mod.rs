//! Queries: many in one call against one by one, and what stands beside that.
//!
//! 1. Over tables: queries of one row each, of all rows, and the five aggregates of each
//!    table.
//! 2. Over a large table of the same rows, or one of two numbers: a list of many keys against a
//!    bulk get, aggregates over everything, and a condition with an index against the same without
//!    it.
//!
//! The ways to the same answers take turns, repeat by repeat; the time of the whole answer is
//! measured, and the answers are held against the rows that were stored: how many, and what their
//! numbers add up to.

mod beside;
mod contest;
mod over;
mod question;

use tonnage::Result;

use self::contest::{Contest, Queries};
use super::rows::{Shape, SmallTables};
use super::{Subject, TablesOptions};
use crate::report::Report;
use crate::system::{PutInput, System};
use crate::workload::harness::BenchRun;

pub(super) fn run(
    options: &TablesOptions,
    system: &dyn System,
    harness: &mut BenchRun<'_>,
) -> Result<()> {
    let queries = Queries { options, system, watcher: harness.watcher };
    let wants = |subjects: [Subject; 3]| subjects.into_iter().any(|one| options.wants(one));
    if wants([Subject::OneRow, Subject::Select, Subject::Aggregates]) {
        queries.over_tables(&mut harness.report)?;
    }
    if wants([Subject::List, Subject::Scan, Subject::Index]) {
        queries.beside(&mut harness.report)?;
    }
    Ok(())
}

impl Queries<'_> {
    fn over_tables(&self, report: &mut Report) -> Result<()> {
        let shape = Shape::new(self.options.key);
        for size in self.options.query_sizes() {
            if self.watcher.is_cancelled() {
                return Ok(());
            }
            let tables = SmallTables::new(&shape, &format!("q{}_{}", size.tables, size.rows), size);
            tables.define(self.system)?;
            self.system.bulk_put(PutInput::Tables(tables.batches()?), &self.bulk_options())?;
            self.system.settle()?;
            for contest in over::contests(self.options, size, &tables) {
                self.hold(contest, report)?;
            }
        }
        Ok(())
    }

    /// Measures a contest, unless it is not wanted or there is no more time.
    fn hold(&self, contest: Contest<'_>, report: &mut Report) -> Result<()> {
        if self.options.wants(contest.subject) && !self.watcher.is_cancelled() {
            report.runs.extend(contest.run(self)?);
        }
        Ok(())
    }
}
