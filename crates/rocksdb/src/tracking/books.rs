//! The books of a shard: what is written into each followed space.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tonnage_engine::sync::lock;
use tonnage_engine::{RangeChanges, ShardId, SpaceId, TicketBook, TrackedRange};

use super::notes::{ChangeNotes, NotedRange, WideChange};
use crate::changes::SpaceSet;

/// Changes that a range keeps.
const CHANGES_MAX: usize = 65_536;

/// The books of a shard.
#[derive(Debug)]
pub(crate) struct ChangeBooks {
    shard: ShardId,
    /// The spaces that have a book. A book is created while the gate is held alone, so a holder of
    /// the gate reads what is right without any order of its own.
    followed: AtomicU64,
    books: Mutex<Books>,
}

#[derive(Debug)]
struct Books {
    by_space: BTreeMap<SpaceId, SpaceBook>,
    /// Of the lists of all books.
    bytes: usize,
    bytes_max: usize,
}

#[derive(Debug)]
struct SpaceBook {
    book: TicketBook,
    /// As of the last change of them; built when a snapshot asks.
    ranges: Option<Arc<Vec<TrackedRange>>>,
}

/// What a snapshot finds of a space.
#[derive(Debug)]
pub(super) struct FoundBook {
    pub(super) ranges: Arc<Vec<TrackedRange>>,
    pub(super) settled: u64,
    pub(super) noted: u64,
}

/// A write whose changes are noted, until it has ended.
pub(crate) struct NotedWrite<'a> {
    books: &'a ChangeBooks,
    /// One for each of its spaces that is followed.
    tickets: Vec<(SpaceId, u64)>,
}

impl ChangeBooks {
    /// No books; the lists of those to come take about so many bytes at most.
    pub(crate) fn new(shard: ShardId, bytes_max: usize) -> Self {
        let books = Books { by_space: BTreeMap::new(), bytes: 0, bytes_max };
        Self { shard, followed: AtomicU64::new(0), books: Mutex::new(books) }
    }

    /// The spaces that are followed, or share a counter with one that is.
    #[inline]
    pub(crate) fn followed(&self) -> SpaceSet {
        SpaceSet::from_bits(self.followed.load(Ordering::Relaxed))
    }

    pub(super) fn is_following(&self, space: SpaceId) -> bool {
        lock(&self.books).by_space.contains_key(&space)
    }

    /// Begins a book. The caller holds the gate alone.
    pub(super) fn follow(&self, space: SpaceId) {
        let mut books = lock(&self.books);
        if let Entry::Vacant(vacant) = books.by_space.entry(space) {
            vacant.insert(SpaceBook { book: TicketBook::new(CHANGES_MAX), ranges: None });
        }
        self.publish(&books);
    }

    /// Ends the book of a space that is gone.
    pub(crate) fn forget(&self, space: SpaceId) {
        let mut books = lock(&self.books);
        if let Some(gone) = books.by_space.remove(&space) {
            books.bytes -= gone.book.bytes();
        }
        self.publish(&books);
    }

    fn publish(&self, books: &Books) {
        let mut followed = SpaceSet::default();
        books.by_space.keys().for_each(|space| followed.add_space(*space));
        self.followed.store(followed.bits(), Ordering::Relaxed);
    }

