//! Looks up keys.
//!
//! 0. One iterator walks to sorted keys that lie close together ([`walk`]). All others are looked
//!    up. The first few of these show whether their blocks are in the cache. If most are not,
//!    several threads read the rest ([`parallel`]).
//! 1. Keys are taken in chunks, smaller ones where rows are large. The physical keys of a chunk lie
//!    end to end in one buffer.
//! 2. With one shard a chunk is one batched multi-get. With several, each shard gets its keys in
//!    one.
//! 3. Values stay where RocksDB has them (pinned) until they are copied into the answer, in the
//!    order of the keys, as far as they fit into the bytes asked for.
//! 4. A read that looks at a shard more than once looks at one [snapshot](lookup::View) of it. So it
//!    sees all of an atomic batch or nothing of it.

pub(crate) mod helpers;
mod lookup;
mod misses;
mod parallel;
pub(crate) mod walk;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use rocksdb::{DBPinnableSlice, ReadOptions};
use tonnage_engine::{Header, NEVER_MS, Projection, Result, Rows, Slices, SpaceId};

use crate::error::translate;
use crate::open_store::OpenStore;
use crate::read::lookup::{Lookup, View};
use crate::read::misses::CacheMisses;
use crate::read::walk::KeyDensity;
use crate::settings::read_options;
use crate::shard::Shard;
use crate::tracking::shard_snapshots::ShardSnapshots;

/// The most keys that one multi-get takes: enough to share the work on blocks (RocksDB itself takes
/// 32 at a time), few enough that rows which are suddenly large do not fill the memory.
const CHUNK_KEYS_MAX: usize = 64;
/// How many times as many keys the next chunk takes at most.
const CHUNK_GROWTH: usize = 4;
/// About how many bytes a chunk may pin, estimated from the largest row of the chunk before.
const PINNED_BYTES: usize = 8 << 20;
/// After how many keys, by shard, it is weighed first how many of their blocks were in the cache.
const WEIGHED_KEYS: usize = 16;

thread_local! {
    /// Making read options costs as much as the lookup of a cached row, so each thread keeps its
    /// own.
    static READ: RefCell<(ReadOptions, Vec<u8>)> = RefCell::new((read_options(), Vec::new()));
    /// The space that the thread read last, and how many keys the next chunk may take.
    static CHUNK: Cell<(SpaceId, usize)> = const { Cell::new((SpaceId(u32::MAX), 1)) };
}

impl OpenStore {
    pub(crate) fn read_keys(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &tonnage_engine::ReadOptions,
        snapshots: Option<&ShardSnapshots>,
        rows: &mut Rows,
    ) -> Result<usize> {
        rows.clear();
        options.deadline.check("its turn")?;
        let space = self.space(space)?;
        for index in options.keys.clone() {
            self.check_key(&space, keys.get(index))?;
        }
        let now_ms = OnceLock::new();
        let lookup = Lookup { engine: self, space: &space, options, snapshots, now_ms };
        let end = match options.keys.len() {
            0 => Ok(options.keys.start),
            1 if snapshots.is_none() => lookup.read_one(keys, rows),
            _ => lookup.read_many(keys, rows),
        };
        // Rows that are missing may be those of a space that was dropped meanwhile: it is taken off
        // the list before they go.
        let end = end.and_then(|end| match rows.len() < end - options.keys.start {
            true => self.space(space.id).map(|_| end),
            false => Ok(end),
        });
        // A part of the rows must not be taken for the answer.
        if end.is_err() {
            rows.clear();
        }
        Ok(end? - options.keys.start)
    }
}

