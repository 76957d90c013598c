//! The tries of one write, while it is not known which of them was carried out.
//!
//! A try that got no answer may reach a node at any time later. Suppose a read shows the rows as they
//! were before, and the write is tried again:
//!
//! 1. Each try is on condition that the rows are as they were. After one was carried out they never are
//!    again: headers are unique, and deleted rows keep one ([`crate::header`]). So at most one is.
//! 2. If the new try finds other rows, the mark in their headers may be that of an earlier try. Then that
//!    one was carried out.
//! 3. Other rows without such a mark leave it open: an earlier try may have been carried out, and its
//!    rows written again. That is an error, whatever the conditions of the write say of the rows of now.

use tonnage_engine::{Error, Result};

use crate::change::{Change, StoredRows, WRITTEN_SINCE, in_doubt};
use crate::table::Table;

/// The tries so far.
#[derive(Default)]
pub(crate) struct OpenTries {
    /// Mark and version of each.
    tries: Vec<(u64, u64)>,
    /// The headers that those without an answer want, by change, and why there was none.
    left: Option<(Vec<Option<Vec<u8>>>, Error)>,
}

impl OpenTries {
    pub(crate) fn add(&mut self, mark: u64, version: u64) {
        self.tries.push((mark, version));
    }

    /// Notes that the last try got no answer, and that the rows are as before.
    pub(crate) fn leave(&mut self, changes: &[Change<'_>], stored: &StoredRows<'_>, error: Error) {
        self.left = Some((headers(changes, stored).map(|header| header.cloned()).collect(), error));
    }

    /// The version of a try that was carried out after all.
    pub(crate) fn carried_out(
        &self,
        changes: &[Change<'_>],
        stored: &StoredRows<'_>,
    ) -> Option<u64> {
        let is_of = |mark| {
            changes.iter().any(|change| stored.get(change.key).is_some_and(|row| row.is_of(mark)))
        };
        self.tries.iter().find(|(mark, _)| is_of(*mark)).map(|(_, version)| *version)
    }

    /// Refuses to go on where an earlier try may have been carried out.
    ///
    /// # Errors
    /// `Unavailable`: the write is in doubt.
    pub(crate) fn check(
        &self,
        table: &Table,
        changes: &[Change<'_>],
        stored: &StoredRows<'_>,
    ) -> Result<()> {
        match &self.left {
            Some((before, error))
                if !headers(changes, stored).eq(before.iter().map(Option::as_ref)) =>
            {
                Err(in_doubt(table, error, &WRITTEN_SINCE))
            }
            _ => Ok(()),
        }
    }
}

fn headers<'a>(
    changes: &'a [Change<'_>],
    stored: &'a StoredRows<'_>,
) -> impl Iterator<Item = Option<&'a Vec<u8>>> {
    changes.iter().map(|change| stored.get(change.key).map(|row| &row.bytes))
}
