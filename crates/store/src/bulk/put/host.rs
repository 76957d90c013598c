//! Where batches become entries of a load session.
//!
//! Workers take batches out of the queue, encode them and push them into the session. Between two
//! slices of a batch, and every few milliseconds while there is nothing to do, one of them looks
//! around: at time-outs and cancels, at streams that failed, and at whether it is time to flush. So
//! it does not matter what streams do, or how slow a rate is set.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use tonnage_engine::{Entries, Error, ErrorKind, LoadOptions, LoadSession, Result, cores};

use super::encode::{Encoder, Refused};
use super::intake::{Flush, Intake, Job, Next};
use super::means::Means;
use super::outcomes::{Outcomes, guarded, lock, panic_message};
use super::ttls::Ttls;
use super::{BulkPutError, BulkPutOptions, BulkPutReport, Counts, EntryBatch, Payload};
use crate::bulk::put::rate::RateLimit;
use crate::catalog::TableEntry;
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
pub(super) struct Host<'a> {
    store: &'a Arc<Inner>,
    options: &'a BulkPutOptions,
    outcomes: &'a Outcomes,
    intake: &'a Intake,
    session: Box<dyn LoadSession>,
    // Dropped after the session: until then nobody may remove entries of indexes.
    load: OpenLoad<'a>,
    means: Means,
    rows_limit: Option<RateLimit>,
    bytes_limit: Option<RateLimit>,
    /// Held by the worker that sees to flushes.
    pace: Mutex<FlushPace>,
    /// The tables with indexes that rows were pushed for since the last flush.
    indexed: Mutex<Vec<Arc<TableEntry>>>,
    /// How many rows had been replaced by then.
    replaced_noted: AtomicU64,
}

/// Lets nobody wait for a load whose thread panicked.
struct Alarm<'a>(&'a Intake);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// How much of a batch was put.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Put {
    Whole,
    /// The load was stopped in the middle of it: nothing of the batch may be acknowledged.
    InPart,
}

/// When the load flushed last, and since when nothing happens.
struct FlushPace {
    flushed: Instant,
    idle_since: Option<Instant>,
}

impl<'a> Host<'a> {
    /// Opens the session of a load that works with these means.
    pub(super) fn open(
        store: &'a Arc<Inner>,
        options: &'a BulkPutOptions,
        outcomes: &'a Arc<Outcomes>,
        intake: &'a Intake,
        means: Means,
    ) -> Result<Self> {
        let load = store.gate.open_load();
        let session = store.writer(options.acks).load(LoadOptions {
            on_existing: options.on_existing,
            durability: options.durability,
            memory_bytes_max: means.session_bytes(),
            parallelism: store.threads.most(options.per_shard_parallelism.unwrap_or_else(cores)),
            spill_directory: None,
            observer: outcomes.clone(),
        })?;
        let rows_limit = options.rows_per_second_max.map(RateLimit::per_second);
        let bytes_limit = options.bytes_per_second_max.map(RateLimit::per_second);
        let pace = Mutex::new(FlushPace { flushed: Instant::now(), idle_since: None });
        Ok(Self {
            store,
            options,
            outcomes,
            intake,
            session,
            load,
            means,
            rows_limit,
            bytes_limit,
            pace,
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
            self.lead();
        });
        let ended = self.end(started);
        tell_end(&ended);
        let store = self.store;
        drop(self);
        store.catalog.drop_after_load();
        ended
    }

    fn workers(&self) -> usize {
        self.means.workers()
    }

