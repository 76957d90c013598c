//! The session: takes entries in, and stores them when it is flushed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tonnage_engine::header::Header;
use tonnage_engine::{Engine, Entries, Error, LoadOptions, LoadSession, OnExisting, Result, SpaceId, SpaceInfo};

use super::context::{Context, catch, precedence};
use super::pool::{Pool, PoolSettings};
use super::record::NewRecord;
use super::run::RunBuffer;
use super::spill::SpillPlace;
use super::store;
use super::versions::OwnVersions;
use super::watch::Watch;
use super::workers::Workers;
use crate::RocksEngine;

/// No run is larger: sorting many runs side by side starts earlier than sorting few large ones.
const RUN_BYTES_MAX: usize = 128 << 20;
/// No run is smaller, however little memory there is.
const RUN_BYTES_MIN: usize = 64 << 10;
/// Bounds of how much of a spill file is read at once.
const FRAME_BYTES_MIN: usize = 16 << 10;
const FRAME_BYTES_MAX: usize = 128 << 10;
/// Spill files are many and read by several threads: this part of the memory, each.
const FRAMES_IN_MEMORY: usize = 1024;

/// A load session of the RocksDB engine.
pub(super) struct Session<'a> {
    engine: &'a RocksEngine,
    options: LoadOptions,
    pool: Arc<Pool>,
    workers: Workers,
    /// For each shard, where the load overwrites.
    watches: Vec<Watch<'a>>,
    /// The version of the entries pushed now, for each shard. Renewed by each flush.
    versions: Vec<AtomicU64>,
    /// The placed spaces that entries were pushed to, whether or not they still exist.
    placed: RwLock<BTreeSet<SpaceId>>,
    /// Held by a flush: one at a time. All versions so far, for each shard.
    flushing: Mutex<Vec<OwnVersions>>,
}

impl<'a> Session<'a> {
    /// Opens a session.
    pub(super) fn open(engine: &'a RocksEngine, options: LoadOptions) -> Result<Self> {
        let spill_directory = match &options.spill_directory {
            Some(directory) => directory.clone(),
            None => engine.shards().first().map_or_else(PathBuf::new, |shard| shard.load_directory()),
        };
        let frame_bytes = (options.memory_bytes_max / FRAMES_IN_MEMORY).clamp(FRAME_BYTES_MIN, FRAME_BYTES_MAX);
        let spill = SpillPlace { directory: spill_directory, frame_bytes };
        // Before the versions are drawn: what the watches do not see is older than these.
        let watched = if options.on_existing == OnExisting::Overwrite { engine.shards() } else { &[] };
        let watches = watched.iter().map(Watch::open).collect();
        let versions = engine.shards().iter().map(|shard| shard.versions.next()).collect::<Result<Vec<u64>>>()?;
        let flushing = Mutex::new(versions.iter().copied().map(OwnVersions::new).collect());
        let versions = versions.into_iter().map(AtomicU64::new).collect();
        let pool = Arc::new(Pool::new(pool_settings(&options, engine.shards().len(), spill)));
        let workers = Workers::new(options.parallelism);
        Ok(Self { engine, options, pool, workers, watches, versions, placed: RwLock::default(), flushing })
    }

    fn check(&self, space: &SpaceInfo, stream: u32, entries: &Entries) -> Result<()> {
        let capability = self.engine.capability();
        for index in 0..entries.len() {
            let (key, value) = (entries.key(index), entries.value(index));
            let checked = match () {
                () if key.len() > capability.key_bytes_max => Err(too_long("key", key.len(), capability.key_bytes_max)),
                () if value.len() > capability.value_bytes_max => Err(too_long("value", value.len(), capability.value_bytes_max)),
                () => space.shape.shard_key_len(key).and_then(|len| self.engine.shard_index_in(space, &key[..len])).map(drop),
            };
            checked.map_err(|error| error.at(format_args!("entry {} of stream {stream}", entries.position(index))))?;
        }
        Ok(())
    }

    fn note_placed(&self, space: SpaceId) {
        let is_known = self.placed.read().unwrap_or_else(PoisonError::into_inner).contains(&space);
        if !is_known {
            self.placed.write().unwrap_or_else(PoisonError::into_inner).insert(space);
        }
    }

