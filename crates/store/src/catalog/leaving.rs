//! The spaces that are leaving: nothing in the catalog names them, and they are not dropped yet.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tonnage_engine::SpaceId;

/// Spaces on their way out, each with whoever may still write to it.
#[derive(Default)]
pub(super) struct LeavingSpaces {
    spaces: Mutex<BTreeMap<SpaceId, Writers>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writers {
    /// Writes that began before the space left, or begin until all handles know of it.
    MayBeThere,
    /// Writes that began before, and none that begin now: there was no time to wait for them.
    Ending,
    /// No write; only a load that pushed to it before.
    Gone,
    /// Nobody: its drop was cut short.
    CutShort,
}

impl LeavingSpaces {
    pub(super) fn add<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.locked().extend(spaces.map(|space| (*space, Writers::MayBeThere)));
    }

    pub(super) fn contains(&self, space: SpaceId) -> bool {
        self.locked().contains_key(&space)
    }

    pub(super) fn remove(&self, space: SpaceId) {
        self.locked().remove(&space);
    }

    /// Notes that writes to these spaces which began before have not ended yet.
    pub(super) fn note_writers_ending<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.note(spaces, Writers::Ending);
    }

    /// Notes that the writes which began before these spaces left have ended.
    pub(super) fn note_writers_gone<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.note(spaces, Writers::Gone);
    }

    /// Notes that a space could not be dropped, though nobody writes to it.
    pub(super) fn note_cut_short(&self, space: SpaceId) {
        self.note(std::iter::once(&space), Writers::CutShort);
    }

    fn note<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>, now: Writers) {
        let mut leaving = self.locked();
        spaces.for_each(|space| {
            leaving.entry(*space).and_modify(|writers| *writers = now);
        });
    }

    /// Those whose last writes have not ended.
    pub(super) fn with_writers_ending(&self) -> Vec<SpaceId> {
        self.with(Writers::Ending)
    }

    /// Those that only a load may still write to.
    pub(super) fn without_writers(&self) -> Vec<SpaceId> {
        self.with(Writers::Gone)
    }

    /// Those whose drop was cut short.
    pub(super) fn cut_short(&self) -> Vec<SpaceId> {
        self.with(Writers::CutShort)
    }

    /// Whether there is one that can be dropped by and by without anybody's help.
    pub(super) fn has_late_ones(&self) -> bool {
        self.locked().values().any(|writers| *writers != Writers::MayBeThere)
    }

    fn with(&self, wanted: Writers) -> Vec<SpaceId> {
        let leaving = self.locked();
        let found = leaving.iter().filter(|(_, writers)| **writers == wanted);
        found.map(|(space, _)| *space).collect()
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<SpaceId, Writers>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