/// Each of these answers the number of the first key that it left.
impl Lookup<'_> {
    fn read_one(&self, keys: &Slices, rows: &mut Rows) -> Result<usize> {
        let index = self.options.keys.start;
        let key = keys.get(index);
        READ.with_borrow_mut(|(options, physical)| {
            crate::shard::physical_key(self.space.id, key, physical);
            let shard = &self.engine.shards()[self.shard_of(key)?];
            let value = shard.db().get_pinned_cf_opt(shard.rows(), &*physical, options);
            if let Some(value) = value.map_err(|error| translate(shard.display_name(), error))? {
                self.push_row(shard, key, &value, index as u32, rows)?;
            }
            Ok(index + 1)
        })
    }

    fn read_many(&self, keys: &Slices, rows: &mut Rows) -> Result<usize> {
        let density = self.density(keys);
        if density == KeyDensity::Dense {
            return self.walk(keys, self.options.keys.start, density, &self.newest(), rows);
        }
        let mut chunk = LookupChunk::new(self.space.id, self.engine.shards().len());
        if self.options.keys.len() <= chunk.keys {
            // One look: nothing is written between its keys.
            let wanted = self.options.keys.clone();
            return self.look_up_keys(keys, wanted, density, &self.newest(), &mut chunk, rows);
        }
        let drops = self.file_drops();
        let end = self.look_up(keys, density, &self.of_one_snapshot(), &mut chunk, rows)?;
        // None are dropped below a snapshot, but with their space.
        if self.snapshots.is_some() || self.file_drops() == drops {
            return Ok(end);
        }
        // Files were dropped meanwhile: an older view may have shown what lay below them. None are
        // while the gates are held.
        rows.clear();
        let shards = self.engine.shards().iter();
        let _gates: Vec<_> =
            shards.map(|shard| shard.gate_by(self.options.deadline)).collect::<Result<_>>()?;
        self.look_up(keys, density, &self.of_one_snapshot(), &mut chunk, rows)
    }

    /// How often files were dropped so far, in all shards.
    fn file_drops(&self) -> u64 {
        self.engine.shards().iter().map(|shard| shard.file_drops.load(Ordering::SeqCst)).sum()
    }

    /// Looks keys up until some of them show that the blocks must come from files.
    fn look_up<'c>(
        &'c self,
        keys: &Slices,
        density: KeyDensity,
        view: &View<'_>,
        chunk: &mut LookupChunk<'c>,
        rows: &mut Rows,
    ) -> Result<usize> {
        let Range { start: mut first, end } = self.options.keys;
        let mut count = WEIGHED_KEYS * self.engine.shards().len();
        loop {
            let weighed = end.min(first + count);
            let misses = CacheMisses::since_now();
            let reached = self.look_up_keys(keys, first..weighed, density, view, chunk, rows)?;
            if reached < weighed || weighed == end {
                return Ok(reached);
            }
            if misses.are_many_for(weighed - first) {
                return self.read_cold(keys, weighed, density, view, rows);
            }
            first = weighed;
            count *= 2;
        }
    }

    fn look_up_keys<'c>(
        &'c self,
        keys: &Slices,
        wanted: Range<usize>,
        density: KeyDensity,
        view: &View<'_>,
        chunk: &mut LookupChunk<'c>,
        rows: &mut Rows,
    ) -> Result<usize> {
        let shards = self.engine.shards().len();
        let options: Vec<ReadOptions> = (0..shards)
            .map(|shard| {
                let mut options = view.options(shard);
                options.fill_cache(density.fills_cache());
                options
            })
            .collect();
        let mut first = wanted.start;
        while first < wanted.end {
            let end = wanted.end.min(first + chunk.keys);
            // The clock was looked at when the call began: the first chunk need not look again.
            if first > self.options.keys.start {
                self.options.deadline.check("rows from the disk")?;
            }
            chunk.distribute(self, keys, first, end)?;
            chunk.get(self, &options)?;
            // By key, not by shard: rows keep the order of the keys, and end with the first that
            // does not fit.
            for (index, slot) in (first..end).zip(&chunk.slots) {
                let group = &mut chunk.groups[slot.shard];
                // Taken out of the list, so that its block is unpinned as soon as the row is
                // copied.
                if let Some(value) = group.values[slot.index].take()
                    && !self.push_row(
                        &self.engine.shards()[slot.shard],
                        keys.get(index),
                        &value,
                        index as u32,
                        rows,
                    )?
                {
                    return Ok(index);
                }
            }
            first = end;
        }
        Ok(first)
    }

    pub(crate) fn shard_of(&self, key: &[u8]) -> Result<usize> {
        if self.engine.shards().len() == 1 {
            return Ok(0);
        }
        self.engine.shard_index_in(self.space, &key[..self.space.shape.shard_key_len(key)?])
    }

    /// Takes a row into the answer unless it expired. False when it does not fit any more.
    pub(crate) fn push_row(
        &self,
        shard: &Shard,
        key: &[u8],
        value: &[u8],
        origin: u32,
        rows: &mut Rows,
    ) -> Result<bool> {
        let (header, payload) =
            Header::split(value).map_err(|error| error.at(shard.display_name()))?;
        if header.expires_at_ms != NEVER_MS
            && !header.is_live(*self.now_ms.get_or_init(|| self.engine.clock().now_ms()))
        {
            return Ok(true);
        }
        let payload = if self.options.projection == Projection::KeysOnly { &[] } else { payload };
        if self.options.is_full(rows.bytes(), key.len() + payload.len()) {
            return Ok(false);
        }
        rows.push(key, payload, header.version, header.expires_at_ms, origin);
        Ok(true)
    }
}

