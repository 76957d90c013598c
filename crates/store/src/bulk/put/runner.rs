//! The run of one bulk put.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arrow::array::RecordBatch;
use tonnage_engine::{Entries, Error, ErrorKind, LoadOptions, LoadSession, Result, cores};

use super::encode::{Encoder, Refused};
use super::outcomes::Outcomes;
use super::{BulkPutError, BulkPutOptions, BulkPutReport, Counts, EntryBatch, EntryStream, Payload, StreamReport};
use crate::bulk::rate::RateLimit;
use crate::index::OpenLoad;
use crate::store::Inner;

/// Puts the entries of all streams into the store.
pub(crate) fn run(
    store: &Arc<Inner>,
    streams: Vec<Box<dyn EntryStream>>,
    options: &BulkPutOptions,
) -> std::result::Result<BulkPutReport, BulkPutError> {
    let started = Instant::now();
    let refuse = |error| BulkPutError { error, report: Box::default(), too_many_errors: false, flushed: true };
    options.check().map_err(refuse)?;
    if streams.is_empty() {
        return Err(refuse(Error::invalid("a bulk put needs at least one stream")));
    }
    if !options.progress.begin(streams.iter().map(|stream| stream.name())) {
        return Err(refuse(Error::invalid(
            "the progress given in the options already watched another bulk put: give a fresh one",
        )));
    }
    let outcomes = Arc::new(Outcomes::new(store, options, started));
    let load_options = LoadOptions {
        on_existing: options.on_existing,
        durability: options.durability,
        memory_bytes_max: options.memory_bytes(),
        parallelism: options.per_shard_parallelism.unwrap_or_else(cores),
        spill_directory: None,
        observer: outcomes.clone(),
    };
    let load = store.gate.open_load();
    let session = store.engine.load(load_options).map_err(refuse)?;
    let readers = options.stream_parallelism.unwrap_or_else(cores).min(streams.len());
    let run = Run {
        store,
        options,
        outcomes: &outcomes,
        session,
        load,
        names: streams.iter().map(|stream| stream.name()).collect(),
        streams: streams.into_iter().map(|stream| Mutex::new(Some(stream))).collect(),
        next_stream: AtomicUsize::new(0),
        ended: Mutex::new(Vec::new()),
        rows_limit: options.rows_per_second_max.map(RateLimit::per_second),
        bytes_limit: options.bytes_per_second_max.map(RateLimit::per_second),
    };
    run.read_streams(readers);
    run.end(started)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these mutexes guard is whole at every point where a callback could have panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One bulk put under way.
struct Run<'a> {
    store: &'a Arc<Inner>,
    options: &'a BulkPutOptions,
    outcomes: &'a Arc<Outcomes>,
    session: Box<dyn LoadSession + 'a>,
    // Dropped after the session: until then nobody may remove entries of indexes.
    load: OpenLoad<'a>,
    names: Vec<String>,
    streams: Vec<Mutex<Option<Box<dyn EntryStream>>>>,
    next_stream: AtomicUsize,
    /// Streams that were read to their end but are not complete yet.
    ended: Mutex<Vec<usize>>,
    rows_limit: Option<RateLimit>,
    bytes_limit: Option<RateLimit>,
}

