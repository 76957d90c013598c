//! The book of a space in one shard: its ranges, what was written into them, and which tickets are
//! open.
//!
//! 1. The ranges hold every key of the space, each once. At first there is one.
//! 2. A key is noted at the end of a journal, whatever range it belongs to: that costs the same with
//!    one range and with thousands. Whoever asks for changes has the journal sorted into the lists of
//!    the ranges first; so does the key that fills it.
//! 3. Each range keeps the changes noted since a ticket of its own. A list that outgrows its bound is
//!    dropped: it then begins at the next ticket, and copies from before know nothing any more.
//! 4. A range that is cut keeps its changes on both sides.

use std::ops::Range;

use super::RangeChanges;
use super::change_list::ChangeList;
use super::range_starts::RangeStarts;

/// A journal of so many keys, or of so many bytes, is sorted into the lists. That takes less than a
/// millisecond, for which writers wait.
const JOURNAL_KEYS_MAX: usize = 4_096;
const JOURNAL_BYTES_MAX: usize = 256 << 10;

/// The changes of a space in one shard, by range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TicketBook {
    next: u64,
    /// Ascending: there are as many as writers, and the last ones end first as often as others.
    open: Vec<u64>,
    /// Ascending; the first one starts at the empty key.
    ranges: Vec<BookRange>,
    /// Of these ranges, once the journal was sorted by them.
    starts: Option<RangeStarts>,
    /// Keys that are in no list yet.
    journal: ChangeList,
    changes_max: usize,
    /// Of all lists together.
    listed_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BookRange {
    start: Vec<u8>,
    copy: Option<RangeCopy>,
    /// From this ticket on all changes are in the list.
    since: u64,
    changes: ChangeList,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RangeCopy {
    id: u128,
    settled: u64,
}

impl TicketBook {
    /// A book without changes, in which a range keeps at most so many.
    pub fn new(changes_max: usize) -> Self {
        let changes = ChangeList::default();
        let all = BookRange { start: Vec::new(), copy: None, since: 0, changes };
        Self {
            next: 0,
            open: Vec::new(),
            ranges: vec![all],
            starts: None,
            journal: ChangeList::default(),
            changes_max,
            listed_bytes: 0,
        }
    }

    /// All tickets below it have ended.
    pub fn settled(&self) -> u64 {
        self.open.first().copied().unwrap_or(self.next)
    }

    /// All tickets that were given are below it.
    pub fn noted(&self) -> u64 {
        self.next
    }

    /// About how much memory the changes take.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.listed_bytes + self.journal.bytes()
    }

    /// Opens the ticket of a write that is about to begin.
    pub fn begin(&mut self) -> u64 {
        let ticket = self.next;
        self.next += 1;
        self.open.push(ticket);
        ticket
    }

    /// Ends a ticket, whatever became of its write.
    pub fn end(&mut self, ticket: u64) {
        if let Ok(place) = self.open.binary_search(&ticket) {
            self.open.remove(place);
        }
    }

    /// Notes a key under an open ticket.
    #[inline]
    pub fn note_key(&mut self, ticket: u64, key: &[u8]) {
        self.journal.push_key(ticket, key);
        if self.journal.len() >= JOURNAL_KEYS_MAX || self.journal.bytes() >= JOURNAL_BYTES_MAX {
            self.sort_journal();
        }
    }

    /// Notes a deletion of all keys from `start` to `end` under an open ticket.
    pub fn note_deleted(&mut self, ticket: u64, start: &[u8], end: &[u8]) {
        for index in self.met(start, end) {
            self.note(index, ticket, |changes| changes.push_deleted(ticket, start, end));
        }
    }

    /// Says that rows from `start` to `end` are written that nobody can name, while a ticket is
    /// open for them: copies from before that has ended know nothing any more.
    pub fn lose(&mut self, start: &[u8], end: &[u8]) {
        self.met(start, end).for_each(|index| self.forget(index));
    }

    /// Drops the longest list, for the memory that it takes.
    pub fn forget_longest(&mut self) {
        self.sort_journal();
        let lengths = self.ranges.iter().map(|range| range.changes.bytes()).enumerate();
        if let Some((index, _)) = lengths.max_by_key(|(_, bytes)| *bytes) {
            self.forget(index);
        }
    }

    /// The ranges in order: start, end, and the id of the copy.
    pub fn ranges(&self) -> impl Iterator<Item = (&[u8], &[u8], Option<u128>)> {
        let ends = self.ranges.iter().skip(1).map(|range| range.start.as_slice());
        self.ranges
            .iter()
            .zip(ends.chain([&[][..]]))
            .map(|(range, end)| (range.start.as_slice(), end, range.copy.map(|copy| copy.id)))
    }

    /// What was noted of the copy of the range at `start` from `since` on, below `noted`.
    pub fn changes(&mut self, start: &[u8], id: u128, since: u64, noted: u64) -> RangeChanges {
        self.sort_journal();
        let range = &self.ranges[self.index_of(start)];
        let is_copy = range.start == start && range.copy.is_some_and(|copy| copy.id == id);
        match is_copy && range.since <= since {
            true => RangeChanges::Known(range.changes.between(since, noted)),
            false => RangeChanges::Unknown,
        }
    }

    /// Has a range tracked whose rows were copied at a snapshot with this settled ticket. False,
    /// and nothing is changed, where it cannot be told what was written since, or a newer copy is
    /// there.
    pub fn track(&mut self, start: &[u8], end: &[u8], id: u128, settled: u64) -> bool {
        // First: a list that this makes too long is not known any more.
        self.sort_journal();
        let is_empty = !end.is_empty() && end <= start;
        let met = self.met(start, end);
        let is_known = |range: &BookRange| {
            range.since <= settled && range.copy.is_none_or(|copy| copy.settled <= settled)
        };
        if is_empty || settled > self.next || !self.ranges[met.clone()].iter().all(is_known) {
            return false;
        }
        // What is left of the ranges at both ends changes its size, too.
        let (first, behind) = (met.start, self.ranges.len() - met.end);
        self.listed_bytes -= self.listed_bytes_of(met);
        self.cut(start);
        if !end.is_empty() {
            self.cut(end);
        }
        let met = self.met(start, end);
        let mut changes = ChangeList::default();
        for replaced in self.ranges.splice(met.clone(), []) {
            changes.take_in(&replaced.changes, settled);
        }
        changes.order();
        let copy = Some(RangeCopy { id, settled });
        let range = BookRange { start: start.to_vec(), copy, since: settled, changes };
        self.ranges.insert(met.start, range);
        self.listed_bytes += self.listed_bytes_of(first..self.ranges.len() - behind);
        self.starts = None;
        true
    }

    /// The copy is gone; the changes stay for copies under way.
    pub fn untrack(&mut self, id: u128) {
        let of_id = |range: &&mut BookRange| range.copy.is_some_and(|copy| copy.id == id);
        self.ranges.iter_mut().filter(of_id).for_each(|range| range.copy = None);
    }

    /// Sorts the keys of the journal into the lists of their ranges.
    fn sort_journal(&mut self) {
        if self.journal.is_empty() {
            return;
        }
        let starts = self.starts.take().unwrap_or_else(|| {
            RangeStarts::new(self.ranges[1..].iter().map(|range| range.start.as_slice()))
        });
        let mut journal = std::mem::take(&mut self.journal);
        for (ticket, key) in journal.keys() {
            let index = starts.place_of(key, |place| &self.ranges[place].start);
            self.note(index, ticket, |changes| changes.push_key(ticket, key));
        }
        // Emptied and put back: its memory serves the next keys.
        journal.clear();
        (self.journal, self.starts) = (journal, Some(starts));
    }

    /// Adds to the list of a range, unless that is full, or begins later.
    fn note(&mut self, index: usize, ticket: u64, push: impl FnOnce(&mut ChangeList)) {
        let range = &mut self.ranges[index];
        if ticket < range.since {
            return;
        }
        if range.changes.len() >= self.changes_max {
            // This change is not in the list either.
            self.forget(index);
        } else {
            let before = range.changes.bytes();
            push(&mut range.changes);
            self.listed_bytes += range.changes.bytes() - before;
        }
    }

    fn listed_bytes_of(&self, ranges: Range<usize>) -> usize {
        self.ranges[ranges].iter().map(|range| range.changes.bytes()).sum()
    }

    /// Drops the list of a range. It is complete from the next ticket on: those that are given
    /// already may have been in it.
    fn forget(&mut self, index: usize) {
        let range = &mut self.ranges[index];
        self.listed_bytes -= range.changes.bytes();
        range.changes = ChangeList::default();
        range.since = self.next;
    }

    fn index_of(&self, key: &[u8]) -> usize {
        self.ranges.partition_point(|range| range.start.as_slice() <= key) - 1
    }

    /// The ranges that hold keys from `start` to `end`.
    fn met(&self, start: &[u8], end: &[u8]) -> Range<usize> {
        let first = self.index_of(start);
        let behind = match end.is_empty() {
            true => self.ranges.len(),
            false => self.ranges.partition_point(|range| range.start.as_slice() < end),
        };
        first..behind.max(first)
    }

    /// Makes a range begin at a key. The copy of a range that is cut in two is gone.
    fn cut(&mut self, key: &[u8]) {
        let index = self.index_of(key);
        let range = &mut self.ranges[index];
        if range.start == key {
            return;
        }
        range.copy = None;
        let changes = range.changes.cut_off(key);
        let behind = BookRange { start: key.to_vec(), copy: None, since: range.since, changes };
        self.ranges.insert(index + 1, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::super::RangeChange;
    use super::*;

    fn write(book: &mut TicketBook, key: &[u8]) -> u64 {
        let ticket = book.begin();
        book.note_key(ticket, key);
        book.end(ticket);
        ticket
    }

    fn key(ticket: u64, key: &[u8]) -> (u64, RangeChange) {
        (ticket, RangeChange::Key(key.to_vec()))
    }

    #[test]
    fn an_open_ticket_holds_back_what_is_settled() {
        let mut book = TicketBook::new(8);
        let (first, second) = (book.begin(), book.begin());
        book.end(second);
        assert_eq!((book.settled(), book.noted()), (first, 2));
        book.end(first);
        assert_eq!((book.settled(), book.noted()), (2, 2));
    }

    #[test]
    fn a_range_is_cut_out_with_the_changes_since_its_snapshot() {
        let mut book = TicketBook::new(8);
        write(&mut book, b"d");
        let settled = book.settled();
        let tickets = [b"a", b"c", b"f"].map(|name| write(&mut book, name));
        assert!(book.track(b"b", b"e", 7, settled));
        let ranges: Vec<_> = book.ranges().collect();
        let expected: [(&[u8], &[u8], _); 3] =
            [(b"", b"b", None), (b"b", b"e", Some(7)), (b"e", b"", None)];
        assert_eq!(ranges, expected);
        let changes = book.changes(b"b", 7, settled, book.noted());
        assert_eq!(changes, RangeChanges::Known(vec![key(tickets[1], b"c")]));
        assert!(!book.track(b"a", b"z", 8, settled - 1), "a newer copy is there");
        assert!(book.track(b"", b"", 9, settled), "one copy of all");
        let all = RangeChanges::Known(
            [b"a", b"c", b"f"].iter().zip(tickets).map(|(name, t)| key(t, *name)).collect(),
        );
        assert_eq!(book.changes(b"", 9, settled, book.noted()), all);
        assert_eq!(book.changes(b"b", 7, settled, book.noted()), RangeChanges::Unknown);
    }

    #[test]
    fn a_wide_deletion_is_known_to_each_range_that_it_meets() {
        let mut book = TicketBook::new(8);
        assert!(book.track(b"", b"m", 1, 0) && book.track(b"m", b"", 2, 0));
        let ticket = book.begin();
        book.note_deleted(ticket, b"k", b"p");
        let deleted = (ticket, RangeChange::Deleted(b"k".to_vec(), b"p".to_vec()));
        for (start, id) in [(&b""[..], 1), (b"m", 2)] {
            assert_eq!(book.changes(start, id, 0, 1), RangeChanges::Known(vec![deleted.clone()]));
        }
        assert!(book.track(b"", b"", 3, 0));
        assert_eq!(book.changes(b"", 3, 0, 1), RangeChanges::Known(vec![deleted]));
    }

    #[test]
    fn a_list_that_outgrows_its_bound_is_forgotten_until_a_newer_copy() {
        let mut book = TicketBook::new(2);
        assert!(book.track(b"", b"", 1, 0));
        let tickets: Vec<u64> = (0..3).map(|_| write(&mut book, b"a")).collect();
        assert_eq!(tickets, [0, 1, 2]);
        assert_eq!(book.changes(b"", 1, 0, book.noted()), RangeChanges::Unknown);
        assert!(!book.track(b"", b"", 2, 2), "a change since then is lost");
        assert!(book.track(b"", b"", 2, book.settled()));
        let ticket = write(&mut book, b"b");
        let known = RangeChanges::Known(vec![key(ticket, b"b")]);
        assert_eq!(book.changes(b"", 2, ticket, book.noted()), known);
    }

    #[test]
    fn copies_from_before_rows_that_nobody_can_name_know_nothing() {
        let mut book = TicketBook::new(8);
        assert!(book.track(b"", b"m", 1, 0) && book.track(b"m", b"", 2, 0));
        let loading = book.begin();
        book.lose(b"c", b"f");
        let during = book.settled();
        assert_eq!(book.changes(b"", 1, 0, book.noted()), RangeChanges::Unknown);
        assert_eq!(book.changes(b"m", 2, 0, book.noted()), RangeChanges::Known(Vec::new()));
        assert!(!book.track(b"", b"m", 3, during), "its rows may show or not");
        book.end(loading);
        assert!(book.track(b"", b"m", 3, book.settled()));
    }

    #[test]
    fn the_longest_list_goes_first() {
        let mut book = TicketBook::new(100);
        assert!(book.track(b"", b"m", 1, 0) && book.track(b"m", b"", 2, 0));
        for name in [b"a", b"n", b"o"] {
            write(&mut book, name);
        }
        let all = book.bytes();
        book.forget_longest();
        assert!(book.bytes() > 0 && book.bytes() < all);
        assert_eq!(book.changes(b"", 1, 0, 3), RangeChanges::Known(vec![key(0, b"a")]));
        assert_eq!(book.changes(b"m", 2, 0, 3), RangeChanges::Unknown);
        book.forget_longest();
        assert_eq!(book.bytes(), 0);
    }

    #[test]
    fn the_memory_of_lists_that_are_cut_and_joined_is_that_of_their_changes() {
        let mut book = TicketBook::new(100);
        for name in [b"a", b"k", b"n"] {
            write(&mut book, name);
        }
        let ticket = book.begin();
        book.note_deleted(ticket, b"b", b"p");
        let before = book.bytes();
        assert!(book.track(b"k", b"m", 1, 0));
        // The deletion meets all three ranges.
        assert!(book.bytes() > before);
        assert!(book.track(b"", b"", 2, 0));
        assert_eq!(book.bytes(), before);
        assert!(book.track(b"", b"", 3, ticket));
        assert!(book.bytes() < before, "what the copy has is not kept");
    }
}
