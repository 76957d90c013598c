//! Columns of tables that rest, kept as they were decoded.
//!
//! A row store pays for each row that a statement scans: RocksDB finds it, the codec takes it
//! apart. Where the same tables are scanned again and again, without writes between, their
//! columns are kept:
//!
//! 1. A scan of a whole table notes how often the table was changed ([`Table::change_count`]).
//! 2. The next scan that finds the same count keeps what it decodes. If it comes to its end, no row
//!    expires, and the count is still the same, then this is what the table holds.
//! 3. Further scans take it from memory, while the count is the same. One that asks for more
//!    columns decodes those of before once more, and keeps all of them.
//! 4. What is kept is bounded in bytes. Tables that were not scanned for longest make room.
//!
//! A write moves the count before it is acknowledged, so no scan that begins later takes what was
//! kept before it.

mod fill;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use arrow::array::RecordBatch;
use tonnage::internal::sync::lock;
use tonnage::{Store, Table, TableSchema};

pub(crate) use fill::{ColumnFill, FillingRows};

/// How many tables are noted.
const TABLES_MAX: usize = 256;

/// What is known of the tables of a store that were scanned.
pub(crate) struct ColumnCache {
    store: Store,
    bytes_max: usize,
    state: Mutex<CacheState>,
}

/// What a scan is to do.
pub(crate) enum CacheLookup {
    /// Take these.
    Kept(Arc<CachedColumns>),
    /// Keep what it decodes.
    Fill(Arc<ColumnFill>),
    /// Read the store.
    Pass,
}

/// Columns of a table, all rows of them.
pub(crate) struct CachedColumns {
    /// Positions in the table, ascending.
    pub(crate) columns: Vec<usize>,
    pub(crate) parts: Vec<Vec<RecordBatch>>,
    bytes: usize,
}

/// What a session keeps of tables that rest: those that are scanned again and again while no one
/// writes to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnCacheStatistics {
    /// The tables that columns are kept of.
    pub tables: usize,
    /// The memory that they take, with what is just being kept.
    pub bytes: usize,
    /// How many scans were answered from them.
    pub scans: u64,
}

#[derive(Default)]
struct CacheState {
    tables: HashMap<String, CachedTable>,
    /// Of what is kept and of what is being kept.
    bytes: usize,
    clock: u64,
    /// How many were answered from what is kept.
    scans: u64,
}

/// A table as it was at a count of changes.
struct CachedTable {
    schema: Arc<TableSchema>,
    count: u64,
    /// When it was scanned last.
    used: u64,
    kept: Option<Arc<CachedColumns>>,
    /// Which scan is keeping its columns.
    filling: Option<u64>,
    /// That they cannot be kept: some row expires, or they are too large.
    is_left_alone: bool,
}

impl ColumnCache {
    /// One that keeps up to so many bytes; nothing where that is 0.
    pub(crate) fn new(store: Store, bytes_max: usize) -> Self {
        Self { store, bytes_max, state: Mutex::default() }
    }

    /// What a scan of all rows is to do for these columns. It opens its read after this.
    pub(crate) fn look_up(
        self: &Arc<Self>,
        table: &Table,
        columns: &[usize],
        rows_estimate: Option<u64>,
    ) -> CacheLookup {
        if self.bytes_max == 0 {
            return CacheLookup::Pass;
        }
        // Where a table is gone the scan says so.
        let Ok(Some(count)) = table.change_count() else { return CacheLookup::Pass };
        let mut state = self.state();
        state.clock += 1;
        let now = state.clock;
        let note = match state.tables.get_mut(table.path()) {
            Some(note) if note.is_of(table, count) => note,
            _ => {
                state.note(table, count);
                return CacheLookup::Pass;
            }
        };
        note.used = now;
        if let Some(kept) = note.kept.as_ref().filter(|kept| kept.has(columns)) {
            let kept = kept.clone();
            state.scans += 1;
            return CacheLookup::Kept(kept);
        }
        if note.filling.is_some() || note.is_left_alone {
            return CacheLookup::Pass;
        }
        let mut all = note.kept.as_ref().map_or_else(Vec::new, |kept| kept.columns.clone());
        all.extend_from_slice(columns);
        all.sort_unstable();
        all.dedup();
        // Numbers take half as much, texts more.
        let estimate = rows_estimate.unwrap_or(0).saturating_mul(8 * all.len() as u64);
        if estimate > self.bytes_max as u64 {
            note.is_left_alone = true;
            return CacheLookup::Pass;
        }
        note.filling = Some(now);
        state.forget_outdated(&self.store);
        drop(state);
        CacheLookup::Fill(Arc::new(ColumnFill::new(self.clone(), table.clone(), all, (count, now))))
    }