impl Run<'_> {
    /// Reads all streams, `readers` at a time; one reader needs no thread of its own.
    fn read_streams(&self, readers: usize) {
        if readers <= 1 {
            return self.read_from_queue();
        }
        std::thread::scope(|scope| {
            for _ in 0..readers {
                scope.spawn(|| self.read_from_queue());
            }
        });
    }

    fn read_from_queue(&self) {
        let mut encoder = Encoder::new(self.store, self.options.slice_bytes_max(), self.options.slice_rows_max());
        while !self.outcomes.is_stopped() {
            let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = self.streams.get(number) else { return };
            let Some(stream) = lock(slot).take() else { return };
            let read = catch_unwind(AssertUnwindSafe(|| self.read_stream(number, stream, &mut encoder)));
            let read = read.unwrap_or_else(|panic| Err(Error::internal(format!("it panicked: {}", panic_message(&panic)))));
            match read {
                Ok(()) if self.outcomes.is_stopped() => return,
                Ok(()) => lock(&self.ended).push(number),
                Err(error) => {
                    let place = self.place(number, &error);
                    return self.outcomes.stop(error.at(place));
                }
            }
        }
    }

    /// `stream 3 (ships.csv), after 1200 entries`: where an error of a stream happened. An error that begins with the name
    /// need not be told it again.
    fn place(&self, number: usize, error: &Error) -> String {
        let read = self.options.progress.report().get(number).map_or(0, |stream| stream.counts.read);
        match self.names[number].as_str() {
            name if error.message().starts_with(name) => format!("stream {number}, after {read} entries"),
            name => format!("stream {number} ({name}), after {read} entries"),
        }
    }

    fn read_stream(&self, number: usize, mut stream: Box<dyn EntryStream>, encoder: &mut Encoder<'_>) -> Result<()> {
        let mut next_position = 0;
        while !self.outcomes.is_stopped() {
            let Some(batch) = stream.next_batch()? else { return Ok(()) };
            next_position = self.put_batch(number, next_position, batch, encoder)?;
            self.outcomes.check_limits(self.options);
            let wanted = self.load.flush_wanted();
            if wanted.is_some() || self.session.pending_bytes() >= self.options.flush_bytes_max {
                self.flush()?;
                wanted.into_iter().for_each(|wanted| self.load.flushed(wanted));
            }
        }
        Ok(())
    }

    /// Puts one batch, slice by slice, and tells the position that follows it.
    fn put_batch(&self, number: usize, first: u64, batch: EntryBatch, encoder: &mut Encoder<'_>) -> Result<u64> {
        let EntryBatch { payload, ttl, positions, unread } = batch;
        let entries = payload.len() as u64;
        if let Some(positions) = &positions
            && positions.len() as u64 != entries
        {
            return Err(Error::invalid(format!("a batch of {entries} entries comes with {} positions", positions.len())));
        }
        self.options.progress.add_read(number, unread.len() as u64);
        for entry in &unread {
            self.outcomes.fail(number, &self.names[number], entry.position, entry.column.as_deref(), &entry.reason)?;
        }
        let last_unread = unread.iter().map(|entry| entry.position + 1).max().unwrap_or(0);
        let places = Places { first, positions: positions.as_deref() };
        let next = positions.as_ref().map_or(first + entries, |positions| positions.last().map_or(first, |last| last + 1));
        match payload {
            Payload::Batch { table, rows } => {
                for slice in slices(&rows, self.options.slice_bytes_max(), self.options.slice_rows_max()) {
                    let (offset, taken) = (slice.start, slice.len());
                    let _pushing = self.load.pushing();
                    encoder.rows(&table, &rows.slice(offset, taken), ttl, |index| places.of(offset + index));
                    if !self.push(number, taken, encoder)? {
                        break;
                    }
                }
            }
            Payload::Rows { table, rows } => {
                let mut offset = 0;
                while offset < rows.len() {
                    let _pushing = self.load.pushing();
                    let taken = encoder.single_rows(&table, &rows[offset..], ttl, |index| places.of(offset + index));
                    offset += taken;
                    if !self.push(number, taken, encoder)? {
                        break;
                    }
                }
            }
            Payload::Pairs(pairs) => {
                let mut offset = 0;
                while offset < pairs.len() {
                    let taken = encoder.pairs(&pairs, offset, ttl, |index| places.of(index));
                    offset += taken;
                    if !self.push(number, taken, encoder)? {
                        break;
                    }
                }
            }
        }
        Ok(next.max(last_unread))
    }

    /// Hands what the encoder made of `taken` entries to the session, and reports what it refused. False when the load was
    /// stopped: what follows is not wanted.
    fn push(&self, number: usize, taken: usize, encoder: &mut Encoder<'_>) -> Result<bool> {
        self.options.progress.add_read(number, taken as u64);
        if let Some((space, entries)) = encoder.encoded() {
            self.push_index_entries(number, encoder)?;
            self.session.push(space, number as u32, entries)?;
            self.options.progress.add_bytes(number, entries.bytes() as u64);
        }
        for Refused { position, column, reason } in encoder.refused.drain(..) {
            self.outcomes.fail(number, &self.names[number], position, column.as_deref(), &reason)?;
        }
        if let Some((_, entries)) = encoder.encoded() {
            self.wait_for_rate(entries);
        }
        Ok(!self.outcomes.is_stopped())
    }

    /// Entries go before their rows, in streams of their own behind those of the caller, which nobody counts. Those of an index that was
    /// dropped meanwhile are not wanted.
    fn push_index_entries(&self, number: usize, encoder: &Encoder<'_>) -> Result<()> {
        for (space, entries) in encoder.index_entries() {
            match self.session.push(*space, (self.names.len() + number) as u32, entries) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                pushed => pushed?,
            }
        }
        Ok(())
    }

    /// Slices are small where a rate is set, so what is waited for is what was just stored, and it is soon over.
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

    /// Makes everything durable that was pushed, then reports the streams complete that had ended before.
    fn flush(&self) -> Result<()> {
        let ended = std::mem::take(&mut *lock(&self.ended));
        self.session.flush()?;
        self.complete(ended);
        Ok(())
    }

    fn complete(&self, mut ended: Vec<usize>) {
        ended.sort_unstable();
        for number in ended {
            self.options.progress.complete(number);
            if let Some(report) = self.options.progress.report().get(number) {
                let told = guarded("completed", || self.options.callbacks.completed(report));
                told.unwrap_or_else(|error| self.outcomes.stop(error));
            }
        }
    }

    /// Stores what was read, whatever ended the reading, and makes up the report.
    fn end(self, started: Instant) -> std::result::Result<BulkPutReport, BulkPutError> {
        let Run { session, ended, outcomes, options, .. } = &self;
        let flushed = session.flush();
        if flushed.is_ok() {
            let ended = std::mem::take(&mut *lock(ended));
            self.complete(ended);
        }
        outcomes.check_errors(options.errors_max, true);
        let streams = options.progress.report();
        let report = BulkPutReport { total: total_of(&streams), streams, seconds: started.elapsed().as_secs_f64() };
        // What a callback or a stream said counts for more than what the session says after it was stopped by them.
        let stopped = lock(&outcomes.stopped_by).take();
        let too_many_errors = outcomes.too_many_errors.load(Ordering::Relaxed);
        let is_flushed = flushed.is_ok();
        match stopped.map_or(flushed, Err) {
            Ok(()) => Ok(report),
            Err(error) => Err(BulkPutError { error, report: report.into(), too_many_errors, flushed: is_flushed }),
        }
    }
}

fn total_of(streams: &[StreamReport]) -> Counts {
    let mut total = Counts::default();
    streams.iter().for_each(|stream| total.add(&stream.counts));
    total
}

/// Calls back; a callback that panics stops the load.
pub(super) fn guarded<T>(name: &str, call: impl FnOnce() -> T) -> Result<T> {
    let called = catch_unwind(AssertUnwindSafe(call));
    called.map_err(|panic| Error::internal(format!("the callback '{name}' panicked: {}", panic_message(&panic))))
}

fn panic_message(panic: &Box<dyn std::any::Any + Send>) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

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

/// Cuts a batch into row ranges of about `bytes_max` bytes and at most `rows_max` rows each.
fn slices(rows: &RecordBatch, bytes_max: usize, rows_max: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
    let bytes: usize = rows.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum();
    let count = rows.num_rows();
    let step = (count as u128 * bytes_max as u128 / bytes.max(1) as u128).clamp(1, rows_max as u128) as usize;
    (0..count).step_by(step).map(move |start| start..count.min(start + step))
}
