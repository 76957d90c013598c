//! Removes stale entries from an index.
//!
//! 1. Threads read the entries.
//! 2. They look up the rows, and make the entries of each row anew. An entry looks stale if its row
//!    is gone or has other entries.
//! 3. If any look stale, the gate closes briefly and those few are checked again. No write is in
//!    flight then, so stale entries stay stale, and are deleted.
//!
//! If the walk leaves no entry that is stale or expires at another time than its row, and no writer
//! began to leave any meanwhile, the index is known to be clean ([`super::clean_marks`]).
//!
//! A condition on the entry could not replace the gate: the engine checks conditions under the lock
//! of the shard key of a row, and an entry alone has none.
//!
//! A load stores entries before rows, so an entry of a running load looks stale and is not. So
//! loads that hold rows of the table are asked to flush first. Cleaning ends where a load holds
//! some again. A load that begins later waits until the gate is open.
//!
//! The gate of one process does not stop the others. Where several processes use the store, step 3
//! is another: the few are read again in a way that completes writes under way. Those that still
//! look stale are deleted if they are old. By then no row will follow its entry
//! ([`tonnage_engine::Engine::delete_older`]).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tonnage_engine::{
    Condition, Deadline, Durability, Engine, Error, FillCache, Projection, Result, Rows, SHARD_LEN,
    ScanOptions, Slices, WriteBatch,
};

use super::entries::entries_of;
use super::list::OpenIndex;
use super::write_gate::WriteGate;
use crate::catalog::{Catalog, TableEntry};
use crate::codec::KeyOwner;
use crate::read::parts::{PartReader, read_all, read_all_settled, read_parts};
use crate::read::sorted_order;

/// Entries looked at together.
const BATCH_ENTRIES: usize = 4_096;
/// How long bulk puts that hold rows of the table may take to flush them.
const LOAD_WAIT: Duration = Duration::from_secs(5);
/// Entries deleted in one write.
const WRITE_ENTRIES: usize = 1_024;

/// How old a stale entry must be where several processes use the store: a younger one may belong to
/// a row that is on its way.
pub(crate) const STALE_AFTER: Duration = Duration::from_secs(3_600);

/// What became of the stale entries of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexCleanReport {
    /// Entries that were deleted.
    pub removed: u64,
    /// Those that were too young to tell, where several processes use the store.
    pub young: u64,
}

/// One walk over an index.
pub(super) struct IndexCleaning<'a> {
    pub(super) engine: &'a dyn Engine,
    pub(super) gate: &'a WriteGate,
    pub(super) table: &'a TableEntry,
    pub(super) index: &'a OpenIndex,
    /// How many threads read.
    pub(super) threads: usize,
    /// Whether the walk is to end where it is.
    pub(super) give_up: &'a (dyn Fn() -> bool + Sync),
    /// How old entries must be where several processes use the store; without it those of such a
    /// store are left alone.
    pub(super) age: Option<MinimumAge<'a>>,
}

/// How old entries of a store that several processes use must be.
#[derive(Clone, Copy)]
pub(super) struct MinimumAge<'a> {
    pub(super) least: Duration,
    /// Knows whether this process has followed the others.
    pub(super) catalog: &'a Catalog,
}

impl IndexCleaning<'_> {
    /// Deletes the entries that lead to no row, or to one that has another entry by now. Returns
    /// how many.
    pub(super) fn run(&self) -> Result<IndexCleanReport> {
        let Self { engine, gate, table, index, .. } = *self;
        let is_shared = engine.capability().shared;
        if is_shared && self.age.is_none() {
            return Err(cleaning_unsupported(table, index));
        }
        // A load stores entries before rows, so its entries look stale until it has flushed.
        if !is_shared && gate.enter().sees_loads(table.space) {
            gate.wait_for_loads(table.space, LOAD_WAIT, self.give_up)
                .map_err(|_| blocked_by_load(table, index))?;
        }
        let begun = Instant::now();
        let is_kept_exact = !is_shared && engine.capability().shard_prefixed_atomic;
        // Taken before the walk: a stale entry that appears meanwhile voids the mark.
        let mark = is_kept_exact.then(|| table.indexes.clean.begin(gate, table.space)).flatten();
        let options = ScanOptions {
            projection: Projection::KeysOnly,
            batch_rows_max: BATCH_ENTRIES,
            fill_cache: FillCache::No,
            ..ScanOptions::default()
        };
        let (removed, young, outliving) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let cleaner = |_| PartCleaner {
            cleaning: self,
            removed: &removed,
            young: &young,
            outliving: &outliving,
        };
        read_parts(self.threads, engine, index.space(), &options, cleaner)?;
        match (mark, outliving.into_inner()) {
            (Some(mark), 0) => table.indexes.clean.set(index.space(), mark),
            (_, 0) => {}
            _ => table.indexes.clean.note_outliving(),
        }
        table.indexes.clean.rest_after(begun.elapsed());
        let cleaned = IndexCleanReport { removed: removed.into_inner(), young: young.into_inner() };
        let (index, table) = (&index.stored.name, &table.schema.path);
        tracing::info!(index, table, removed = cleaned.removed, "index cleaned");
        Ok(cleaned)
    }
}

