//! Stores a small load through the write-ahead log, where files would cost more than they save.
//!
//! Such a load is a sequence of small writes, and waits for other loads as little as they do:
//!
//! 1. Take a chunk of the entries. Read what is stored under their keys without any lock, so that
//!    it is in memory in the next step. Wait at the [throttle](crate::write_throttle) while writes
//!    are slowed down or stopped.
//! 2. Take the stripes of their shard keys and hold the gate shared, as every small write does.
//!    Judge the entries by what is stored, note the keys of those that win in the open windows, and
//!    commit them in one batch.
//! 3. At the end sync once if that was asked for, and only then report. No lock is held any more,
//!    so an observer may do what it likes.

use std::sync::Arc;

use rocksdb::WriteBatch;
use tonnage_engine::{Durability, OnExisting, Result, Slices, SpaceInfo};

use super::conflict::{ConflictResolver, EntryOutcome};
use super::context::LoadContext;
use super::lane::SpaceKind;
use super::merge::SourceMerge;
use super::range::KeyBounds;
use super::record::{LoadRecord, RecordSpan};
use super::sources::Sources;
use super::tally::StreamTally;
use crate::attempt_outcome::AttemptOutcome;
use crate::error::translate;
use crate::shard::{Shard, Stripe};
use crate::stall::StallDeadline;

/// How much is judged and committed together, unless one entry alone is more.
const CHUNK_BYTES: usize = 256 << 10;
const CHUNK_ENTRIES: usize = 1024;
/// Fewer entries than this are not read ahead: looking at them twice costs more than it spares
/// those who wait for their stripes.
const READ_AHEAD_MIN: usize = 16;

/// Stores the entries in a range of `sources`.
pub(super) fn store(
    context: &LoadContext<'_>,
    shard: &Shard,
    sources: &Sources,
    space_kind: SpaceKind,
    range: &KeyBounds,
) -> Result<()> {
    let mut small = SmallLoad {
        context,
        shard,
        space_kind,
        resolver: context.resolver(shard, space_kind),
        before: None,
        outcomes: Vec::new(),
        tally: StreamTally::default(),
        existing: ExistingEntries::default(),
    };
    let mut merge = sources.merge(range, context.precedence())?;
    let mut chunk = SmallChunk::default();
    while chunk.fill(&mut merge)? {
        context.check()?;
        small.store_chunk(&chunk)?;
        // Chunks that were stored before stay: how much a refused load stores is left open.
        if small.is_refused() {
            break;
        }
    }
    // Before any report, and after a refusal: what entries yielded to must be as durable.
    small.sync()?;
    if !small.is_refused() {
        context.report_stored(small.tally);
    }
    small.existing.report(context)
}

struct SmallLoad<'a> {
    context: &'a LoadContext<'a>,
    shard: &'a Shard,
    space_kind: SpaceKind,
    resolver: ConflictResolver<'a>,
    /// The last key of the chunk before, and what became of its first entry.
    before: Option<(Vec<u8>, EntryOutcome)>,
    /// One for each entry of the chunk.
    outcomes: Vec<EntryOutcome>,
    tally: StreamTally,
    /// Entries whose key is stored, by whomever.
    existing: ExistingEntries,
}

impl<'a> SmallLoad<'a> {
    /// Judges and commits a chunk. Where nothing may exist, it is not stored if something does.
    fn store_chunk(&mut self, chunk: &SmallChunk) -> Result<()> {
        if self.space_kind == SpaceKind::Ordinary && chunk.len() >= READ_AHEAD_MIN {
            self.resolver.read_ahead(chunk.records())?;
        }
        let shard = self.shard;
        let stall_deadline = StallDeadline::until(self.context.deadline);
        shard.throttle.write(chunk.arena.len(), stall_deadline, || self.attempt(chunk))?;
        for (record, outcome) in chunk.records().zip(&self.outcomes) {
            self.tally.add(&record, *outcome);
            if outcome.is_reported() {
                self.existing.push(&record);
            }
        }
        self.before = self.resolver.last();
        Ok(())
    }

