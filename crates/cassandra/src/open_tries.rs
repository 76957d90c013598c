//! The tries of one write, while it is not known which of them was carried out.
//!
//! A try that got no answer may reach a node at any time later. Suppose a read shows the rows as
//! they were before, and the write is tried again:
//!
//! 1. Each try has the condition that the rows are as they were. Once a try was carried out they
//!    never are again: headers are unique, and deleted rows keep one ([`crate::header`]). So at
//!    most one try is carried out.
//! 2. If the new try finds other rows with the mark of an earlier try, that one was carried out.
//! 3. If it finds other rows without such a mark, the outcome is unknown: an earlier try may have
//!    been executed, and its rows written again. That is an error, even if the conditions of the
//!    write hold now.
//! 4. Anything else that ends the write then leaves it in doubt: a deadline, or a refusal.
//! 5. However it ends, a try may have been carried out. Loads look for its rows.

use tonnage_engine::{Error, Result, WriteOutcome};

use crate::key_change::{KeyChange, StoredRows};

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
    pub(crate) fn leave(
        &mut self,
        changes: &[KeyChange<'_>],
        stored: &StoredRows<'_>,
        error: Error,
    ) {
        self.left = Some((headers(changes, stored).map(|header| header.cloned()).collect(), error));
    }

    /// Whether a try got no answer: it may be carried out at any time later.
    pub(crate) fn may_be_carried_out(&self) -> bool {
        self.left.is_some()
    }

    /// The version of a try that was carried out after all.
    pub(crate) fn carried_out(
        &self,
        changes: &[KeyChange<'_>],
        stored: &StoredRows<'_>,
    ) -> Option<u64> {
        let is_of = |mark| {
            changes.iter().any(|change| stored.get(change.key).is_some_and(|row| row.is_of(mark)))
        };
        self.tries.iter().find(|(mark, _)| is_of(*mark)).map(|(_, version)| *version)
    }

    /// The greatest version that the rows may have once the write has ended like this; 0 for a
    /// write that has tried nothing, and was not applied. A try that was refused counts, too.
    pub(crate) fn greatest_version(&self, written: &Result<WriteOutcome>) -> u64 {
        let applied = written.as_ref().ok().and_then(|outcome| outcome.version());
        // An error says nothing: a try may be stored all the same, or come late.
        let tried = self.tries.iter().map(|(_, version)| *version);
        tried.chain(applied).max().unwrap_or(0)
    }

    /// Why the write is in doubt: a try got no answer, and the rows are not as it wanted them.
    pub(crate) fn doubt(
        &self,
        changes: &[KeyChange<'_>],
        stored: &StoredRows<'_>,
    ) -> Option<&Error> {
        let (before, error) = self.left.as_ref()?;
        let is_before = headers(changes, stored).eq(before.iter().map(Option::as_ref));
        (!is_before).then_some(error)
    }

    /// The same where a condition does not hold any more though the rows are as they were: one has
    /// expired meanwhile. Nodes do not judge that, so the try may be carried out all the same.
    pub(crate) fn doubt_of_refusal(&self) -> Option<&Error> {
        self.left.as_ref().map(|(_, error)| error)
    }
}

fn headers<'a>(
    changes: &'a [KeyChange<'_>],
    stored: &'a StoredRows<'_>,
) -> impl Iterator<Item = Option<&'a Vec<u8>>> {
    changes.iter().map(|change| stored.get(change.key).map(|row| &row.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::RowHeader;
    use crate::key_change::ExistingRow;
    use crate::stamp::Stamp;

    const KEY: &[u8] = b"k";
    const CHANGES: [KeyChange<'static>; 1] =
        [KeyChange { key: KEY, operation: 0, is_conditional: true }];

    /// A row as the try with this mark has left it.
    fn rows_of(header: RowHeader, mark: u64) -> StoredRows<'static> {
        let bytes = header.to_marked_bytes(mark);
        StoredRows::from([(KEY, ExistingRow { bytes, header, stamp: Stamp(0) })])
    }

    fn live(version: u64) -> RowHeader {
        RowHeader { version, is_conditional: true, expires_at_ms: 0 }
    }

    /// A try with mark 7 that got no answer, and wanted these rows.
    fn left_over(wanted: &StoredRows<'_>) -> OpenTries {
        let mut open = OpenTries::default();
        open.add(7, 700);
        open.leave(&CHANGES, wanted, Error::unavailable("no answer"));
        open
    }

    #[test]
    fn rows_as_they_were_leave_no_doubt() {
        for wanted in [StoredRows::new(), rows_of(live(1), 3)] {
            let open = left_over(&wanted);
            assert_eq!(open.carried_out(&CHANGES, &wanted), None);
            assert!(open.doubt(&CHANGES, &wanted).is_none());
            assert!(open.may_be_carried_out(), "all the same it may come late");
        }
    }

    #[test]
    fn the_mark_of_an_earlier_try_tells_that_it_was_carried_out() {
        let open = left_over(&StoredRows::new());
        assert_eq!(open.carried_out(&CHANGES, &rows_of(live(700), 7)), Some(700));
        let deleted = rows_of(RowHeader::deleted(700, true), 7);
        assert_eq!(open.carried_out(&CHANGES, &deleted), Some(700));
    }

    /// It was answered "refused", though a reader had seen the row that it put.
    #[test]
    fn rows_that_others_wrote_since_leave_a_try_without_an_answer_in_doubt() {
        let open = left_over(&StoredRows::new());
        for since in [rows_of(live(9), 8), rows_of(RowHeader::deleted(9, false), 8)] {
            assert_eq!(open.carried_out(&CHANGES, &since), None);
            assert!(open.doubt(&CHANGES, &since).is_some());
        }
    }

    /// The story of a bug: a write on condition of a row was answered "refused" when that had
    /// expired by its second try. The first one was carried out later.
    #[test]
    fn a_refusal_behind_a_try_without_an_answer_is_in_doubt() {
        let wanted = rows_of(live(1), 3);
        let open = left_over(&wanted);
        assert!(open.doubt(&CHANGES, &wanted).is_none() && open.doubt_of_refusal().is_some());
    }

    /// The story of a bug: a write that ended in doubt left no version, though it was stored. A
    /// blind load that was pushed before it did not look, and put its older rows over those that
    /// others had read already.
    #[test]
    fn a_write_leaves_the_version_of_each_try_that_may_be_stored() {
        let mut open = left_over(&StoredRows::new());
        assert_eq!(open.greatest_version(&Err(Error::unavailable("in doubt"))), 700);
        open.add(8, 800);
        let refused = WriteOutcome::Refused { operation: 0, current: None };
        assert_eq!(open.greatest_version(&Ok(refused)), 800);
        assert_eq!(open.greatest_version(&Ok(WriteOutcome::Applied { version: 900 })), 900);
    }

    #[test]
    fn a_write_that_tries_nothing_leaves_no_version() {
        let open = OpenTries::default();
        assert_eq!(open.greatest_version(&Err(Error::timed_out("no time"))), 0);
    }

    #[test]
    fn a_try_that_was_answered_leaves_no_doubt() {
        let mut open = OpenTries::default();
        open.add(7, 700);
        assert!(!open.may_be_carried_out() && open.doubt_of_refusal().is_none());
        assert!(open.doubt(&CHANGES, &rows_of(live(9), 8)).is_none());
    }
}
