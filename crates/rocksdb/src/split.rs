//! Cutting a space into parts for several readers.
//!
//! 1. The first and the last key of the space are looked up, and what they have in common is set
//!    aside. The sixteen bytes after that are taken for a number.
//! 2. RocksDB tells from its indexes about how many bytes of files lie before a key. For each cut,
//!    bisection between the two numbers finds where its share of the bytes ends.
//! 3. A cut is the next key that is stored there, so that callers may find its shard key.
//!
//! Shards hold rows by a hash, so what cuts the first shard evenly cuts all of them evenly. Rows
//! that are only in memory are not weighed.

use rocksdb::DBRawIterator;
use tonnage_engine::{Cuts, Part, Ranges, Result, Slices, SpaceId};

use crate::error::translate;
use crate::estimate::bytes_between;
use crate::open_store::OpenStore;
use crate::settings::read_options;
use crate::shard::{SPACE_LEN, Shard, space_end};

/// Less than this in a part is not worth a reader.
const PART_BYTES_MIN: u64 = 1 << 20;
/// Bisection ends when a cut is off by no more than this share of a part.
const SLACK: u64 = 16;
/// Bytes after the common prefix that distinguish keys.
const NUMBER_LEN: usize = 16;

impl OpenStore {
    pub(crate) fn split_space(
        &self,
        space: SpaceId,
        parts: usize,
        cuts: Cuts,
    ) -> Result<Vec<Part>> {
        let info = self.space(space)?;
        let ranges = if parts > 1 { self.ranges_of(space, parts)? } else { Ranges::whole_space() };
        Ok(Part::between(&ranges.cut_at(cuts, &info.shape)?))
    }

    fn ranges_of(&self, space: SpaceId, parts: usize) -> Result<Ranges> {
        let shard = &self.shards()[0];
        let weights = SpaceWeights::new(shard, space)?;
        let bytes = weights.as_ref().map_or(0, |weights| weights.bytes);
        let parts = (parts as u64).min(bytes * self.shards().len() as u64 / PART_BYTES_MIN);
        match weights {
            Some(weights) if parts > 1 => Ok(Ranges::between(&weights.cuts(parts)?)),
            _ => Ok(Ranges::whole_space()),
        }
    }
}

/// A space in one shard, with what is needed to weigh its ranges.
struct SpaceWeights<'a> {
    shard: &'a Shard,
    iterator: DBRawIterator<'a>,
    space: SpaceId,
    /// What all keys begin with, physically.
    prefix: Vec<u8>,
    first: u128,
    last: u128,
    bytes: u64,
}

impl<'a> SpaceWeights<'a> {
    /// Nothing when the space holds nothing.
    fn new(shard: &'a Shard, space: SpaceId) -> Result<Option<Self>> {
        let mut read = read_options();
        read.set_iterate_lower_bound(space.0.to_be_bytes());
        read.set_iterate_upper_bound(space_end(space));
        let mut iterator = shard.db().raw_iterator_cf_opt(shard.rows(), read);
        iterator.seek_to_first();
        let first = iterator.key().map(<[u8]>::to_vec);
        iterator.seek_to_last();
        let last = iterator.key().map(<[u8]>::to_vec);
        iterator.status().map_err(|error| translate(shard.display_name(), error))?;
        let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
        let common = first.iter().zip(&last).take_while(|(left, right)| left == right).count();
        let mut weights = SpaceWeights {
            shard,
            iterator,
            space,
            prefix: first[..common].to_vec(),
            first: number(&first[common..]),
            last: number(&last[common..]),
            bytes: 0,
        };
        weights.bytes = weights.bytes_before(&space_end(space));
        Ok(Some(weights))
    }

    fn cuts(mut self, parts: u64) -> Result<Slices> {
        let mut cuts = Slices::new();
        for part in 1..parts {
            let place = self.key_before(self.bytes * part / parts, self.bytes / parts / SLACK);
            self.iterator.seek(&place);
            let Some(key) = self.iterator.key() else { break };
            let key = &key[SPACE_LEN..];
            // Cuts fall together where keys differ only far to the right. The first key of all cuts
            // nothing off.
            let last = cuts.len().checked_sub(1).map(|last| cuts.get(last));
            if last.is_none_or(|last| last < key) && !key.is_empty() {
                cuts.push(key);
            }
        }
        self.iterator.status().map_err(|error| translate(self.shard.display_name(), error))?;
        Ok(cuts)
    }

    /// A physical key with about `target` bytes before it.
    fn key_before(&self, target: u64, slack: u64) -> Vec<u8> {
        let (mut low, mut high) = (self.first, self.last);
        let mut place = self.prefix.clone();
        while low < high {
            let middle = low + (high - low) / 2;
            place.truncate(self.prefix.len());
            place.extend_from_slice(&middle.to_be_bytes());
            let bytes = self.bytes_before(&place);
            if bytes.abs_diff(target) <= slack {
                break;
            }
            if bytes < target { low = middle + 1 } else { high = middle }
        }
        place
    }

    fn bytes_before(&self, end: &[u8]) -> u64 {
        bytes_between(self.shard, &self.space.0.to_be_bytes(), end)
    }
}

/// The first bytes of a key as a number; a shorter key is followed by zeros.
fn number(key: &[u8]) -> u128 {
    let mut bytes = [0; NUMBER_LEN];
    let len = key.len().min(NUMBER_LEN);
    bytes[..len].copy_from_slice(&key[..len]);
    u128::from_be_bytes(bytes)
}
