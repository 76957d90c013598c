//! Counts the outcomes of a load's entries, calls back, and keeps the error that stopped the load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tonnage_engine::sync::lock;
use tonnage_engine::{
    Entries, Error, LoadObserver, OnExisting, Result, SpaceId, StoredRun, catch_panic,
};

use super::{
    BulkPutCallbacks, BulkPutOptions, BulkPutReport, Counts, Entry, ErrorsMax, ExistingEntry,
    FailedEntry, Progress, StreamReport, TooManyErrors, UnreadEntry,
};
use crate::already_exists::AlreadyExists;
use crate::inner::Inner;

/// What becomes of the entries: counts them, calls back, and knows what stopped the load.
pub(super) struct LoadOutcomes {
    store: Arc<Inner>,
    progress: Progress,
    callbacks: Arc<dyn BulkPutCallbacks>,
    on_existing: OnExisting,
    errors_max: ErrorsMax,
    deadline: Option<Instant>,
    stopped: AtomicBool,
    stopped_by: Mutex<Option<Error>>,
    too_many_errors: AtomicBool,
}

impl LoadOutcomes {
    /// # Errors
    /// `Invalid` when the progress in the options already watched another load.
    pub(super) fn new(
        store: &Arc<Inner>,
        options: &BulkPutOptions,
        names: impl Iterator<Item = String>,
        started: Instant,
    ) -> Result<Arc<Self>> {
        let progress = options.progress.clone().unwrap_or_default();
        if !progress.begin(names) {
            return Err(Error::invalid(
                "the progress given in the options already watched another bulk put: give a fresh one, or none",
            ));
        }
        Ok(Arc::new(Self {
            store: store.clone(),
            progress,
            callbacks: options.callbacks.clone(),
            on_existing: options.on_existing,
            errors_max: options.errors_max,
            // A time that the clock cannot tell is never up.
            deadline: options.timeout.and_then(|timeout| started.checked_add(timeout)),
            stopped: AtomicBool::new(false),
            stopped_by: Mutex::new(None),
            too_many_errors: AtomicBool::new(false),
        }))
    }

    /// The stream of the session that takes the rows of a stream, and the one that takes their
    /// entries of indexes.
    pub(super) fn stream_of_rows(stream: usize) -> u32 {
        2 * stream as u32
    }

