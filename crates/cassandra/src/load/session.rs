//! The load session: takes entries in, and stores them in generations.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use std::vec;

use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinSet;
use tonnage_engine::{
    Acks, Deadline, Entries, Error, ErrorKind, LoadOptions, LoadSession, OnExisting, Result,
    SpaceId,
};

use crate::blocking::with_deadline;
use crate::entry_age::{FOLLOWED_WITHIN, RENEWED_AFTER};
use crate::load::chunk::ChunkOrder;
use crate::load::entry_result::EntryResult;
use crate::load::generation::{EntryBuffer, Generation, PushOrigin};
use crate::store::ClusterStore;
use crate::table::SpaceTable;

/// Chunks of a session under way at a time.
const CHUNKS: usize = 96;

/// A load under way.
pub(crate) struct ClusterLoad {
    store: Arc<ClusterStore>,
    options: LoadOptions,
    acks: Acks,
    pending_bytes: AtomicU64,
    state: Mutex<ClusterLoadState>,
}

/// How chunks are sent.
#[derive(Clone, Copy)]
struct ChunkPass {
    deadline: Deadline,
    /// The entries that they follow, if there are any.
    behind: Option<EntryTimes>,
    /// Whether the observer is called: not for entries that are stored again.
    reports: bool,
}

/// When entries were stored.
#[derive(Clone, Copy)]
struct EntryTimes {
    begin: Instant,
    end: Instant,
}

impl ChunkPass {
    fn is_over(self) -> bool {
        self.behind.is_some_and(|entries| entries.end.elapsed() >= RENEWED_AFTER)
    }
}

struct ClusterLoadState {
    buffer: EntryBuffer,
    /// What stopped the load, once something did.
    stopped: Option<(ErrorKind, String)>,
}

impl ClusterLoad {
    /// Opens a session.
    ///
    /// # Errors
    /// `Unavailable` when the clocks of the nodes are too far apart for stamps.
    pub(crate) fn open(store: Arc<ClusterStore>, options: LoadOptions, acks: Acks) -> Result<Self> {
        store.time.check()?;
        if acks == Acks::None {
            store.runtime.wait(store.note_single_copies())?;
        }
        let state = ClusterLoadState { buffer: EntryBuffer::default(), stopped: None };
        Ok(Self {
            store,
            options,
            acks,
            pending_bytes: AtomicU64::new(0),
            state: Mutex::new(state),
        })
    }

