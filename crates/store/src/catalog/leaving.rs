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
    /// Writes that began before the space left.
    MayBeThere,
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

    /// Notes that the writes which began before these spaces left have ended.
    pub(super) fn note_writers_gone<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        let mut leaving = self.locked();
        spaces.for_each(|space| {
            leaving.entry(*space).and_modify(|writers| *writers = Writers::Gone);
        });
    }

    /// Notes that a space could not be dropped, though nobody writes to it.
    pub(super) fn note_cut_short(&self, space: SpaceId) {
        self.locked().entry(space).and_modify(|writers| *writers = Writers::CutShort);
    }

    /// Those that only a load may still write to.
    pub(super) fn without_writers(&self) -> Vec<SpaceId> {
        self.with(Writers::Gone)
    }

    /// Those whose drop was cut short.
    pub(super) fn cut_short(&self) -> Vec<SpaceId> {
        self.with(Writers::CutShort)
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
