//! A shard: one RocksDB in one data directory, and what keeps its writers in order.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use rocksdb::{
    Cache, ColumnFamily, ColumnFamilyDescriptor, DB, Options, WriteBatch, WriteBufferManager,
};
use tonnage_engine::sync::lock;
use tonnage_engine::{Clock, Deadline, Result, ShardId, SpaceId};

use crate::attempt_outcome::AttemptOutcome;
use crate::backlog::STEADY;
use crate::changes::ChangeCounters;
use crate::compaction::pause::CompactionPause;
use crate::database::Database;
use crate::descriptors;
use crate::directory::manifest::{sync_directory, unavailable};
use crate::directory::synced_manifest::{self, MissingEnd};
use crate::directory::version_edits::LiveState;
use crate::error::translate;
use crate::group_sync::GroupSync;
use crate::ingestion;
use crate::range_locks::RangeLocks;
use crate::rows_family::ROWS;
use crate::settings::{DatabaseShare, Settings, TableIndexes, db_options, row_options_cached};
use crate::stall;
use crate::table_index_location::TableIndexLocation;
use crate::tracking::books::ChangeBooks;
use crate::tracking::notes::ChangeNotes;
use crate::version::VersionCounter;
use crate::wal::audit::{self, LogCut};
use crate::window::LoadWindows;
use crate::write_throttle::WriteThrottle;
use tonnage_engine::placement_hash;

/// The directory for the files of loads, in a data directory.
const LOAD: &str = "load";

const STRIPES: usize = 256;

/// One RocksDB with its directory and its locks.
///
/// Locks are taken in this order: ranges of loads, stripes, gate, books; of several stripes or gates
/// those of lower numbers first.
pub(crate) struct Shard {
    pub(crate) id: ShardId,
    db: Arc<Database>,
    /// The data directory: RocksDB in `db`, files of loads in `load` (emptied once RocksDB is
    /// open).
    pub(crate) directory: PathBuf,
    /// Held shared by a small write from before it records its keys in the windows until it is
    /// committed, exclusively by an ingestion and by the removal of a wide range. Its holder checks
    /// first whether the space still exists.
    pub(crate) gate: RwLock<()>,
    /// Open load windows.
    pub(crate) windows: LoadWindows,
    /// The versions of this shard's rows.
    pub(crate) versions: VersionCounter,
    /// A load holds the range of a file from its first look at what is stored there until the file
    /// is ingested.
    pub(crate) loading: RangeLocks,
    /// How often files of rows were ingested, those of shard-prefixed spaces left aside. Counted before,
    /// under the gate.
    pub(crate) ingestions: AtomicU64,
    /// How often each space was changed.
    pub(crate) changes: ChangeCounters,
    /// What is written into followed spaces.
    pub(crate) books: ChangeBooks,
    /// How many snapshots there are: what they show must not go with its files.
    pub(crate) snapshots: AtomicUsize,
    /// How far the log is known to be on the disk, and who is syncing it.
    syncs: GroupSync,
    /// How often files were dropped: a view older than that may show rows that lay below them.
    pub(crate) file_drops: AtomicU64,
    /// Files whose ingestion failed, and which the MANIFEST may name all the same.
    kept_files: Mutex<Vec<PathBuf>>,
    /// Where small writes wait before they take any lock.
    pub(crate) throttle: Arc<WriteThrottle>,
    /// What was given up of the log when it was opened.
    pub(crate) cuts: Vec<LogCut>,
    /// What was given up of the MANIFEST when it was opened.
    pub(crate) manifest_end: Option<MissingEnd>,
    /// Where filters and indexes of data files are kept.
    pub(crate) indexes: Arc<TableIndexLocation>,
    /// When compaction may work.
    pub(crate) compaction_pause: CompactionPause,
    /// Each small write holds the stripe of its shard key while it reads, decides and commits: the
    /// order of versions is then the order of commits, and conditions hold when the batch lands.
    stripes: Box<[parking_lot::Mutex<()>]>,
}

/// What the shards of a store share.
pub(crate) struct SharedResources<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) cache: &'a Cache,
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// Whether a missing database may be created.
    pub(crate) create: bool,
    /// How many shards there are.
    pub(crate) shards: usize,
    /// Bounds the memtables of all of them.
    pub(crate) memtables: &'a WriteBufferManager,
}

impl Shard {
    /// Notes of a write that is about to be built. The caller holds the gate until it is written.
    #[inline]
    pub(crate) fn begin_notes(&self) -> ChangeNotes {
        ChangeNotes::of_followed(self.books.followed())
    }

    /// Writes a batch of rows that change what the notes say, unless writes are stopped.
    pub(crate) fn attempt(
        &self,
        sync: bool,
        notes: &ChangeNotes,
        batch: WriteBatch,
    ) -> Result<AttemptOutcome<()>> {
        let _counted = self.changes.begin(notes.spaces);
        let _noted = self.books.note(notes);
        match stall::attempt(self.db(), sync, batch) {
            Ok(()) => Ok(AttemptOutcome::Done(())),
            Err(error) if stall::is_stop(&error) => Ok(AttemptOutcome::Stopped(error)),
            Err(error) => Err(translate(self.display_name(), error)),
        }
    }

