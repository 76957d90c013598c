//! Taking stale entries out of an index.
//!
//! 1. Entries are read, by as many threads as there are cores.
//! 2. Their rows are looked up, and the entry of each row is made anew. An entry whose row is gone or gives another one is stale.
//! 3. Stale entries are deleted, each on condition that it is still what was read: who makes a row match it again stores it again, with a
//!    version of its own.
//!
//! A load stores entries before rows, so an entry of a load that is under way looks stale and is not. Hence steps 2 and 3 are carried out under a
//! pass of the gate that sees no load: one that comes later waits for the pass.

use std::sync::atomic::{AtomicU64, Ordering};

use tonnage_engine::{
    Condition, Durability, Error, Projection, Result, Rows, SHARD_LEN, ScanOptions, Slices, WriteBatch, WriteOutcome,
};

use super::check::entries_of;
use super::list::OpenIndex;
use super::parts::{PartReader, read_parts};
use crate::bulk::get::sorted_order;
use crate::catalog::TableEntry;
use crate::store::Inner;

/// Entries looked at under one pass of the gate.
const BATCH_ENTRIES: usize = 4_096;
/// Entries deleted in one write.
const WRITE_ENTRIES: usize = 1_024;

/// Deletes the entries that lead to no row, or to one that has another entry by now. Tells how many.
pub(super) fn clean_index(store: &Inner, table: &TableEntry, index: &OpenIndex) -> Result<u64> {
    let options = ScanOptions {
        projection: Projection::KeysOnly,
        batch_rows_max: BATCH_ENTRIES,
        fill_cache: false,
        ..ScanOptions::default()
    };
    let removed = AtomicU64::new(0);
    read_parts(&*store.engine, index.space(), &options, |_| Cleaner { store, table, index, removed: &removed })?;
    Ok(removed.into_inner())
}

/// Cleans one part of the index.
struct Cleaner<'a> {
    store: &'a Inner,
    table: &'a TableEntry,
    index: &'a OpenIndex,
    removed: &'a AtomicU64,
}

impl PartReader for Cleaner<'_> {
    fn read(&mut self, entries: &mut Rows) -> Result<()> {
        let pass = self.store.gate.enter();
        if pass.sees_loads() {
            let place = format!("index {} on {}", self.index.stored.name, self.table.schema.path);
            return Err(Error::unavailable(format!("{place}: a bulk put is under way: clean the index when it has ended")));
        }
        let stale = self.stale(entries)?;
        let shard = |entry: &usize| &entries.keys.get(*entry)[..SHARD_LEN];
        for of_shard in stale.chunk_by(|one, two| shard(one) == shard(two)) {
            for some in of_shard.chunks(WRITE_ENTRIES) {
                self.delete(entries, some.to_vec())?;
            }
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}

impl Cleaner<'_> {
    /// The places of the entries that no row leads back to.
    fn stale(&self, entries: &Rows) -> Result<Vec<usize>> {
        let mut keys = Slices::new();
        for entry in entries.keys.iter() {
            keys.push(&entry[self.index.codec.key_start(entry)?..]);
        }
        let order = sorted_order(&keys);
        let sorted: Slices = order.iter().map(|place| keys.get(*place as usize)).collect();
        let engine = &*self.store.engine;
        let mut rows = Rows::new();
        engine.read(self.table.space, &sorted, Projection::KeysAndValues, &mut rows)?;
        let made = entries_of(engine, &self.table.indexes.set(), self.index, &rows)?;
        let mut is_stale = vec![true; entries.len()];
        for (origin, entry) in rows.origins.iter().zip(made.iter()) {
            let place = order[*origin as usize] as usize;
            is_stale[place] = entries.keys.get(place) != entry;
        }
        Ok((0..entries.len()).filter(|place| is_stale[*place]).collect())
    }

    /// Deletes entries of one shard, except those that were written since.
    fn delete(&self, entries: &Rows, mut places: Vec<usize>) -> Result<()> {
        while !places.is_empty() {
            let mut batch = WriteBatch::new(self.index.space());
            for place in &places {
                batch.delete(entries.keys.get(*place), Condition::IfVersion(entries.versions[*place]));
            }
            match self.store.engine.write(&batch, Durability::Write)? {
                WriteOutcome::Applied { .. } => {
                    self.removed.fetch_add(places.len() as u64, Ordering::Relaxed);
                    return Ok(());
                }
                WriteOutcome::Refused { operation, .. } => {
                    places.remove(operation);
                }
            }
        }
        Ok(())
    }
}