    /// Copies the entries of one shard, into one run after another.
    fn push_to(
        &self,
        shard: usize,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        mut indexes: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let mut index = indexes.next();
        while index.is_some() {
            let mut run = self.check_out(shard)?;
            let version = self.versions[shard].load(Ordering::Acquire);
            let mut bytes = 0;
            while let Some(next) = index {
                let record = NewRecord {
                    space,
                    key: entries.key(next),
                    header: Header { version, expires_at_ms: entries.expires_at_ms(next) },
                    payload: entries.value(next),
                    stream,
                    position: entries.position(next),
                };
                if run.is_full_for(&record) {
                    break;
                }
                run.push(&record);
                bytes += record.key.len() + record.payload.len();
                index = indexes.next();
            }
            if self.pool.give_back(run, bytes as u64, index.is_some()) {
                self.start_workers()?;
            }
        }
        Ok(())
    }

    fn check_out(&self, shard: usize) -> Result<RunBuffer> {
        if let Some(run) = self.pool.try_check_out(shard)? {
            return Ok(run);
        }
        self.start_workers()?;
        self.pool.check_out(shard)
    }

    fn start_workers(&self) -> Result<()> {
        self.workers.start(&self.pool).inspect_err(|error| self.pool.stop(error))
    }

    fn flush_now(&self) -> Result<()> {
        let mut own_versions = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let gathered = self.pool.drain(|| self.renew_versions(&mut own_versions))?;
        let permits = gathered.permits();
        let stored = match gathered.is_empty() {
            true => Ok(()),
            false => catch(|| store::store(&self.context(&own_versions), gathered)),
        };
        if let Err(error) = &stored {
            self.pool.stop(error);
        }
        self.pool.resume(permits);
        stored
    }

    fn context<'c>(&'c self, own_versions: &'c [OwnVersions]) -> Context<'c> {
        let placed = self.placed.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (engine, options, watches) = (self.engine, &self.options, &self.watches);
        Context { engine, options, own_versions, watches, placed, stopped: AtomicBool::new(false) }
    }

    fn renew_versions(&self, own_versions: &mut [OwnVersions]) -> Result<()> {
        for ((shard, version), own) in self.engine.shards().iter().zip(&self.versions).zip(own_versions) {
            let renewed = shard.versions.next()?;
            own.push(renewed);
            version.store(renewed, Ordering::Release);
        }
        Ok(())
    }
}

fn pool_settings(options: &LoadOptions, shards: usize, spill: SpillPlace) -> PoolSettings {
    // What is left over serves the buffers of files.
    let memory = options.memory_bytes_max - options.memory_bytes_max / 8;
    let permits_min = options.parallelism.max(1) + 1 + shards;
    let run_bytes_max = (memory / permits_min).clamp(RUN_BYTES_MIN, RUN_BYTES_MAX);
    let permits = (memory / run_bytes_max).max(2);
    PoolSettings { permits, run_bytes_max, precedence: precedence(options.on_existing), spill }
}

#[cold]
fn too_long(what: &str, len: usize, max: usize) -> Error {
    Error::invalid(format!("its {what} has {len} bytes, {max} is the most"))
}

impl LoadSession for Session<'_> {
    fn push(&self, space: SpaceId, stream: u32, entries: &Entries) -> Result<()> {
        self.pool.check()?;
        let info = self.engine.space(space)?;
        self.check(&info, stream, entries)?;
        if info.shape.is_placed() {
            self.note_placed(space);
        }
        let shards = self.engine.shards().len();
        if shards == 1 {
            return self.push_to(0, space, stream, entries, 0..entries.len());
        }
        let shard_of = |index: usize| {
            let key = entries.key(index);
            info.shape.shard_key_len(key).and_then(|len| self.engine.shard_index_in(&info, &key[..len]))
        };
        let shard_of: Vec<usize> = (0..entries.len()).map(shard_of).collect::<Result<_>>()?;
        for shard in 0..shards {
            let indexes = (0..entries.len()).filter(|index| shard_of[*index] == shard);
            self.push_to(shard, space, stream, entries, indexes)?;
        }
        Ok(())
    }

    fn pending_bytes(&self) -> u64 {
        self.pool.pending_bytes()
    }

    fn flush(&self) -> Result<()> {
        self.flush_now()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.flush_now()
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.pool.close();
        self.workers.join();
    }
}