    /// Opens the database in a data directory.
    pub(crate) fn open(id: ShardId, directory: &Path, with: &SharedResources<'_>) -> Result<Self> {
        let place = directory.join("db");
        let to_damage = with.settings.recover_log_to_damage;
        // Before RocksDB opens: it would take damage to these files for the trace of a crash, and
        // continue without the rows.
        let manifest_end = synced_manifest::check(directory, &place, to_damage)?;
        ingestion::restore_missing_files(&place, &directory.join(LOAD))?;
        let cuts = audit::audit(directory, &place, to_damage)?;
        let live = LiveState::read(&place).map_err(|error| unavailable(&place, error))?;
        let data_bytes = live.iter().flat_map(|live| live.files.values()).map(|file| file.bytes);
        let cache_bytes = with.settings.cache_bytes / with.shards.max(1);
        let indexes = TableIndexes::for_data(data_bytes.sum(), cache_bytes);
        let rows = row_options_cached(with.settings, with.cache, Arc::clone(with.clock), indexes);
        let mut metadata = Options::default();
        metadata.set_write_buffer_size(1 << 20);
        STEADY.set(&mut metadata);
        let families = [
            ColumnFamilyDescriptor::new("default", metadata),
            ColumnFamilyDescriptor::new(ROWS, rows),
        ];
        let share = DatabaseShare {
            create: with.create,
            max_open_files: descriptors::max_open_files(&place, with.shards),
            memtables: with.memtables,
        };
        let db = DB::open_cf_descriptors(&db_options(with.settings, &share), &place, families);
        let db = db.map_err(|error| translate(place.display(), error))?;
        let db = Arc::new(Database::new(db, directory));
        let throttle = Arc::new(WriteThrottle::new(db.share()));
        let shard = Self {
            id,
            versions: VersionCounter::open(Arc::clone(&db))
                .map_err(|error| error.at(place.display()))?,
            directory: directory.to_path_buf(),
            gate: RwLock::new(()),
            windows: LoadWindows::default(),
            loading: RangeLocks::default(),
            ingestions: AtomicU64::new(0),
            changes: ChangeCounters::default(),
            books: ChangeBooks::new(id, lists_bytes_max(with.shards)),
            snapshots: AtomicUsize::new(0),
            syncs: GroupSync::default(),
            file_drops: AtomicU64::new(0),
            kept_files: Mutex::default(),
            cuts,
            manifest_end,
            indexes: Arc::new(TableIndexLocation::new(db.share(), ROWS, cache_bytes, indexes)),
            compaction_pause: CompactionPause::new(db.share(), Arc::clone(&throttle)),
            throttle,
            db,
            stripes: (0..STRIPES).map(|_| parking_lot::Mutex::new(())).collect(),
        };
        // Emptied only once RocksDB is open: until then a file that is missing may have its last
        // link here.
        shard.empty_load_directory()?;
        Ok(shard)
    }

