//! Cleans indexes in the background.
//!
//! 1. A writer that leaves stale entries notes the table, and about how many there are.
//! 2. A thread cleans the indexes of a table that has one stale entry for eight rows, and 1,024 at
//!    least, once nothing more was noted for 500 ms. It also cleans them when a reader could use the
//!    index alone.
//! 3. While a load into the table does not pause, the thread tries again later.
//!
//! The notes are in memory alone. The next cleaning, or [`super::Index::clean`], also removes
//! entries that became stale before the store was opened.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tonnage_engine::sync::{get_mut, lock};
use tonnage_engine::{Engine, ErrorKind, Ranges, SpaceId};

use super::clean::IndexCleaning;
use super::write_gate::WriteGate;
use crate::catalog::TableEntry;

/// Fewer stale entries than this are left alone.
const ENTRIES_MIN: u64 = 1_024;
/// One stale entry for so many rows is worth a walk.
const ROWS_PER_ENTRY: u64 = 8;
/// How long nothing must have been noted before a walk.
const REST: Duration = Duration::from_millis(500);
/// How long the thread waits before it tries a table again.
const RETRY: Duration = Duration::from_secs(5);

/// Cleans the indexes of one store.
pub(crate) struct BackgroundCleaner {
    shared: Arc<CleanerThread>,
    thread: Mutex<Option<JoinHandle<()>>>,
    is_on: bool,
}

struct CleanerThread {
    engine: Arc<dyn Engine>,
    gate: Arc<WriteGate>,
    notes: Mutex<CleaningQueue>,
    changed: Condvar,
    stopping: AtomicBool,
    /// What is done before anything else.
    chore: Mutex<Option<CleanerTask>>,
}

/// Work on an engine that looks now and then whether it is to end.
type CleanerTask = Box<dyn FnOnce(&dyn Engine, &dyn Fn() -> bool) + Send>;

/// What is to be cleaned, by table.
#[derive(Default)]
struct CleaningQueue {
    tables: HashMap<(SpaceId, u32), StaleEntries>,
    /// Grows with each note.
    noted: u64,
}

/// What was left in the indexes of one table.
struct StaleEntries {
    table: Arc<TableEntry>,
    entries: u64,
    /// How many make a walk worth while.
    enough: u64,
    /// Whether a reader wants them gone, however few they are.
    is_wanted: bool,
}

impl CleaningQueue {
    fn of(&mut self, table: &Arc<TableEntry>) -> &mut StaleEntries {
        let key = (table.space, table.schema.table_id);
        self.tables.entry(key).or_insert_with(|| StaleEntries {
            table: table.clone(),
            entries: 0,
            enough: ENTRIES_MIN,
            is_wanted: false,
        })
    }
}

impl BackgroundCleaner {
    pub(crate) fn new(engine: Arc<dyn Engine>, gate: Arc<WriteGate>, is_on: bool) -> Self {
        let shared = CleanerThread {
            engine,
            gate,
            notes: Mutex::default(),
            changed: Condvar::new(),
            stopping: AtomicBool::new(false),
            chore: Mutex::default(),
        };
        Self { shared: Arc::new(shared), thread: Mutex::default(), is_on }
    }

    /// Notes that about so many entries of the indexes of a table have become stale.
    pub(crate) fn note(&self, table: &Arc<TableEntry>, entries: u64) {
        if !self.is_on || entries == 0 || self.shared.engine.capability().shared {
            return;
        }
        let is_enough = {
            let mut notes = self.shared.notes();
            notes.noted += 1;
            let left = notes.of(table);
            left.entries += entries;
            left.is_enough()
        };
        if is_enough {
            self.begin();
            self.shared.changed.notify_one();
        }
    }

    /// Has the indexes of a table cleaned, for a reader that wants to know that they are.
    pub(crate) fn request_cleaning(&self, table: &Arc<TableEntry>) {
        if !self.is_on {
            return;
        }
        {
            let mut notes = self.shared.notes();
            let left = notes.of(table);
            if std::mem::replace(&mut left.is_wanted, true) {
                return;
            }
        }
        self.begin();
        self.shared.changed.notify_one();
    }