    fn encoder(&self) -> Encoder<'a> {
        Encoder::new(self.store, self.slice_bytes_max(), self.options.slice_rows_max())
    }

    /// The bytes that go to the engine at once: what all workers hold together stays within their
    /// share of the memory.
    fn slice_bytes_max(&self) -> usize {
        let share = self.means.encoder_bytes() / self.workers();
        self.options.slice_bytes_max().min(share.max(SLICE_BYTES_MIN))
    }

    fn work(&self) {
        let mut encoder = self.encoder();
        while let Next::Batch(job) = self.intake.next(None) {
            self.carry_out(job, &mut encoder);
        }
    }

    /// Works, and looks around in between.
    fn lead(&self) {
        let _alarm = Alarm(self.intake);
        let mut encoder = self.encoder();
        loop {
            match self.intake.next(Some(LOOK_EVERY)) {
                Next::Batch(job) => self.carry_out(job, &mut encoder),
                Next::Idle => {}
                Next::Failed(stream, error) => self.fail(stream, error),
                Next::Over => break,
            }
            self.look_around();
        }
        // Those who wait in a stream get a moment to come back.
        self.intake.wait_for_sources(GRACE);
    }

    /// Stops what must be stopped, and flushes if it is time, unless another worker is at that.
    fn look_around(&self) {
        self.outcomes.check_limits(self.options);
        if self.outcomes.is_stopped() {
            return self.intake.stop();
        }
        let mut pace = match self.pace.try_lock() {
            Ok(pace) => pace,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if self.is_flush_due(&mut pace) {
            self.flush().unwrap_or_else(|error| self.outcomes.stop(error));
            *pace = FlushPace { flushed: Instant::now(), idle_since: None };
        }
    }

    fn is_flush_due(&self, pace: &mut FlushPace) -> bool {
        if self.load.flush_wanted() || self.intake.flush_wanted() {
            return true;
        }
        if self.session.pending_bytes() >= self.options.flush_bytes_max {
            return true;
        }
        if self.options.flush_interval.is_some_and(|interval| pace.flushed.elapsed() >= interval) {
            // The next one is due an interval later, whether or not there was anything to do.
            pace.flushed = Instant::now();
            return self.intake.is_behind();
        }
        if !self.intake.wants_flush_when_idle() {
            pace.idle_since = None;
            return false;
        }
        pace.idle_since.get_or_insert_with(Instant::now).elapsed() >= IDLE
    }

    fn carry_out(&self, job: Job, encoder: &mut Encoder<'_>) {
        let (stream, end, bytes) = job.receipt();
        let put = catch_unwind(AssertUnwindSafe(|| self.put_batch(job, encoder)));
        let put = put.unwrap_or_else(|panic| {
            Err(Error::internal(format!("it panicked: {}", panic_message(&panic))))
        });
        let put = put.unwrap_or_else(|error| {
            self.fail(stream, error);
            Put::InPart
        });
        if self.outcomes.is_stopped() {
            self.intake.stop();
        }
        self.intake.done(stream, (put == Put::Whole).then_some(end), bytes);
    }

    /// Stops the load by an error of a stream. One that begins with the name of the stream need not
    /// be told it again.
    fn fail(&self, stream: usize, error: Error) {
        let (name, read) = self.outcomes.place_of(stream);
        let place = match &*name {
            name if error.message().starts_with(name) => {
                format!("stream {stream}, after {read} entries")
            }
            name => format!("stream {stream} ({name}), after {read} entries"),
        };
        self.outcomes.stop(error.at(place).of_stream(stream as u64));
        self.intake.stop();
    }

    /// Puts one batch, slice by slice, unless the load is stopped.
    fn put_batch(&self, job: Job, encoder: &mut Encoder<'_>) -> Result<Put> {
        let Job { stream, first, batch, .. } = job;
        let EntryBatch { payload, ttl, ttls, positions, unread } = batch;
        let ttls = Ttls::new(ttl, ttls.as_deref());
        let places = Places { first, positions: positions.as_deref() };
        let entries = payload.len();
        let mut offset = 0;
        let mut put = |encode: &mut dyn FnMut(&mut Encoder<'_>, usize) -> usize| -> Result<Put> {
            while offset < entries && !self.outcomes.is_stopped() {
                let mut pushing = self.load.pushing();
                let taken = encode(encoder, offset);
                self.push(stream, taken, encoder, &mut pushing)?;
                drop(pushing);
                for Refused { position, index, column, reason } in encoder.refused.drain(..) {
                    let entry = Some(super::Entry::new(&payload, offset + index));
                    self.outcomes.fail(stream, position, column.as_deref(), &reason, entry)?;
                }
                if let Some((_, entries)) = encoder.encoded() {
                    self.wait_for_rate(entries);
                }
                offset += taken;
                self.look_around();
            }
            Ok(if offset < entries { Put::InPart } else { Put::Whole })
        };
        let put = match &payload {
            Payload::Batch { table, rows } => {
                let mut step = None;
                put(&mut |encoder, offset| {
                    let step = *step.get_or_insert_with(|| encoder.rows_at_once(table, rows));
                    let len = step.min(entries - offset);
                    let rows = rows.slice(offset, len);
                    let ttls = ttls.starting_at(offset);
                    encoder.rows(table, &rows, ttls, |index| places.of(offset + index))
                })
            }
            Payload::Rows { table, rows } => put(&mut |encoder, offset| {
                let ttls = ttls.starting_at(offset);
                encoder.single_rows(table, &rows[offset..], ttls, |index| places.of(offset + index))
            }),
            Payload::Pairs(pairs) => put(&mut |encoder, offset| {
                encoder.pairs(pairs, offset, ttls, |index| places.of(index))
            }),
        }?;
        // They come last: if they are too many, what is good in the batch is stored and counted.
        if put == Put::Whole {
            self.outcomes.add_read(stream, unread.len() as u64);
            for entry in &unread {
                self.outcomes.fail_unread(stream, entry)?;
            }
        }
        Ok(put)
    }

    /// Hands what the encoder made of `taken` entries to the session. Entries of indexes go before
    /// their rows, in streams of their own, which nobody counts. Those of an index that was dropped
    /// meanwhile are not wanted.
    fn push(
        &self,
        stream: usize,
        taken: usize,
        encoder: &Encoder<'_>,
        pushing: &mut Pushing<'_>,
    ) -> Result<()> {
        self.outcomes.add_read(stream, taken as u64);
        let Some((space, entries)) = encoder.encoded() else { return Ok(()) };
        self.store.catalog.check_member()?;
        pushing.rows_of(space, !encoder.index_entries().is_empty());
        if let Some(table) = &encoder.indexed {
            table.indexes.clean.note();
        }
        let by = deadline_after(self.options.flush_timeout);
        for (space, entries) in encoder.index_entries() {
            match self.session.push_by(*space, Outcomes::stream_of_indexes(stream), entries, by) {
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
        self.session.push_by(space, Outcomes::stream_of_rows(stream), entries, by)?;
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

    /// Makes everything durable that was pushed, then tells how far each stream is, and which are
    /// complete.
    fn flush(&self) -> Result<()> {
        self.store.catalog.check_member()?;
        let Flush { mut ended, marks } = self.intake.begin_flush();
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
            let told = guarded("durable", || callbacks.durable(stream, position));
            told.unwrap_or_else(|error| self.outcomes.stop(error));
        }
        self.intake.flushed(&marks);
        ended.sort_unstable();
        for stream in ended {
            let Some(report) = self.outcomes.complete(stream) else { continue };
            let told = guarded("completed", || callbacks.completed(&report));
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
        self.intake.stop();
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

/// Notes for whoever watches the program how a load ended.
fn tell_end(ended: &std::result::Result<BulkPutReport, BulkPutError>) {
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
struct Places<'a> {
    first: u64,
    positions: Option<&'a [u64]>,
}

impl Places<'_> {
    fn of(self, index: usize) -> u64 {
        self.positions.map_or(self.first + index as u64, |positions| positions[index])
    }
}