/// The keys of one round, by shard.
///
/// What a multi-get finds is pinned in memory until it is copied, and RocksDB knows the size of a
/// row only when it has it. So a thread's first chunk in a space is a single key, and the largest
/// row of each chunk sets the size of the next. Rows that are not there say nothing.
struct LookupChunk<'a> {
    space: SpaceId,
    /// How many keys the next round takes.
    keys: usize,
    groups: Vec<ShardKeys<'a>>,
    /// Where each key of the round went.
    slots: Vec<KeySlot>,
}

#[derive(Default)]
struct ShardKeys<'a> {
    physical: Slices,
    values: Vec<Option<DBPinnableSlice<'a>>>,
}

struct KeySlot {
    shard: usize,
    index: usize,
}

impl<'a> LookupChunk<'a> {
    fn new(space: SpaceId, shards: usize) -> Self {
        let (last_space, keys) = CHUNK.get();
        Self::with_keys(space, shards, if space == last_space { keys } else { 1 })
    }

    /// How many keys the next round takes of the space that this thread read last.
    fn keys_next() -> usize {
        CHUNK.get().1
    }

    fn with_keys(space: SpaceId, shards: usize, keys: usize) -> Self {
        Self {
            space,
            keys,
            groups: (0..shards).map(|_| ShardKeys::default()).collect(),
            slots: Vec::with_capacity(CHUNK_KEYS_MAX),
        }
    }

    fn distribute(
        &mut self,
        lookup: &Lookup<'_>,
        keys: &Slices,
        first: usize,
        end: usize,
    ) -> Result<()> {
        self.slots.clear();
        self.groups.iter_mut().for_each(ShardKeys::clear);
        let space = lookup.space.id.0.to_be_bytes();
        for index in first..end {
            let key = keys.get(index);
            let shard = lookup.shard_of(key)?;
            let group = &mut self.groups[shard];
            self.slots.push(KeySlot { shard, index: group.physical.len() });
            group.physical.push_parts(&[&space, key]);
        }
        Ok(())
    }

    fn get(&mut self, lookup: &Lookup<'a>, options: &[ReadOptions]) -> Result<()> {
        let mut largest = None;
        for ((shard, group), options) in
            lookup.engine.shards().iter().zip(&mut self.groups).zip(options)
        {
            if group.physical.is_empty() {
                continue;
            }
            // RocksDB would sort the keys again unless it knows that they are sorted.
            let sorted = group.physical.iter().is_sorted();
            let found = shard.db().batched_multi_get_cf_opt(
                shard.rows(),
                group.physical.iter(),
                sorted,
                options,
            );
            for value in found {
                let value = value.map_err(|error| translate(shard.display_name(), error))?;
                largest = largest.max(value.as_ref().map(|value| value.len()));
                group.values.push(value);
            }
        }
        // Keys without a row say nothing of how large rows are: the size stays as it was.
        if let Some(largest) = largest {
            self.keys = (self.keys * CHUNK_GROWTH)
                .min(PINNED_BYTES / largest.max(1))
                .clamp(1, CHUNK_KEYS_MAX);
            CHUNK.set((self.space, self.keys));
        }
        Ok(())
    }
}

impl ShardKeys<'_> {
    fn clear(&mut self) {
        self.physical.clear();
        self.values.clear();
    }
}
