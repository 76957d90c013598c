//! Executes a load: encodes batches and pushes their entries into the session of the engine.
//!
//! Workers take batches out of the queue, encode them and push them into the session. Between two
//! slices of a batch, and every 10 ms while there is nothing to do, one worker checks for timeouts,
//! cancels and failed streams, and whether it is time to flush. So these checks run whatever
//! streams do, and however slow a rate is set.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use tonnage_engine::sync::lock;
use tonnage_engine::{
    Entries, Error, ErrorKind, LoadOptions, LoadSession, Result, catch_panic, cores,
};

use super::encode::{EntryEncoder, RejectedEntry};
use super::load_queue::{BatchJob, FlushScope, LoadQueue, QueueEvent};
use super::outcomes::{LoadOutcomes, catch_callback_panic, panicked};
use super::resources::LoadResources;
use super::ttls::EntryTtls;
use super::{
    BulkPutError, BulkPutOptions, BulkPutReport, Counts, EntryBatch, Payload, UnreadEntry,
};
use crate::bulk::put::rate::RateLimit;
use crate::catalog::TableEntry;
use crate::codec::Rounding;
use crate::index::{OpenLoad, Pushing};
use crate::inner::Inner;
use crate::terms::deadline_after;

/// How often the load looks around.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long nothing must have happened before a stream that has ended is worth a flush of its own.
const IDLE: Duration = Duration::from_millis(20);
/// How long a load that was stopped waits for streams to come back.
const GRACE: Duration = Duration::from_millis(250);

/// One load under way.
pub(super) struct LoadExecutor<'a> {
    store: &'a Arc<Inner>,
    options: &'a BulkPutOptions,
    outcomes: &'a LoadOutcomes,
    queue: &'a LoadQueue,
    session: Box<dyn LoadSession>,
    // Dropped after the session: until then no other process may remove entries of indexes.
    load: OpenLoad<'a>,
    resources: LoadResources,
    rows_limit: Option<RateLimit>,
    bytes_limit: Option<RateLimit>,
    /// Held by the worker that sees to flushes.
    schedule: Mutex<FlushSchedule>,
    /// The tables with indexes that rows were pushed for since the last flush.
    indexed: Mutex<Vec<Arc<TableEntry>>>,
    /// How many rows had been replaced by then.
    replaced_noted: AtomicU64,
}

/// Ends all waits for a load whose thread panicked.
struct StopOnPanic<'a>(&'a LoadQueue);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// How much of a batch was put.
#[derive(Clone, Copy)]
enum PutOutcome {
    Whole,
    /// The load was stopped in the middle of it: up to this position, or nothing of the batch may
    /// be acknowledged.
    InPart(Option<u64>),
}

/// When the load flushed last, and since when nothing happens.
struct FlushSchedule {
    flushed: Instant,
    idle_since: Option<Instant>,
}

impl<'a> LoadExecutor<'a> {
    /// Opens the session of a load that works with these resources.
    pub(super) fn open(
        store: &'a Arc<Inner>,
        options: &'a BulkPutOptions,
        outcomes: &'a Arc<LoadOutcomes>,
        queue: &'a LoadQueue,
        resources: LoadResources,
    ) -> Result<Self> {
        // Opened before the session, dropped after it: meanwhile no other process may remove
        // entries of indexes.
        let load = store.gate.open_load();
        let session = store.writer(options.acks).load(LoadOptions {
            on_existing: options.on_existing,
            durability: options.durability,
            memory_bytes_max: resources.session_bytes(),
            parallelism: store.threads.most(options.per_shard_parallelism.unwrap_or_else(cores)),
            spill_directory: None,
            observer: outcomes.clone(),
        })?;
        // One of each for the whole load: all workers take from the same.
        let rows_limit = options.rows_per_second_max.map(RateLimit::per_second);
        let bytes_limit = options.bytes_per_second_max.map(RateLimit::per_second);
        let schedule = Mutex::new(FlushSchedule { flushed: Instant::now(), idle_since: None });
        Ok(Self {
            store,
            options,
            outcomes,
            queue,
            session,
            load,
            resources,
            rows_limit,
            bytes_limit,
            schedule,
            indexed: Mutex::default(),
            replaced_noted: AtomicU64::new(0),
        })
    }