    pub(super) fn stream_of_indexes(stream: usize) -> u32 {
        2 * stream as u32 + 1
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    pub(super) fn add_stream(&self, name: String) -> usize {
        self.progress.add_stream(name)
    }

    pub(super) fn add_read(&self, stream: usize, entries: u64) {
        self.progress.add_read(stream, entries);
    }

    pub(super) fn add_bytes(&self, stream: usize, bytes: u64) {
        self.progress.add_bytes(stream, bytes);
    }

    pub(super) fn complete(&self, stream: usize) -> Option<StreamReport> {
        self.progress.complete(stream)
    }

    /// The name of a stream, and how many of its entries were read.
    pub(super) fn name_and_read(&self, stream: usize) -> (Arc<str>, u64) {
        (self.progress.name(stream), self.progress.read_of(stream))
    }

    pub(super) fn report(&self, started: Instant) -> BulkPutReport {
        let streams = self.progress.report();
        let mut total = Counts::default();
        streams.iter().for_each(|stream| total.add(&stream.counts));
        BulkPutReport { total, streams, seconds: started.elapsed().as_secs_f64() }
    }

    /// How many rows the load has replaced so far.
    pub(super) fn replaced(&self) -> u64 {
        self.progress.replaced()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What stopped the load.
    pub(super) fn stopped(&self) -> Option<Error> {
        let error = lock(&self.stopped_by).as_ref().map(Error::restated)?;
        Some(match self.has_too_many_errors() {
            // Others have failed since.
            true => self.too_many_errors().with_source(TooManyErrors),
            false => error,
        })
    }

    /// Stops the load; of several causes the first one counts.
    pub(super) fn stop(&self, error: Error) {
        lock(&self.stopped_by).get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_too_many_errors(&self) -> bool {
        self.too_many_errors.load(Ordering::Relaxed)
    }

    pub(super) fn check_limits(&self, options: &BulkPutOptions) {
        self.check_cancel(options);
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop(Error::timed_out(
                "the bulk put ran out of time (option timeout): what was read before is stored",
            ));
        }
        self.check_errors(options.errors_max, false);
    }

    pub(super) fn check_cancel(&self, options: &BulkPutOptions) {
        if options.cancel.is_cancelled() {
            self.stop(Error::cancelled(
                "the bulk put was cancelled: what was read before is stored",
            ));
        }
    }

    pub(super) fn check_errors(&self, errors_max: ErrorsMax, at_end: bool) {
        let (read, failed) = self.progress.read_and_failed();
        if errors_max.is_exceeded(failed, read, at_end) && !self.is_stopped() {
            self.too_many_errors.store(true, Ordering::Relaxed);
            self.stop(self.too_many_errors());
        }
    }

    fn too_many_errors(&self) -> Error {
        let (read, failed) = self.progress.read_and_failed();
        Error::invalid(format!(
            "{failed} of {read} entries failed, more than errors_max ({}) allows: fix the input, or allow more",
            self.errors_max
        ))
    }

    /// Reports an entry that its source could not read.
    pub(super) fn fail_unread(&self, stream: usize, entry: &UnreadEntry) -> Result<()> {
        self.fail(stream, entry.position, entry.column.as_deref(), &entry.reason, None)
    }

    /// Reports a failed entry. The error is what the callback said, and stops the load.
    pub(super) fn fail(
        &self,
        stream: usize,
        position: u64,
        column: Option<&str>,
        reason: &str,
        entry: Option<Entry<'_>>,
    ) -> Result<()> {
        let table = entry.and_then(|entry| entry.table());
        self.fail_in(stream, position, table, column, reason, entry)
    }

    fn fail_in(
        &self,
        stream: usize,
        position: u64,
        table: Option<&str>,
        column: Option<&str>,
        reason: &str,
        entry: Option<Entry<'_>>,
    ) -> Result<()> {
        self.progress.add_failed(stream);
        let name = self.progress.name(stream);
        let entry =
            FailedEntry { stream, stream_name: &name, position, table, column, reason, entry };
        let told =
            catch_callback_panic("failed", || self.callbacks.failed(&entry)).and_then(|told| told);
        if let ErrorsMax::Count(_) = self.errors_max {
            self.check_errors(self.errors_max, false);
        }
        told
    }

    /// The error of a load that must not meet existing keys.
    #[cold]
    fn existing_key_error(
        &self,
        stream: usize,
        position: u64,
        space: SpaceId,
        key: &[u8],
    ) -> Error {
        let name = self.progress.name(stream);
        // A table that was dropped meanwhile describes no key: then the error omits it.
        let described = self.store.describe_key(space, key).ok();
        let key = match &described {
            Some((table, key)) if table.is_empty() => format!("the pair {}", format_key(key)),
            Some((table, key)) => format!("the row {} of table {table}", format_key(key)),
            None => "its key".to_owned(),
        };
        let error = AlreadyExists::error(format!(
            "stream {stream} ({name}), entry {position}: {key} exists already, or comes twice: leave it out, or load with keep or \
             replace"
        ))
        .of_stream(stream as u64)
        .at_position(position);
        match &described {
            Some((table, key)) if table.is_empty() => error.of_key(&format_key(key)),
            Some((table, key)) => error.in_table(table).of_key(&format_key(key)),
            None => error,
        }
    }
}

/// `(maker 'Nokia', price 300)`
fn format_key(key: &crate::row::Row) -> String {
    let cells: Vec<_> = key.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("({})", cells.join(", "))
}

impl LoadObserver for LoadOutcomes {
    /// Rows without the entries of an index that another process has created meanwhile must not
    /// follow.
    fn check_may_send(&self) -> Result<()> {
        self.store.catalog.check_member()
    }

    fn sent_late(&self, space: SpaceId, rows: &Entries) -> Result<()> {
        let rows = (0..rows.len()).map(|row| (rows.key(row), rows.value(row)));
        self.store.index_late(space, rows)
    }

    fn stored(&self, run: StoredRun) {
        // Streams with odd numbers bring entries of indexes.
        if run.stream.is_multiple_of(2) {
            self.progress.add_stored(run.stream as usize / 2, run);
        }
    }

    fn existed(&self, stream: u32, position: u64, space: SpaceId, key: &[u8]) -> Result<()> {
        self.existed_entry(stream, position, space, key, &[])
    }

    fn existed_entry(
        &self,
        stream: u32,
        position: u64,
        space: SpaceId,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let stream = stream as usize / 2;
        let entry = ExistingEntry { stream, position, space, key, value, store: &self.store };
        // Counted before the load may fail by it, so that the report is complete.
        match catch_callback_panic("existing", || self.callbacks.existing(&entry))? {
            Ok(()) => self.progress.add_existed(stream),
            Err(error) => {
                let described = self.store.describe_key(space, key).ok();
                let table = described
                    .as_ref()
                    .map(|(table, _)| table.as_str())
                    .filter(|table| !table.is_empty());
                self.fail_in(stream, position, table, None, error.message(), None)?;
            }
        }
        match self.on_existing {
            OnExisting::Fail => Err(self.existing_key_error(stream, position, space, key)),
            OnExisting::Keep | OnExisting::Replace | OnExisting::BlindReplace => Ok(()),
        }
    }
}

/// Calls back; a callback that panics stops the load.
pub(super) fn catch_callback_panic<T>(name: &str, call: impl FnOnce() -> T) -> Result<T> {
    catch_panic(
        || Ok(call()),
        |message| Error::internal(format!("the callback '{name}' panicked: {message}")),
    )
}

/// The error of a step of a load that panicked.
pub(super) fn panicked(message: &str) -> Error {
    Error::internal(format!("it panicked: {message}"))
}