    /// Whether these columns of a table would come from memory now.
    pub(crate) fn keeps(&self, table: &Table, columns: &[usize]) -> bool {
        let Ok(Some(count)) = table.change_count() else { return false };
        let state = self.state();
        let note = state.tables.get(table.path()).filter(|note| note.is_of(table, count));
        note.and_then(|note| note.kept.as_ref()).is_some_and(|kept| kept.has(columns))
    }

    pub(crate) fn statistics(&self) -> ColumnCacheStatistics {
        let state = self.state();
        let tables = state.tables.values().filter(|note| note.kept.is_some()).count();
        ColumnCacheStatistics { tables, bytes: state.bytes, scans: state.scans }
    }

    /// Makes room for more of a table that is being kept.
    fn reserve(&self, path: &str, bytes: usize) -> bool {
        let mut state = self.state();
        while state.bytes + bytes > self.bytes_max {
            if !state.evict(path) {
                return false;
            }
        }
        state.bytes += bytes;
        true
    }

    /// Keeps the columns of a table, which replace older ones.
    fn publish(&self, path: &str, number: u64, kept: CachedColumns) {
        let mut state = self.state();
        let Some(note) = state.tables.get_mut(path).filter(|note| note.filling == Some(number))
        else {
            state.bytes -= kept.bytes;
            return;
        };
        note.filling = None;
        let before = note.kept.replace(Arc::new(kept));
        state.bytes -= before.map_or(0, |before| before.bytes);
    }

    /// Gives up to keep the columns of a table, for good where it was tried in vain.
    fn abandon(&self, path: &str, number: u64, bytes: usize, is_in_vain: bool) {
        let mut state = self.state();
        state.bytes -= bytes;
        if let Some(note) = state.tables.get_mut(path).filter(|note| note.filling == Some(number)) {
            note.filling = None;
            note.is_left_alone |= is_in_vain;
        }
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        lock(&self.state)
    }
}

impl CacheState {
    /// Notes a table, and forgets what was kept of it.
    fn note(&mut self, table: &Table, count: u64) {
        self.forget(table.path());
        if self.tables.len() >= TABLES_MAX {
            let oldest = self.tables.iter().min_by_key(|(_, note)| note.used);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                self.forget(&path);
            }
        }
        let note = CachedTable {
            schema: table.schema().clone(),
            count,
            used: self.clock,
            kept: None,
            filling: None,
            is_left_alone: false,
        };
        self.tables.insert(table.path().to_owned(), note);
    }

    fn forget(&mut self, path: &str) {
        let note = self.tables.remove(path);
        self.bytes -= note.and_then(|note| note.kept).map_or(0, |kept| kept.bytes);
    }

    /// Forgets what was kept of tables that have changed since, or are gone.
    fn forget_outdated(&mut self, store: &Store) {
        let is_outdated = |(path, note): &(&String, &CachedTable)| {
            note.kept.is_some()
                && !store.table(path).is_ok_and(|table| {
                    matches!(table.change_count(), Ok(Some(count)) if note.is_of(&table, count))
                })
        };
        let outdated = self.tables.iter().filter(is_outdated).map(|(path, _)| path.clone());
        for path in outdated.collect::<Vec<_>>() {
            self.forget(&path);
        }
    }

    /// Drops columns: those that the table itself had before, or those that were not used for
    /// longest. False where there are none.
    fn evict(&mut self, path: &str) -> bool {
        let kept = self.tables.iter().filter(|(_, note)| note.kept.is_some());
        let oldest = kept.min_by_key(|(of, note)| (*of != path, note.used));
        let Some(path) = oldest.map(|(path, _)| path.clone()) else { return false };
        let kept = self.tables.get_mut(&path).and_then(|note| note.kept.take());
        self.bytes -= kept.map_or(0, |kept| kept.bytes);
        true
    }
}

impl CachedTable {
    fn is_of(&self, table: &Table, count: u64) -> bool {
        self.count == count && Arc::ptr_eq(&self.schema, table.schema())
    }
}

impl CachedColumns {
    fn has(&self, columns: &[usize]) -> bool {
        columns.iter().all(|column| self.columns.contains(column))
    }
}

impl std::fmt::Debug for ColumnCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.statistics().fmt(f)
    }
}
