//! The spaces to be dropped: the catalog no longer names them, and the engine still has them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use tonnage_engine::SpaceId;
use tonnage_engine::sync::lock;

/// Spaces to be dropped, each with the calls that may still write to it.
#[derive(Default)]
pub(super) struct PendingDrops {
    spaces: Mutex<BTreeMap<SpaceId, PendingWriters>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PendingWriters {
    /// Writes that began before the space left, or begin until all handles know of it.
    MayBeThere,
    /// Writes that began before, and none that begin now: there was no time to wait for them.
    Ending,
    /// No write; only a load that pushed to it before.
    Gone,
    /// None: its drop was cut short.
    CutShort,
}

impl PendingDrops {
    pub(super) fn add<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.locked().extend(spaces.map(|space| (*space, PendingWriters::MayBeThere)));
    }

    pub(super) fn contains(&self, space: SpaceId) -> bool {
        self.locked().contains_key(&space)
    }

    pub(super) fn remove(&self, space: SpaceId) {
        self.locked().remove(&space);
    }

    /// Notes that writes to these spaces which began before have not ended yet.
    pub(super) fn note_writers_ending<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.note(spaces, PendingWriters::Ending);
    }

    /// Notes that the writes which began before these spaces left have ended.
    pub(super) fn note_writers_gone<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.note(spaces, PendingWriters::Gone);
    }

    /// Notes that a space could not be dropped, though no call writes to it.
    pub(super) fn note_cut_short(&self, space: SpaceId) {
        self.note(std::iter::once(&space), PendingWriters::CutShort);
    }

    fn note<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>, now: PendingWriters) {
        let mut pending = self.locked();
        spaces.for_each(|space| {
            pending.entry(*space).and_modify(|writers| *writers = now);
        });
    }

    /// Those whose last writes have not ended.
    pub(super) fn with_writers_ending(&self) -> Vec<SpaceId> {
        self.with(PendingWriters::Ending)
    }

    /// Those that only a load may still write to.
    pub(super) fn without_writers(&self) -> Vec<SpaceId> {
        self.with(PendingWriters::Gone)
    }

    /// Those whose drop was cut short.
    pub(super) fn cut_short(&self) -> Vec<SpaceId> {
        self.with(PendingWriters::CutShort)
    }

    /// Whether there is one that can be dropped by and by without anybody's help.
    pub(super) fn has_droppable(&self) -> bool {
        self.locked().values().any(|writers| *writers != PendingWriters::MayBeThere)
    }

    fn with(&self, wanted: PendingWriters) -> Vec<SpaceId> {
        let pending = self.locked();
        let found = pending.iter().filter(|(_, writers)| **writers == wanted);
        found.map(|(space, _)| *space).collect()
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<SpaceId, PendingWriters>> {
        lock(&self.spaces)
    }
}
