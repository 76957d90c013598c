//! Taking stale entries out of an index.
//!
//! 1. Entries are read, by as many threads as there are cores.
//! 2. Their rows are looked up, and the entry of each row is made anew. An entry whose row is gone
//!    or gives another one looks stale.
//! 3. Where any do, the gate is shut for a moment, and those few are looked at again: nobody writes
//!    now, so what is stale stays so, and is deleted.
//!
//! A condition on the entry would not do instead of the gate: writes are judged and carried out
//! under the lock of their row's shard key, and an entry alone has none.
//!
//! A load stores entries before rows, so an entry of a load that is under way looks stale and is
//! not. So loads that hold rows of the table are asked to flush first, and where a load has come to
//! hold some again, cleaning ends. One that comes later waits until the gate is open.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tonnage_engine::{
    Condition, Durability, Error, Projection, Result, Rows, SHARD_LEN, ScanOptions, Slices,
    WriteBatch,
};

use super::check::entries_of;
use super::list::OpenIndex;
use crate::catalog::TableEntry;
use crate::codec::KeyOwner;
use crate::inner::Inner;
use crate::read::parts::{PartReader, read_all, read_parts};
use crate::read::sorted_order;

/// Entries looked at together.
const BATCH_ENTRIES: usize = 4_096;
/// How long bulk puts that hold rows of the table may take to flush them.
const LOAD_WAIT: Duration = Duration::from_secs(5);
/// Entries deleted in one write.
const WRITE_ENTRIES: usize = 1_024;

/// Deletes the entries that lead to no row, or to one that has another entry by now. Tells how
/// many.
pub(super) fn clean_index(store: &Inner, table: &TableEntry, index: &OpenIndex) -> Result<u64> {
    if store.gate.enter().sees_loads(table.space) {
        store
            .gate
            .wait_for_loads(table.space, LOAD_WAIT, || false)
            .map_err(|_| held_up(table, index))?;
    }
    let options = ScanOptions {
        projection: Projection::KeysOnly,
        batch_rows_max: BATCH_ENTRIES,
        fill_cache: false,
        ..ScanOptions::default()
    };
    let removed = AtomicU64::new(0);
    read_parts(&*store.engine, index.space(), &options, |_| Cleaner {
        store,
        table,
        index,
        removed: &removed,
    })?;
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
        let seen = self.stale(&entries.keys)?;
        if seen.is_empty() {
            return Ok(());
        }
        let suspects: Slices = seen.iter().map(|place| entries.keys.get(*place)).collect();
        let alone = self.store.gate.enter_alone();
        if alone.sees_loads(self.table.space) {
            return Err(held_up(self.table, self.index));
        }
        let stale = self.stale(&suspects)?;
        let shard = |place: &usize| &suspects.get(*place)[..SHARD_LEN];
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

impl Cleaner<'_> {
    /// The places of the entries that no row leads back to. Those that name a row of another table
    /// are among them.
    fn stale(&self, entries: &Slices) -> Result<Vec<usize>> {
        let (mut keys, mut named) = (Slices::new(), Vec::new());
        for (place, entry) in entries.iter().enumerate() {
            let key = &entry[self.index.codec.key_start(entry)?..];
            let owner = self.table.classifier.classify(key);
            if matches!(owner, Ok(KeyOwner::Table(owner)) if owner == self.table.schema.table_id) {
                keys.push(key);
                named.push(place);
            }
        }
        let order = sorted_order(&keys);
        let sorted: Slices = order.iter().map(|place| keys.get(*place as usize)).collect();
        let engine = &*self.store.engine;
        let mut is_stale = vec![true; entries.len()];
        read_all(engine, self.table.space, &sorted, |rows| {
            let made = entries_of(engine, &self.table.indexes.set(), self.index, rows)?;
            for (origin, entry) in rows.origins.iter().zip(made.iter()) {
                let place = named[order[*origin as usize] as usize];
                is_stale[place] = entries.get(place) != entry;
            }
            Ok(())
        })?;
        Ok((0..entries.len()).filter(|place| is_stale[*place]).collect())
    }

    /// Deletes entries of one shard.
    fn delete(&self, entries: &Slices, places: &[usize]) -> Result<()> {
        let mut batch = WriteBatch::new(self.index.space());
        places.iter().for_each(|place| batch.delete(entries.get(*place), Condition::Always));
        self.store.engine.write(&batch, Durability::Write)?;
        self.removed.fetch_add(places.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

#[cold]
fn held_up(table: &TableEntry, index: &OpenIndex) -> Error {
    let place = format!("index {} on {}", index.stored.name, table.schema.path);
    Error::unavailable(format!(
        "{place}: a bulk put into the table is under way: clean the index when it pauses or has ended"
    ))
}
