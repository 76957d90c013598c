//! Looking up keys that lie close together.
//!
//! 1. RocksDB tells from its indexes how many bytes of files lie between the first and the last of
//!    the sorted keys. Few for each key mean that most blocks hold several of them.
//! 2. Then one iterator walks from key to key: a few steps, and a seek when they do not suffice. It
//!    looks at each block once, and reads the disk in order, many blocks at a time.
//! 3. Keys that lie farther apart, about one in a block, are better looked up where their blocks
//!    are in the cache, and better walked to where they are not. The first few are looked up, and
//!    the hits and misses counted.
//!
//! Measured with `benches/read.rs`, 4 M rows of 16-byte keys and 100-byte values, two threads, M
//! keys/s: of every 10th row 1.3 by either way while blocks are not in the cache; of every 40th
//! 0.36 by look-ups and 0.66 by walking while the files are not in memory either, and 1.1 and 0.7
//! with all blocks in the cache. Four steps before a seek are as good as any number for dense keys,
//! and better than more for others.

use rocksdb::DBRawIterator;
use tonnage_engine::{Result, Rows, Slices};

use crate::error::translate;
use crate::estimate::bytes_between;
use crate::read::lookup::{Lookup, View};
use crate::shard::physical_key;

/// For fewer keys an iterator is not worth making.
const KEYS_MIN: usize = 256;
/// Bytes of files for each key, compressed, up to which walking is never dearer than finding: about
/// a dozen rows of a hundred bytes.
const DENSE_BYTES_MAX: u64 = 768;
/// And up to which it is cheaper where blocks are not in the cache: two blocks, or a little more.
/// Reading all of them in order takes a disk less time than finding half of them.
const SPARSE_BYTES_MAX: u64 = 12 << 10;
/// What is read at once of a file that is walked through. It ends where the keys end.
const READ_AHEAD_BYTES: usize = 112 << 10;
/// Steps tried before a seek.
const STEPS_MAX: usize = 4;
/// After how many keys a walk looks at its deadline.
const CHECK_EVERY: usize = 64;

/// How close together keys lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyDensity {
    /// Several of them in most blocks: to be walked to.
    Dense,
    /// About one in a block: to be walked to unless the blocks are in the cache.
    Sparse {
        /// Whether the cache keeps what is read.
        fills_cache: bool,
        /// Bytes of files for each key, compressed.
        bytes_per_key: u64,
    },
    /// To be looked up.
    Scattered,
}

impl KeyDensity {
    /// Whether the cache keeps what is read.
    pub(crate) fn fills_cache(self) -> bool {
        match self {
            Self::Dense => false,
            Self::Sparse { fills_cache, .. } => fills_cache,
            Self::Scattered => true,
        }
    }
}

impl Lookup<'_> {
    /// How close together the keys lie; scattered, unless they are many and sorted.
    pub(crate) fn density(&self, keys: &Slices) -> KeyDensity {
        let wanted = self.options.keys.clone();
        if wanted.len() < KEYS_MIN || !wanted.clone().map(|index| keys.get(index)).is_sorted() {
            return KeyDensity::Scattered;
        }
        let (first, last) = (keys.get(wanted.start), keys.get(wanted.end - 1));
        let bytes = self.file_bytes_between(first, last);
        let bytes_per_key = bytes / wanted.len() as u64;
        if bytes_per_key <= DENSE_BYTES_MAX {
            KeyDensity::Dense
        } else if bytes_per_key <= SPARSE_BYTES_MAX {
            KeyDensity::Sparse { fills_cache: self.fits_cache(bytes), bytes_per_key }
        } else {
            KeyDensity::Scattered
        }
    }

    /// How many bytes of files lie between two keys, compressed, as RocksDB estimates them.
    fn file_bytes_between(&self, first: &[u8], last: &[u8]) -> u64 {
        let shards = self.engine.shards();
        let (mut start, mut end) = (Vec::new(), Vec::new());
        physical_key(self.space.id, first, &mut start);
        physical_key(self.space.id, last, &mut end);
        bytes_between(&shards[0], &start, &end).saturating_mul(shards.len() as u64)
    }

    /// Whether the cache could hold the content of so many bytes of files.
    fn fits_cache(&self, bytes: u64) -> bool {
        bytes.saturating_mul(2) <= self.engine.settings().cache_bytes as u64
    }

    /// Looks the keys from `first` on up, one after another, by walking. Answers the number of the
    /// first key that it left.
    ///
    /// Dense keys leave the cache alone: everything between them passes by as well, and must not
    /// displace what others use. Sparse ones fill it as look-ups would, unless it could not hold what
    /// they bring.
    pub(crate) fn walk(
        &self,
        keys: &Slices,
        first: usize,
        density: KeyDensity,
        view: &View<'_>,
        rows: &mut Rows,
    ) -> Result<usize> {
        let fill_cache = density.fills_cache();
        let shards = self.engine.shards();
        let mut walkers: Vec<Option<Walker<'_>>> = shards.iter().map(|_| None).collect();
        let wanted = first..self.options.keys.end;
        let (mut physical, mut end) = (Vec::new(), Vec::new());
        if let Some(last) = wanted.clone().next_back() {
            // Directly after the last key.
            physical_key(self.space.id, keys.get(last), &mut end);
            end.push(0);
        }
        for index in wanted {
            if index.is_multiple_of(CHECK_EVERY) {
                self.options.deadline.check("rows from the disk")?;
            }
            let key = keys.get(index);
            let shard = self.shard_of(key)?;
            let walker =
                walkers[shard].get_or_insert_with(|| self.walker(shard, view, fill_cache, &end));
            physical_key(self.space.id, key, &mut physical);
            walker.go_to(&physical);
            if let Some(value) = walker.value_at(&physical) {
                if !self.push_row(&shards[shard], key, value, index as u32, rows)? {
                    return Ok(index);
                }
            } else {
                // An iterator also ends where something cannot be read.
                walker
                    .iterator
                    .status()
                    .map_err(|error| translate(shards[shard].display_name(), error))?;
            }
        }
        Ok(self.options.keys.end)
    }

    fn walker(&self, shard: usize, view: &View<'_>, fill_cache: bool, end: &[u8]) -> Walker<'_> {
        let mut read = view.options(shard);
        let shard = &self.engine.shards()[shard];
        read.set_iterate_lower_bound(self.space.id.0.to_be_bytes());
        read.set_iterate_upper_bound(end);
        read.fill_cache(fill_cache);
        read.set_readahead_size(READ_AHEAD_BYTES);
        Walker { iterator: shard.db().raw_iterator_cf_opt(shard.rows(), read), started: false }
    }
}

/// An iterator that only moves forward.
struct Walker<'a> {
    iterator: DBRawIterator<'a>,
    started: bool,
}

impl Walker<'_> {
    /// Moves to the first row that is not before `key`.
    fn go_to(&mut self, key: &[u8]) {
        if !self.started {
            self.started = true;
            self.iterator.seek(key);
            return;
        }
        for _ in 0..STEPS_MAX {
            match self.iterator.key() {
                Some(at) if at < key => self.iterator.next(),
                _ => return,
            }
        }
        if self.iterator.key().is_some_and(|at| at < key) {
            self.iterator.seek(key);
        }
    }

    fn value_at(&self, key: &[u8]) -> Option<&[u8]> {
        self.iterator.item().and_then(|(at, value)| (at == key).then_some(value))
    }
}
