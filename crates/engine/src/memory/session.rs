//! Load sessions of the memory engine.
//!
//! 1. A push checks all its entries, then copies them into the session's buffer in the order they
//!    came.
//! 2. A flush, or a buffer that outgrows the session's memory, applies the buffer in order, chunk
//!    by chunk: the space is locked for one chunk at a time, so that readers get in between.
//! 3. Each entry takes its version when it is pushed. A newer stored row was written meanwhile:
//!    - An unconditional write came after the entry, so the entry is not stored.
//!    - A conditional write was judged without the entry. So the entry comes after it, and takes a
//!      new version.
//! 4. Entries of shard-prefixed spaces are applied before all others, over whatever is there.
//! 5. The observer learns the outcome of a chunk once the space is unlocked, so that it may read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::header::Header;
use crate::{
    Deadline, Entries, Error, ErrorKind, LoadOptions, LoadSession, OnExisting, Result, SpaceId,
    StoredRun,
};

use super::space::{MemoryRow, MemorySpace, RowMap, put};
use super::store::MemoryStore;

/// How many entries are applied under one lock.
const CHUNK_ENTRIES: usize = 4_096;

/// What an entry costs in the buffer besides its bytes: two ends, a position, an expiry, an origin.
const ENTRY_OVERHEAD_BYTES: usize = 56;

/// A load under way.
pub(super) struct MemoryLoad {
    store: Arc<MemoryStore>,
    options: LoadOptions,
    pending_bytes: AtomicU64,
    state: Mutex<LoadState>,
}

struct LoadState {
    buffer: PushedEntries,
    /// What stopped the load, once something did.
    stopped: Option<(ErrorKind, String)>,
}

/// Entries in the order they were pushed.
#[derive(Default)]
struct PushedEntries {
    entries: Entries,
    origins: Vec<EntryOrigin>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct EntryOrigin {
    space: SpaceId,
    is_shard_prefixed: bool,
    stream: u32,
    /// Taken when the entry was pushed.
    version: u64,
}

/// What becomes of one entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemoryEntryOutcome {
    Inserted,
    Replaced,
    /// A row that someone else wrote after the entry was pushed stays in its place.
    Overtaken,
    /// Its space is gone: counted as replaced.
    Superseded,
    Existed,
}

impl MemoryLoad {
    pub(super) fn new(store: Arc<MemoryStore>, options: LoadOptions) -> Self {
        let state = LoadState { buffer: PushedEntries::default(), stopped: None };
        Self { store, options, pending_bytes: AtomicU64::new(0), state: Mutex::new(state) }
    }

