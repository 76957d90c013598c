//! The changes that a range keeps.

use super::RangeChange;
use crate::Slices;

/// Changes with their tickets. Keys lie end to end, so that noting one allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ChangeList {
    /// One for each key, ascending: what is new lies at the end.
    tickets: Vec<u64>,
    keys: Slices,
    /// Start and end of each deletion of a range.
    deleted: Vec<(u64, Vec<u8>, Vec<u8>)>,
    deleted_bytes: usize,
}

/// What a key takes in memory beside its bytes: its ticket and its end.
const KEY_BYTES: usize = size_of::<u64>() + size_of::<usize>();

/// What a deletion takes in memory.
fn cost(start: &[u8], end: &[u8]) -> usize {
    size_of::<(u64, Vec<u8>, Vec<u8>)>() + start.len() + end.len()
}

impl ChangeList {
    pub(super) fn len(&self) -> usize {
        self.tickets.len() + self.deleted.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the keys, but keeps their memory.
    pub(super) fn clear(&mut self) {
        *self = Self {
            tickets: std::mem::take(&mut self.tickets),
            keys: std::mem::take(&mut self.keys),
            ..Self::default()
        };
        self.tickets.clear();
        self.keys.clear();
    }

    /// About how much memory it takes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.keys.bytes() + self.tickets.len() * KEY_BYTES + self.deleted_bytes
    }

    #[inline]
    pub(super) fn push_key(&mut self, ticket: u64, key: &[u8]) {
        self.tickets.push(ticket);
        self.keys.push(key);
    }

    pub(super) fn push_deleted(&mut self, ticket: u64, start: &[u8], end: &[u8]) {
        self.deleted_bytes += cost(start, end);
        self.deleted.push((ticket, start.to_vec(), end.to_vec()));
    }

    /// The changes from a ticket on and before another, in the order of their tickets.
    pub(super) fn between(&self, since: u64, noted: u64) -> Vec<(u64, RangeChange)> {
        let is_asked = |ticket: u64| (since..noted).contains(&ticket);
        let place = |ticket: u64| self.tickets.partition_point(|known| *known < ticket);
        let keys = (place(since)..place(noted))
            .map(|index| (self.tickets[index], RangeChange::Key(self.keys.get(index).to_vec())));
        let mut changes: Vec<_> = keys.collect();
        let deleted = self.deleted.iter().filter(|(ticket, ..)| is_asked(*ticket));
        changes.extend(deleted.map(|(ticket, start, end)| {
            (*ticket, RangeChange::Deleted(start.clone(), end.clone()))
        }));
        changes.sort_by_key(|(ticket, _)| *ticket);
        changes
    }

    /// Takes out what concerns the keys from `key` on. A deletion that reaches over it stays on
    /// both sides.
    pub(super) fn cut_off(&mut self, key: &[u8]) -> Self {
        let (mut before, mut behind) = (Self::default(), Self::default());
        for (ticket, noted) in self.keys() {
            let side = if noted < key { &mut before } else { &mut behind };
            side.push_key(ticket, noted);
        }
        for (ticket, start, end) in &self.deleted {
            if start.as_slice() < key {
                before.push_deleted(*ticket, start, end);
            }
            if end.is_empty() || end.as_slice() > key {
                behind.push_deleted(*ticket, start, end);
            }
        }
        *self = before;
        behind
    }

    /// Takes in the changes of another list from a ticket on. [`ChangeList::order`] follows.
    pub(super) fn take_in(&mut self, other: &Self, since: u64) {
        for (ticket, key) in other.keys().filter(|(ticket, _)| *ticket >= since) {
            self.push_key(ticket, key);
        }
        for (ticket, start, end) in other.deleted.iter().filter(|(ticket, ..)| *ticket >= since) {
            self.push_deleted(*ticket, start, end);
        }
    }

    /// Puts changes of several lists in order. Each deletion stays once: a wide one was noted in each
    /// range that it met.
    pub(super) fn order(&mut self) {
        if !self.tickets.is_sorted() {
            let mut order: Vec<usize> = (0..self.tickets.len()).collect();
            order.sort_by_key(|index| self.tickets[*index]);
            self.keys = order.iter().map(|index| self.keys.get(*index)).collect();
            self.tickets.sort_unstable();
        }
        self.deleted.sort_unstable();
        self.deleted.dedup();
        self.deleted_bytes = self.deleted.iter().map(|(_, start, end)| cost(start, end)).sum();
    }

    /// Its keys with their tickets.
    pub(super) fn keys(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.tickets.iter().copied().zip(self.keys.iter())
    }
}