    /// Notes what a write is about to change, as far as it is followed.
    #[inline]
    pub(crate) fn note(&self, notes: &ChangeNotes) -> Option<NotedWrite<'_>> {
        (!notes.is_empty()).then(|| self.note_followed(notes))
    }

    fn note_followed(&self, notes: &ChangeNotes) -> NotedWrite<'_> {
        let mut books = lock(&self.books);
        let mut tickets = Vec::new();
        for key in notes.keys.iter() {
            let Some((space, key)) = split(key) else { continue };
            books.note(space, &mut tickets, |book, ticket| book.note_key(ticket, key));
        }
        for range in &notes.ranges {
            books.note_range(range, &mut tickets);
        }
        books.keep_bound();
        NotedWrite { books: self, tickets }
    }

    /// The ranges of all books, and which of their tickets are settled.
    pub(super) fn find(&self) -> BTreeMap<SpaceId, FoundBook> {
        let mut books = lock(&self.books);
        let found = books.by_space.iter_mut().map(|(space, book)| {
            let (settled, noted) = (book.book.settled(), book.book.noted());
            (*space, FoundBook { ranges: book.ranges(self.shard), settled, noted })
        });
        found.collect()
    }

    /// Has what was found know up to which ticket changes are noted now.
    pub(super) fn complete(&self, found: &mut BTreeMap<SpaceId, FoundBook>) {
        let books = lock(&self.books);
        for (space, found) in found {
            // That of a space that was dropped meanwhile is not asked for any more.
            if let Some(book) = books.by_space.get(space) {
                found.noted = book.book.noted();
            }
        }
    }

    pub(super) fn changes(
        &self,
        space: SpaceId,
        (start, id): (&[u8], u128),
        (since, noted): (u64, u64),
    ) -> RangeChanges {
        let mut books = lock(&self.books);
        let Some(SpaceBook { book, .. }) = books.by_space.get_mut(&space) else {
            return RangeChanges::Unknown;
        };
        let before = book.bytes();
        let changes = book.changes(start, id, since, noted);
        // A list may have become too long, or have begun later than a key of it was noted.
        let after = book.bytes();
        books.bytes = books.bytes + after - before;
        changes
    }

    /// Has a range tracked that was copied at a snapshot with this settled ticket.
    pub(crate) fn track(&self, space: SpaceId, range: &TrackedRange, settled: u64) -> bool {
        let Some(id) = range.id else { return false };
        let mut books = lock(&self.books);
        let Some(book) = books.by_space.get_mut(&space) else { return false };
        let before = book.book.bytes();
        let is_tracked = book.book.track(&range.start, &range.end, id, settled);
        if is_tracked {
            book.ranges = None;
        }
        let after = book.book.bytes();
        books.bytes = books.bytes + after - before;
        is_tracked
    }

    /// The copy is gone.
    pub(crate) fn untrack(&self, space: SpaceId, id: u128) {
        if let Some(book) = lock(&self.books).by_space.get_mut(&space) {
            book.book.untrack(id);
            book.ranges = None;
        }
    }
}

impl Books {
    /// Notes something under the ticket that the write has for the space, if that is followed.
    fn note(
        &mut self,
        space: SpaceId,
        tickets: &mut Vec<(SpaceId, u64)>,
        note: impl FnOnce(&mut TicketBook, u64),
    ) {
        let Some(SpaceBook { book, .. }) = self.by_space.get_mut(&space) else { return };
        let known = tickets.iter().find(|(known, _)| *known == space).map(|(_, ticket)| *ticket);
        let ticket = known.unwrap_or_else(|| {
            let ticket = book.begin();
            tickets.push((space, ticket));
            ticket
        });
        let before = book.bytes();
        note(book, ticket);
        self.bytes = self.bytes + book.bytes() - before;
    }

    fn note_range(&mut self, range: &NotedRange, tickets: &mut Vec<(SpaceId, u64)>) {
        let (Some((first, start)), Some((last, end))) = (split(&range.start), split(&range.end))
        else {
            return;
        };
        let met: Vec<SpaceId> =
            self.by_space.range(first..=last).map(|(space, _)| *space).collect();
        for space in met {
            // It ends before the first key of the last space.
            if space == last && end.is_empty() {
                continue;
            }
            let start = if space == first { start } else { &[] };
            let end = if space == last { end } else { &[] };
            self.note(space, tickets, |book, ticket| match range.change {
                WideChange::Deleted => book.note_deleted(ticket, start, end),
                WideChange::Lost => book.lose(start, end),
            });
        }
    }

    /// Drops the longest lists while all together take too much memory.
    fn keep_bound(&mut self) {
        while self.bytes > self.bytes_max {
            let largest = self.by_space.values_mut().max_by_key(|book| book.book.bytes());
            let Some(SpaceBook { book, .. }) = largest else { return };
            let before = book.bytes();
            book.forget_longest();
            self.bytes = self.bytes + book.bytes() - before;
        }
    }
}