    fn state(&self) -> Result<MutexGuard<'_, LoadState>> {
        let state = self.state.lock().map_err(|_| {
            Error::internal("the load ended in a panic of its observer: start it anew")
        })?;
        match &state.stopped {
            Some((kind, message)) => Err(Error::new(*kind, message.clone())),
            None => Ok(state),
        }
    }

    fn check(&self, space: &MemorySpace, entries: &Entries) -> Result<()> {
        entries.check()?;
        let capability = &self.store.capability;
        for index in 0..entries.len() {
            space
                .check_key(entries.key(index), capability)
                .and_then(|()| space.check_value(entries.value(index), capability))
                .map_err(|error| error.at(format_args!("entry {}", entries.position(index))))?;
        }
        Ok(())
    }

    /// Applies the buffer, and remembers an error as what stopped the load.
    fn apply(&self, state: &mut LoadState, deadline: Deadline) -> Result<()> {
        let applied = self.apply_chunks(&state.buffer, deadline);
        state.buffer.clear(self.options.memory_bytes_max);
        if let Err(error) = &applied {
            state.stopped = Some((error.kind(), error.message().to_owned()));
        }
        applied
    }

    fn apply_chunks(&self, buffer: &PushedEntries, deadline: Deadline) -> Result<()> {
        for placed in [true, false] {
            let mut start = 0;
            for of_one_space in buffer.origins.chunk_by(|left, right| left.space == right.space) {
                if of_one_space[0].is_shard_prefixed == placed {
                    self.apply_run(buffer, start, of_one_space, deadline)?;
                }
                start += of_one_space.len();
            }
        }
        Ok(())
    }

    /// Applies neighbouring entries of one space, from `start` on.
    fn apply_run(
        &self,
        buffer: &PushedEntries,
        mut start: usize,
        run: &[EntryOrigin],
        deadline: Deadline,
    ) -> Result<()> {
        let EntryOrigin { space, is_shard_prefixed, .. } = run[0];
        // An index may be dropped while a load is open. The rows of the load must not fail with it.
        let space = match self.store.space(space) {
            Err(error) if is_shard_prefixed && error.kind() == ErrorKind::NotFound => None,
            found => Some(found?),
        };
        let mut outcomes = Vec::with_capacity(CHUNK_ENTRIES.min(run.len()));
        for chunk in run.chunks(CHUNK_ENTRIES) {
            deadline.check("the load to store what was pushed")?;
            // Before each chunk: others may have continued without a process that paused.
            if self.store.capability.shared {
                self.options.observer.check_may_send()?;
            }
            outcomes.clear();
            match &space {
                Some(space) => self.store(space, buffer, start, chunk.len(), &mut outcomes),
                None => outcomes.resize(chunk.len(), MemoryEntryOutcome::Superseded),
            }
            self.report(buffer, start, &outcomes)?;
            start += chunk.len();
        }
        Ok(())
    }

    /// Stores a chunk of entries of one space and says what became of each. [`OnExisting::Fail`]
    /// ends at the first that exists.
    fn store(
        &self,
        space: &MemorySpace,
        buffer: &PushedEntries,
        start: usize,
        len: usize,
        outcomes: &mut Vec<MemoryEntryOutcome>,
    ) {
        let mut rows = space.rows_mut();
        let now_ms = self.store.clock.now_ms();
        for index in start..start + len {
            let (key, EntryOrigin { is_shard_prefixed, version, .. }) =
                (buffer.entries.key(index), buffer.origins[index]);
            // Index entries go over whatever is there: the rows decide, and readers check entries
            // by them.
            let outcome = match is_shard_prefixed {
                true => MemoryEntryOutcome::Inserted,
                false => self.outcome_of(&rows, key, version, now_ms),
            };
            if matches!(outcome, MemoryEntryOutcome::Inserted | MemoryEntryOutcome::Replaced) {
                // A later row that is replaced was written on a condition, so the entry comes after
                // it: its version must be greater.
                let is_late = !is_shard_prefixed
                    && rows.get(key).is_some_and(|row| row.header.version > version);
                let version = if is_late { self.store.versions.next() } else { version };
                let header = Header { version, expires_at_ms: buffer.entries.expires_at_ms(index) };
                let is_conditional = is_late || self.is_conditional();
                space.note(|book, ticket| book.note_key(ticket, key));
                put(
                    &mut rows,
                    key,
                    MemoryRow {
                        is_conditional,
                        ..MemoryRow::new(header, buffer.entries.value(index))
                    },
                );
            }
            outcomes.push(outcome);
            if outcome == MemoryEntryOutcome::Existed
                && self.options.on_existing == OnExisting::Fail
            {
                return;
            }
        }
    }

    /// Whether an entry is stored only where there is no row.
    fn is_conditional(&self) -> bool {
        matches!(self.options.on_existing, OnExisting::Keep | OnExisting::Fail)
    }

    fn outcome_of(
        &self,
        rows: &RowMap,
        key: &[u8],
        version: u64,
        now_ms: u64,
    ) -> MemoryEntryOutcome {
        let Some(row) = rows.get(key) else { return MemoryEntryOutcome::Inserted };
        let (is_later, is_live) = (row.header.version > version, row.is_live(now_ms));
        match self.options.on_existing {
            OnExisting::Keep | OnExisting::Fail if is_live || is_later => {
                MemoryEntryOutcome::Existed
            }
            OnExisting::Replace | OnExisting::BlindReplace if is_later && !row.is_conditional => {
                MemoryEntryOutcome::Overtaken
            }
            _ if is_live => MemoryEntryOutcome::Replaced,
            _ => MemoryEntryOutcome::Inserted,
        }
    }

    /// Tells the observer what became of the entries from `start` on.
    fn report(
        &self,
        buffer: &PushedEntries,
        start: usize,
        outcomes: &[MemoryEntryOutcome],
    ) -> Result<()> {
        let observer = &self.options.observer;
        let tells_new = self.options.on_existing != OnExisting::BlindReplace;
        let runs = runs_stored(buffer, start, outcomes).into_iter();
        runs.map(|run| if tells_new { run } else { run.without_replaced() })
            .for_each(|run| observer.stored(run));
        for (index, _) in
            (start..).zip(outcomes).filter(|(_, outcome)| **outcome == MemoryEntryOutcome::Existed)
        {
            let (key, EntryOrigin { space, stream, .. }) =
                (buffer.entries.key(index), buffer.origins[index]);
            let (position, value) = (buffer.entries.position(index), buffer.entries.value(index));
            observer.existed_entry(stream, position, space, key, value)?;
            if self.options.on_existing == OnExisting::Fail {
                return Err(exists(stream, buffer.entries.position(index)));
            }
        }
        Ok(())
    }
}

