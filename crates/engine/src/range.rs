//! Ranges of keys.

use crate::{Cuts, KeyShape, Result, Slices};

/// Half-open ranges of keys: each holds the keys from its start (included) to its end (excluded) in
/// byte order.
///
/// An empty end means "to the end of the space". A range either is under one shard key, which every
/// engine serves, or is [`Ranges::whole_space`], which every engine serves too; anything between
/// needs [`crate::Capability::total_order`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    starts: Slices,
    ends: Slices,
}

impl Ranges {
    /// No ranges.
    pub fn new() -> Self {
        Self::default()
    }

    /// One range that holds every key of a space.
    pub fn whole_space() -> Self {
        let mut ranges = Self::new();
        ranges.push(&[], &[]);
        ranges
    }

    /// The ranges that ascending cuts make of a whole space: one more than there are cuts.
    pub fn between(cuts: &Slices) -> Self {
        let mut ranges = Self::new();
        let mut start: &[u8] = &[];
        for cut in cuts.iter() {
            ranges.push(start, cut);
            start = cut;
        }
        ranges.push(start, &[]);
        ranges
    }

    /// The same stretch of keys, with the cuts inside it moved back to where shard keys begin, if
    /// that is where they may be.
    ///
    /// # Errors
    /// `Invalid` for a cut that does not hold a whole shard key.
    pub fn cut_at(self, cuts: Cuts, shape: &KeyShape) -> Result<Self> {
        if cuts == Cuts::Anywhere {
            return Ok(self);
        }
        let mut moved = Slices::new();
        for index in 1..self.len() {
            let key = self.start(index);
            let cut = &key[..shape.shard_key_len(key)?];
            if moved.is_empty() || moved.get(moved.len() - 1) < cut {
                moved.push(cut);
            }
        }
        Ok(Self::between(&moved))
    }

    /// Appends a range.
    pub fn push(&mut self, start: &[u8], end: &[u8]) {
        self.starts.push(start);
        self.ends.push(end);
    }

    /// Appends the range of all keys that begin with `prefix`.
    pub fn push_prefix(&mut self, prefix: &[u8]) {
        self.starts.push(prefix);
        let _: std::result::Result<(), ()> = self.ends.push_with(|buffer| {
            append_successor(prefix, buffer);
            Ok(())
        });
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The first key that the range at `index` can hold.
    pub fn start(&self, index: usize) -> &[u8] {
        self.starts.get(index)
    }

    /// The first key past the range at `index`; empty for the end of the space.
    pub fn end(&self, index: usize) -> &[u8] {
        self.ends.get(index)
    }

    /// Whether the range at `index` is the whole space.
    pub fn is_whole_space(&self, index: usize) -> bool {
        self.start(index).is_empty() && self.end(index).is_empty()
    }

    /// Whether the range at `index` holds `key`.
    pub fn holds(&self, index: usize, key: &[u8]) -> bool {
        let end = self.end(index);
        key >= self.start(index) && (end.is_empty() || key < end)
    }

    /// Forgets all ranges but keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
    }
}

/// Appends the least byte string that is greater than every string with this prefix; nothing when
/// there is none.
pub fn append_successor(prefix: &[u8], buffer: &mut Vec<u8>) {
    let kept = prefix.iter().rposition(|byte| *byte != 0xFF);
    if let Some(last) = kept {
        buffer.extend_from_slice(&prefix[..last]);
        buffer.push(prefix[last] + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_range_holds_exactly_the_keys_with_that_prefix() {
        let mut ranges = Ranges::new();
        ranges.push_prefix(&[7, 0xFF]);
        ranges.push_prefix(&[0xFF, 0xFF]);
        assert!(ranges.holds(0, &[7, 0xFF]) && ranges.holds(0, &[7, 0xFF, 0xFF, 9]));
        assert!(!ranges.holds(0, &[8]) && !ranges.holds(0, &[7, 0xFE]));
        assert!(ranges.holds(1, &[0xFF, 0xFF, 1]) && !ranges.holds(1, &[0xFF]));
    }
}
