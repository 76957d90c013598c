//! The builder that opens a store.

use std::path::PathBuf;
use std::sync::Arc;

use tonnage_engine::{Acks, Clock, Consistency, Engine, Error, Levels, MemoryEngine, Result};
use tonnage_rocksdb::{RocksEngine, Settings};

use super::Store;
use super::limits::StoreLimits;
use super::url::StoreUrl;
use crate::columns::live_columns::SegmentLimits;

/// A store with less memory is not worth its name.
const MEMORY_BYTES_MIN: usize = 64 << 20;
/// How many memtables a shard may have in use.
const MEMTABLES: usize = 3;

/// Opens the engine of a cluster: its URL, whether a store that does not exist is created, and the
/// clock that decides what has expired.
pub type OpenCluster = fn(&str, bool, Arc<dyn Clock>) -> Result<Arc<dyn Engine>>;

/// How to open a store.
#[derive(Clone)]
pub struct StoreBuilder {
    pub(super) url: String,
    pub(super) open_cluster: Option<OpenCluster>,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) clean_in_background: bool,
    pub(super) limits: StoreLimits,
    pub(super) levels: Levels,
}

impl StoreBuilder {
    /// Spreads the shards of a new store over these directories, one on each disk. An existing
    /// store knows its own.
    pub fn data_directories(
        mut self,
        directories: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        self.settings.data_directories = directories.into_iter().map(Into::into).collect();
        self
    }

    /// Whether a store that does not exist is created (the default) or is an error.
    pub fn create_if_missing(mut self, create: bool) -> Self {
        self.settings.create_if_missing = create;
        self
    }

    /// How much memory caches blocks of data files.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.settings.cache_bytes = bytes;
        self
    }

    /// Whether a store whose write-ahead log is damaged is opened with what precedes the damage (it
    /// is not, by default). What follows the damage is lost for good; [`Store::statistics`] names
    /// the log and the bytes.
    pub fn recover_log_to_damage(mut self, recover: bool) -> Self {
        self.settings.recover_log_to_damage = recover;
        self
    }

    /// All settings of the embedded engine.
    pub fn rocksdb_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// What opens URLs of clusters, `cassandra://HOST,HOST/KEYSPACE`. This library comes without the
    /// driver of one: a program that wants it hands it over, from crate `tonnage-cassandra`.
    pub fn cluster_engine(mut self, open: OpenCluster) -> Self {
        self.open_cluster = Some(open);
        self
    }

    /// How many copies writes wait for that ask for no number: a majority by default.
    pub fn acks(mut self, acks: Acks) -> Self {
        self.levels.acks = acks;
        self
    }

    /// How fresh reads are that do not say: the latest by default. What decides about a write is
    /// always the latest.
    pub fn consistency(mut self, consistency: Consistency) -> Self {
        self.levels.consistency = consistency;
        self
    }

    /// The clock that decides what has expired.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Whether a thread of the store's own takes stale entries out of indexes (it does, by default).
    /// It begins when loads that replace rows, or writes beside loads, have left one for eight rows
    /// of a table, and 1,024 at least. Loads with [`OnExisting::BlindReplace`] do not know what they
    /// leave; see [`Index::clean`]. When a store is opened the thread also deletes chunks of large
    /// objects that a crash has left.
    ///
    /// [`OnExisting::BlindReplace`]: crate::OnExisting::BlindReplace
    /// [`Index::clean`]: crate::Index::clean
    pub fn clean_in_background(mut self, clean: bool) -> Self {
        self.clean_in_background = clean;
        self
    }

    /// About how much memory all reads together may fill with batches that their readers have not
    /// asked for yet; 256 MiB by default. Near this bound batches get smaller, down to 128 KiB: many
    /// scans that are open and rest take that much, and some small batches each.
    pub fn read_ahead_bytes(mut self, bytes: usize) -> Self {
        self.limits.read_ahead_bytes = bytes;
        self
    }

    /// How much memory all loads together take: bulk puts, open loads and the making of indexes. A
    /// load gets what its options ask for, or what the others have left, and at least 16 MiB. By
    /// default each load takes what its options say.
    pub fn load_memory_bytes(mut self, bytes: usize) -> Self {
        self.limits.load_memory_bytes = Some(bytes);
        self
    }

    /// How many threads carry out all calls together: those that encode, sort, read and shape. A
    /// call gets what the others have left, and at least one. By default each call takes up to as
    /// many as there are cores. Threads that flush and compact come on top
    /// ([`Settings::background_threads`]), and so do those that wait in a stream or a key source.
    pub fn threads(mut self, threads: usize) -> Self {
        self.limits.threads = Some(threads.max(1));
        self
    }

    /// How many rows segments of columns have at most, and how much memory all of them take; none are
    /// kept with 0.
    #[doc(hidden)]
    pub fn column_segments(mut self, rows: usize, memory_bytes: usize) -> Self {
        let rows = rows.clamp(1, self.limits.segments.rows);
        self.limits.segments = SegmentLimits { rows, memory_bytes, ..self.limits.segments };
        self
    }

    /// The memory of the whole store, about: a half caches blocks, a quarter is for loads, an
    /// eighth for batches read ahead, an eighth for small writes in each data directory. By default a store takes half of
    /// the machine's memory and more, which suits a machine that does nothing else. What rows a
    /// program holds comes on top, and so do filters and indexes of data files
    /// (docs/operations.md). At least 64 MiB.
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        let bytes = bytes.max(MEMORY_BYTES_MIN);
        self.settings.cache_bytes = bytes / 2;
        self.settings.memtable_bytes = (bytes / 8 / MEMTABLES).min(self.settings.memtable_bytes);
        self.load_memory_bytes(bytes / 4).read_ahead_bytes(bytes / 8)
    }

    /// The directory of the store.
    ///
    /// # Errors
    /// `Invalid` for a URL that cannot be read, `Unsupported` for a store in memory or on a cluster.
    pub fn path(&self) -> Result<PathBuf> {
        match StoreUrl::parse(&self.url)? {
            StoreUrl::RocksDb(path) => Ok(path),
            StoreUrl::Memory => Err(Error::unsupported(format!(
                "{}: a store in memory has no directory: give a path",
                self.url
            ))),
            // Addresses of clusters may hold passwords.
            StoreUrl::Cluster(_) => {
                Err(Error::unsupported("a store on a cluster has no directory: give a path"))
            }
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// `Unavailable` when it is open elsewhere or its directory cannot be used, `NotFound` when it
    /// does not exist and must not be created, `Unsupported` when a newer Tonnage wrote it,
    /// `Corruption` when it is damaged. `Unsupported` for a cluster whose engine was not handed
    /// over.
    pub fn open(self) -> Result<Store> {
        let engine: Arc<dyn Engine> = match StoreUrl::parse(&self.url)? {
            StoreUrl::Memory => Arc::new(MemoryEngine::with_clock(self.clock.clone())),
            StoreUrl::RocksDb(path) => {
                Arc::new(RocksEngine::open_with_clock(&path, self.settings, self.clock.clone())?)
            }
            StoreUrl::Cluster(url) => {
                let open = self.open_cluster.ok_or_else(|| {
                    Error::unsupported(
                        "this program comes without the engine of a cluster: use rocksdb:PATH or memory:",
                    )
                })?;
                open(&url, self.settings.create_if_missing, self.clock.clone())?
            }
        };
        Store::over_with(engine, self.clock, self.clean_in_background, self.limits, self.levels)
    }
}

impl std::fmt::Debug for StoreBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreBuilder")
            .field("clean_in_background", &self.clean_in_background)
            .finish_non_exhaustive()
    }
}
