//! The changes that a range keeps.

use super::RangeChange;

/// What stands before each key: its ticket and its length.
const HEAD_BYTES: usize = size_of::<u64>() + size_of::<u32>();
/// Room for the first keys. Thousands of lists have few.
const FIRST_BYTES: usize = 64;

/// Changes with their tickets. Keys lie end to end in one piece of memory: of thousands of lists most
/// are not in the cache of a core when a key comes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ChangeList {
    /// Of each key its ticket, its length and its bytes. Tickets ascend.
    keys: Vec<u8>,
    count: usize,
    /// Few lists have any.
    deleted: Option<Box<DeletedRanges>>,
}

/// Start and end of each deletion of a range, with its ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct DeletedRanges {
    ranges: Vec<(u64, Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl DeletedRanges {
    fn push(&mut self, ticket: u64, start: &[u8], end: &[u8]) {
        self.bytes += size_of::<(u64, Vec<u8>, Vec<u8>)>() + start.len() + end.len();
        self.ranges.push((ticket, start.to_vec(), end.to_vec()));
    }
}

impl ChangeList {
    pub(super) fn len(&self) -> usize {
        self.count + self.deleted().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the keys, but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        (self.count, self.deleted) = (0, None);
    }

    /// About how much memory it takes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + self.deleted.as_ref().map_or(0, |deleted| deleted.bytes)
    }

    #[inline]
    pub(super) fn push_key(&mut self, ticket: u64, key: &[u8]) {
        if self.keys.capacity() == 0 {
            self.keys.reserve_exact(FIRST_BYTES.max(HEAD_BYTES + key.len()));
        }
        self.keys.reserve(HEAD_BYTES + key.len());
        self.keys.extend_from_slice(&ticket.to_le_bytes());
        self.keys.extend_from_slice(&(key.len() as u32).to_le_bytes());
        self.keys.extend_from_slice(key);
        self.count += 1;
    }

    pub(super) fn push_deleted(&mut self, ticket: u64, start: &[u8], end: &[u8]) {
        self.deleted.get_or_insert_default().push(ticket, start, end);
    }

    /// The changes from a ticket on and before another, in the order of their tickets.
    pub(super) fn between(&self, since: u64, noted: u64) -> Vec<(u64, RangeChange)> {
        let is_asked = |ticket: u64| (since..noted).contains(&ticket);
        let keys = self.keys().filter(|(ticket, _)| is_asked(*ticket));
        let mut changes: Vec<_> =
            keys.map(|(ticket, key)| (ticket, RangeChange::Key(key.to_vec()))).collect();
        let deleted = self.deleted().iter().filter(|(ticket, ..)| is_asked(*ticket));
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
        for (ticket, start, end) in self.deleted() {
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
        for (ticket, start, end) in other.deleted().iter().filter(|(ticket, ..)| *ticket >= since) {
            self.push_deleted(*ticket, start, end);
        }
    }

    /// Puts changes of several lists in order. Each deletion stays once: a wide one was noted in each
    /// range that it met.
    pub(super) fn order(&mut self) {
        let mut ordered = Self::default();
        let mut keys: Vec<(u64, &[u8])> = self.keys().collect();
        keys.sort_by_key(|(ticket, _)| *ticket);
        keys.into_iter().for_each(|(ticket, key)| ordered.push_key(ticket, key));
        let mut deleted: Vec<_> = self.deleted().iter().collect();
        deleted.sort_unstable();
        deleted.dedup();
        for (ticket, start, end) in deleted {
            ordered.push_deleted(*ticket, start, end);
        }
        *self = ordered;
    }

    fn deleted(&self) -> &[(u64, Vec<u8>, Vec<u8>)] {
        self.deleted.as_ref().map_or(&[], |deleted| &deleted.ranges)
    }

    /// Its keys with their tickets.
    pub(super) fn keys(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut rest = self.keys.as_slice();
        std::iter::from_fn(move || {
            let (ticket, behind) = rest.split_first_chunk()?;
            let (len, behind) = behind.split_first_chunk()?;
            let (key, behind) = behind.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            rest = behind;
            Some((u64::from_le_bytes(*ticket), key))
        })
    }
}
