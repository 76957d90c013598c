//! Ends a read early (cancel, timeout, no thread, reader gone), and counts what it has done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError};
use tonnage_engine::{Deadline, Error, Result};

use crate::cancel::Cancel;

/// How often a waiting thread checks whether the read was called off.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// What may end a read early. Its threads share it.
#[derive(Debug, Default)]
pub(crate) struct ReadControl {
    cancel: Cancel,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    /// The reader is gone.
    is_closed: AtomicBool,
    /// No thread is left to read the rest.
    has_no_thread: AtomicBool,
    /// How many pieces the reader has taken.
    taken: AtomicUsize,
    pub(crate) progress: ReadProgress,
}

impl ReadControl {
    /// The time begins now.
    pub(crate) fn new(cancel: &Cancel, timeout: Option<Duration>) -> Arc<Self> {
        Arc::new(Self {
            cancel: cancel.clone(),
            timeout,
            // A time that ends beyond all clocks is none.
            deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            ..Self::default()
        })
    }

    /// Whether the read may continue.
    ///
    /// # Errors
    /// `Cancelled`, or `TimedOut`; `Unavailable` where there is no thread for it.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_threads()?;
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled("the read was cancelled: what came before is valid"));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::timed_out(format!(
                "the read took longer than its time-out of {:?}: give it more time, or ask for less",
                self.timeout.unwrap_or_default()
            )));
        }
        Ok(())
    }

    /// By when the engine must have answered.
    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline.map_or(Deadline::NONE, Deadline::at)
    }

    /// How many pieces the reader has taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    pub(crate) fn note_taken(&self) {
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    /// No reader wants more.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// The system has no thread for the read: it ends with an error.
    pub(crate) fn set_no_thread(&self) {
        self.has_no_thread.store(true, Ordering::Relaxed);
    }

    /// Whether there are threads for the read.
    ///
    /// # Errors
    /// `Unavailable`.
    #[inline]
    pub(crate) fn check_threads(&self) -> Result<()> {
        if self.has_no_thread.load(Ordering::Relaxed) { Err(no_thread()) } else { Ok(()) }
    }

    /// The same for threads that wait for keys: an error too where no reader wants more.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_closed() {
            return Err(Error::cancelled("the reader is gone"));
        }
        self.check()
    }

    /// Takes the next item of a queue, waiting no longer than the read may take. Nothing at its
    /// end. Calls `at_look` now and then while it waits.
    pub(crate) fn recv<T>(
        &self,
        queue: &Receiver<T>,
        mut at_look: impl FnMut(),
    ) -> Result<Option<T>> {
        // Tried first: an item that is there is no wait, and reads no clock.
        match queue.try_recv() {
            Ok(item) => return Ok(Some(item)),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => {}
        }
        let since = Instant::now();
        let item = loop {
            match queue.recv_timeout(CHECK_INTERVAL) {
                Ok(item) => break Ok(Some(item)),
                Err(RecvTimeoutError::Disconnected) => break Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    at_look();
                    if let Err(error) = self.check() {
                        break Err(error);
                    }
                }
            }
        };
        self.progress.note_wait(since.elapsed());
        item
    }
}

/// The error of a read that no thread can be had for.
#[cold]
pub(crate) fn no_thread() -> Error {
    Error::unavailable(
        "no thread can be had for a read: end other work, or raise the limit of processes",
    )
}

/// Watches a read while it runs, from any thread: clones count the same read.
#[derive(Clone, Debug, Default)]
pub struct ReadProgress(Arc<ReadCounts>);

#[derive(Debug, Default)]
struct ReadCounts {
    keys: AtomicU64,
    rows: AtomicU64,
    bytes: AtomicU64,
    batches: AtomicU64,
    waits: AtomicU64,
    waited_ns: AtomicU64,
}

/// What a read has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadMetrics {
    /// Keys that were taken from their sources. A scan has none.
    pub keys: u64,
    /// Rows that were read from the engine, those of child tables among them, and those that the
    /// reader has not taken yet.
    pub rows: u64,
    /// The bytes of their keys and values.
    pub bytes: u64,
    /// The pieces in which they were read.
    pub batches: u64,
    /// How many times the reader found nothing ready and had to wait.
    pub waits: u64,
    /// For how long it waited, in all.
    pub waited: Duration,
}

impl ReadProgress {
    /// The current counts.
    pub fn metrics(&self) -> ReadMetrics {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ReadMetrics {
            keys: of(&self.0.keys),
            rows: of(&self.0.rows),
            bytes: of(&self.0.bytes),
            batches: of(&self.0.batches),
            waits: of(&self.0.waits),
            waited: Duration::from_nanos(of(&self.0.waited_ns)),
        }
    }

    pub(crate) fn note_keys(&self, keys: usize) {
        self.0.keys.fetch_add(keys as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_batch(&self, rows: usize, bytes: usize) {
        self.0.batches.fetch_add(1, Ordering::Relaxed);
        self.0.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn note_wait(&self, waited: Duration) {
        self.0.waits.fetch_add(1, Ordering::Relaxed);
        self.0.waited_ns.fetch_add(waited.as_nanos() as u64, Ordering::Relaxed);
    }
}
