//! Builds and drops indexes.
//!
//! 1. The index gets a space and a row in the catalog, as *building*. From then on every writer
//!    keeps it up. The build waits for writers that looked at the list of indexes before, and bulk
//!    puts flush the rows that they hold. Where several processes have the store open, all of them
//!    do so ([`crate::members`]).
//! 2. The threads of the store read all rows and load their entries. The writer of a row keeps the
//!    index up meanwhile. A row that was read before such a write leaves a stale entry at worst.
//! 3. The catalog says *ready*. If nothing was written meanwhile and no row expires, the index is
//!    known to be clean.
//!
//! A build that fails or is cancelled is taken back. A crash leaves the index *building*: writers
//! keep it up, no reader uses it, and the same `CREATE INDEX` builds it.
//!
//! A drop takes the same steps in reverse. Where several processes have the store open, the index
//! is *building* again until none of them reads it. Then it leaves the catalog, the drop waits for
//! its writers, and the engine drops its space.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tonnage_engine::sync::lock;
use tonnage_engine::{
    Deadline, Durability, Entries, Error, FillCache, LoadOptions, LoadSession, NEVER_MS,
    OnExisting, Result, Rows, ScanOptions, Slices, SpaceId,
};

use super::IndexDefinition;
use crate::cancel::Cancel;
use crate::catalog::Relatives;
use crate::catalog::{NewIndex, TableEntry};
use crate::inner::Inner;
use crate::read::parts::{PartReader, read_parts};
use crate::terms::{check_timeout, deadline_after};

/// Rows read and indexed at a time, by each thread.
const BATCH_ROWS: usize = 16_384;

/// How far the making of an index has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexProgress {
    /// Rows read and indexed.
    pub rows: u64,
}

/// How to make an index.
#[derive(Clone)]
pub struct CreateIndexOptions {
    /// Whether an index of that name on the table is not an error, whatever its columns are.
    pub if_not_exists: bool,
    /// Stops the making from another thread; the index is then taken back.
    pub cancel: Cancel,
    /// Called with the progress now and then; from several threads, one at a time.
    pub progress: Option<Arc<dyn Fn(IndexProgress) + Send + Sync>>,
    /// The memory that the load of the entries may use.
    pub memory_bytes_max: usize,
    /// How long to wait for bulk puts into the table that began before: they flush what they hold
    /// as soon as they come to it, whether or not their streams bring anything.
    pub load_wait: Duration,
    /// The longest that the making may take; then it ends with `TimedOut`, and the index is taken
    /// back.
    pub timeout: Option<Duration>,
}

impl Default for CreateIndexOptions {
    fn default() -> Self {
        Self {
            if_not_exists: false,
            cancel: Cancel::new(),
            progress: None,
            memory_bytes_max: 256 << 20,
            load_wait: Duration::from_secs(600),
            timeout: None,
        }
    }
}

/// Makes an index. Answers whether it was created now.
pub(crate) fn create_index(
    store: &Inner,
    definition: &IndexDefinition,
    options: &CreateIndexOptions,
) -> Result<bool> {
    check_timeout(options.timeout)?;
    let deadline = deadline_after(options.timeout);
    let NewIndex::ToBuild { table, space, unused_at } =
        store.catalog.begin_index(definition, options.if_not_exists, deadline)?
    else {
        return Ok(false);
    };
    let span =
        tracing::info_span!("create_index", index = definition.name, table = definition.table);
    let _entered = span.enter();
    let built = build(store, &table, space, unused_at, options, deadline)
        .and_then(|()| store.catalog.finish_index(&table, space));
    if let Err(error) = built {
        // If rollback fails, the next opening finds the half-built index and `check` reports it.
        if store.catalog.remove_index(&table, space).is_ok() {
            store.catalog.announce(Deadline::NONE);
            store.catalog.drop_spaces(None, &[space], Deadline::NONE);
        }
        return Err(error.at(format_args!("index {} on {}", definition.name, table.schema.path)));
    }
    // Only for the readers of other processes: their writers keep it up since `build` announced it.
    store.catalog.announce(deadline);
    Ok(true)
}

/// Drops an index. It answers whether there was one.
pub(crate) fn drop_index(
    store: &Inner,
    table: &str,
    name: &str,
    if_exists: bool,
    deadline: Deadline,
) -> Result<bool> {
    let Some(space) = store.catalog.remove_index_named(table, name, if_exists, deadline)? else {
        return Ok(false);
    };
    store.catalog.announce(deadline);
    store.catalog.drop_spaces(None, &[space], deadline);
    Ok(true)
}