    /// Puts everything that comes, to the end, and makes up the report.
    pub(super) fn run(self, started: Instant) -> std::result::Result<BulkPutReport, BulkPutError> {
        let span = tracing::info_span!("bulk_put", workers = self.workers());
        let _entered = span.enter();
        std::thread::scope(|scope| {
            for _ in 1..self.workers() {
                // Where no thread can be had, the others do its part.
                let _ = std::thread::Builder::new()
                    .name("bulk put".into())
                    .spawn_scoped(scope, || self.work());
            }
            self.run_leader();
        });
        let ended = self.end(started);
        log_end(&ended);
        let store = self.store;
        drop(self);
        store.catalog.drop_after_load();
        ended
    }

    fn workers(&self) -> usize {
        self.resources.workers()
    }

    fn encoder(&self) -> EntryEncoder<'a> {
        EntryEncoder::new(self.store, self.slice_bytes_max(), self.options.slice_rows_max())
    }

    /// The bytes that go to the engine at once: what all workers hold together stays within their
    /// share of the memory.
    fn slice_bytes_max(&self) -> usize {
        let share = self.resources.encoder_bytes() / self.workers();
        self.options.slice_bytes_max().min(share.max(SLICE_BYTES_MIN))
    }

    fn work(&self) {
        let mut encoder = self.encoder();
        while let QueueEvent::Batch(job) = self.queue.next(None) {
            self.run_job(job, &mut encoder);
        }
    }

    /// Works, and looks around in between.
    fn run_leader(&self) {
        let _alarm = StopOnPanic(self.queue);
        let mut encoder = self.encoder();
        loop {
            match self.queue.next(Some(LOOK_EVERY)) {
                QueueEvent::Batch(job) => self.run_job(job, &mut encoder),
                QueueEvent::Idle => {}
                QueueEvent::Failed(stream, error) => self.fail(stream, error),
                QueueEvent::Over => break,
            }
            self.check_and_flush();
        }
        // Threads that wait in a stream get a short time to return.
        self.queue.wait_for_sources(GRACE);
    }

    /// Stops what must be stopped, and flushes if it is time, unless another worker is at that.
    fn check_and_flush(&self) {
        self.outcomes.check_limits(self.options);
        if self.outcomes.is_stopped() {
            return self.queue.stop();
        }
        let mut schedule = match self.schedule.try_lock() {
            Ok(schedule) => schedule,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if self.is_flush_due(&mut schedule) {
            self.flush().unwrap_or_else(|error| self.outcomes.stop(error));
            *schedule = FlushSchedule { flushed: Instant::now(), idle_since: None };
        }
    }

    fn is_flush_due(&self, schedule: &mut FlushSchedule) -> bool {
        if self.load.flush_wanted() || self.queue.flush_wanted() {
            return true;
        }
        if self.session.pending_bytes() >= self.options.flush_bytes_max {
            return true;
        }
        if self
            .options
            .flush_interval
            .is_some_and(|interval| schedule.flushed.elapsed() >= interval)
        {
            // The next one is due an interval later, whether or not there was anything to do.
            schedule.flushed = Instant::now();
            return self.queue.is_behind();
        }
        if !self.queue.wants_flush_when_idle() {
            schedule.idle_since = None;
            return false;
        }
        schedule.idle_since.get_or_insert_with(Instant::now).elapsed() >= IDLE
    }

    fn run_job(&self, job: BatchJob, encoder: &mut EntryEncoder<'_>) {
        let (stream, end, bytes) = job.receipt();
        let put = catch_panic(|| self.put_batch(job, encoder), panicked);
        let put = put.unwrap_or_else(|error| {
            self.fail(stream, error);
            // A slice may have been pushed and not reported, or not even pushed whole.
            PutOutcome::InPart(None)
        });
        if self.outcomes.is_stopped() {
            self.queue.stop();
        }
        let end = match put {
            PutOutcome::Whole => Some(end),
            PutOutcome::InPart(end) => end,
        };
        self.queue.finish_batch(stream, end, bytes);
    }

    /// Stops the load by an error of a stream. One that begins with the name of the stream does not
    /// repeat it.
    fn fail(&self, stream: usize, error: Error) {
        let (name, read) = self.outcomes.name_and_read(stream);
        let place = match &*name {
            name if error.message().starts_with(name) => {
                format!("stream {stream}, after {read} entries")
            }
            name => format!("stream {stream} ({name}), after {read} entries"),
        };
        self.outcomes.stop(error.at(place).of_stream(stream as u64));
        self.queue.stop();
    }

    /// Puts one batch, slice by slice, unless the load is stopped.
    fn put_batch(&self, job: BatchJob, encoder: &mut EntryEncoder<'_>) -> Result<PutOutcome> {
        let BatchJob { stream, first, batch, .. } = job;
        let EntryBatch { payload, ttl, ttls, positions, unread, is_computed } = batch;
        let rounding = if is_computed { Rounding::Done } else { Rounding::Refused };
        let ttls = EntryTtls::new(ttl, ttls.as_deref());
        let entry_positions = EntryPositions { first, positions: positions.as_deref() };
        let entries = payload.len();
        let mut offset = 0;
        let mut put =
            |encode: &mut dyn FnMut(&mut EntryEncoder<'_>, usize) -> usize| -> Result<PutOutcome> {
                while offset < entries && !self.outcomes.is_stopped() {
                    // Taken anew for each slice: who changes the table waits for one slice, not for
                    // the batch.
                    let mut pushing = self.load.pushing();
                    let taken = encode(encoder, offset);
                    self.push(stream, taken, encoder, &mut pushing)?;
                    // Given back before entries are reported as failed: a callback may take long.
                    drop(pushing);
                    for RejectedEntry { position, index, column, reason } in
                        encoder.rejected.drain(..)
                    {
                        let entry = Some(super::Entry::new(&payload, offset + index));
                        self.outcomes.fail(stream, position, column.as_deref(), &reason, entry)?;
                    }
                    if let Some((_, entries)) = encoder.encoded() {
                        self.wait_for_rate(entries);
                    }
                    offset += taken;
                    self.check_and_flush();
                }
                Ok(match offset {
                    _ if offset >= entries => PutOutcome::Whole,
                    0 => PutOutcome::InPart(None),
                    _ => PutOutcome::InPart(Some(entry_positions.of(offset))),
                })
            };
        let put = match &payload {
            Payload::Batch { table, rows } => {
                let mut step = None;
                put(&mut |encoder, offset| {
                    let step = *step.get_or_insert_with(|| encoder.rows_at_once(table, rows));
                    let len = step.min(entries - offset);
                    let rows = rows.slice(offset, len);
                    let ttls = ttls.starting_at(offset);
                    encoder.rows(table, &rows, rounding, ttls, |index| {
                        entry_positions.of(offset + index)
                    })
                })
            }
            Payload::Rows { table, rows } => put(&mut |encoder, offset| {
                let ttls = ttls.starting_at(offset);
                encoder.single_rows(table, &rows[offset..], ttls, |index| {
                    entry_positions.of(offset + index)
                })
            }),
            Payload::Pairs(pairs) => put(&mut |encoder, offset| {
                encoder.pairs(pairs, offset, ttls, |index| entry_positions.of(index))
            }),
        }?;
        // They come last: if they are too many, what is good in the batch is stored and counted.
        // Where the load stopped, those before that position come too: a load resumed there does
        // not read them again.
        let is_passed = |entry: &&UnreadEntry| match put {
            PutOutcome::Whole => true,
            PutOutcome::InPart(end) => end.is_some_and(|end| entry.position < end),
        };
        self.outcomes.add_read(stream, unread.iter().filter(is_passed).count() as u64);
        for entry in unread.iter().filter(is_passed) {
            self.outcomes.fail_unread(stream, entry)?;
        }
        Ok(put)
    }

    /// Passes what the encoder produced from `taken` entries to the session. Entries of indexes
    /// precede their rows, in streams of their own, which are not counted. Those of an index that
    /// was dropped meanwhile are not wanted.
    fn push(
        &self,
        stream: usize,
        taken: usize,
        encoder: &EntryEncoder<'_>,
        pushing: &mut Pushing<'_>,
    ) -> Result<()> {
        self.outcomes.add_read(stream, taken as u64);
        let Some((space, entries)) = encoder.encoded() else { return Ok(()) };
        // Without its lease this process may not know every index, which would then miss these
        // rows.
        self.store.catalog.check_member()?;
        pushing.rows_of(space, !encoder.index_entries().is_empty());
        // Noted before anything is pushed: rows that replace others make entries stale, even if the
        // push fails midway.
        if let Some(table) = &encoder.indexed {
            table.indexes.clean.note();
        }
        self.store.note_time();
        let by = deadline_after(self.options.flush_timeout);
        for (space, entries) in encoder.index_entries() {
            match self.session.push_by(*space, LoadOutcomes::stream_of_indexes(stream), entries, by)
            {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                pushed => pushed?,
            }
        }
        if let Some(table) = &encoder.indexed {
            let mut indexed = lock(&self.indexed);
            if !indexed.iter().any(|known| Arc::ptr_eq(known, table)) {
                indexed.push(table.clone());
            }
        }
        self.session.push_by(space, LoadOutcomes::stream_of_rows(stream), entries, by)?;
        self.outcomes.add_bytes(stream, entries.bytes() as u64);
        Ok(())
    }

    /// Slices are small where a rate is set, so what is waited for is what was just stored, and it
    /// is soon over.
    fn wait_for_rate(&self, entries: &Entries) {
        let give_up = || {
            self.outcomes.check_limits(self.options);
            self.outcomes.is_stopped()
        };
        if let Some(limit) = &self.rows_limit {
            limit.take(entries.len() as u64, give_up);
        }
        if let Some(limit) = &self.bytes_limit {
            limit.take(entries.bytes() as u64, give_up);
        }
    }

    /// Makes everything durable that was pushed, then says how far each stream is, and which are
    /// complete.
    fn flush(&self) -> Result<()> {
        self.store.catalog.check_member()?;
        // Taken before the flush begins: what is put meanwhile is left to the next one.
        let FlushScope { mut ended, marks } = self.queue.begin_flush();
        let flushing = self.load.begin_flush();
        let indexed = std::mem::take(&mut *lock(&self.indexed));
        let begun = Instant::now();
        self.session.flush_by(deadline_after(self.options.flush_timeout))?;
        let milliseconds = begun.elapsed().as_millis() as u64;
        tracing::debug!(streams = marks.len(), milliseconds, "bulk put flushed");
        self.load.flushed(flushing);
        // Of several tables it is not known whose rows were replaced.
        let replaced = self.outcomes.replaced();
        let stale = replaced - self.replaced_noted.swap(replaced, Ordering::Relaxed);
        indexed.iter().for_each(|table| self.store.cleaner.note(table, stale));
        let callbacks = &self.options.callbacks;
        for &(stream, position) in &marks {
            let told = catch_callback_panic("durable", || callbacks.durable(stream, position));
            told.unwrap_or_else(|error| self.outcomes.stop(error));
        }
        // After the callbacks: a caller that wakes up knows that the callback had its position.
        self.queue.finish_flush(&marks);
        ended.sort_unstable();
        for stream in ended {
            let Some(report) = self.outcomes.complete(stream) else { continue };
            let told = catch_callback_panic("completed", || callbacks.completed(&report));
            told.unwrap_or_else(|error| self.outcomes.stop(error));
        }
        Ok(())
    }

    /// Stores what was put, whatever ended the load, and makes up the report.
    fn end(&self, started: Instant) -> std::result::Result<BulkPutReport, BulkPutError> {
        let outcomes = self.outcomes;
        outcomes.check_limits(self.options);
        let flushed = self.flush();
        outcomes.check_cancel(self.options);
        outcomes.check_errors(self.options.errors_max, true);
        self.queue.stop();
        let report = outcomes.report(started);
        let is_flushed = flushed.is_ok();
        // What a callback or a stream said counts for more than what the session says after it was
        // stopped by them.
        match outcomes.stopped().map_or(flushed, Err) {
            Ok(()) => Ok(report),
            Err(error) => Err(BulkPutError {
                error,
                report: report.into(),
                too_many_errors: outcomes.has_too_many_errors(),
                flushed: is_flushed,
            }),
        }
    }
}

/// Logs the end of a load for operators.
fn log_end(ended: &std::result::Result<BulkPutReport, BulkPutError>) {
    let (report, error) = match ended {
        Ok(report) => (report, None),
        Err(stopped) => (&*stopped.report, Some(&stopped.error)),
    };
    let Counts { read, inserted, existed, overtaken, failed, bytes } = report.total;
    let seconds = report.seconds;
    match error {
        None => tracing::info!(
            read,
            inserted,
            existed,
            overtaken,
            failed,
            bytes,
            seconds,
            "bulk put ended"
        ),
        Some(error) => tracing::warn!(
            read, inserted, existed, overtaken, failed, bytes, seconds, %error, "bulk put stopped"
        ),
    }
}
/// No worker hands less to the session at once, however little memory there is.
const SLICE_BYTES_MIN: usize = 4 << 10;

/// Where the entries of a batch stand in their stream.
#[derive(Clone, Copy)]
struct EntryPositions<'a> {
    first: u64,
    positions: Option<&'a [u64]>,
}

impl EntryPositions<'_> {
    fn of(self, index: usize) -> u64 {
        self.positions.map_or(self.first + index as u64, |positions| positions[index])
    }
}