    /// Waits for the turn of a call, as long as the load continues.
    fn state(&self, deadline: Deadline) -> Result<MutexGuard<'_, ClusterLoadState>> {
        let state = async { Ok(self.state.lock().await) };
        let state =
            self.store.runtime.wait(with_deadline(deadline, "another call to the load", state))?;
        match &state.stopped {
            Some((kind, message)) => Err(Error::new(*kind, message.clone())),
            None => Ok(state),
        }
    }

    fn check(&self, table: &SpaceTable, entries: &Entries) -> Result<()> {
        entries.check()?;
        let most = &self.store.capability;
        for index in 0..entries.len() {
            self.store
                .shard_key_len(table, entries.key(index))
                .and_then(|_| table.check_value(entries.value(index), most.value_bytes_max))
                .map_err(|error| error.at(format_args!("entry {}", entries.position(index))))?;
        }
        Ok(())
    }

    /// Stores the buffer, and remembers an error as what stopped the load.
    fn store_buffer(&self, state: &mut ClusterLoadState, deadline: Deadline) -> Result<()> {
        let buffer = std::mem::take(&mut state.buffer);
        if buffer.is_empty() {
            return Ok(());
        }
        // What remains if the observer panics.
        let panicked = "the load ended in a panic of its observer: start it anew";
        state.stopped = Some((ErrorKind::Internal, panicked.to_owned()));
        let stored = self.store_generation(&Arc::new(Generation::of(buffer)), deadline);
        state.stopped =
            stored.as_ref().err().map(|error| (error.kind(), error.message().to_owned()));
        stored
    }

    /// Stores a generation: entries of indexes, then all rows. Where that takes long the entries
    /// are stored again in between ([`crate::entry_age`]).
    fn store_generation(&self, generation: &Arc<Generation>, deadline: Deadline) -> Result<()> {
        self.store.time.check()?;
        let is_entries = |chunk: &Range<usize>| generation.table(chunk.start).is_shard_prefixed();
        let (entries, rows): (Vec<_>, Vec<_>) =
            generation.chunks().into_iter().partition(is_entries);
        let mut rows = rows.into_iter();
        let mut is_first = true;
        loop {
            let begin = Instant::now();
            let all = ChunkPass { deadline, behind: None, reports: is_first };
            self.store_chunks(generation, &mut entries.clone().into_iter(), all)?;
            let behind = (!entries.is_empty()).then(|| EntryTimes { begin, end: Instant::now() });
            self.store_chunks(
                generation,
                &mut rows,
                ChunkPass { deadline, behind, reports: true },
            )?;
            if rows.len() == 0 {
                return Ok(());
            }
            is_first = false;
        }
    }

    /// Stores chunks, so many at a time, until their entries are old. Where that ends early, those
    /// under way have an end too, which may be in doubt.
    fn store_chunks(
        &self,
        generation: &Arc<Generation>,
        waiting: &mut vec::IntoIter<Range<usize>>,
        pass: ChunkPass,
    ) -> Result<()> {
        let mut tasks = ChunkTasks::new(&self.store);
        let stored = self.follow_chunks(generation, waiting, pass, &mut tasks);
        stored.map_err(|error| match tasks.end().filter(|_| !error.is_retryable()) {
            Some(doubt) => Error::unavailable(format!(
                "{error}; other rows of the load may or may not be stored: {doubt}"
            )),
            None => error,
        })
    }

    /// Chunks continue by themselves while the observer gets others.
    fn follow_chunks(
        &self,
        generation: &Arc<Generation>,
        waiting: &mut vec::IntoIter<Range<usize>>,
        pass: ChunkPass,
        tasks: &mut ChunkTasks<'_>,
    ) -> Result<()> {
        let (runtime, deadline) = (&self.store.runtime, pass.deadline);
        loop {
            deadline.check("the load to store what was pushed")?;
            while tasks.chunks.len() < CHUNKS
                && !pass.is_over()
                && let Some(chunk) = waiting.next()
            {
                let (store, generation) = (Arc::clone(&self.store), Arc::clone(generation));
                let order = ChunkOrder {
                    on_existing: self.options.on_existing,
                    acks: self.acks,
                    deadline,
                    // Counted from before the first entry was sent: the row of a chunk may belong to
                    // that one.
                    rows_until: pass.behind.map(|entries| entries.begin + FOLLOWED_WITHIN),
                    is_cancelled: Arc::clone(&tasks.is_cancelled),
                    observer: Arc::clone(&self.options.observer),
                };
                let task = async move {
                    let results = store.store_chunk(&generation, &chunk, &order).await;
                    (chunk, results)
                };
                tasks.chunks.spawn_on(task, runtime.handle());
            }
            // Without a chunk under way the pass ends: all are stored, or the entries are too old.
            // The caller sees by `waiting` which.
            let Some(stored) = runtime.wait(tasks.chunks.join_next()) else { return Ok(()) };
            let (chunk, results) = stored.map_err(|error| {
                Error::internal("a task of a load failed: report it").with_source(error)
            })?;
            let table = generation.table(chunk.start);
            let results = match results.map_err(|error| self.store.explain(table, error)) {
                Err(error) if table.is_shard_prefixed() && error.kind() == ErrorKind::NotFound => {
                    if !runtime.wait(self.store.is_dropped(table.id()))? {
                        return Err(not_known(table));
                    }
                    // The index was dropped meanwhile: its entries go with it.
                    vec![EntryResult::Replaced; chunk.len()]
                }
                results => results?,
            };
            if pass.reports {
                self.report(generation, chunk, &results)?;
            }
        }
    }

    /// Tells the observer what became of a chunk.
    fn report(
        &self,
        generation: &Generation,
        chunk: Range<usize>,
        results: &[EntryResult],
    ) -> Result<()> {
        let (observer, on_existing) = (&self.options.observer, self.options.on_existing);
        let reports_new = on_existing != OnExisting::BlindReplace;
        for run in generation.runs_stored(&chunk, results) {
            observer.stored(if reports_new { run } else { run.without_replaced() });
        }
        for (at, _) in chunk.zip(results).filter(|(_, result)| **result == EntryResult::Existed) {
            let (stream, position) = (generation.origin(at).stream, generation.position(at));
            let space = generation.table(at).id();
            let (key, value) = (generation.key(at), generation.value(at));
            observer.existed_entry(stream, position, space, key, value)?;
            if on_existing == OnExisting::Fail {
                return Err(exists(stream, position));
            }
        }
        Ok(())
    }
}

