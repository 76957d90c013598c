//! Looking up keys.
//!
//! 0. Sorted keys that lie close together may be walked to ([`dense`](crate::dense)); all others are looked up:
//! 1. Keys are taken in chunks; each chunk's physical keys are laid end to end in one buffer.
//! 2. With one shard the chunk is one batched multi-get. With several, the keys are dealt out by shard and each shard gets one.
//! 3. Values stay where RocksDB has them (pinned) until they are copied into the answer, in the order of the keys.
//! 4. What takes more than one look at a shard takes them all at one [moment](View), so that it sees all of an atomic batch or
//!    nothing of it.

use std::cell::{OnceCell, RefCell};

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use rocksdb::{DBPinnableSlice, ReadOptions, Snapshot};
use tonnage_engine::header::{Header, NEVER_MS};
use tonnage_engine::{Projection, Result, Rows, Slices, SpaceId, SpaceInfo};

use crate::RocksEngine;
use crate::dense::{CacheHits, Distance};
use crate::error::translate;
use crate::settings::read_options;
use crate::shard::Shard;

/// How many keys one multi-get takes: enough to share the work on blocks, few enough that what it pins stays in the
/// processor's cache.
const CHUNK_KEYS: usize = 256;

thread_local! {
    /// Making read options costs as much as the lookup of a cached row, so each thread keeps its own.
    static READ: RefCell<(ReadOptions, Vec<u8>)> = RefCell::new((read_options(), Vec::new()));
}

/// What a lookup needs besides the keys.
pub(crate) struct Lookup<'a> {
    pub(crate) engine: &'a RocksEngine,
    pub(crate) space: &'a SpaceInfo,
    projection: Projection,
    /// Asked for by the first row that may have expired: most never do, and the clock costs as much as a cached block.
    now_ms: OnceCell<u64>,
}

impl RocksEngine {
    pub(crate) fn read_keys(&self, space: SpaceId, keys: &Slices, projection: Projection, rows: &mut Rows) -> Result<()> {
        rows.clear();
        let space = self.space(space)?;
        for key in keys.iter() {
            self.check_key(&space, key)?;
        }
        let lookup = Lookup { engine: self, space: &space, projection, now_ms: OnceCell::new() };
        let outcome = match keys.len() {
            0 => Ok(()),
            1 => lookup.read_one(keys.get(0), rows),
            _ => lookup.read_many(keys, rows),
        };
        if outcome.is_err() {
            rows.clear();
        }
        outcome
    }
}

impl Lookup<'_> {
    fn read_one(&self, key: &[u8], rows: &mut Rows) -> Result<()> {
        READ.with_borrow_mut(|(options, physical)| {
            crate::shard::physical_key(self.space.id, key, physical);
            let shard = &self.engine.shards()[self.shard_of(key)?];
            let value = shard.db().get_pinned_cf_opt(shard.rows(), &*physical, options);
            match value.map_err(|error| translate(shard.place(), error))? {
                Some(value) => self.give(shard, key, &value, 0, rows),
                None => Ok(()),
            }
        })
    }

    fn read_many(&self, keys: &Slices, rows: &mut Rows) -> Result<()> {
        let distance = self.distance(keys);
        if distance == Distance::Near {
            return self.walk(keys, 0, distance, &View::newest(), rows);
        }
        if keys.len() <= CHUNK_KEYS * self.engine.shards().len() {
            return self.look_up(keys, distance, &View::newest(), rows);
        }
        let drops = self.file_drops();
        self.look_up(keys, distance, &View::of_one_moment(self.engine), rows)?;
        if self.file_drops() == drops {
            return Ok(());
        }
        // Files were dropped meanwhile: an older view may have shown what lay below them. None are while the gates are held.
        rows.clear();
        let shards = self.engine.shards().iter();
        let _gates: Vec<_> = shards.map(|shard| shard.gate.read().unwrap_or_else(PoisonError::into_inner)).collect();
        self.look_up(keys, distance, &View::of_one_moment(self.engine), rows)
    }

    /// How often files were dropped so far, in all shards.
    fn file_drops(&self) -> u64 {
        self.engine.shards().iter().map(|shard| shard.file_drops.load(Ordering::SeqCst)).sum()
    }

    fn look_up(&self, keys: &Slices, distance: Distance, view: &View<'_>, rows: &mut Rows) -> Result<()> {
        let shards = self.engine.shards().len();
        let mut chunk = Chunk::new(shards);
        let options: Vec<ReadOptions> = (0..shards).map(|shard| view.options(shard)).collect();
        let (mut first, hits) = (0, CacheHits::since_now());
        while first < keys.len() {
            if matches!(distance, Distance::Sparse { .. }) && first == CHUNK_KEYS * shards && hits.are_few_for(first) {
                return self.walk(keys, first, distance, view, rows);
            }
            let end = keys.len().min(first + CHUNK_KEYS * shards);
            chunk.deal(self, keys, first, end)?;
            chunk.get(self, &options)?;
            for (index, slot) in (first..end).zip(&chunk.slots) {
                let group = &mut chunk.groups[slot.shard];
                if let Some(value) = group.values[slot.place].take() {
                    self.give(&self.engine.shards()[slot.shard], keys.get(index), &value, index as u32, rows)?;
                }
            }
            first = end;
        }
        Ok(())
    }

    pub(crate) fn shard_of(&self, key: &[u8]) -> Result<usize> {
        if self.engine.shards().len() == 1 {
            return Ok(0);
        }
        self.engine.shard_index_in(self.space, &key[..self.space.shape.shard_key_len(key)?])
    }

    pub(crate) fn give(&self, shard: &Shard, key: &[u8], value: &[u8], origin: u32, rows: &mut Rows) -> Result<()> {
        let (header, payload) = Header::split(value).map_err(|error| error.at(shard.place()))?;
        if header.expires_at_ms == NEVER_MS || header.is_live(*self.now_ms.get_or_init(|| self.engine.clock().now_ms())) {
            let payload = if self.projection == Projection::KeysOnly { &[] } else { payload };
            rows.push(key, payload, header.version, header.expires_at_ms, origin);
        }
        Ok(())
    }
}