/// Cleans one part of the index.
struct PartCleaner<'a> {
    cleaning: &'a IndexCleaning<'a>,
    removed: &'a AtomicU64,
    young: &'a AtomicU64,
    /// Entries that do not expire with their rows.
    outliving: &'a AtomicU64,
}

impl PartReader for PartCleaner<'_> {
    fn read(&mut self, entries: &mut Rows) -> Result<()> {
        let IndexCleaning { gate, table, index, .. } = *self.cleaning;
        if (self.cleaning.give_up)() {
            return Err(Error::cancelled("the cleaning of an index was called off"));
        }
        let seen = self.stale(&entries.keys, Some(&entries.expiries_ms), false)?;
        if seen.is_empty() {
            return Ok(());
        }
        let suspects: Slices = seen.iter().map(|place| entries.keys.get(*place)).collect();
        if let Some(age) = self.cleaning.age.filter(|_| self.cleaning.engine.capability().shared) {
            return self.remove_old(&suspects, age);
        }
        // Judged again with writers kept out: what is stale now stays so until it is deleted.
        let alone = gate.enter_alone();
        if alone.sees_loads(table.space) {
            return Err(blocked_by_load(table, index));
        }
        let stale = self.stale(&suspects, None, false)?;
        let shard = |place: &usize| &suspects.get(*place)[..SHARD_LEN];
        // A batch over several shards is refused.
        for of_shard in stale.chunk_by(|one, two| shard(one) == shard(two)) {
            for some in of_shard.chunks(WRITE_ENTRIES) {
                self.delete(&suspects, some)?;
            }
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}

impl PartCleaner<'_> {
    /// The places of the entries that no row leads back to. Those that name a row of another table
    /// are among them. With the expiries of the entries those are counted that outlive their rows.
    fn stale(
        &self,
        entries: &Slices,
        expiries_ms: Option<&[u64]>,
        settled: bool,
    ) -> Result<Vec<usize>> {
        let IndexCleaning { engine, table, index, .. } = *self.cleaning;
        let (mut keys, mut named) = (Slices::new(), Vec::new());
        for (place, entry) in entries.iter().enumerate() {
            let key = &entry[index.codec.key_start(entry)?..];
            let owner = table.classifier.classify(key);
            if matches!(owner, Ok(KeyOwner::Table(owner)) if owner == table.schema.table_id) {
                keys.push(key);
                named.push(place);
            }
        }
        // Sorted, as neighbours are read faster: entries come in the order of their values, not of
        // keys.
        let order = sorted_order(&keys);
        let sorted: Slices = order.iter().map(|place| keys.get(*place as usize)).collect();
        // An entry that names no row of the table, or one that is gone, is never compared and stays
        // stale.
        let mut is_stale = vec![true; entries.len()];
        let mut compare = |rows: &Rows| {
            let made = entries_of(engine, &table.indexes.set(), index, rows)?;
            for (row, origin) in rows.origins.iter().enumerate() {
                let place = named[order[*origin as usize] as usize];
                is_stale[place] = !made.has(row, entries.get(place));
                let outlives = |all: &[u64]| all[place] != rows.expiries_ms[row];
                if !is_stale[place] && expiries_ms.is_some_and(outlives) {
                    self.outliving.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        match settled {
            false => read_all(engine, table.space, &sorted, &mut compare)?,
            true => read_all_settled(engine, table.space, &sorted, &mut compare)?,
        }
        Ok((0..entries.len()).filter(|place| is_stale[*place]).collect())
    }

    /// Deletes those that are stale and old, beside the writes of other processes.
    fn remove_old(&self, suspects: &Slices, age: MinimumAge<'_>) -> Result<()> {
        let IndexCleaning { engine, gate, index, .. } = *self.cleaning;
        // Changes of the table or its indexes wait until this is over.
        let _pass = gate.enter();
        age.catalog.check_member()?;
        let stale = self.stale(suspects, None, true)?;
        let stale: Slices = stale.iter().map(|place| suspects.get(*place)).collect();
        let removed = engine.delete_older(index.space(), &stale, age.least, Deadline::NONE)?;
        self.removed.fetch_add(removed, Ordering::Relaxed);
        self.young.fetch_add(stale.len() as u64 - removed, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes entries of one shard.
    fn delete(&self, entries: &Slices, places: &[usize]) -> Result<()> {
        let mut batch = WriteBatch::new(self.cleaning.index.space());
        places.iter().for_each(|place| batch.delete(entries.get(*place), Condition::Always));
        self.cleaning.engine.write(&batch, Durability::Write)?;
        self.removed.fetch_add(places.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

#[cold]
fn cleaning_unsupported(table: &TableEntry, index: &OpenIndex) -> Error {
    let place = format!("index {} on {}", index.stored.name, table.schema.path);
    Error::unsupported(format!(
        "{place}: stale entries are not removed in the background where several processes use the store: call Index::clean, or `tonnage check --repair`"
    ))
}

#[cold]
fn blocked_by_load(table: &TableEntry, index: &OpenIndex) -> Error {
    let place = format!("index {} on {}", index.stored.name, table.schema.path);
    Error::unavailable(format!(
        "{place}: a bulk put into the table is under way: clean the index when it pauses or has ended"
    ))
}
