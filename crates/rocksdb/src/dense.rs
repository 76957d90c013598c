//! Looking up keys that lie close together.
//!
//! 1. RocksDB tells from its indexes how many bytes of files lie between the first and the last of the sorted keys. Few for each
//!    key mean that most blocks hold several of them, and that the rows between two keys are soon passed over.
//! 2. Then one iterator walks from key to key: a few steps, and a seek when they do not suffice. It looks at each block once, and reads the
//!    disk in order.
//! 3. Where it must seek again and again after all, because the estimate was wrong, the rest is left to multi-get.
//!
//! Measured on 100 M rows of 16-byte keys and 100-byte values, 16 M keys sorted together: see `docs/benchmarks.md`.

use rocksdb::{DBRawIterator, Range};
use tonnage_engine::{Result, Rows, Slices};

use crate::error::translate;
use crate::read::Lookup;
use crate::settings::read_options;
use crate::shard::{physical_key, space_end};

/// For fewer keys an iterator is not worth making.
const KEYS_MIN: usize = 256;
/// Bytes of files for each key, compressed, up to which walking is cheaper than finding: about a dozen rows of a hundred bytes.
const BYTES_PER_KEY_MAX: u64 = 768;
/// Steps tried before a seek.
const STEPS_MAX: usize = 24;
/// After so many keys the walk looks back at how many of them it had to seek for.
const TRIAL_KEYS: usize = 64;

impl Lookup<'_> {
    /// Whether the keys are sorted and lie so close together that walking pays.
    pub(crate) fn is_dense(&self, keys: &Slices) -> bool {
        keys.len() >= KEYS_MIN && keys.iter().is_sorted() && self.bytes_per_key(keys) <= BYTES_PER_KEY_MAX
    }

    fn bytes_per_key(&self, keys: &Slices) -> u64 {
        let shards = self.engine.shards();
        let (mut start, mut end) = (Vec::new(), Vec::new());
        physical_key(self.space.id, keys.get(0), &mut start);
        physical_key(self.space.id, keys.get(keys.len() - 1), &mut end);
        let sizes = shards[0].db().get_approximate_sizes_cf(&shards[0].rows(), &[Range::new(&start, &end)]);
        sizes.first().copied().unwrap_or(u64::MAX).saturating_mul(shards.len() as u64) / keys.len() as u64
    }

    /// Looks keys up one after another by walking. Gives how many it took: the rest is for multi-get.
    pub(crate) fn walk(&self, keys: &Slices, rows: &mut Rows) -> Result<usize> {
        let shards = self.engine.shards();
        let mut walkers: Vec<Option<Walker<'_>>> = shards.iter().map(|_| None).collect();
        let (mut physical, mut seeks) = (Vec::new(), 0);
        for (index, key) in keys.iter().enumerate() {
            let shard = self.shard_of(key)?;
            let walker = walkers[shard].get_or_insert_with(|| self.walker(shard));
            physical_key(self.space.id, key, &mut physical);
            seeks += usize::from(walker.go_to(&physical));
            if let Some(value) = walker.value_at(&physical) {
                self.give(&shards[shard], key, value, index as u32, rows)?;
            } else {
                // An iterator also ends where something cannot be read.
                walker.iterator.status().map_err(|error| translate(shards[shard].place(), error))?;
            }
            if index == TRIAL_KEYS && seeks > TRIAL_KEYS / 2 {
                return Ok(index + 1);
            }
        }
        Ok(keys.len())
    }

    fn walker(&self, shard: usize) -> Walker<'_> {
        let shard = &self.engine.shards()[shard];
        let mut read = read_options();
        read.set_iterate_lower_bound(self.space.id.0.to_be_bytes());
        read.set_iterate_upper_bound(space_end(self.space.id));
        // Everything between the keys passes by as well: it must not displace what others use.
        read.fill_cache(false);
        Walker { iterator: shard.db().raw_iterator_cf_opt(shard.rows(), read), started: false }
    }
}

/// An iterator that only goes forward.
struct Walker<'a> {
    iterator: DBRawIterator<'a>,
    started: bool,
}

impl Walker<'_> {
    /// Goes to the first row that is not before `key`. Tells whether that took a seek, the first one left out.
    fn go_to(&mut self, key: &[u8]) -> bool {
        if !self.started {
            self.started = true;
            self.iterator.seek(key);
            return false;
        }
        for _ in 0..STEPS_MAX {
            match self.iterator.key() {
                Some(at) if at < key => self.iterator.next(),
                _ => return false,
            }
        }
        let is_short = self.iterator.key().is_some_and(|at| at < key);
        if is_short {
            self.iterator.seek(key);
        }
        is_short
    }

    fn value_at(&self, key: &[u8]) -> Option<&[u8]> {
        self.iterator.item().and_then(|(at, value)| (at == key).then_some(value))
    }
}