impl LoadSession for MemoryLoad {
    fn push_by(
        &self,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        deadline: Deadline,
    ) -> Result<()> {
        deadline.check("its turn")?;
        let info = self.store.space(space)?;
        self.check(&info, entries)?;
        let is_shard_prefixed = info.info().shape.is_shard_prefixed();
        let mut state = self.state()?;
        self.pending_bytes.fetch_add(entries.bytes() as u64, Ordering::Relaxed);
        for index in 0..entries.len() {
            // Taken at the push: whatever is written from here on is newer than the entry.
            let version = self.store.versions.next();
            state.buffer.push(
                EntryOrigin { space, is_shard_prefixed, stream, version },
                entries,
                index,
            );
            if state.buffer.memory_bytes() >= self.options.memory_bytes_max {
                self.apply(&mut state, deadline)?;
            }
        }
        Ok(())
    }

    fn pending_bytes(&self) -> u64 {
        self.pending_bytes.load(Ordering::Relaxed)
    }

    fn flush_by(&self, deadline: Deadline) -> Result<()> {
        let mut state = self.state()?;
        deadline.check("its turn")?;
        self.pending_bytes.store(0, Ordering::Relaxed);
        self.apply(&mut state, deadline)
    }

    fn finish_by(self: Box<Self>, deadline: Deadline) -> Result<()> {
        self.flush_by(deadline)
    }
}

impl PushedEntries {
    fn push(&mut self, origin: EntryOrigin, entries: &Entries, index: usize) {
        let (key, value) = (entries.key(index), entries.value(index));
        self.entries.push(key, value, entries.position(index), entries.expires_at_ms(index));
        self.origins.push(origin);
    }

    /// What the buffer may take up: twice what it holds, since its vectors grow by doubling.
    fn memory_bytes(&self) -> usize {
        (self.entries.bytes() + self.origins.len() * ENTRY_OVERHEAD_BYTES) * 2
    }

    /// Empties the buffer. What a giant entry took is given back.
    fn clear(&mut self, memory_bytes_max: usize) {
        if self.entries.bytes() > memory_bytes_max {
            self.entries = Entries::new();
        }
        self.entries.clear();
        self.origins.clear();
    }
}

/// The entries stored, one run a stream. There are few streams in a chunk, and neighbours are
/// mostly of the same one.
fn runs_stored(
    buffer: &PushedEntries,
    start: usize,
    outcomes: &[MemoryEntryOutcome],
) -> Vec<StoredRun> {
    let mut runs: Vec<StoredRun> = Vec::new();
    for (index, outcome) in
        (start..).zip(outcomes).filter(|(_, outcome)| **outcome != MemoryEntryOutcome::Existed)
    {
        let stream = buffer.origins[index].stream;
        let place = runs.iter().rposition(|run| run.stream == stream).unwrap_or_else(|| {
            runs.push(StoredRun::none_of(stream));
            runs.len() - 1
        });
        let run = &mut runs[place];
        match outcome {
            MemoryEntryOutcome::Inserted => run.inserted += 1,
            MemoryEntryOutcome::Overtaken => run.overtaken += 1,
            // Those whose space is gone among them: each entry is counted exactly once.
            _ => run.replaced += 1,
        }
        // Entries that were overtaken, or whose space is gone, have stored no bytes.
        if matches!(outcome, MemoryEntryOutcome::Inserted | MemoryEntryOutcome::Replaced) {
            run.bytes +=
                (buffer.entries.key(index).len() + buffer.entries.value(index).len()) as u64;
        }
    }
    runs
}

#[cold]
fn exists(stream: u32, position: u64) -> Error {
    Error::conflict(format!(
        "entry {position} of stream {stream} exists: the load stops; choose to keep or to replace existing rows to load it"
    ))
}
