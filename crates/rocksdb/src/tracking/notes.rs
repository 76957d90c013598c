//! What a write is about to change, reported to counters and followers.

use tonnage_engine::Slices;

use crate::changes::SpaceSet;

/// The changes of a write, gathered while it is built. The writer holds the gate from before this
/// is created until the write has ended: what is followed stays so meanwhile.
#[derive(Debug, Default)]
pub(crate) struct ChangeNotes {
    /// The spaces of its rows.
    pub(crate) spaces: SpaceSet,
    followed: SpaceSet,
    /// Physical keys of followed spaces.
    pub(super) keys: Slices,
    pub(super) ranges: Vec<NotedRange>,
}

/// A range of physical keys that changes as a whole.
#[derive(Debug)]
pub(super) struct NotedRange {
    pub(super) start: Vec<u8>,
    pub(super) end: Vec<u8>,
    pub(super) change: WideChange,
}

/// What happens to a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WideChange {
    /// All of its rows are deleted.
    Deleted,
    /// Unknown rows of it are written.
    Lost,
}

impl ChangeNotes {
    /// Of a write that is about to be built, where these spaces are followed.
    pub(crate) fn of_followed(followed: SpaceSet) -> Self {
        Self { followed, ..Self::default() }
    }

    /// Adds a row by its physical key.
    #[inline]
    pub(crate) fn add_key(&mut self, physical: &[u8]) {
        self.spaces.add_key(physical);
        if self.followed.has_key(physical) {
            self.keys.push(physical);
        }
    }

    /// Adds the deletion of a range of one space.
    pub(crate) fn add_deleted(&mut self, start: &[u8], end: &[u8]) {
        self.spaces.add_key(start);
        if self.followed.has_key(start) {
            self.add_range(start, end, WideChange::Deleted);
        }
    }

    /// Adds spaces of which something is written that [`ChangeNotes::add_lost`] or others name.
    pub(super) fn add_spaces(&mut self, spaces: SpaceSet) {
        self.spaces = self.spaces.union(spaces);
    }

    /// Adds a range of which it is not known what is written.
    pub(super) fn add_lost(&mut self, start: &[u8], end: &[u8]) {
        self.add_range(start, end, WideChange::Lost);
    }

    fn add_range(&mut self, start: &[u8], end: &[u8], change: WideChange) {
        self.ranges.push(NotedRange { start: start.to_vec(), end: end.to_vec(), change });
    }

    /// Whether nothing of it is followed.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.ranges.is_empty()
    }
}
