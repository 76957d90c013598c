//! The session: takes entries in, and stores them when it is flushed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};

use parking_lot::Mutex;
use tonnage_engine::sync::{read, write};
use tonnage_engine::{
    Deadline, Entries, Error, Header, LoadOptions, OnExisting, Result, SpaceId, SpaceInfo,
};

use super::concurrent_writes::ConcurrentWrites;
use super::context::{LoadContext, catch, precedence};
use super::flush;
use super::lane::{Lane, SpaceKind};
use super::pool::{Pool, PoolSettings, RunLease};
use super::record::NewRecord;
use super::sort::rough_order;
use super::spill::SpillSettings;
use super::workers::Workers;
use crate::open_store::OpenStore;

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
pub(super) struct RocksSession<'a> {
    engine: &'a OpenStore,
    options: LoadOptions,
    pool: Arc<Pool>,
    workers: Workers,
    /// For each shard, where the load takes the place of what is there.
    concurrent_writes: Vec<ConcurrentWrites<'a>>,
    /// The shard-prefixed spaces that entries were pushed to, whether or not they still exist.
    prefixed_spaces: RwLock<BTreeSet<SpaceId>>,
    /// Held by a flush: one at a time.
    flushing: Mutex<()>,
}

impl<'a> RocksSession<'a> {
    /// Opens a session.
    pub(super) fn open(engine: &'a OpenStore, options: LoadOptions) -> Result<Self> {
        let spill_directory = match &options.spill_directory {
            Some(directory) => directory.clone(),
            None => {
                engine.shards().first().map_or_else(PathBuf::new, |shard| shard.load_directory())
            }
        };
        let frame_bytes =
            (options.memory_bytes_max / FRAMES_IN_MEMORY).clamp(FRAME_BYTES_MIN, FRAME_BYTES_MAX);
        let spill = SpillSettings { directory: spill_directory, frame_bytes };
        // Before versions are drawn for entries: what the windows do not see is older than these.
        let watched_shards = if keeps(options.on_existing) { &[] } else { engine.shards() };
        let concurrent_writes = watched_shards.iter().map(ConcurrentWrites::open).collect();
        let pool = Arc::new(Pool::new(pool_settings(&options, engine.shards().len(), spill)));
        let workers = Workers::new(options.parallelism);
        Ok(Self {
            engine,
            options,
            pool,
            workers,
            concurrent_writes,
            prefixed_spaces: RwLock::default(),
            flushing: Mutex::default(),
        })
    }

    fn check(&self, space: &SpaceInfo, stream: u32, entries: &Entries) -> Result<()> {
        entries.check().map_err(|error| error.at(format_args!("stream {stream}")))?;
        let capability = self.engine.limits();
        for index in 0..entries.len() {
            let (key, value) = (entries.key(index), entries.value(index));
            let checked = match () {
                () if key.len() > capability.key_bytes_max => {
                    Err(too_long("key", key.len(), capability.key_bytes_max))
                }
                () if value.len() > capability.value_bytes_max => {
                    Err(too_long("value", value.len(), capability.value_bytes_max))
                }
                () => space
                    .shape
                    .shard_key_len(key)
                    .and_then(|len| self.engine.shard_index_in(space, &key[..len]))
                    .map(drop),
            };
            checked.map_err(|error| {
                error.at(format_args!("entry {} of stream {stream}", entries.position(index)))
            })?;
        }
        Ok(())
    }

    fn note_prefixed(&self, space: SpaceId) {
        let is_known = read(&self.prefixed_spaces).contains(&space);
        if !is_known {
            write(&self.prefixed_spaces).insert(space);
        }
    }

