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
    Condition, Durability, Engine, Error, Projection, Result, Rows, SHARD_LEN, ScanOptions, Slices,
    WriteBatch,
};

use super::entries::entries_of;
use super::list::OpenIndex;
use super::write_gate::WriteGate;
use crate::catalog::TableEntry;
use crate::codec::KeyOwner;
use crate::read::parts::{PartReader, read_all, read_parts};
use crate::read::sorted_order;

/// Entries looked at together.
const BATCH_ENTRIES: usize = 4_096;
/// How long bulk puts that hold rows of the table may take to flush them.
const LOAD_WAIT: Duration = Duration::from_secs(5);
/// Entries deleted in one write.
const WRITE_ENTRIES: usize = 1_024;

/// One walk over an index.
pub(super) struct Cleaning<'a> {
    pub(super) engine: &'a dyn Engine,
    pub(super) gate: &'a WriteGate,
    pub(super) table: &'a TableEntry,
    pub(super) index: &'a OpenIndex,
    /// How many threads read.
    pub(super) threads: usize,
    /// Whether the walk is to end where it is.
    pub(super) give_up: &'a (dyn Fn() -> bool + Sync),
}

impl Cleaning<'_> {
    /// Deletes the entries that lead to no row, or to one that has another entry by now. Tells how
    /// many.
    pub(super) fn run(&self) -> Result<u64> {
        let Self { engine, gate, table, index, .. } = *self;
        if engine.capability().shared {
            return Err(not_cleaned(table, index));
        }
        if gate.enter().sees_loads(table.space) {
            gate.wait_for_loads(table.space, LOAD_WAIT, self.give_up)
                .map_err(|_| held_up(table, index))?;
        }
        let options = ScanOptions {
            projection: Projection::KeysOnly,
            batch_rows_max: BATCH_ENTRIES,
            fill_cache: false,
            ..ScanOptions::default()
        };
        let removed = AtomicU64::new(0);
        let cleaner = |_| Cleaner { cleaning: self, removed: &removed };
        read_parts(self.threads, engine, index.space(), &options, cleaner)?;
        let removed = removed.into_inner();
        let (index, table) = (&index.stored.name, &table.schema.path);
        tracing::info!(index, table, removed, "index cleaned");
        Ok(removed)
    }
}

/// Cleans one part of the index.
struct Cleaner<'a> {
    cleaning: &'a Cleaning<'a>,
    removed: &'a AtomicU64,
}

impl PartReader for Cleaner<'_> {
    fn read(&mut self, entries: &mut Rows) -> Result<()> {
        let Cleaning { gate, table, index, .. } = *self.cleaning;
        if (self.cleaning.give_up)() {
            return Err(Error::cancelled("the cleaning of an index was called off"));
        }
        let seen = self.stale(&entries.keys)?;
        if seen.is_empty() {
            return Ok(());
        }
        let suspects: Slices = seen.iter().map(|place| entries.keys.get(*place)).collect();
        let alone = gate.enter_alone();
        if alone.sees_loads(table.space) {
            return Err(held_up(table, index));
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
        let Cleaning { engine, table, index, .. } = *self.cleaning;
        let (mut keys, mut named) = (Slices::new(), Vec::new());
        for (place, entry) in entries.iter().enumerate() {
            let key = &entry[index.codec.key_start(entry)?..];
            let owner = table.classifier.classify(key);
            if matches!(owner, Ok(KeyOwner::Table(owner)) if owner == table.schema.table_id) {
                keys.push(key);
                named.push(place);
            }
        }
        let order = sorted_order(&keys);
        let sorted: Slices = order.iter().map(|place| keys.get(*place as usize)).collect();
        let mut is_stale = vec![true; entries.len()];
        read_all(engine, table.space, &sorted, |rows| {
            let made = entries_of(engine, &table.indexes.set(), index, rows)?;
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
        let mut batch = WriteBatch::new(self.cleaning.index.space());
        places.iter().for_each(|place| batch.delete(entries.get(*place), Condition::Always));
        self.cleaning.engine.write(&batch, Durability::Write)?;
        self.removed.fetch_add(places.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

#[cold]
fn not_cleaned(table: &TableEntry, index: &OpenIndex) -> Error {
    let place = format!("index {} on {}", index.stored.name, table.schema.path);
    Error::unsupported(format!(
        "{place}: stale entries stay where several processes use the store: to be rid of them, drop the index and make it anew"
    ))
}

#[cold]
fn held_up(table: &TableEntry, index: &OpenIndex) -> Error {
    let place = format!("index {} on {}", index.stored.name, table.schema.path);
    Error::unavailable(format!(
        "{place}: a bulk put into the table is under way: clean the index when it pauses or has ended"
    ))
}