    fn attempt(&mut self, chunk: &SmallChunk) -> Result<AttemptOutcome<()>> {
        let _stripes = self.stripes(chunk)?;
        let _gate = self.shard.gate_by(self.context.deadline)?;
        // Everything is looked at anew under the locks: what was read ahead may be old by now.
        let now_ms = self.context.engine.clock().now_ms();
        self.resolver.refresh(
            self.context.rules(self.shard, self.space_kind),
            now_ms,
            self.before.as_ref(),
        );
        self.outcomes.clear();
        let (mut batch, mut notes) = (WriteBatch::default(), self.shard.begin_notes());
        let mut space = None;
        let mut is_taken = true;
        for record in chunk.records() {
            if space != Some(record.space()) {
                space = Some(record.space());
                is_taken = self.context.takes_entries(record.space(), self.space_kind)?;
            }
            let outcome =
                if is_taken { self.resolver.resolve(&record)? } else { EntryOutcome::Superseded };
            self.outcomes.push(outcome);
            match outcome {
                EntryOutcome::Inserted | EntryOutcome::Replaced => {
                    self.put(&mut batch, &record, record.value);
                    notes.add_key(record.key);
                }
                EntryOutcome::Renewed => {
                    self.put(&mut batch, &record, &self.context.renew(self.shard, &record)?);
                    notes.add_key(record.key);
                }
                EntryOutcome::Existed | EntryOutcome::Duplicate
                    if self.context.options.on_existing == OnExisting::Fail =>
                {
                    // The load is refused: the chunk is not stored, and the tally not reported.
                    return Ok(AttemptOutcome::Done(()));
                }
                EntryOutcome::Existed
                | EntryOutcome::Duplicate
                | EntryOutcome::Superseded
                | EntryOutcome::Overtaken => {}
            }
        }
        if batch.is_empty() {
            return Ok(AttemptOutcome::Done(()));
        }
        self.shard.attempt(false, &notes, batch)
    }

    /// Keeps others from writing rows of the same shard keys, as a small write does. No write has
    /// to yield to entries of shard-prefixed spaces.
    fn stripes(&self, chunk: &SmallChunk) -> Result<Vec<Stripe<'a>>> {
        if self.space_kind == SpaceKind::ShardPrefixed {
            return Ok(Vec::new());
        }
        let mut numbers = Vec::with_capacity(chunk.len());
        let mut space: Option<Arc<SpaceInfo>> = None;
        for record in chunk.records() {
            let known = space.take().filter(|space| space.id == record.space());
            let info = known.map_or_else(|| self.context.engine.space(record.space()), Ok)?;
            let len = info.shape.shard_key_len(record.logical_key())?;
            numbers.push(Shard::stripe_of(&record.logical_key()[..len]));
            space = Some(info);
        }
        numbers.sort_unstable();
        numbers.dedup();
        let (shard, deadline) = (self.shard, self.context.deadline);
        numbers.into_iter().map(|number| shard.stripe_by(number, deadline)).collect()
    }

    fn put(&self, batch: &mut WriteBatch, record: &LoadRecord<'_>, value: &[u8]) {
        if self.space_kind == SpaceKind::Ordinary {
            self.shard.windows.record(record.key);
        }
        batch.put_cf(self.shard.rows(), record.key, value);
    }

    /// Whether something exists where nothing may.
    fn is_refused(&self) -> bool {
        self.context.options.on_existing == OnExisting::Fail && !self.existing.is_empty()
    }

    /// Makes what was committed, and what was yielded to, as durable as was asked for.
    fn sync(&self) -> Result<()> {
        match self.context.options.durability {
            Durability::None => Ok(()),
            Durability::Write => {
                let written = self.shard.db().flush_wal(false);
                written.map_err(|error| translate(self.shard.directory.display(), error))
            }
            Durability::Fsync => self.shard.sync_log(),
        }
    }
}

/// Consecutive entries of a merge, copied out of it.
#[derive(Default)]
struct SmallChunk {
    arena: Vec<u8>,
    spans: Vec<RecordSpan>,
}

impl SmallChunk {
    /// Takes the next entries; says whether there were any.
    fn fill(&mut self, merge: &mut SourceMerge<'_>) -> Result<bool> {
        self.arena.clear();
        self.spans.clear();
        while self.arena.len() < CHUNK_BYTES
            && self.spans.len() < CHUNK_ENTRIES
            && let Some(record) = merge.next()?
        {
            let start = self.arena.len();
            self.arena.extend_from_slice(record.encoded);
            self.spans.extend(RecordSpan::read(&self.arena, start));
        }
        Ok(!self.spans.is_empty())
    }

    fn len(&self) -> usize {
        self.spans.len()
    }

    fn records(&self) -> impl Iterator<Item = LoadRecord<'_>> {
        self.spans.iter().map(|span| span.of(&self.arena))
    }
}

/// Entries to be reported as existing.
#[derive(Default)]
struct ExistingEntries {
    keys: Slices,
    values: Slices,
    origins: Vec<(u32, u64)>,
}

impl ExistingEntries {
    fn push(&mut self, record: &LoadRecord<'_>) {
        self.keys.push(record.key);
        self.values.push(record.value);
        self.origins.push((record.stream, record.position));
    }

    fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    fn report(&self, context: &LoadContext<'_>) -> Result<()> {
        let entries = self.keys.iter().zip(self.values.iter());
        for ((key, value), (stream, position)) in entries.zip(&self.origins) {
            context.report_existed_entry(*stream, *position, key, value)?;
        }
        Ok(())
    }
}