fn build(
    store: &Inner,
    table: &Arc<TableEntry>,
    space: SpaceId,
    unused_at: Option<u64>,
    options: &CreateIndexOptions,
    deadline: Deadline,
) -> Result<()> {
    let give_up = || options.cancel.is_cancelled();
    store.catalog.announce_to_all(options.load_wait, deadline, &give_up)?;
    if !store.gate.wait_for_writers_by(deadline) {
        return Err(Deadline::passed("writes that began before"));
    }
    let left = deadline.moment().map(|end| end.saturating_duration_since(Instant::now()));
    let patience = options.load_wait.min(left.unwrap_or(Duration::MAX));
    store
        .gate
        .wait_for_loads(table.space, patience, give_up)
        .map_err(|error| deadline.check("bulk puts into the table").err().unwrap_or(error))?;
    let relatives = Relatives::find(&store.catalog, table.clone(), &[])?;
    let mark = match store.keeps_entries() {
        true => None,
        false => table.indexes.clean.begin(&store.gate, table.space),
    };
    // What was noted since it is kept up may have left stale entries in it.
    let mark = mark.filter(|mark| Some(*mark) == unused_at);
    let changes = store.engine.change_count(table.space)?;
    let scan = ScanOptions {
        batch_rows_max: BATCH_ROWS,
        fill_cache: FillCache::No,
        every_copy: true,
        filter: Some(relatives.filter()),
        deadline,
        ..ScanOptions::default()
    };
    let threads = store.lend_all_threads();
    let memory = store.lend_load_memory(options.memory_bytes_max);
    let load = LoadOptions {
        on_existing: OnExisting::Replace,
        durability: Durability::Fsync,
        memory_bytes_max: memory.amount(),
        parallelism: threads.amount(),
        ..LoadOptions::default()
    };
    let session = store.engine.load(load)?;
    let progress =
        BuildProgress { options, deadline, rows: Mutex::new(0), expires: AtomicBool::new(false) };
    read_parts(threads.amount(), &*store.engine, table.space, &scan, |part| IndexBuilder {
        store,
        table,
        space,
        session: &*session,
        progress: &progress,
        part,
        entries: Entries::new(),
        rows_done: 0,
    })?;
    session.finish_by(deadline)?;
    // Entries that are built here never expire.
    let is_exact = !progress.expires.into_inner()
        && changes.is_some()
        && changes == store.engine.change_count(table.space)?;
    if let Some(mark) = mark.filter(|_| is_exact) {
        table.indexes.clean.set(space, mark);
    }
    Ok(())
}

/// The progress of all parts together for the caller, and the caller's answer.
struct BuildProgress<'a> {
    options: &'a CreateIndexOptions,
    deadline: Deadline,
    rows: Mutex<u64>,
    /// Whether a row was met that expires.
    expires: AtomicBool,
}

impl BuildProgress<'_> {
    /// Reports rows done. The lock is held meanwhile, so that the numbers ascend.
    fn add_rows(&self, done: usize) -> Result<()> {
        let mut rows = lock(&self.rows);
        *rows += done as u64;
        if let Some(progress) = &self.options.progress {
            progress(IndexProgress { rows: *rows });
        }
        match self.options.cancel.is_cancelled() {
            true => Err(Error::cancelled("the making of the index was cancelled")),
            false => Ok(()),
        }
    }
}

/// Makes the entries of one part of the table.
struct IndexBuilder<'a> {
    store: &'a Inner,
    table: &'a TableEntry,
    space: SpaceId,
    session: &'a dyn LoadSession,
    progress: &'a BuildProgress<'a>,
    /// Which part, and so which stream of the load.
    part: u32,
    entries: Entries,
    rows_done: u64,
}

impl PartReader for IndexBuilder<'_> {
    fn read(&mut self, rows: &mut Rows) -> Result<()> {
        // The codec is taken anew for each batch: the table may be altered meanwhile.
        let set = self.table.indexes.set();
        let index = set.indexes.iter().find(|index| index.space() == self.space);
        let index = index.ok_or_else(|| Error::not_found("it was dropped while it was made"))?;
        let arrays = index.decode_columns(&set.table, rows)?;
        if rows.expiries_ms.iter().any(|expiry| *expiry != NEVER_MS) {
            self.progress.expires.store(true, Ordering::Relaxed);
        }
        self.entries.clear();
        let made = index.codec.encode(&*self.store.engine, &arrays, &rows.keys)?;
        let (entries, of_rows) = made.into_parts();
        self.entries.values = Slices::from_parts(Vec::new(), vec![0; entries.len()]);
        self.entries.keys = entries;
        self.entries.positions.extend(of_rows.iter().map(|row| self.rows_done + row));
        let deadline = self.progress.deadline;
        self.session.push_by(index.space(), self.part, &self.entries, deadline)?;
        self.rows_done += rows.len() as u64;
        self.progress.add_rows(rows.len())
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for CreateIndexOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateIndexOptions")
            .field("if_not_exists", &self.if_not_exists)
            .field("cancel", &self.cancel)
            .field("memory_bytes_max", &self.memory_bytes_max)
            .field("load_wait", &self.load_wait)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
