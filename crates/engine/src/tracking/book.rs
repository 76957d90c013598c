//! The book of a space in one shard: its ranges, what was written into them, and which tickets are
//! open.
//!
//! 1. The ranges hold every key of the space, each once. At first there is one.
//! 2. Each range keeps the changes noted since a ticket of its own. A list that outgrows its bound is
//!    dropped: it then begins at the next ticket, and copies from before know nothing any more.
//! 3. A range that is cut keeps its changes on both sides.

use std::collections::BTreeSet;

use super::{RangeChange, RangeChanges};

/// The changes of a space in one shard, by range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TicketBook {
    next: u64,
    open: BTreeSet<u64>,
    /// Ascending; the first one starts at the empty key.
    ranges: Vec<BookRange>,
    changes_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BookRange {
    start: Vec<u8>,
    copy: Option<RangeCopy>,
    /// From this ticket on all changes are in the list.
    since: u64,
    changes: Vec<(u64, RangeChange)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RangeCopy {
    id: u128,
    settled: u64,
}

impl TicketBook {
    /// A book without changes, in which a range keeps at most so many.
    pub fn new(changes_max: usize) -> Self {
        let all = BookRange { start: Vec::new(), copy: None, since: 0, changes: Vec::new() };
        Self { next: 0, open: BTreeSet::new(), ranges: vec![all], changes_max }
    }

    /// All tickets below it have ended.
    pub fn settled(&self) -> u64 {
        self.open.first().copied().unwrap_or(self.next)
    }

    /// All tickets that were given are below it.
    pub fn noted(&self) -> u64 {
        self.next
    }

    /// Opens the ticket of a write that is about to begin.
    pub fn begin(&mut self) -> u64 {
        let ticket = self.next;
        self.next += 1;
        self.open.insert(ticket);
        ticket
    }

    /// Ends a ticket, whatever became of its write.
    pub fn end(&mut self, ticket: u64) {
        self.open.remove(&ticket);
    }

    /// Notes a key under an open ticket.
    pub fn note_key(&mut self, ticket: u64, key: &[u8]) {
        let index = self.index_of(key);
        self.ranges[index].note(ticket, RangeChange::Key(key.to_vec()), self.changes_max);
    }

    /// Notes a deletion of all keys from `start` to `end` under an open ticket.
    pub fn note_deleted(&mut self, ticket: u64, start: &[u8], end: &[u8]) {
        for index in self.met(start, end) {
            let change = RangeChange::Deleted(start.to_vec(), end.to_vec());
            self.ranges[index].note(ticket, change, self.changes_max);
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
    pub fn changes(&self, start: &[u8], id: u128, since: u64, noted: u64) -> RangeChanges {
        let range = &self.ranges[self.index_of(start)];
        let is_copy = range.start == start && range.copy.is_some_and(|copy| copy.id == id);
        match is_copy && range.since <= since {
            true => {
                let asked =
                    range.changes.iter().filter(|(ticket, _)| (since..noted).contains(ticket));
                RangeChanges::Known(asked.cloned().collect())
            }
            false => RangeChanges::Unknown,
        }
    }

    /// Has a range tracked whose rows were copied at a snapshot with this settled ticket. False,
    /// and nothing is changed, where it cannot be told what was written since, or a newer copy is
    /// there.
    pub fn track(&mut self, start: &[u8], end: &[u8], id: u128, settled: u64) -> bool {
        let is_empty = !end.is_empty() && end <= start;
        let mut met = self.ranges[self.met(start, end)].iter();
        let is_known = |range: &BookRange| {
            range.since <= settled && range.copy.is_none_or(|copy| copy.settled <= settled)
        };
        if is_empty || settled > self.next || !met.all(is_known) {
            return false;
        }
        self.cut(start);
        if !end.is_empty() {
            self.cut(end);
        }
        let met = self.met(start, end);
        let replaced = self.ranges.splice(met.clone(), []);
        let mut changes: Vec<_> = replaced.flat_map(|range| range.changes).collect();
        changes.retain(|(ticket, _)| *ticket >= settled);
        changes.sort_by_key(|(ticket, _)| *ticket);
        // A wide deletion was noted in each range that it met.
        changes.dedup();
        let copy = Some(RangeCopy { id, settled });
        let range = BookRange { start: start.to_vec(), copy, since: settled, changes };
        self.ranges.insert(met.start, range);
        true
    }

    /// The copy is gone; the changes stay for copies under way.
    pub fn untrack(&mut self, id: u128) {
        let of_id = |range: &&mut BookRange| range.copy.is_some_and(|copy| copy.id == id);
        self.ranges.iter_mut().filter(of_id).for_each(|range| range.copy = None);
    }

    fn index_of(&self, key: &[u8]) -> usize {
        self.ranges.partition_point(|range| range.start.as_slice() <= key) - 1
    }

    /// The ranges that hold keys from `start` to `end`.
    fn met(&self, start: &[u8], end: &[u8]) -> std::ops::Range<usize> {
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
        let is_before = |change: &RangeChange| match change {
            RangeChange::Key(noted) => noted.as_slice() < key,
            RangeChange::Deleted(start, _) => start.as_slice() < key,
        };
        let is_behind = |change: &RangeChange| match change {
            RangeChange::Key(noted) => noted.as_slice() >= key,
            RangeChange::Deleted(_, end) => end.is_empty() || end.as_slice() > key,
        };
        let mut behind = range.clone();
        behind.start = key.to_vec();
        behind.changes.retain(|(_, change)| is_behind(change));
        range.changes.retain(|(_, change)| is_before(change));
        self.ranges.insert(index + 1, behind);
    }
}

impl BookRange {
    fn note(&mut self, ticket: u64, change: RangeChange, changes_max: usize) {
        if self.changes.len() >= changes_max {
            // This change is not in the list either: it is complete from the next ticket on.
            self.changes.clear();
            self.since = ticket + 1;
        } else if ticket >= self.since {
            self.changes.push((ticket, change));
        }
    }
}

#[cfg(test)]
mod tests {
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
}
