//! Which indexes of a table are known to hold no stale entry.
//!
//! Only such an index can be read without its rows ([`super::IndexScanOptions::index_only`]).
//!
//! 1. Whoever may leave stale entries notes it before the first of them is stored: a load, and a
//!    write beside a load.
//! 2. Whoever finds an index clean sets its mark: the number of notes from before it looked.
//! 3. A mark holds until the next note. A reader compares it before and behind the read of entries.
//!
//! All of it is in memory. After an opening nothing is known, so a crash can leave no wrong mark.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tonnage_engine::SpaceId;

use super::write_gate::WriteGate;

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
    /// When cleaning is worth while again.
    rests_until: Mutex<Option<Instant>>,
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

    fn now(&self) -> u64 {
        self.notes.load(Ordering::SeqCst)
    }

    pub(super) fn set(&self, index: SpaceId, mark: u64) {
        let mut marks = self.marks();
        marks.retain(|(space, _)| *space != index);
        marks.push((index, mark));
    }

    /// The mark of an index that is clean at this moment.
    pub(super) fn of(&self, index: SpaceId) -> Option<u64> {
        let mark = self.marks().iter().find(|(space, _)| *space == index)?.1;
        (mark == self.now()).then_some(mark)
    }

    /// Notes that entries outlive their rows.
    pub(super) fn note_outliving(&self) {
        self.has_outliving_entries.store(true, Ordering::SeqCst);
    }

    /// Whether cleaning for the sake of readers is worth while.
    pub(super) fn is_worth_cleaning(&self) -> bool {
        let until = self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        !self.has_outliving_entries.load(Ordering::SeqCst)
            && until.is_none_or(|until| Instant::now() >= until)
    }

    /// Notes that a cleaning took so long.
    pub(super) fn rest_after(&self, took: Duration) {
        let until = Instant::now().checked_add(took * REST_PER_CLEANING);
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn marks(&self) -> MutexGuard<'_, Vec<(SpaceId, u64)>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn readers_let_cleaning_rest_after_it() {
        let marks = CleanMarks::default();
        assert!(marks.is_worth_cleaning());
        marks.rest_after(Duration::from_secs(60));
        assert!(!marks.is_worth_cleaning());
    }
}
