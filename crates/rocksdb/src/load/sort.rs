//! Sorts the records of a run.
//!
//! 1. Each record becomes one number: the twelve key bytes after what all keys share, then the
//!    record's offset.
//! 2. The numbers are sorted as integers: no branches to mispredict, no reads outside the array.
//!    Records that were pushed together came in about the order of their keys ([`rough_order`]), so
//!    this is mostly a merge of stretches that are sorted already.
//! 3. Records whose twelve bytes are equal form a group. A large group starts again at 1 after what
//!    its keys share; a small one is sorted by whole keys, then by origin.

use std::cmp::Ordering;

use tonnage_engine::Slices;

use super::record::{LoadRecord, Precedence, RecordSpan, common_len, prefix_number};

/// Key bytes in a number; the offset takes the rest.
const PREFIX_LEN: usize = 12;
/// Groups up to this size are sorted by comparing whole keys.
const SMALL_GROUP: usize = 16;
/// How often a group may start again, which bounds the recursion.
const LEVELS_MAX: u32 = 64;

/// Bytes of memory that sorting takes for each record: its number, half as much to move numbers
/// about, and the result.
pub(super) const SORT_BYTES_PER_RECORD: usize =
    size_of::<u128>() + size_of::<u128>() / 2 + size_of::<u32>();

/// The offsets of all records in `arena`, sorted by key, and for equal keys with the one to be
/// stored first. `common` is a number of leading bytes that all keys share.
pub(super) fn sorted_offsets(
    arena: &[u8],
    records: usize,
    common: usize,
    precedence: Precedence,
) -> Vec<u32> {
    let mut items = Vec::with_capacity(records);
    let mut at = 0;
    while at < arena.len() {
        let span = RecordSpan::read(arena, at).expect("a run holds whole records");
        items.push(item(span.of(arena).key, common, at as u32));
        at = span.end();
    }
    Sorter { arena, precedence }.sort(&mut items, common, LEVELS_MAX);
    items.into_iter().map(offset).collect()
}

/// The positions of keys, about in the order of the keys: as far as twelve bytes after what all of
/// them share can show. Nothing when they are given in that order.
pub(super) fn rough_order(keys: &Slices) -> Option<Vec<u32>> {
    let first = keys.iter().next()?;
    let common = keys.iter().fold(first.len(), |common, key| common_len(&first[..common], key));
    let mut items: Vec<u128> =
        (0..).zip(keys.iter()).map(|(place, key)| item(key, common, place)).collect();
    if items.is_sorted() {
        return None;
    }
    items.sort_unstable();
    Some(items.into_iter().map(offset).collect())
}

#[inline]
fn item(key: &[u8], depth: usize, offset: u32) -> u128 {
    prefix_number::<PREFIX_LEN>(key, depth) << 32 | u128::from(offset)
}

#[inline]
fn offset(item: u128) -> u32 {
    item as u32
}

struct Sorter<'a> {
    arena: &'a [u8],
    precedence: Precedence,
}

impl<'a> Sorter<'a> {
    fn sort(&self, items: &mut [u128], depth: usize, levels: u32) {
        items.sort();
        for group in items.chunk_by_mut(|left, right| left >> 32 == right >> 32) {
            if group.len() > 1 {
                self.sort_group(group, depth + PREFIX_LEN, levels);
            }
        }
    }

    /// Sorts records whose keys are equal up to `depth`, or end before it.
    fn sort_group(&self, group: &mut [u128], depth: usize, levels: u32) {
        if group.len() > SMALL_GROUP && levels > 0 {
            let common = self.common_len(group);
            // Keys that end before `depth` may differ in trailing zeros only, which numbers cannot
            // tell apart.
            if common >= depth {
                for item in &mut *group {
                    *item = self::item(self.record(*item).key, common, offset(*item));
                }
                if group.iter().any(|item| item >> 32 != group[0] >> 32) {
                    return self.sort(group, common, levels - 1);
                }
            }
        }
        group.sort_unstable_by(|left, right| self.compare(*left, *right));
    }

    fn common_len(&self, group: &[u128]) -> usize {
        let first = self.record(group[0]).key;
        group
            .iter()
            .fold(first.len(), |common, item| common_len(&first[..common], self.record(*item).key))
    }

    fn compare(&self, left: u128, right: u128) -> Ordering {
        let (left, right) = (self.record(left), self.record(right));
        left.key.cmp(right.key).then_with(|| left.cmp_origin(&right, self.precedence))
    }

    fn record(&self, item: u128) -> LoadRecord<'a> {
        LoadRecord::at(self.arena, offset(item) as usize)
    }
}
