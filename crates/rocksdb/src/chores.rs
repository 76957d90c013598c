//! Work in the background that nobody waits for: giving back the space of what was removed.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use rocksdb::{CompactOptions, DB};

use crate::shard::{ROWS, Shard};

/// One range of one database to compact.
struct Chore {
    db: Arc<DB>,
    start: Vec<u8>,
    end: Vec<u8>,
}

/// How many chores may wait. One more is dropped: ordinary compaction gets there too, only later.
const WAITING_MAX: usize = 1_024;

/// A thread that compacts ranges one after another; it is started by the first.
#[derive(Default)]
pub(crate) struct Chores {
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    chores: crossbeam_channel::Sender<Chore>,
    thread: JoinHandle<()>,
}

impl Chores {
    /// Compacts the rows between two physical keys some time soon.
    pub(crate) fn compact(&self, shard: &Shard, start: &[u8], end: &[u8]) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_none() {
            *worker = Worker::start();
        }
        if let Some(worker) = &*worker {
            let chore = Chore { db: shard.share_db(), start: start.to_vec(), end: end.to_vec() };
            // Full or gone: see `WAITING_MAX`.
            let _ = worker.chores.try_send(chore);
        }
    }

    /// Ends the thread. What it is at must have been cancelled before; what waits is dropped.
    pub(crate) fn stop(&self) {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { chores, thread }) = worker {
            drop(chores);
            let _ = thread.join();
        }
    }
}

impl Worker {
    /// Nothing when the system has no thread to give.
    fn start() -> Option<Self> {
        let (chores, waiting) = crossbeam_channel::bounded::<Chore>(WAITING_MAX);
        let thread = Builder::new().name("tonnage-chores".to_owned()).spawn(move || waiting.iter().for_each(Chore::run)).ok()?;
        Some(Self { chores, thread })
    }
}

impl Chore {
    fn run(self) {
        let Some(rows) = self.db.cf_handle(ROWS) else { return };
        let mut options = CompactOptions::default();
        options.set_exclusive_manual_compaction(false);
        self.db.compact_range_cf_opt(rows, Some(self.start), Some(self.end), &options);
    }
}
