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

use super::call::TableSession;
use super::options::Subject;
use crate::report::Report;

/// What is wanted of all that.
pub(super) fn run(session: &TableSession<'_>, report: &mut Report) -> Result<()> {
    let wants = |subjects: [Subject; 3]| subjects.into_iter().any(|one| session.options.wants(one));
    if wants([Subject::OneRow, Subject::Select, Subject::Aggregates]) {
        over::run(session, report)?;
    }
    if wants([Subject::List, Subject::Scan, Subject::Index]) {
        session.beside(report)?;
    }
    Ok(())
}
