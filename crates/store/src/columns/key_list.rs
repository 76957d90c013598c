//! The keys of a segment, packed, and the position of a key among them.
//!
//! 1. Keys ascend, so each shares its first bytes with the one before it. What is stored of a key is
//!    how many bytes it shares, how many follow, and these.
//! 2. Every 32nd key is stored whole. A key is looked up by bisection over these, and then from key
//!    to key.
//!
//! Rows of a table with a key of two numbers take about 5 bytes each.

use std::cmp::Ordering;
use std::ops::Range;

/// Keys from one whole key to the next.
const RUN: usize = 32;

/// Keys that ascend.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyList {
    bytes: Vec<u8>,
    /// Where each run begins.
    runs: Vec<usize>,
    len: usize,
    last: Vec<u8>,
}

impl KeyList {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// About how much memory it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.runs.capacity() * size_of::<usize>()
    }

    /// Appends a key that is greater than all before.
    pub(super) fn push(&mut self, key: &[u8]) {
        debug_assert!(self.len == 0 || key > self.last.as_slice(), "keys ascend");
        let is_whole = self.len.is_multiple_of(RUN);
        let shared = match is_whole {
            true => 0,
            false => self.last.iter().zip(key).take_while(|(one, other)| one == other).count(),
        };
        if is_whole {
            self.runs.push(self.bytes.len());
        }
        push_number(&mut self.bytes, shared);
        push_number(&mut self.bytes, key.len() - shared);
        self.bytes.extend_from_slice(&key[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.len += 1;
    }

    /// Gives up the room for more keys.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.runs.shrink_to_fit();
    }

    /// The position of a key, if it is there.
    pub(super) fn place_of(&self, key: &[u8]) -> Option<usize> {
        let (place, is_there) = self.first_not_before(key);
        is_there.then_some(place)
    }

    /// The places of the keys from `start` up to `end`, which is empty for no end.
    pub(super) fn places_in(&self, start: &[u8], end: &[u8]) -> Range<usize> {
        let first = self.first_not_before(start).0;
        let behind = match end.is_empty() {
            true => self.len,
            false => self.first_not_before(end).0,
        };
        first..behind.max(first)
    }

    /// The position of the first key that is not less than `key`, and whether it is that key.
    fn first_not_before(&self, key: &[u8]) -> (usize, bool) {
        let runs = self.runs.partition_point(|run| self.whole_key(*run) <= key);
        let Some(run) = runs.checked_sub(1) else { return (0, false) };
        let (first, behind) = (run * RUN, ((run + 1) * RUN).min(self.len));
        let (mut at, mut current) = (self.runs[run], Vec::with_capacity(key.len()));
        for place in first..behind {
            self.read_next(&mut at, &mut current);
            match current.as_slice().cmp(key) {
                Ordering::Less => {}
                found => return (place, found == Ordering::Equal),
            }
        }
        (behind, false)
    }

    fn whole_key(&self, mut at: usize) -> &[u8] {
        let _shared = self.number(&mut at);
        let len = self.number(&mut at);
        &self.bytes[at..at + len]
    }

    /// Reads the key at a position in the bytes, behind the one that `key` holds.
    fn read_next(&self, at: &mut usize, key: &mut Vec<u8>) {
        let shared = self.number(at);
        let len = self.number(at);
        key.truncate(shared);
        key.extend_from_slice(&self.bytes[*at..*at + len]);
        *at += len;
    }

    fn number(&self, at: &mut usize) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[*at];
            *at += 1;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }
}

/// Seven bits a byte, the lowest first; all bytes but the last have their highest bit set.
fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(keys: &[Vec<u8>]) -> KeyList {
        let mut list = KeyList::default();
        keys.iter().for_each(|key| list.push(key));
        list
    }

    /// Few letters, so that keys share much, and some that are longer than one byte can say.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop::sample::select(vec![0_u8, 1, 255]);
        (prop::sample::select(vec![0, 2, 200]), prop::collection::vec(byte, 0..8))
            .prop_map(|(len, end)| [vec![7; len], end].concat())
    }

    proptest! {
        #[test]
        fn each_key_is_found_at_its_place_and_no_other(
            mut keys in prop::collection::vec(key(), 0..200),
            others in prop::collection::vec(key(), 2..40),
        ) {
            keys.sort_unstable();
            keys.dedup();
            let list = list(&keys);
            prop_assert_eq!(list.len(), keys.len());
            for key in keys.iter().chain(&others) {
                prop_assert_eq!(list.place_of(key), keys.binary_search(key).ok());
            }
            let place = |key: &Vec<u8>| keys.partition_point(|known| known < key);
            for ends in others.windows(2) {
                let (start, end) = ((&ends[0]).min(&ends[1]), (&ends[0]).max(&ends[1]));
                let behind = if end.is_empty() { keys.len() } else { place(end) };
                prop_assert_eq!(list.places_in(start, end), place(start)..behind);
            }
        }
    }

    #[test]
    fn keys_of_two_numbers_take_a_few_bytes() {
        let keys = (0..10_000_u64).map(|n| [(n / 4).to_be_bytes(), (n % 4).to_be_bytes()].concat());
        let list = list(&keys.collect::<Vec<_>>());
        assert!(list.bytes.len() < 10_000 * 6, "{}", list.bytes.len());
    }
}
