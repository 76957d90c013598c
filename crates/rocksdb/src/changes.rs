//! Counts the writes of each space, so that a reader can tell that nothing changed.
//!
//! Every write counts itself in before RocksDB sees it, and out once its rows can be read.
//!
//! - If as many are out as are in, no write is under way.
//! - If that number is still the same later, no write began in between.
//!
//! Spaces share [`SLOTS`] counters. So a space may seem to change because another does, and never
//! the other way round.

use std::sync::atomic::{AtomicU64, Ordering};

use tonnage_engine::SpaceId;

/// One for each bit of a [`SpaceSet`].
const SLOTS: usize = u64::BITS as usize;

/// The spaces of a write that have counters of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpaceSet(u64);

impl SpaceSet {
    /// Adds the space of a physical key: its first four bytes, of which the last one decides.
    #[inline]
    pub(crate) fn add_key(&mut self, physical: &[u8]) {
        self.0 |= 1 << (usize::from(physical[3]) % SLOTS);
    }

    /// Adds a space.
    pub(crate) fn add_space(&mut self, space: SpaceId) {
        self.0 |= 1 << (space.0 as usize % SLOTS);
    }

    /// The set for [`bits`](Self::bits).
    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The set as a number.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// Whether it has the space of a physical key, or one that shares its counter.
    #[inline]
    pub(crate) fn has_key(self, physical: &[u8]) -> bool {
        self.0 >> (usize::from(physical[3]) % SLOTS) & 1 == 1
    }

    /// The spaces that are in both.
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The space of a physical key.
    pub(crate) fn of_key(physical: &[u8]) -> Self {
        let mut set = Self::default();
        set.add_key(physical);
        set
    }

    /// The spaces of both.
    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn slots(self) -> impl Iterator<Item = usize> {
        (0..SLOTS).filter(move |slot| self.0 >> slot & 1 == 1)
    }
}

/// The counters of a shard.
#[derive(Debug)]
pub(crate) struct ChangeCounters {
    slots: [ChangeCounter; SLOTS],
}

#[derive(Debug, Default)]
struct ChangeCounter {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Default for ChangeCounters {
    fn default() -> Self {
        Self { slots: std::array::from_fn(|_| ChangeCounter::default()) }
    }
}

impl ChangeCounters {
    /// Counts a write in. Its rows can be read, or never will be, when the answer is dropped.
    pub(crate) fn begin(&self, spaces: SpaceSet) -> ChangeUnderWay<'_> {
        spaces.slots().for_each(|slot| {
            self.slots[slot].begun.fetch_add(1, Ordering::SeqCst);
        });
        ChangeUnderWay { counters: self, spaces }
    }

    /// How many writes of a space there were; nothing while one is under way.
    pub(crate) fn count(&self, space: SpaceId) -> Option<u64> {
        let counter = &self.slots[space.0 as usize % SLOTS];
        // In this order: whatever had begun by the second look had ended by the first.
        let ended = counter.ended.load(Ordering::SeqCst);
        let begun = counter.begun.load(Ordering::SeqCst);
        (begun == ended).then_some(begun)
    }

    /// How many writes were counted out, of all spaces.
    pub(crate) fn ended(&self) -> u64 {
        self.slots.iter().map(|slot| slot.ended.load(Ordering::SeqCst)).sum()
    }
}

/// A write that is counted in and not yet out.
pub(crate) struct ChangeUnderWay<'a> {
    counters: &'a ChangeCounters,
    spaces: SpaceSet,
}

impl Drop for ChangeUnderWay<'_> {
    fn drop(&mut self) {
        self.spaces.slots().for_each(|slot| {
            self.counters.slots[slot].ended.fetch_add(1, Ordering::SeqCst);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(space: u32) -> SpaceSet {
        SpaceSet::of_key(&space.to_be_bytes())
    }

    #[test]
    fn a_write_under_way_hides_the_count_of_its_spaces_alone() {
        let counters = ChangeCounters::default();
        let under_way = counters.begin(set(3).union(set(4)));
        assert_eq!([3, 4, 5].map(|space| counters.count(SpaceId(space))), [None, None, Some(0)]);
        drop(under_way);
        assert_eq!(
            [3, 4, 5].map(|space| counters.count(SpaceId(space))),
            [Some(1), Some(1), Some(0)]
        );
    }

    #[test]
    fn a_space_of_any_number_has_the_counter_of_its_keys() {
        let counters = ChangeCounters::default();
        for space in [0, 63, 64, 255, 256, 1 << 20, u32::MAX - 1] {
            let mut by_number = SpaceSet::default();
            by_number.add_space(SpaceId(space));
            assert_eq!(by_number, set(space));
            assert!(by_number.has_key(&space.to_be_bytes()));
            assert!(!by_number.has_key(&(space + 1).to_be_bytes()));
            let before = counters.count(SpaceId(space)).unwrap();
            drop(counters.begin(set(space)));
            assert_eq!(counters.count(SpaceId(space)), Some(before + 1), "space {space}");
        }
    }
}
