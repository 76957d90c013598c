//! What all steps of a load share: the store, the options, the deadline, and whether the load
//! stopped.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use tonnage_engine::{
    Deadline, Error, ErrorKind, Header, LoadOptions, OnExisting, Result, SpaceId, catch_panic,
};

use super::concurrent_writes::ConcurrentWrites;
use super::conflict::{ConflictResolver, ConflictRules};
use super::lane::SpaceKind;
use super::record::{LoadRecord, Precedence, space_of};
use super::tally::StreamTally;
use crate::open_store::OpenStore;
use crate::shard::Shard;

/// The engine, the options, and whether the load was stopped.
pub(super) struct LoadContext<'a> {
    pub(super) engine: &'a OpenStore,
    pub(super) options: &'a LoadOptions,
    /// For each shard, where the load takes the place of what is there.
    pub(super) concurrent_writes: &'a [ConcurrentWrites<'a>],
    /// The shard-prefixed spaces of the load, whether or not they still exist.
    pub(super) prefixed_spaces: BTreeSet<SpaceId>,
    /// By when everything must be stored.
    pub(super) deadline: Deadline,
    /// Set by the first step that fails, so that the others end soon.
    pub(super) stopped: AtomicBool,
}

impl LoadContext<'_> {
    /// Which of two entries with the same key is stored.
    pub(super) fn precedence(&self) -> Precedence {
        precedence(self.options.on_existing)
    }

    /// A resolver that sees what is stored in a shard now.
    pub(super) fn resolver<'a>(
        &'a self,
        shard: &'a Shard,
        space_kind: SpaceKind,
    ) -> ConflictResolver<'a> {
        ConflictResolver::new(shard, self.rules(shard, space_kind), self.engine.clock().now_ms())
    }

    /// By what entries of a shard are judged now.
    pub(super) fn rules(&self, shard: &Shard, space_kind: SpaceKind) -> ConflictRules<'_> {
        let on_existing = self.options.on_existing;
        let concurrent = self.concurrent_writes.get(shard.id.0 as usize);
        let is_blind = on_existing == OnExisting::BlindReplace
            && concurrent.is_some_and(ConcurrentWrites::are_all_seen);
        ConflictRules { space_kind, on_existing, concurrent_writes: concurrent, is_blind }
    }

    /// Counts a file of rows that is about to be ingested.
    pub(super) fn count_ingestion(&self, shard: &Shard) {
        shard.ingestions.fetch_add(1, Ordering::SeqCst);
        if let Some(concurrent) = self.concurrent_writes.get(shard.id.0 as usize) {
            concurrent.count_own_ingestion();
        }
    }

    /// The value of an entry that is stored over a later row, with a version of its own.
    pub(super) fn renew(&self, shard: &Shard, record: &LoadRecord<'_>) -> Result<Vec<u8>> {
        let version = shard.versions.next()?;
        // It may be later than entries of this session that are pushed by now: these are to be
        // stored over it all the same.
        shard.windows.record_judged(record.key, version);
        Ok(record.value_of_version(version))
    }

    /// Whether a space still takes entries. A shard-prefixed one that was dropped during the load
    /// takes none, which is not an error.
    pub(super) fn takes_entries(&self, space: SpaceId, space_kind: SpaceKind) -> Result<bool> {
        match self.engine.space(space) {
            Err(error)
                if space_kind == SpaceKind::ShardPrefixed
                    && error.kind() == ErrorKind::NotFound =>
            {
                Ok(false)
            }
            found => found.map(|_| true),
        }
    }

    /// The threads of the load.
    pub(super) fn parallelism(&self) -> usize {
        self.options.parallelism.max(1)
    }

    /// Ends the step when another one failed, or there is no time left.
    pub(super) fn check(&self) -> Result<()> {
        match self.stopped.load(Ordering::Relaxed) {
            true => Err(Error::unavailable("the load was stopped by another of its threads")),
            false => self.deadline.check("the load to store what was pushed"),
        }
    }

    /// Tells the observer of entries that are stored.
    pub(super) fn report_stored(&self, tally: StreamTally) {
        let tells_new = self.options.on_existing != OnExisting::BlindReplace;
        for run in tally.into_runs() {
            self.options.observer.stored(if tells_new { run } else { run.without_replaced() });
        }
    }

    /// Tells the observer of an entry that was not stored.
    pub(super) fn report_existed(&self, record: &LoadRecord<'_>) -> Result<()> {
        self.report_existed_entry(record.stream, record.position, record.key, record.value)
    }

    /// The same for an entry in parts, as RocksDB would keep them. Where nothing may exist, the
    /// load stops.
    pub(super) fn report_existed_entry(
        &self,
        stream: u32,
        position: u64,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let (space, key) = (space_of(key), &key[4..]);
        let (_, value) = Header::split(value)?;
        self.options.observer.existed_entry(stream, position, space, key, value)?;
        match self.options.on_existing {
            OnExisting::Fail => Err(exists(stream, position, space, key)),
            OnExisting::Keep | OnExisting::Replace | OnExisting::BlindReplace => Ok(()),
        }
    }
}

/// Which of two entries with the same key is stored.
pub(super) fn precedence(on_existing: OnExisting) -> Precedence {
    match on_existing {
        OnExisting::Keep | OnExisting::Fail => Precedence::First,
        OnExisting::Replace | OnExisting::BlindReplace => Precedence::Last,
    }
}

#[cold]
fn exists(stream: u32, position: u64, space: SpaceId, key: &[u8]) -> Error {
    let shown = &key[..key.len().min(64)];
    Error::conflict(format!(
        "entry {position} of stream {stream}: its key \"{}\" exists in space {} already: leave it out, or load with keep or replace",
        shown.escape_ascii(),
        space.0
    ))
}

/// Runs a step; a panic in it, or in an observer that it calls, becomes an error.
pub(super) fn catch<T>(step: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(step, |message| {
        Error::internal(format!(
            "a step of the load panicked: {message}: fix the observer, or report it"
        ))
    })
}
