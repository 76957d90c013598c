//! The thread that follows the MANIFEST of each shard.
//!
//! A load notes by itself how far the MANIFEST is on the disk. RocksDB stores memtables in the
//! background, and then removes their logs: this thread notes that. It also notices when small
//! writes grow a shard past the memory for its filters and indexes.

use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use tonnage_engine::sync::lock;

use crate::database::Database;
use crate::table_index_location::TableIndexLocation;

/// How often it looks. A look at a MANIFEST that has not changed takes a few system calls.
const TICK: Duration = Duration::from_millis(100);

/// After so many looks the size of the data files is checked.
const CHECK_SIZE_EVERY: u64 = 50;

/// Follows until it is stopped.
pub(crate) struct ManifestWatch(Mutex<Option<ManifestWatcher>>);

struct ManifestWatcher {
    /// Its end is what the thread waits for.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl ManifestWatch {
    /// Follows these databases. Where no thread can be had only loads and the close note anything.
    pub(crate) fn start(databases: Vec<(Arc<Database>, Arc<TableIndexLocation>)>) -> Self {
        let (stop, stopped) = bounded::<()>(0);
        let work = move || {
            let mut ticks = 0_u64;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                ticks += 1;
                for (database, indexes) in &databases {
                    database.note_manifest();
                    if ticks.is_multiple_of(CHECK_SIZE_EVERY) {
                        indexes.check_size();
                    }
                }
            }
        };
        let thread = Builder::new().name("tonnage-manifest".to_owned()).spawn(work);
        Self(Mutex::new(thread.ok().map(|thread| ManifestWatcher { stop, thread })))
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        let watcher = lock(&self.0).take();
        if let Some(ManifestWatcher { stop, thread }) = watcher {
            drop(stop);
            let _ = thread.join();
        }
    }
}
