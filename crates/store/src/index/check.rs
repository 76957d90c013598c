//! Checks that every row is in every index of its table.
//!
//! 1. The threads of the store read the rows, and make the entries of each.
//! 2. They gather entries and look them up in the order of the index. With very many at a time that
//!    is a walk over the index.
//! 3. A row that lacks an entry is read again, since it may have been written between the two reads.
//! 4. The entries of the index are counted. Those without a row are stale.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tonnage_engine::sync::{into_inner, lock};
use tonnage_engine::{Engine, FillCache, Projection, Result, Rows, ScanOptions, Slices, SpaceId};

use super::entries::entries_of;
use super::list::OpenIndex;
use crate::call_limits::CallLimits;
use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::read::parts::{PartReader, read_all, read_parts};
use crate::read::sorted_order;

/// Rows read at a time, by each thread.
const BATCH_ROWS: usize = 16_384;
/// Bytes of entries that each thread gathers before it looks them up.
const GATHERED_BYTES: usize = 16 << 20;

/// What a look at one index found.
#[derive(Debug, Default)]
pub(crate) struct IndexFindings {
    /// The primary keys of rows that the index lacks.
    pub(crate) missing: Slices,
    /// Entries that lead to no row, or to one that changed since.
    pub(crate) stale: u64,
}

/// Compares an index with the rows of its table. Both may be written to meanwhile.
pub(crate) fn check_index(
    store: &Inner,
    table: &TableEntry,
    index: &OpenIndex,
    limits: &CallLimits,
) -> Result<IndexFindings> {
    let engine = &*store.engine;
    let relatives = Relatives::find(&store.catalog, store.catalog.table(&table.schema.path)?, &[])?;
    let options = ScanOptions {
        // The space also holds the rows of parents and children, which are in other indexes.
        filter: Some(relatives.filter()),
        batch_rows_max: BATCH_ROWS,
        fill_cache: FillCache::No,
        deadline: limits.deadline(),
        ..ScanOptions::default()
    };
    limits.check()?;
    let found = CheckTotals::default();
    let threads = store.lend_all_threads();
    read_parts(threads.amount(), engine, table.space, &options, |_| IndexChecker {
        engine,
        table,
        index,
        found: &found,
        keys: Slices::new(),
        entries: Slices::new(),
    })?;
    let entries = AtomicU64::new(0);
    let keys_only = ScanOptions {
        projection: Projection::KeysOnly,
        fill_cache: FillCache::No,
        deadline: limits.deadline(),
        ..ScanOptions::default()
    };
    read_parts(threads.amount(), engine, index.space(), &keys_only, |_| EntryCounter(&entries))?;
    // Writers continue between the two passes, so the count of entries may be the smaller one.
    let stale = entries.into_inner().saturating_sub(found.entries.into_inner());
    Ok(IndexFindings { missing: into_inner(found.missing), stale })
}

/// What all parts found together.
#[derive(Default)]
struct CheckTotals {
    /// Entries that were found.
    entries: AtomicU64,
    missing: Mutex<Slices>,
}

/// Checks one part of the table.
struct IndexChecker<'a> {
    engine: &'a dyn Engine,
    table: &'a TableEntry,
    index: &'a OpenIndex,
    found: &'a CheckTotals,
    /// The entries of rows that were read and not looked up yet, each with the key of its row.
    keys: Slices,
    entries: Slices,
}

impl PartReader for IndexChecker<'_> {
    fn read(&mut self, rows: &mut Rows) -> Result<()> {
        let made = entries_of(self.engine, &self.table.indexes.set(), self.index, rows)?;
        made.rows().for_each(|row| self.keys.push(rows.keys.get(row)));
        made.all().iter().for_each(|entry| self.entries.push(entry));
        if self.entries.bytes() >= GATHERED_BYTES { self.look_up() } else { Ok(()) }
    }

    fn end(mut self) -> Result<()> {
        self.look_up()
    }
}

impl IndexChecker<'_> {
    fn look_up(&mut self) -> Result<()> {
        let lacking = missing_entries(self.engine, self.index.space(), &self.entries)?;
        let there = self.entries.len() - lacking.len();
        self.found.entries.fetch_add(there as u64, Ordering::Relaxed);
        // The entries of a row are side by side.
        let mut lacking: Vec<&[u8]> = lacking.iter().map(|place| self.keys.get(*place)).collect();
        lacking.dedup();
        let keys: Slices = lacking.into_iter().collect();
        self.recheck(&keys)?;
        self.keys.clear();
        self.entries.clear();
        Ok(())
    }

    /// What counts is how it is with the rows that are there now.
    fn recheck(&self, keys: &Slices) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        read_all(self.engine, self.table.space, keys, |again| {
            let made = entries_of(self.engine, &self.table.indexes.set(), self.index, again)?;
            let lacking = missing_entries(self.engine, self.index.space(), made.all())?;
            let rows: Vec<usize> = made.rows().collect();
            let mut lacking: Vec<usize> = lacking.iter().map(|place| rows[*place]).collect();
            lacking.dedup();
            let mut missing = lock(&self.found.missing);
            lacking.iter().for_each(|row| missing.push(again.keys.get(*row)));
            Ok(())
        })
    }
}

/// The places of the entries that are not stored.
fn missing_entries(engine: &dyn Engine, space: SpaceId, entries: &Slices) -> Result<Vec<usize>> {
    let order = sorted_order(entries);
    let sorted: Slices = order.iter().map(|row| entries.get(*row as usize)).collect();
    let mut found = Rows::new();
    engine.read(space, &sorted, Projection::KeysOnly, &mut found)?;
    let mut has_entry = vec![false; entries.len()];
    found.origins.iter().for_each(|place| has_entry[order[*place as usize] as usize] = true);
    Ok((0..entries.len()).filter(|row| !has_entry[*row]).collect())
}

/// Counts the entries of one part of an index.
struct EntryCounter<'a>(&'a AtomicU64);

impl PartReader for EntryCounter<'_> {
    fn read(&mut self, rows: &mut Rows) -> Result<()> {
        self.0.fetch_add(rows.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}
