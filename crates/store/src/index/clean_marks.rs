//! Marks of the indexes that are known to hold no stale entry.
//!
//! Only such an index can be read without its rows ([`super::IndexScanOptions::index_only`]).
//!
//! 1. Writers that may leave stale entries note it before they store the first: a load, and a write
//!    beside a load.
//! 2. A walk that finds an index clean sets its mark: the number of notes from before the walk.
//! 3. A mark holds until the next note. A reader compares it before and after the read of entries.
//!
//! All of it is in memory. After an opening nothing is known, so a crash can leave no wrong mark.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tonnage_engine::SpaceId;
use tonnage_engine::sync::lock;

use super::write_gate::WriteGate;

/// How long after a first reader another must ask for a cleaning: programs that carry out one
/// statement and end should not pay for it.
const SECOND_ASK: Duration = Duration::from_secs(2);
/// Cleaning because readers ask for it takes at most this share of the time.
const REST_PER_CLEANING: u32 = 20;

/// What is known of the indexes of one table.
#[derive(Debug, Default)]
pub(crate) struct CleanMarks {
    notes: AtomicU64,
    /// The marks of indexes, by space.
    marks: Mutex<Vec<(SpaceId, u64)>>,
    /// Whether rows were met that expire before their entries: these indexes do not stay clean.
    has_outliving_entries: AtomicBool,
    /// From when on a reader that asks has the indexes cleaned; nothing before the first that asks.
    cleaned_from: Mutex<Option<Instant>>,
}

impl CleanMarks {
    /// Notes that entries may become stale from now on.
    pub(crate) fn note(&self) {
        self.notes.fetch_add(1, Ordering::SeqCst);
    }

    /// The mark of an index that is found clean by someone who begins to look now. None while a
    /// load holds rows of the table: it may lay some over others that were looked at before.
    pub(super) fn begin(&self, gate: &WriteGate, table: SpaceId) -> Option<u64> {
        // Alone, since a writer that saw a load that has left may still keep entries.
        let alone = gate.enter_alone();
        (!alone.sees_loads(table)).then(|| self.now())
    }

    /// The mark of an index that is clean now.
    pub(crate) fn now(&self) -> u64 {
        self.notes.load(Ordering::SeqCst)
    }

    pub(super) fn set(&self, index: SpaceId, mark: u64) {
        let mut marks = self.marks();
        marks.retain(|(space, _)| *space != index);
        marks.push((index, mark));
    }

    /// The mark of an index, if it still holds.
    pub(super) fn of(&self, index: SpaceId) -> Option<u64> {
        let mark = self.marks().iter().find(|(space, _)| *space == index)?.1;
        (mark == self.now()).then_some(mark)
    }

    /// Notes that entries outlive their rows.
    pub(super) fn note_outliving(&self) {
        self.has_outliving_entries.store(true, Ordering::SeqCst);
    }

    /// Whether cleaning for the sake of a reader that asks now is worth while.
    pub(super) fn is_worth_cleaning(&self) -> bool {
        let now = Instant::now();
        let from = *self.cleaned_from().get_or_insert(now + SECOND_ASK);
        now >= from && !self.has_outliving_entries.load(Ordering::SeqCst)
    }

    /// Notes that a cleaning took so long.
    pub(super) fn rest_after(&self, took: Duration) {
        *self.cleaned_from() = Instant::now().checked_add(took * REST_PER_CLEANING);
    }

    fn cleaned_from(&self) -> MutexGuard<'_, Option<Instant>> {
        lock(&self.cleaned_from)
    }

    fn marks(&self) -> MutexGuard<'_, Vec<(SpaceId, u64)>> {
        lock(&self.marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: SpaceId = SpaceId(7);

    #[test]
    fn a_mark_holds_until_the_next_note() {
        let marks = CleanMarks::default();
        assert_eq!(marks.of(INDEX), None, "nothing is known at first");
        let mark = marks.now();
        marks.set(INDEX, mark);
        assert_eq!(marks.of(INDEX), Some(mark));
        marks.note();
        assert_eq!(marks.of(INDEX), None);
    }

    #[test]
    fn a_mark_from_before_a_note_never_holds() {
        let marks = CleanMarks::default();
        let mark = marks.now();
        marks.note();
        marks.set(INDEX, mark);
        assert_eq!(marks.of(INDEX), None);
    }

    #[test]
    fn there_is_no_mark_while_a_load_holds_rows() {
        const TABLE: SpaceId = SpaceId(1);
        let (marks, gate) = (CleanMarks::default(), WriteGate::default());
        assert_eq!(marks.begin(&gate, TABLE), Some(0));
        let load = gate.open_load();
        load.pushing().rows_of(TABLE, true);
        assert_eq!(marks.begin(&gate, TABLE), None);
        let flushing = load.begin_flush();
        load.flushed(flushing);
        assert_eq!(marks.begin(&gate, TABLE), Some(0));
    }

    #[test]
    fn the_first_reader_that_asks_has_nothing_cleaned() {
        let marks = CleanMarks::default();
        assert!(!marks.is_worth_cleaning());
        *marks.cleaned_from() = Some(Instant::now());
        assert!(marks.is_worth_cleaning());
    }

    #[test]
    fn readers_let_cleaning_rest_after_it() {
        let marks = CleanMarks::default();
        marks.rest_after(Duration::ZERO);
        assert!(marks.is_worth_cleaning());
        marks.rest_after(Duration::from_secs(60));
        assert!(!marks.is_worth_cleaning());
    }
}
