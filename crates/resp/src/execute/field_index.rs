//! Finds the fields of a large hash: a table of their numbers, by the hashes of their names.

use std::hash::{BuildHasher, RandomState};

const FREE: u32 = u32::MAX;

/// The numbers of fields by their names.
#[derive(Debug, Default)]
pub(super) struct FieldIndex {
    /// As many as a power of two, and at most half of them taken, so that there is always a free
    /// one to end at. None, until the table is built.
    slots: Vec<u32>,
    taken: usize,
    hasher: RandomState,
}

impl FieldIndex {
    pub(super) fn is_made(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Forgets the table.
    pub(super) fn clear(&mut self) {
        self.slots = Vec::new();
        self.taken = 0;
    }

    /// Whether there is room for one more.
    pub(super) fn has_room(&self) -> bool {
        2 * (self.taken + 1) <= self.slots.len()
    }

    /// An empty table for so many, and as many again.
    pub(super) fn make(&mut self, count: usize) {
        self.slots.clear();
        self.slots.resize((4 * count + 4).next_power_of_two(), FREE);
        self.taken = 0;
    }

    /// The slots where a name may be, one after another.
    fn probe(&self, name: &[u8]) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().saturating_sub(1);
        let first = self.hasher.hash_one(name) as usize;
        (0..self.slots.len()).map(move |step| first.wrapping_add(step) & mask)
    }

    /// The number whose name is the one wanted, as `is_it` says.
    pub(super) fn find(&self, name: &[u8], is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let numbers = self.probe(name).map(|slot| self.slots[slot]);
        numbers.take_while(|number| *number != FREE).find(|number| is_it(*number))
    }

    /// Adds a number under a name. The caller sees that there is room.
    pub(super) fn add(&mut self, name: &[u8], number: u32) {
        let free = self.probe(name).find(|slot| self.slots[*slot] == FREE);
        if let Some(slot) = free {
            self.slots[slot] = number;
            self.taken += 1;
        }
    }
}