/// What a read sees: the newest rows at each look, or those of one moment in each shard. A batch is of one shard.
pub(crate) struct View<'a> {
    /// One for each shard, or none.
    snapshots: Vec<Snapshot<'a>>,
}

impl<'a> View<'a> {
    fn newest() -> Self {
        Self { snapshots: Vec::new() }
    }

    fn of_one_moment(engine: &'a RocksEngine) -> Self {
        Self { snapshots: engine.shards().iter().map(|shard| shard.db().snapshot()).collect() }
    }

    /// How to read a shard. The view must outlive what is read with them.
    pub(crate) fn options(&self, shard: usize) -> ReadOptions {
        let mut options = read_options();
        if let Some(snapshot) = self.snapshots.get(shard) {
            options.set_snapshot(snapshot);
        }
        options
    }
}

/// The keys of one round, by shard.
struct Chunk<'a> {
    groups: Vec<Group<'a>>,
    /// Where each key of the round went.
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Group<'a> {
    physical: Slices,
    values: Vec<Option<DBPinnableSlice<'a>>>,
}

struct Slot {
    shard: usize,
    place: usize,
}

impl<'a> Chunk<'a> {
    fn new(shards: usize) -> Self {
        Self { groups: (0..shards).map(|_| Group::default()).collect(), slots: Vec::with_capacity(CHUNK_KEYS * shards) }
    }

    fn deal(&mut self, lookup: &Lookup<'_>, keys: &Slices, first: usize, end: usize) -> Result<()> {
        self.slots.clear();
        self.groups.iter_mut().for_each(Group::clear);
        let space = lookup.space.id.0.to_be_bytes();
        for index in first..end {
            let key = keys.get(index);
            let shard = lookup.shard_of(key)?;
            let group = &mut self.groups[shard];
            self.slots.push(Slot { shard, place: group.physical.len() });
            group.physical.push_parts(&[&space, key]);
        }
        Ok(())
    }

    fn get(&mut self, lookup: &Lookup<'a>, options: &[ReadOptions]) -> Result<()> {
        for ((shard, group), options) in lookup.engine.shards().iter().zip(&mut self.groups).zip(options) {
            if group.physical.is_empty() {
                continue;
            }
            let sorted = group.physical.iter().is_sorted();
            let found = shard.db().batched_multi_get_cf_opt(shard.rows(), group.physical.iter(), sorted, options);
            for value in found {
                group.values.push(value.map_err(|error| translate(shard.place(), error))?);
            }
        }
        Ok(())
    }
}

impl Group<'_> {
    fn clear(&mut self) {
        self.physical.clear();
        self.values.clear();
    }
}
