//! A shard: one RocksDB in one data directory, and what keeps its writers in order.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rocksdb::{Cache, ColumnFamily, ColumnFamilyDescriptor, DB, Options};
use tonnage_engine::{Error, Result, ShardId, SpaceId};

use crate::error::translate;
use crate::hash::hash;
use crate::settings::{Settings, row_options_with};
use crate::version::VersionCounter;
use crate::window::{LoadWindows, WindowId};

/// The column family that holds rows; metadata of the engine lives in `default`.
pub(crate) const ROWS: &str = "rows";

const STRIPES: usize = 256;

/// One RocksDB with its directory and its locks.
///
/// Locks are taken in this order: stripe, gate.
pub(crate) struct Shard {
    pub(crate) id: ShardId,
    db: Arc<DB>,
    /// The data directory: RocksDB in `db`, files of loads in `load` (emptied at open).
    pub(crate) directory: PathBuf,
    /// Held shared by a small write from before it records its keys in the windows until it is committed, exclusively by
    /// an ingestion and by the drop of a space. Whoever holds it asks first whether the space still exists.
    pub(crate) gate: RwLock<()>,
    /// Open load windows.
    pub(crate) windows: LoadWindows,
    /// The versions of this shard's rows.
    pub(crate) versions: VersionCounter,
    /// One load at a time merges into a shard.
    pub(crate) merging: Mutex<()>,
    /// Each small write holds the stripe of its shard key while it reads, decides and commits: the order of versions is then
    /// the order of commits, and conditions hold when the batch lands.
    stripes: Box<[Mutex<()>]>,
}

impl Shard {
    /// Opens the database in a data directory, and makes it when it is missing.
    pub(crate) fn open(id: ShardId, directory: &Path, settings: &Settings, cache: &Cache) -> Result<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let families = [
            ColumnFamilyDescriptor::new("default", Options::default()),
            ColumnFamilyDescriptor::new(ROWS, row_options_with(settings, Some(cache))),
        ];
        let place = directory.join("db");
        let db = DB::open_cf_descriptors(&options, &place, families).map_err(|error| translate(place.display(), error))?;
        let db = Arc::new(db);
        let shard = Self {
            id,
            versions: VersionCounter::open(Arc::clone(&db))?,
            db,
            directory: directory.to_path_buf(),
            gate: RwLock::new(()),
            windows: LoadWindows::default(),
            merging: Mutex::new(()),
            stripes: (0..STRIPES).map(|_| Mutex::new(())).collect(),
        };
        shard.empty_load_directory()?;
        Ok(shard)
    }

    fn empty_load_directory(&self) -> Result<()> {
        let directory = self.load_directory();
        let failed = |error: std::io::Error| Error::unavailable(format!("{}: {error}", directory.display())).with_source(error);
        match std::fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        std::fs::create_dir_all(&directory).map_err(failed)
    }

    /// The database.
    pub(crate) fn db(&self) -> &DB {
        &self.db
    }

    /// The column family of rows.
    pub(crate) fn rows(&self) -> &ColumnFamily {
        self.db.cf_handle(ROWS).expect("opened with this column family")
    }

    /// Where loads keep their files while they work.
    pub(crate) fn load_directory(&self) -> PathBuf {
        self.directory.join("load")
    }

    /// Opens a load window at a moment when no small write is half done.
    pub(crate) fn open_window(&self) -> WindowId {
        let _no_writer = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.windows.open()
    }

    /// Takes the stripe of a shard key.
    pub(crate) fn stripe(&self, shard_key: &[u8]) -> MutexGuard<'_, ()> {
        let stripe = &self.stripes[(hash(shard_key) >> 32) as usize % STRIPES];
        stripe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the key under which RocksDB keeps a row: the space as four big-endian bytes, then the key.
#[inline]
pub(crate) fn physical_key(space: SpaceId, key: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&space.0.to_be_bytes());
    out.extend_from_slice(key);
}
