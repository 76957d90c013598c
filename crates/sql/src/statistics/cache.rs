//! A cache of statistics for plans.
//!
//! Each plan asks for the statistics of each of its tables, so a lookup must cost next to nothing:
//!
//! 1. A store without `_statistics` costs one lookup of that table.
//! 2. A note is valid while the change count of `_statistics` is the same
//!    ([`Table::change_count`]), and the table is the same.
//! 3. Where the store counts no changes, as on a cluster, a note is valid for ten seconds, or until
//!    this session analyses a table.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tonnage::internal::sync::lock;
use tonnage::{Store, Table, TableEntry};

use super::stored::{TABLE, read_statistics};
use super::table::TableStatistics;

/// How many tables are noted.
const TABLES_MAX: usize = 4_096;
/// How long a note holds where the store does not count changes.
const UNCOUNTED_MAX: Duration = Duration::from_secs(10);

/// The statistics of the tables of a store, as far as plans asked for them.
pub(crate) struct StatisticsCache {
    store: Store,
    notes: Mutex<HashMap<String, StatisticsNote>>,
    /// How often this session has analysed a table.
    analysed: AtomicU64,
}

/// Which statistics there are: another one once any of them changed. A plan that is kept is right
/// with each of them, and good with its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatisticsVersion {
    /// The space of `_statistics`, and how often it was changed.
    stored: Option<(u32, Option<u64>)>,
    analysed: u64,
}

struct StatisticsNote {
    entry: Arc<TableEntry>,
    version: StatisticsVersion,
    read: Instant,
    found: Option<Arc<TableStatistics>>,
}

impl StatisticsCache {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, notes: Mutex::default(), analysed: AtomicU64::new(0) }
    }

    pub(crate) fn version(&self) -> StatisticsVersion {
        match self.store.known_table(TABLE) {
            Some(stored) => self.version_of(&stored),
            None => StatisticsVersion::default(),
        }
    }

    fn version_of(&self, stored: &Table) -> StatisticsVersion {
        let count = stored.change_count().ok().flatten();
        StatisticsVersion {
            stored: Some((stored.entry().space.0, count)),
            analysed: self.analysed.load(Ordering::Acquire),
        }
    }

    /// What ANALYZE found of a table. An error does not fail the plan, which works without.
    pub(crate) fn look_up(&self, table: &Table) -> Option<Arc<TableStatistics>> {
        let stored = self.store.known_table(TABLE)?;
        let version = self.version_of(&stored);
        if let Some(note) = self.notes().get(table.path())
            && note.is_current(table, version)
        {
            return note.found.clone();
        }
        let found = read_statistics(&stored, table).ok().flatten();
        let found = found.map(|found| Arc::new(found.for_plans(table)));
        let entry = table.entry().clone();
        let note = StatisticsNote { entry, version, read: Instant::now(), found: found.clone() };
        let mut notes = self.notes();
        if notes.len() >= TABLES_MAX {
            notes.clear();
        }
        notes.insert(table.path().to_owned(), note);
        found
    }

    /// Notes that this session has changed what is stored.
    pub(crate) fn note_change(&self) {
        self.analysed.fetch_add(1, Ordering::AcqRel);
    }

    fn notes(&self) -> MutexGuard<'_, HashMap<String, StatisticsNote>> {
        lock(&self.notes)
    }
}

impl StatisticsNote {
    fn is_current(&self, table: &Table, version: StatisticsVersion) -> bool {
        let is_counted = matches!(version.stored, Some((_, Some(_))));
        self.version == version
            && Arc::ptr_eq(&self.entry, table.entry())
            && (is_counted || self.read.elapsed() < UNCOUNTED_MAX)
    }
}

impl std::fmt::Debug for StatisticsCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the statistics of the store")
    }
}
