//! What becomes of the entries of a bulk put.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tonnage_engine::{Error, LoadObserver, Result, SpaceId, StoredRun};

use super::runner::{guarded, lock};
use super::{BulkPutCallbacks, BulkPutOptions, ErrorsMax, ExistingEntry, FailedEntry, Progress};
use crate::store::Inner;

/// What becomes of the entries: counts them, calls back, and knows what stopped the load.
pub(super) struct Outcomes {
    store: Arc<Inner>,
    progress: Progress,
    callbacks: Arc<dyn BulkPutCallbacks>,
    names: Vec<String>,
    errors_max: ErrorsMax,
    deadline: Option<Instant>,
    stopped: AtomicBool,
    pub(super) stopped_by: Mutex<Option<Error>>,
    pub(super) too_many_errors: AtomicBool,
}

impl Outcomes {
    pub(super) fn new(store: &Arc<Inner>, options: &BulkPutOptions, started: Instant) -> Self {
        Self {
            store: store.clone(),
            progress: options.progress.clone(),
            callbacks: options.callbacks.clone(),
            names: options.progress.report().into_iter().map(|stream| stream.name).collect(),
            errors_max: options.errors_max,
            deadline: options.timeout.map(|timeout| started + timeout),
            stopped: AtomicBool::new(false),
            stopped_by: Mutex::new(None),
            too_many_errors: AtomicBool::new(false),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Stops the load; of several causes the first one counts.
    pub(super) fn stop(&self, error: Error) {
        lock(&self.stopped_by).get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn check_limits(&self, options: &BulkPutOptions) {
        if options.cancel.is_cancelled() {
            self.stop(Error::unavailable("the bulk put was cancelled: what was read before is stored"));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop(Error::unavailable("the bulk put ran out of time (option timeout): what was read before is stored"));
        }
        self.check_errors(options.errors_max, false);
    }

    pub(super) fn check_errors(&self, errors_max: ErrorsMax, at_end: bool) {
        let total = self.progress.total();
        if errors_max.is_exceeded(total.failed, total.read, at_end) && !self.is_stopped() {
            self.too_many_errors.store(true, Ordering::Relaxed);
            self.stop(Error::invalid(format!(
                "{} of {} entries failed, more than errors_max ({errors_max}) allows: mend the input, or allow more",
                total.failed, total.read
            )));
        }
    }

    /// Reports a failed entry. The error is what the callback said, and stops the load.
    pub(super) fn fail(&self, stream: usize, stream_name: &str, position: u64, column: Option<&str>, reason: &str) -> Result<()> {
        self.progress.add_failed(stream);
        let entry = FailedEntry { stream, stream_name, position, column, reason };
        let told = guarded("failed", || self.callbacks.failed(&entry)).and_then(|told| told);
        if let ErrorsMax::Count(_) = self.errors_max {
            self.check_errors(self.errors_max, false);
        }
        told
    }
}

impl LoadObserver for Outcomes {
    fn stored(&self, run: StoredRun) {
        // What comes behind the streams of the caller is entries of indexes.
        if (run.stream as usize) < self.names.len() {
            self.progress.add_stored(run);
        }
    }

    fn existed(&self, stream: u32, position: u64, space: SpaceId, key: &[u8]) -> Result<()> {
        let stream = stream as usize;
        let entry = ExistingEntry { stream, position, space, key, store: &self.store };
        match guarded("existing", || self.callbacks.existing(&entry))? {
            Ok(()) => {
                self.progress.add_existed(stream);
                Ok(())
            }
            Err(error) => self.fail(stream, &self.names[stream], position, None, error.message()),
        }
    }
}
