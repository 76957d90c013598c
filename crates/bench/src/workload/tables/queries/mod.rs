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
mod context;
mod over;
mod question;
mod sums;

use tonnage::Result;

use self::contest::Contest;
pub(super) use self::context::Queries;
use super::Subject;
use super::rows::{Shape, SmallTables};
use crate::report::Report;

impl Queries<'_> {
    pub(super) fn run(&self, report: &mut Report) -> Result<()> {
        if [Subject::OneRow, Subject::Select, Subject::Aggregates]
            .into_iter()
            .any(|subject| self.options.wants(subject))
        {
            self.over_tables(report)?;
        }
        if [Subject::List, Subject::Scan, Subject::Index]
            .into_iter()
            .any(|subject| self.options.wants(subject))
        {
            self.beside(report)?;
        }
        Ok(())
    }

    fn over_tables(&self, report: &mut Report) -> Result<()> {
        let shape = Shape::new(self.options.key);
        for size in self.options.query_sizes() {
            if self.watcher.is_cancelled() {
                return Ok(());
            }
            let tables = SmallTables::new(&shape, &format!("q{}_{}", size.tables, size.rows), size);
            tables.define(self.system)?;
            self.system.multi_put(tables.batches()?, &self.bulk_options())?;
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
