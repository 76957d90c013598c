//! A RocksDB database that tracks how much of its log and its MANIFEST is on the disk.

use std::collections::HashSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::{DB, Error, ErrorKind, WriteBatch, WriteOptions};

use crate::directory::synced::LogFollower;
use crate::directory::synced_manifest::ManifestFollower;

/// An open database. Everything that is written to its log passes here, and is counted: a sync
/// without other writes is known to cover all of the log.
pub(crate) struct Database {
    db: Arc<DB>,
    begun: AtomicU64,
    ended: AtomicU64,
    log: LogFollower,
    manifest: ManifestFollower,
}

impl Deref for Database {
    type Target = DB;

    fn deref(&self) -> &DB {
        &self.db
    }
}

impl Database {
    /// For a database that was just opened, of the shard in a data directory.
    pub(crate) fn new(db: DB, directory: &Path) -> Self {
        let log = LogFollower::new(directory, db.path());
        let manifest = ManifestFollower::new(directory, db.path());
        let (begun, ended) = (AtomicU64::new(0), AtomicU64::new(0));
        let database = Self { db: Arc::new(db), begun, ended, log, manifest };
        database.note_manifest();
        database
    }

    /// RocksDB itself, for those who write nothing and may outlive a borrow.
    pub(crate) fn share(&self) -> Arc<DB> {
        Arc::clone(&self.db)
    }

    /// Writes a batch; the options ask for a sync if `sync` does.
    pub(crate) fn write(
        &self,
        batch: WriteBatch,
        options: &WriteOptions,
        sync: bool,
    ) -> Result<(), Error> {
        if sync {
            self.synced(|| self.db.write_opt(batch, options))
        } else {
            self.write_opt(batch, options)
        }
    }

    /// Writes a batch; that it was synced, if it was, is not noted.
    pub(crate) fn write_opt(&self, batch: WriteBatch, options: &WriteOptions) -> Result<(), Error> {
        let _counted = self.begin();
        self.db.write_opt(batch, options)
    }

    /// Has the log written, and synced if that is asked for.
    pub(crate) fn flush_wal(&self, sync: bool) -> Result<(), Error> {
        if sync { self.synced(|| self.db.flush_wal(true)) } else { self.db.flush_wal(false) }
    }

    /// Has all of the log on the disk, and notes that, so that whatever is missing later is known
    /// to be damage. What fails here is left as a crash would leave it.
    pub(crate) fn close_log(&self) {
        if self.log.is_behind() {
            let _ = self.flush_wal(true);
        }
    }

    /// Notes how far the MANIFEST is on the disk, if there is anything new.
    pub(crate) fn note_manifest(&self) {
        self.manifest.note(|| {
            let files = self.db.live_files().ok()?;
            let number =
                |name: &str| name.trim_start_matches('/').strip_suffix(".sst")?.parse().ok();
            Some(files.iter().filter_map(|file| number(&file.name)).collect::<HashSet<u64>>())
        });
    }

    /// Ends the work of RocksDB in the background, and notes what it has left.
    pub(crate) fn close_manifest(&self) {
        self.db.cancel_all_background_work(true);
        self.note_manifest();
    }

    /// From now on nothing is known of the log, because it lacks a note of what it does not hold.
    pub(crate) fn forget_synced(&self) {
        self.log.forget();
    }

    fn begin(&self) -> CountedWrite<'_> {
        CountedWrite { number: self.begun.fetch_add(1, Ordering::SeqCst) + 1, ended: &self.ended }
    }

    fn synced(&self, write: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let counted = self.begin();
        let is_first = self.ended.load(Ordering::SeqCst) + 1 == counted.number;
        let before = self.log.current_length();
        if let Err(error) = write() {
            // A write that RocksDB refused at once is in no log.
            if error.kind() != ErrorKind::Incomplete {
                self.log.note_failed();
            }
            return Err(error);
        }
        self.log.note_synced(before, || {
            is_first && self.begun.load(Ordering::SeqCst) == counted.number
        });
        Ok(())
    }
}

/// A write under way.
struct CountedWrite<'a> {
    number: u64,
    ended: &'a AtomicU64,
}

impl Drop for CountedWrite<'_> {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}