    /// What an earlier process was loading when it ended is of no use to anyone once the database
    /// is open. The directory and that of the database are on the disk before anything in them is.
    fn empty_load_directory(&self) -> Result<()> {
        let directory = self.load_directory();
        let failed = |error| unavailable(&directory, error);
        fs::create_dir_all(&directory).map_err(failed)?;
        sync_directory(&self.directory).map_err(failed)?;
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_directory = entry.file_type().map_err(failed)?.is_dir();
            let removed = if is_directory {
                fs::remove_dir_all(entry.path())
            } else {
                fs::remove_file(entry.path())
            };
            removed.map_err(failed)?;
        }
        Ok(())
    }

    /// The database.
    pub(crate) fn db(&self) -> &Database {
        &self.db
    }

    /// The same for a thread that follows what becomes of it.
    pub(crate) fn share_database(&self) -> Arc<Database> {
        Arc::clone(&self.db)
    }

    /// The database, for a thread that may outlive a borrow of the shard.
    pub(crate) fn share_db(&self) -> Arc<DB> {
        self.db.share()
    }

    /// Has everything on the disk that can be read now. Asks for nothing where that is so already.
    pub(crate) fn sync_log(&self) -> Result<()> {
        self.sync_log_to(self.written())
    }

    /// The sequence number of the last write that can be read now.
    pub(crate) fn written(&self) -> u64 {
        self.db.latest_sequence_number()
    }

    /// Has everything up to a sequence number on the disk. Those who ask for it at the same time
    /// share one sync. The caller holds no lock.
    pub(crate) fn sync_log_to(&self, written: u64) -> Result<()> {
        let sync =
            || self.db.flush_wal(true).map_err(|error| translate(self.display_name(), error));
        self.syncs.sync_up_to(written, || self.written(), sync)
    }

    /// The same by a sync of the caller's own.
    #[cfg(test)]
    pub(crate) fn sync_with(&self, sync: impl FnOnce() -> Result<()>) -> Result<()> {
        self.syncs.sync_up_to(self.written(), || self.written(), sync)
    }

    /// Whether everything that can be read now is known to be on the disk.
    #[cfg(test)]
    pub(crate) fn is_synced(&self) -> bool {
        self.syncs.has_synced(self.written())
    }

    /// The column family of rows.
    pub(crate) fn rows(&self) -> &ColumnFamily {
        self.db.cf_handle(ROWS).expect("opened with this column family")
    }

    /// Where loads keep their files while they work.
    pub(crate) fn load_directory(&self) -> PathBuf {
        self.directory.join(LOAD)
    }

    /// Leaves a note in the log of the sequence numbers that an ingestion took since `before`. The
    /// caller holds the gate exclusively: what is written later follows the note.
    pub(crate) fn note_taken_sequences(&self, before: u64) {
        let last = self.db.latest_sequence_number();
        if last > before {
            let mut batch = WriteBatch::default();
            batch.put_log_data(audit::sequence_note(before + 1..last + 1));
            if stall::write_batch(&self.db, false, &batch).is_err() {
                self.db.forget_synced();
            }
        }
    }

    /// Decides whether the file of a failed ingestion stays for the next opening.
    pub(crate) fn keep_file(&self, path: &Path) -> bool {
        let keep = ingestion::may_be_named(self.db.path(), path);
        if keep {
            lock(&self.kept_files).push(path.to_path_buf());
        }
        keep
    }

    /// An ingestion succeeded. After a failed one RocksDB begins a new MANIFEST, so none names the
    /// files kept since.
    pub(crate) fn remove_kept_files(&self) {
        let mut kept = lock(&self.kept_files);
        kept.retain(|path| {
            ingestion::may_be_named(self.db.path(), path) || fs::remove_file(path).is_err()
        });
    }

    /// The shard as errors name it.
    pub(crate) fn display_name(&self) -> impl Display {
        format!("shard {} ({})", self.id.0, self.directory.display())
    }

    /// The number of the stripe of a shard key.
    pub(crate) fn stripe_of(shard_key: &[u8]) -> usize {
        (placement_hash(shard_key) >> 32) as usize % STRIPES
    }

    /// Takes a stripe by its number and by a deadline. A caller that takes several takes those of
    /// lower numbers first.
    ///
    /// # Errors
    /// `TimedOut`.
    #[inline]
    pub(crate) fn stripe_by(&self, number: usize, deadline: Deadline) -> Result<Stripe<'_>> {
        let stripe = &self.stripes[number];
        match deadline.moment() {
            None => Ok(stripe.lock()),
            Some(moment) => stripe.try_lock_until(moment).ok_or_else(|| {
                Deadline::passed("another write of the same rows").at(self.display_name())
            }),
        }
    }

    /// Takes all stripes.
    #[cfg(test)]
    pub(crate) fn all_stripes(&self) -> Vec<Stripe<'_>> {
        self.stripes.iter().map(|stripe| stripe.lock()).collect()
    }

    /// Holds the gate alone, by a deadline.
    ///
    /// # Errors
    /// `TimedOut`.
    pub(crate) fn gate_alone_by(&self, deadline: Deadline) -> Result<RwLockWriteGuard<'_, ()>> {
        match deadline.moment() {
            None => Ok(self.gate.write()),
            Some(moment) => self.gate.try_write_until(moment).ok_or_else(|| {
                Deadline::passed("small writes that are under way, or a load that stores its rows")
                    .at(self.display_name())
            }),
        }
    }

    /// Holds the gate shared, by a deadline.
    ///
    /// # Errors
    /// `TimedOut`.
    #[inline]
    pub(crate) fn gate_by(&self, deadline: Deadline) -> Result<RwLockReadGuard<'_, ()>> {
        match deadline.moment() {
            None => Ok(self.gate.read()),
            Some(moment) => self.gate.try_read_until(moment).ok_or_else(|| {
                Deadline::passed("a load or a deletion that stores its rows")
                    .at(self.display_name())
            }),
        }
    }
}

/// How much memory a shard may use for what is written into followed spaces.
fn lists_bytes_max(shards: usize) -> usize {
    (tonnage_engine::memory_bytes() / 64).clamp(16 << 20, 1 << 30) / shards.max(1)
}

/// The lock of a stripe.
pub(crate) type Stripe<'a> = parking_lot::MutexGuard<'a, ()>;

/// How many bytes of a physical key name its space.
pub(crate) const SPACE_LEN: usize = size_of::<u32>();

/// Writes the key under which RocksDB keeps a row: the space as four big-endian bytes, then the
/// key.
#[inline]
pub(crate) fn physical_key(space: SpaceId, key: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&space.0.to_be_bytes());
    out.extend_from_slice(key);
}

/// Writes the physical end of a range, where an empty end means that of the space.
pub(crate) fn physical_end(space: SpaceId, end: &[u8], out: &mut Vec<u8>) {
    if end.is_empty() {
        out.clear();
        out.extend_from_slice(&space_end(space));
    } else {
        physical_key(space, end, out);
    }
}

/// The first physical key past a space. The last number is never given to a space.
pub(crate) fn space_end(space: SpaceId) -> [u8; SPACE_LEN] {
    (space.0 + 1).to_be_bytes()
}