    /// Has this done in the background, once: what comes when the thread is at work already is left
    /// out.
    pub(crate) fn run_first(
        &self,
        chore: impl FnOnce(&dyn Engine, &dyn Fn() -> bool) + Send + 'static,
    ) {
        if self.is_on {
            let mut first = lock(&self.shared.chore);
            *first = Some(Box::new(chore));
            drop(first);
            self.begin();
        }
    }

    /// Starts the thread, unless it is there. Where none can be had the entries stay.
    fn begin(&self) {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let shared = self.shared.clone();
            let name = "tonnage-clean".to_owned();
            *thread = std::thread::Builder::new().name(name).spawn(move || shared.work()).ok();
        }
    }
}

impl Drop for BackgroundCleaner {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Taken briefly, so that the thread does not look just before and wait just after.
        drop(self.shared.notes());
        self.shared.changed.notify_one();
        let thread = get_mut(&mut self.thread);
        if let Some(thread) = thread.take() {
            let _ = thread.join();
        }
    }
}

impl StaleEntries {
    fn is_enough(&self) -> bool {
        self.is_wanted || self.entries >= self.enough
    }
}

impl CleanerThread {
    fn notes(&self) -> MutexGuard<'_, CleaningQueue> {
        lock(&self.notes)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn work(&self) {
        let chore = lock(&self.chore).take();
        if let Some(chore) = chore {
            chore(&*self.engine, &|| self.is_stopping());
        }
        while let Some(left) = self.next() {
            if !self.is_worth_it(&left) {
                continue;
            }
            if !self.clean(&left.table) {
                self.put_back(left);
                self.wait(RETRY);
            }
        }
    }

    /// The next table with enough stale entries, once nothing is noted any more. Nothing when the
    /// store closes.
    fn next(&self) -> Option<StaleEntries> {
        let mut notes = self.notes();
        loop {
            if self.is_stopping() {
                return None;
            }
            let ready = notes.tables.iter().find(|(_, left)| left.is_enough());
            let Some(key) = ready.map(|(key, _)| *key) else {
                notes = self.changed.wait(notes).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let noted = notes.noted;
            let waited = self.changed.wait_timeout(notes, REST);
            notes = waited.unwrap_or_else(PoisonError::into_inner).0;
            if notes.noted == noted && !self.is_stopping() {
                return notes.tables.remove(&key);
            }
        }
    }

    /// Whether there are enough for the size of the table; else they are kept until there are.
    fn is_worth_it(&self, left: &StaleEntries) -> bool {
        if left.table.indexes.is_dropped() {
            return false;
        }
        let rows = self.engine.rows_estimate(left.table.space, &Ranges::whole_space());
        let enough = rows.map_or(ENTRIES_MIN, |rows| (rows / ROWS_PER_ENTRY).max(ENTRIES_MIN));
        if left.is_wanted || left.entries >= enough {
            return true;
        }
        self.put_back(StaleEntries {
            table: left.table.clone(),
            entries: left.entries,
            enough,
            is_wanted: false,
        });
        false
    }

    fn put_back(&self, left: StaleEntries) {
        let mut notes = self.notes();
        let key = (left.table.space, left.table.schema.table_id);
        let noted = notes.tables.remove(&key);
        let (entries, is_wanted) =
            noted.map_or((0, false), |noted| (noted.entries, noted.is_wanted));
        notes.tables.insert(
            key,
            StaleEntries {
                entries: left.entries + entries,
                is_wanted: left.is_wanted || is_wanted,
                ..left
            },
        );
    }

    /// Whether the indexes are clean, or need not be cleaned again.
    fn clean(&self, table: &TableEntry) -> bool {
        let set = table.indexes.set();
        set.indexes.iter().filter(|index| index.is_ready()).all(|index| {
            let cleaning = IndexCleaning {
                engine: &*self.engine,
                gate: &self.gate,
                table,
                index,
                threads: 1,
                give_up: &|| self.is_stopping(),
                age: None,
            };
            let cleaned = cleaning.run();
            !cleaned.is_err_and(|error| error.kind() == ErrorKind::Unavailable)
        })
    }

    fn wait(&self, time: Duration) {
        let notes = self.notes();
        if !self.is_stopping() {
            drop(self.changed.wait_timeout_while(notes, time, |_| !self.is_stopping()));
        }
    }
}