/// Chunks under way. Where the load ends early those that are on their way continue to their ends:
/// one that is given up half-way would give up its lock before it is settled. The load ends after
/// them, so that nothing of it is stored after its error was reported: not later than the time-out
/// of a request.
struct ChunkTasks<'a> {
    store: &'a ClusterStore,
    chunks: JoinSet<(Range<usize>, Result<Vec<EntryResult>>)>,
    /// Whether chunks that were not sent yet stay unsent.
    is_cancelled: Arc<AtomicBool>,
}

impl<'a> ChunkTasks<'a> {
    fn new(store: &'a ClusterStore) -> Self {
        Self { store, chunks: JoinSet::new(), is_cancelled: Arc::default() }
    }

    /// Waits for those under way. Answers an error that leaves one of them in doubt.
    fn end(&mut self) -> Option<Error> {
        self.is_cancelled.store(true, Ordering::Release);
        let chunks = &mut self.chunks;
        self.store.runtime.wait(async {
            let mut doubt = None;
            while let Some(ended) = chunks.join_next().await {
                let error = ended.ok().and_then(|(_, results)| results.err());
                doubt = doubt.or(error.filter(Error::is_retryable));
            }
            doubt
        })
    }
}

impl Drop for ChunkTasks<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl ClusterLoad {
    fn take(
        &self,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        deadline: Deadline,
    ) -> Result<()> {
        deadline.check("its turn")?;
        let table = self.store.runtime.wait(self.store.table_by(space, deadline))?;
        self.check(&table, entries)?;
        let mut state = self.state(deadline)?;
        self.pending_bytes.fetch_add(entries.bytes() as u64, Ordering::Relaxed);
        // Taken under the lock, so that later pushes have greater ones.
        let version = self.store.time.version();
        let shape = &table.info().shape;
        for index in 0..entries.len() {
            let key = entries.key(index);
            let bucket = self.store.bucket(&key[..shape.shard_key_len(key)?]);
            let place = state.buffer.table(&table);
            state.buffer.push(PushOrigin { table: place, stream, bucket, version }, entries, index);
            if state.buffer.memory_bytes() >= self.options.memory_bytes_max {
                self.store_buffer(&mut state, deadline)?;
            }
        }
        Ok(())
    }

    fn store_all(&self, deadline: Deadline) -> Result<()> {
        let mut state = self.state(deadline)?;
        deadline.check("its turn")?;
        self.pending_bytes.store(0, Ordering::Relaxed);
        self.store_buffer(&mut state, deadline)
    }
}

impl LoadSession for ClusterLoad {
    fn push_by(
        &self,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        deadline: Deadline,
    ) -> Result<()> {
        self.take(space, stream, entries, deadline)
    }

    fn pending_bytes(&self) -> u64 {
        self.pending_bytes.load(Ordering::Relaxed)
    }

    fn flush_by(&self, deadline: Deadline) -> Result<()> {
        self.store_all(deadline)
    }

    fn finish_by(self: Box<Self>, deadline: Deadline) -> Result<()> {
        self.store_all(deadline)
    }
}

#[cold]
fn not_known(table: &SpaceTable) -> Error {
    Error::unavailable(format!(
        "{}: a node does not know its table: load again once all nodes agree about the schema",
        table.display_name()
    ))
}

#[cold]
fn exists(stream: u32, position: u64) -> Error {
    Error::conflict(format!(
        "entry {position} of stream {stream} exists: the load stops; choose to keep or to replace existing rows to load it"
    ))
}
