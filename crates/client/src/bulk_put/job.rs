//! The state that the streams of one bulk put share.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tonnage::internal::sync::lock;
use tonnage::{BulkPutError, BulkPutOptions, BulkPutReport, Error, TooManyErrors};

use super::command;
use super::upload_state::{UploadState, report_of};
use crate::store::RemoteStore;

pub(super) struct PutJob {
    pub(super) client: RemoteStore,
    pub(super) options: BulkPutOptions,
    /// Its name at the server.
    pub(super) name: String,
    names: Vec<String>,
    states: Mutex<Vec<UploadState>>,
    /// Why it stops: what was first.
    stop: Mutex<Option<Error>>,
    is_stopped: AtomicBool,
    /// Tells uploads to end, whatever their sources do.
    hang_up: watch::Sender<bool>,
    ended: Mutex<Sender<()>>,
    started: Instant,
    paced: AtomicU64,
}

impl PutJob {
    pub(super) fn new(
        client: RemoteStore,
        options: BulkPutOptions,
        names: Vec<String>,
        ended: Sender<()>,
    ) -> Self {
        // Two keys of the standard library's own random numbers: no other client picks the name.
        let random = || RandomState::new().build_hasher().finish();
        Self {
            client,
            options,
            name: format!("client-{:016x}{:016x}", random(), random()),
            states: Mutex::new(names.iter().map(|_| UploadState::default()).collect()),
            names,
            stop: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            hang_up: watch::Sender::new(false),
            ended: Mutex::new(ended),
            started: Instant::now(),
            paced: AtomicU64::new(0),
        }
    }

    pub(super) fn stream_name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// Looks at a stream, or notes something of it.
    pub(super) fn with_state<T>(
        &self,
        number: usize,
        see: impl FnOnce(&mut UploadState) -> T,
    ) -> T {
        see(&mut self.states()[number])
    }

    fn states(&self) -> MutexGuard<'_, Vec<UploadState>> {
        lock(&self.states)
    }

    /// Shows the counts, and stops a load of which too much has failed.
    pub(super) fn update_progress(&self, at_end: bool) {
        let tallies = self.states();
        let (read, failed) = tallies
            .iter()
            .fold((0, 0), |(read, failed), tally| (read + tally.read(), failed + tally.failed()));
        if let Some(progress) = &self.options.progress {
            let reports = tallies.iter().enumerate();
            let reports = reports.map(|(number, tally)| tally.report(number, &self.names[number]));
            progress.follow(&reports.collect::<Vec<_>>());
        }
        drop(tallies);
        let errors_max = self.options.errors_max;
        if command::is_exceeded(errors_max, failed, read, at_end) && !self.is_stopped() {
            let error = Error::invalid(format!(
                "{failed} of {read} entries failed, more than errors_max ({errors_max}) allows: \
                 fix the input, or allow more"
            ));
            self.stop(error.with_source(TooManyErrors));
        }
    }

    /// Stops all streams. What is first counts.
    pub(super) fn stop(&self, error: Error) {
        let mut stop = lock(&self.stop);
        stop.get_or_insert(error);
        self.is_stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    pub(super) fn hang_up(&self) {
        self.hang_up.send_replace(true);
    }

    pub(super) fn hung_up(&self) -> watch::Receiver<bool> {
        self.hang_up.subscribe()
    }

    /// Whether the server still has something to tell.
    pub(super) fn waits_for_server(&self) -> bool {
        self.states().iter().any(|tally| tally.is_sent && !tally.is_ended)
    }

    /// Nothing more is to come of a stream.
    pub(super) fn end(&self, number: usize) {
        let was_ended =
            self.with_state(number, |tally| std::mem::replace(&mut tally.is_ended, true));
        if !was_ended {
            // The caller may have gone without it.
            let _ = lock(&self.ended).send(());
        }
    }

    /// Waits as long as the rate wants it before so many rows.
    pub(super) fn pace(&self, rows: u64) {
        const NAP: Duration = Duration::from_millis(50);
        let Some(rate) = self.options.rows_per_second_max else { return };
        let before = self.paced.fetch_add(rows, Ordering::Relaxed);
        let due = Duration::from_secs_f64(before as f64 / rate as f64);
        while let Some(left) = due.checked_sub(self.started.elapsed()) {
            if self.is_stopped() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    /// What became of all streams.
    pub(super) fn result(
        &self,
        elapsed: Duration,
    ) -> std::result::Result<BulkPutReport, BulkPutError> {
        // A share of few entries counts only once all were read: this look may stop the load.
        self.update_progress(true);
        let tallies = self.states();
        let flushed = tallies.iter().all(|tally| !tally.is_sent || tally.is_flushed);
        let missing = tallies.iter().position(|tally| !tally.is_completed);
        let reports = tallies.iter().enumerate();
        let reports = reports.map(|(number, tally)| tally.report(number, &self.names[number]));
        let report = report_of(reports.collect(), elapsed);
        drop(tallies);
        let error = lock(&self.stop).take();
        // A stream may end without an error and yet lack rows: only the server calls it complete.
        let error = error.or_else(|| {
            let name = self.stream_name(missing?);
            Some(Error::unavailable(format!("{name}: the server never called it completed")))
        });
        match error {
            None => Ok(report),
            Some(error) => {
                let too_many_errors = TooManyErrors::caused(&error);
                let mut stopped = BulkPutError::from(error);
                stopped.too_many_errors = too_many_errors;
                stopped.report = Box::new(report);
                stopped.flushed = flushed;
                Err(stopped)
            }
        }
    }
}
