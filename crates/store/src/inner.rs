//! The shared inside of a store: its engine, catalog and clock. All handles share one.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tonnage_engine::{
    Acks, Clock, Consistency, Engine, Error, Levels, NEVER_MS, Result, SpaceId, cores,
};

use crate::budget::{Budget, Loan};
use crate::catalog::{Catalog, TableEntry};
use crate::codec::KeyOwner;
use crate::columns::live_columns::LiveColumns;
use crate::index::{BackgroundCleaner, WriteGate};
use crate::levels::AtLevels;
use crate::read::ReadAhead;
use crate::row::Row;
use crate::single_calls::WriteOptions;
use crate::version_clock::VersionClock;

/// The parts of a store.
pub(crate) struct Inner {
    /// What waits for a majority and reads the latest: what the store needs for itself.
    pub(crate) engine: Arc<dyn Engine>,
    /// The levels of calls that ask for none.
    pub(crate) levels: Levels,
    pub(crate) catalog: Catalog,
    pub(crate) clock: Arc<dyn Clock>,
    /// Knows when rows were written.
    pub(crate) version_clock: VersionClock,
    pub(crate) pairs: SpaceId,
    /// The space of large objects, once it is known.
    pub(crate) lobs: OnceLock<SpaceId>,
    pub(crate) gate: Arc<WriteGate>,
    /// Cleans indexes in the background.
    pub(crate) cleaner: BackgroundCleaner,
    /// Columns of what is scanned.
    pub(crate) columns: Arc<LiveColumns>,
    /// What reads hold that their readers have not asked for yet.
    pub(crate) ahead: Arc<ReadAhead>,
    /// The threads of all calls.
    pub(crate) threads: Arc<Budget>,
    /// The memory of all loads.
    pub(crate) load_memory: Arc<Budget>,
}

/// A load that finds the budget of memory spent gets this much.
const LOAD_MEMORY_LEAST: usize = 16 << 20;

impl Inner {
    /// The engine that writes as a call asks for, now.
    pub(crate) fn writer(&self, acks: Option<Acks>) -> AtLevels<'_> {
        self.note_time();
        let acks = acks.unwrap_or(self.levels.acks);
        AtLevels::of(&self.engine, Levels { acks, ..Levels::default() })
    }

    /// Lets versions from now on belong to this time. Called before each write.
    #[inline]
    pub(crate) fn note_time(&self) {
        self.version_clock.tick(&*self.engine, &*self.clock);
    }

    /// The engine that reads as a call asks for.
    pub(crate) fn reader(&self, consistency: Option<Consistency>) -> AtLevels<'_> {
        let consistency = consistency.unwrap_or(self.levels.consistency);
        AtLevels::of(&self.engine, Levels { consistency, ..Levels::default() })
    }

    /// Threads for a call that can use so many, itself included.
    pub(crate) fn lend_threads(&self, wanted: usize) -> Loan {
        self.threads.lend(wanted, 1)
    }

    /// Threads for a call that can use every core.
    pub(crate) fn lend_all_threads(&self) -> Loan {
        self.lend_threads(cores())
    }

    /// Memory for a load that asks for so much.
    pub(crate) fn lend_load_memory(&self, bytes: usize) -> Loan {
        self.load_memory.lend(bytes, LOAD_MEMORY_LEAST)
    }

    /// When a row put now ceases to exist that lives this long; no time at all is for ever.
    pub(crate) fn expiry_ms(&self, ttl: Duration) -> u64 {
        Self::expiry_from_ms(self.clock.now_ms(), ttl)
    }

    /// The same for a row that is put at some time.
    pub(crate) fn expiry_from_ms(now_ms: u64, ttl: Duration) -> u64 {
        if ttl.is_zero() {
            return NEVER_MS;
        }
        // A row with the shortest life still expires, also by a clock that shows 0.
        now_ms.saturating_add(ttl.as_millis().try_into().unwrap_or(u64::MAX)).max(1)
    }

    /// The same for a row of a table, whose own time to live holds when the put gives none.
    pub(crate) fn table_expiry_ms(&self, entry: &TableEntry, ttl: Option<Duration>) -> u64 {
        let ttl = ttl.or_else(|| entry.schema.ttl_ms.map(Duration::from_millis));
        ttl.map_or(NEVER_MS, |ttl| self.expiry_ms(ttl))
    }

    /// The same for a row that is written by itself.
    pub(crate) fn write_expiry_ms(&self, entry: &TableEntry, options: &WriteOptions) -> u64 {
        options.expires_at_ms.unwrap_or_else(|| self.table_expiry_ms(entry, options.ttl))
    }

    /// The row of a key and a value; nothing for a key/value pair.
    pub(crate) fn decode_entry(
        &self,
        space: SpaceId,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<Row>> {
        if space == self.pairs {
            return Ok(None);
        }
        self.owner_of(space, key)?.codec.decode_row(key, value).map(Some)
    }

    /// The table that a key belongs to.
    pub(crate) fn owner_of(&self, space: SpaceId, key: &[u8]) -> Result<Arc<TableEntry>> {
        let dropped = || Error::not_found("the table of this key was dropped meanwhile");
        let family = self.catalog.family(space);
        let owner = family.first().ok_or_else(dropped)?.classifier.classify(key)?;
        let is_owner = |entry: &Arc<TableEntry>| owner == KeyOwner::Table(entry.schema.table_id);
        family.into_iter().find(is_owner).ok_or_else(dropped)
    }
}