impl SpaceBook {
    fn ranges(&mut self, shard: ShardId) -> Arc<Vec<TrackedRange>> {
        let book = &self.book;
        let ranges = self.ranges.get_or_insert_with(|| {
            let ranges = book.ranges().map(|(start, end, id)| TrackedRange {
                shard,
                start: start.to_vec(),
                end: end.to_vec(),
                id,
            });
            Arc::new(ranges.collect())
        });
        Arc::clone(ranges)
    }
}

impl Drop for NotedWrite<'_> {
    fn drop(&mut self) {
        let mut books = lock(&self.books.books);
        for (space, ticket) in &self.tickets {
            if let Some(book) = books.by_space.get_mut(space) {
                book.book.end(*ticket);
            }
        }
    }
}

/// The space of a physical key, and the key in it.
fn split(physical: &[u8]) -> Option<(SpaceId, &[u8])> {
    let (space, key) = physical.split_first_chunk()?;
    Some((SpaceId(u32::from_be_bytes(*space)), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: SpaceId = SpaceId(7);

    fn physical(space: u32, key: &[u8]) -> Vec<u8> {
        [&space.to_be_bytes(), key].concat()
    }

    fn note(books: &ChangeBooks, keys: &[&[u8]]) {
        let mut notes = ChangeNotes::of_followed(books.followed());
        keys.iter().for_each(|key| notes.add_key(&physical(SPACE.0, key)));
        drop(books.note(&notes));
    }

    fn known(books: &ChangeBooks, space: SpaceId, id: u128) -> bool {
        let changes = books.changes(space, (b"", id), (0, u64::MAX));
        matches!(changes, RangeChanges::Known(_))
    }

    fn whole(id: u128) -> TrackedRange {
        TrackedRange { shard: ShardId(0), start: Vec::new(), end: Vec::new(), id: Some(id) }
    }

    /// A space in the same slot shares the bit, and has no book.
    #[test]
    fn only_a_followed_space_is_noted() {
        let books = ChangeBooks::new(ShardId(0), usize::MAX);
        note(&books, &[b"before"]);
        books.follow(SPACE);
        let mut notes = ChangeNotes::of_followed(books.followed());
        for space in [SPACE.0, SPACE.0 + 1, SPACE.0 + 64] {
            notes.add_key(&physical(space, b"a"));
        }
        let noted = books.note(&notes).unwrap();
        assert_eq!(noted.tickets, [(SPACE, 0)]);
        assert_eq!((books.find()[&SPACE].settled, books.find()[&SPACE].noted), (0, 1));
        drop(noted);
        assert_eq!(books.find()[&SPACE].settled, 1);
        books.forget(SPACE);
        assert!(books.followed().is_empty());
    }

    #[test]
    fn a_range_meets_each_followed_space_that_it_reaches_into() {
        let books = ChangeBooks::new(ShardId(0), usize::MAX);
        let spaces = [5, 6, 7, 8].map(SpaceId);
        for space in spaces {
            books.follow(space);
            assert!(books.track(space, &whole(1), 0));
        }
        let mut notes = ChangeNotes::of_followed(books.followed());
        notes.add_lost(&physical(6, b"x"), &physical(8, b""));
        drop(books.note(&notes));
        assert_eq!(spaces.map(|space| known(&books, space, 1)), [true, false, false, true]);
        notes.add_lost(&physical(8, b""), &physical(8, b"a"));
        drop(books.note(&notes));
        assert!(!known(&books, SpaceId(8), 1));
    }

    #[test]
    fn all_lists_together_keep_a_bound() {
        let books = ChangeBooks::new(ShardId(0), 10_000);
        for space in [SPACE, SpaceId(8)] {
            books.follow(space);
            assert!(books.track(space, &whole(1), 0));
        }
        let long = [b'k'; 100];
        let mut notes = ChangeNotes::of_followed(books.followed());
        notes.add_key(&physical(8, b"short"));
        drop(books.note(&notes));
        for _ in 0..500 {
            note(&books, &[&long]);
            assert!(lock(&books.books).bytes <= 10_000);
        }
        assert!(!known(&books, SPACE, 1), "the longest list goes");
        assert!(known(&books, SpaceId(8), 1), "others stay");
        books.forget(SPACE);
        books.forget(SpaceId(8));
        assert_eq!(lock(&books.books).bytes, 0);
    }
}
