//! The result of one entry of a load: inserted, replaced, overtaken, existed, or undecided.

use tonnage_engine::OnExisting;

use crate::header::RowHeader;

/// What becomes of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryResult {
    Inserted,
    Replaced,
    /// A row that someone else wrote after the entry was pushed stays in its place.
    Overtaken,
    Existed,
    /// Not decided: the load stopped before.
    Undecided,
}

impl EntryResult {
    /// The fate of an entry that was pushed under a version and meets a row.
    pub(crate) fn of(
        version: u64,
        stored: Option<RowHeader>,
        on_existing: OnExisting,
        now_ms: u64,
    ) -> Self {
        let Some(row) = stored else { return EntryResult::Inserted };
        let (is_later, is_live) = (row.version > version, row.is_live(now_ms));
        match on_existing {
            OnExisting::Keep | OnExisting::Fail if is_live || is_later => EntryResult::Existed,
            OnExisting::Replace | OnExisting::BlindReplace if is_later && !row.is_conditional => {
                EntryResult::Overtaken
            }
            _ if is_live => EntryResult::Replaced,
            _ => EntryResult::Inserted,
        }
    }

    /// Whether the entry is stored.
    pub(crate) fn is_stored(self) -> bool {
        matches!(self, EntryResult::Inserted | EntryResult::Replaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(version: u64, is_conditional: bool, expires_at_ms: u64) -> Option<RowHeader> {
        Some(RowHeader { version, is_conditional, expires_at_ms })
    }

    /// A write on a condition was judged without the entry, so the entry comes after it.
    #[test]
    fn an_entry_gives_way_to_later_writes_but_for_those_on_a_condition() {
        for on_existing in [OnExisting::Replace, OnExisting::BlindReplace] {
            let result = |stored| EntryResult::of(5, stored, on_existing, 1);
            assert_eq!(result(None), EntryResult::Inserted);
            assert_eq!(result(row(4, false, 0)), EntryResult::Replaced);
            assert_eq!(result(row(6, false, 0)), EntryResult::Overtaken);
            assert_eq!(result(row(6, true, 0)), EntryResult::Replaced);
        }
    }

    #[test]
    fn a_row_that_expired_is_in_the_way_only_if_it_was_written_later() {
        let (before, after) = (row(4, false, 10), row(6, false, 10));
        assert_eq!(EntryResult::of(5, before, OnExisting::Keep, 9), EntryResult::Existed);
        assert_eq!(EntryResult::of(5, before, OnExisting::Keep, 10), EntryResult::Inserted);
        assert_eq!(EntryResult::of(5, after, OnExisting::Keep, 10), EntryResult::Existed);
        assert_eq!(EntryResult::of(5, after, OnExisting::Replace, 10), EntryResult::Overtaken);
    }
}