    /// Copies the entries of one lane, into one run after another.
    fn push_to(
        &self,
        lane: Lane,
        batch: &mut PushBatch<'_>,
        mut indexes: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let PushBatch { space, stream, entries, deadline, .. } = *batch;
        let mut index = indexes.next();
        while index.is_some() {
            let mut run = self.check_out(lane, deadline)?;
            // Drawn once there is a run: what a flush stores has smaller versions than what comes
            // after it.
            let version = self.draw_version(lane)?;
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
                // From here on an error of this push stops the load, see `push`.
                batch.is_taken = true;
                index = indexes.next();
            }
            if run.give_back(index.is_some()) {
                self.start_workers()?;
            }
        }
        Ok(())
    }

    /// The version of entries that are pushed now.
    fn draw_version(&self, lane: Lane) -> Result<u64> {
        let shard = &self.engine.shards()[lane.shard];
        let version = shard.versions.next()?;
        if lane.space_kind == SpaceKind::Ordinary && keeps(self.options.on_existing) {
            shard.windows.record_judged_version(version);
        }
        Ok(version)
    }

    fn check_out(&self, lane: Lane, deadline: Deadline) -> Result<RunLease<'_>> {
        if let Some(run) = self.pool.try_check_out(lane)? {
            return Ok(run);
        }
        self.start_workers()?;
        self.pool.check_out(lane, deadline)
    }

    fn start_workers(&self) -> Result<()> {
        self.workers.start(&self.pool).inspect_err(|error| self.pool.stop(error))
    }

    fn flush_now(&self, deadline: Deadline) -> Result<()> {
        deadline.check("its turn")?;
        let _one_at_a_time = match deadline.moment() {
            None => self.flushing.lock(),
            Some(moment) => self
                .flushing
                .try_lock_until(moment)
                .ok_or_else(|| Deadline::passed("another flush of the same load"))?,
        };
        let gathered = self.pool.drain(deadline)?;
        let permits = gathered.permits();
        let stored = match gathered.is_empty() {
            true => Ok(()),
            false => catch(|| flush::flush(&self.context(deadline), gathered)),
        };
        if let Err(error) = &stored {
            self.pool.stop(error);
        }
        self.pool.resume(permits);
        stored
    }

    fn context(&self, deadline: Deadline) -> LoadContext<'_> {
        let prefixed_spaces = read(&self.prefixed_spaces).clone();
        let (engine, options, concurrent_writes) =
            (self.engine, &self.options, &self.concurrent_writes);
        LoadContext {
            engine,
            options,
            concurrent_writes,
            prefixed_spaces,
            deadline,
            stopped: AtomicBool::new(false),
        }
    }
}

/// Whether stored rows stay.
fn keeps(on_existing: OnExisting) -> bool {
    matches!(on_existing, OnExisting::Keep | OnExisting::Fail)
}

fn pool_settings(options: &LoadOptions, shards: usize, spill: SpillSettings) -> PoolSettings {
    // What is left over serves the buffers of files.
    let memory = options.memory_bytes_max - options.memory_bytes_max / 8;
    let lanes = 2 * shards;
    let permits_min = options.parallelism.max(1) + 1 + lanes;
    let run_bytes_max = (memory / permits_min).clamp(RUN_BYTES_MIN, RUN_BYTES_MAX);
    let permits = (memory / run_bytes_max).max(2);
    PoolSettings { permits, run_bytes_max, precedence: precedence(options.on_existing), spill }
}

#[cold]
fn too_long(what: &str, len: usize, max: usize) -> Error {
    Error::invalid(format!("its {what} has {len} bytes, {max} is the most"))
}

/// What a push brings.
struct PushBatch<'e> {
    space: SpaceId,
    stream: u32,
    entries: &'e Entries,
    deadline: Deadline,
    /// Whether an entry of it was taken.
    is_taken: bool,
}

impl RocksSession<'_> {
    /// Takes entries. A timeout when some of them are taken stops the load: which ones is unknown.
    pub(super) fn push(
        &self,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        deadline: Deadline,
    ) -> Result<()> {
        let mut batch = PushBatch { space, stream, entries, deadline, is_taken: false };
        self.push_batch(&mut batch).inspect_err(|error| {
            if batch.is_taken {
                self.pool.stop(error);
            }
        })
    }

    fn push_batch(&self, batch: &mut PushBatch<'_>) -> Result<()> {
        let PushBatch { space, stream, entries, deadline, .. } = *batch;
        deadline.check("its turn")?;
        self.pool.check()?;
        let info = self.engine.space(space)?;
        // All of them before the first is copied: a refused push leaves nothing.
        self.check(&info, stream, entries)?;
        let space_kind = if info.shape.is_shard_prefixed() {
            SpaceKind::ShardPrefixed
        } else {
            SpaceKind::Ordinary
        };
        if space_kind == SpaceKind::ShardPrefixed {
            self.note_prefixed(space);
        }
        // Neighbours in order are then neighbours in memory, and the sort has less to do.
        let order = rough_order(&entries.keys);
        let places = (0..entries.len())
            .map(|place| order.as_ref().map_or(place, |order| order[place] as usize));
        let shards = self.engine.shards().len();
        if shards == 1 {
            return self.push_to(Lane { space_kind, shard: 0 }, batch, places);
        }
        let shard_of = |index: usize| {
            let key = entries.key(index);
            info.shape
                .shard_key_len(key)
                .and_then(|len| self.engine.shard_index_in(&info, &key[..len]))
        };
        let shard_of: Vec<usize> = (0..entries.len()).map(shard_of).collect::<Result<_>>()?;
        // One after another: a pusher that waits for a run must not hold another one.
        for shard in 0..shards {
            let places = places.clone().filter(|place| shard_of[*place] == shard);
            self.push_to(Lane { space_kind, shard }, batch, places)?;
        }
        Ok(())
    }

    pub(super) fn pending_bytes(&self) -> u64 {
        self.pool.pending_bytes()
    }

    pub(super) fn flush(&self, deadline: Deadline) -> Result<()> {
        self.flush_now(deadline)
    }
}

impl Drop for RocksSession<'_> {
    fn drop(&mut self) {
        self.pool.close();
        self.workers.join();
    }
}
