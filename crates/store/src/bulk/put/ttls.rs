//! The times to live of the entries of a batch.

use std::time::Duration;

/// The times to live that a batch gives.
#[derive(Clone, Copy)]
pub(super) struct EntryTtls<'a> {
    all: Option<Duration>,
    each: Option<&'a [Option<Duration>]>,
}

impl<'a> EntryTtls<'a> {
    /// One for all entries, and those that entries have of their own.
    pub(super) fn new(all: Option<Duration>, each: Option<&'a [Option<Duration>]>) -> Self {
        Self { all, each }
    }

    /// Those of the entries from `offset` on.
    pub(super) fn starting_at(self, offset: usize) -> Self {
        Self { each: self.each.map(|each| &each[offset..]), ..self }
    }

    /// The only one, where entries have none of their own.
    pub(super) fn of_all(self) -> Option<Option<Duration>> {
        self.each.is_none().then_some(self.all)
    }

    /// That of an entry, if it has one.
    pub(super) fn of(self, index: usize) -> Option<Duration> {
        self.each.and_then(|each| each[index]).or(self.all)
    }
}
