//! The engine: shards, spaces, and the contract on top of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rocksdb::Cache;
use tonnage_engine::{
    Capability, Clock, Durability, Engine, Error, KeyShape, LoadOptions, LoadSession, Projection, Ranges, Result, Rows,
    ScanOptions, Scanner, ShardId, Slices, SpaceId, SpaceInfo, Statistics, SystemClock, VerifyReport, WriteBatch, WriteOutcome,
};

use crate::hash::hash;
use crate::settings::Settings;
use crate::shard::Shard;

/// A store in RocksDB.
pub struct RocksEngine {
    shards: Vec<Shard>,
    spaces: RwLock<BTreeMap<SpaceId, Arc<SpaceInfo>>>,
    settings: Settings,
    clock: Arc<dyn Clock>,
    capability: Capability,
}

impl RocksEngine {
    /// Opens the store in a directory.
    pub fn open(path: impl Into<PathBuf>, settings: Settings) -> Result<RocksEngine> {
        Self::open_with_clock(path, settings, Arc::new(SystemClock))
    }

    /// Opens the store in a directory; `clock` decides what has expired.
    pub fn open_with_clock(path: impl Into<PathBuf>, settings: Settings, clock: Arc<dyn Clock>) -> Result<RocksEngine> {
        let root = path.into();
        let cache = Cache::new_hyper_clock_cache(settings.cache_bytes, 0);
        std::fs::create_dir_all(&root).map_err(|error| Error::unavailable(format!("{}: {error}", root.display())))?;
        let shards = vec![Shard::open(ShardId(0), &root, &settings, &cache)?];
        let capability = Capability {
            key_bytes_max: 64 << 10,
            value_bytes_max: 1 << 30,
            batch_bytes_max: 1 << 30,
            total_order: true,
            absolute_consistency: true,
            fsync: true,
            persistent: true,
            checkpoint: true,
            shards: shards.len() as u32,
        };
        Ok(Self { shards, spaces: RwLock::default(), settings, clock, capability })
    }

    pub(crate) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The index of the shard that holds a shard key.
    #[inline]
    pub(crate) fn shard_index(&self, shard_key: &[u8]) -> usize {
        match self.shards.len() {
            1 => 0,
            shards => (hash(shard_key) % shards as u64) as usize,
        }
    }

    /// A space that exists.
    pub(crate) fn space(&self, space: SpaceId) -> Result<Arc<SpaceInfo>> {
        let spaces = self.spaces.read().unwrap_or_else(PoisonError::into_inner);
        spaces.get(&space).cloned().ok_or_else(|| Error::not_found(format!("there is no space {}", space.0)))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }
}

fn not_yet<T>() -> Result<T> {
    Err(Error::unsupported("not yet"))
}

impl Engine for RocksEngine {
    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn create_space(&self, _name: &str, _shape: &KeyShape) -> Result<SpaceId> {
        not_yet()
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        not_yet()
    }

    fn drop_space(&self, _space: SpaceId) -> Result<()> {
        not_yet()
    }

    fn shard_of(&self, shard_key: &[u8]) -> ShardId {
        ShardId(self.shard_index(shard_key) as u32)
    }

    fn read(&self, _space: SpaceId, _keys: &Slices, _projection: Projection, _rows: &mut Rows) -> Result<()> {
        not_yet()
    }

    fn scan(&self, _space: SpaceId, _ranges: Ranges, _options: ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        not_yet()
    }

    fn write(&self, _batch: &WriteBatch, _durability: Durability) -> Result<WriteOutcome> {
        not_yet()
    }

    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession + '_>> {
        crate::load::open_session(self, options)
    }

    fn delete_range(&self, _space: SpaceId, _ranges: &Ranges, _durability: Durability) -> Result<()> {
        not_yet()
    }

    fn sync(&self) -> Result<()> {
        not_yet()
    }

    fn settle(&self) -> Result<()> {
        not_yet()
    }

    fn checkpoint(&self, _directory: &Path) -> Result<()> {
        not_yet()
    }

    fn verify(&self) -> Result<VerifyReport> {
        not_yet()
    }

    fn statistics(&self) -> Result<Statistics> {
        not_yet()
    }
}
