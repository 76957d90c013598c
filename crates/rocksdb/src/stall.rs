//! Writes to RocksDB that wait out a stall without blocking it.
//!
//! RocksDB stops writers while its memtables are full. A stopped writer waits inside RocksDB, at
//! the head of the queue of writers. If the memtables are full because the disk was, RocksDB has to
//! recover before it can flush, and its recovery has to pass the same queue. Writer and recovery
//! then wait for each other for ever. So no write waits inside: RocksDB refuses a write rather than
//! stall it (`no_slowdown`), and the caller waits out here.
//!
//! A refusal means that writes are stopped, never that they are slowed down: the
//! [throttle](crate::write_throttle) sees to that. Small writes wait there and hold no lock. What
//! is written here without passing it waits on the spot.

use std::time::{Duration, Instant};

use rocksdb::{Error, ErrorKind, WriteBatch, WriteOptions};
use tonnage_engine::Deadline;

use crate::database::Database;
use crate::error::translate;

/// How long a stall may last before the write is given up.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);
const FIRST_SLEEP: Duration = Duration::from_millis(1);
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// How long a call waits for writes to continue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StallDeadline {
    /// When it gives up.
    pub(crate) end: Instant,
    /// `TimedOut` where the caller set that time, `Unavailable` where it is the usual one.
    pub(crate) kind: tonnage_engine::ErrorKind,
}

impl StallDeadline {
    /// The usual time from now on, or less where the caller's deadline comes first.
    pub(crate) fn until(deadline: Deadline) -> Self {
        let (usual, end) = (usual_deadline(), deadline.moment());
        match end.filter(|end| *end < usual) {
            Some(end) => Self { end, kind: tonnage_engine::ErrorKind::TimedOut },
            None => Self { end: usual, kind: tonnage_engine::ErrorKind::Unavailable },
        }
    }
}

/// When a call that begins now gives up waiting.
pub(crate) fn usual_deadline() -> Instant {
    Instant::now() + STALL_TIMEOUT
}

/// Sleeps a little longer from time to time.
pub(crate) struct StallBackoff {
    next: Duration,
}

impl StallBackoff {
    pub(crate) fn new() -> Self {
        Self { next: FIRST_SLEEP }
    }

    /// Sleeps, though not past `deadline`.
    pub(crate) fn sleep(&mut self, deadline: Instant) {
        std::thread::sleep(self.next.min(deadline.saturating_duration_since(Instant::now())));
        self.next = (self.next * 2).min(LONGEST_SLEEP);
    }
}

/// Writes a batch, if writes are not stopped: then the error [is a stop](is_stop).
pub(crate) fn attempt(db: &Database, sync: bool, batch: WriteBatch) -> Result<(), Error> {
    let mut options = WriteOptions::default();
    options.set_sync(sync);
    options.set_no_slowdown(true);
    db.write(batch, &options, sync)
}

/// Whether RocksDB refused a write because writes are stopped. Nothing of it is stored.
pub(crate) fn is_stop(error: &Error) -> bool {
    error.kind() == ErrorKind::Incomplete
}

/// Writes a batch, again and again while writes are stopped, for up to a minute.
pub(crate) fn write_batch(db: &Database, sync: bool, batch: &WriteBatch) -> Result<(), Error> {
    write_batch_until(db, sync, batch, usual_deadline())
}

/// The same by a deadline of its own; the error that it ends with is translated.
pub(crate) fn write_batch_by(
    db: &Database,
    sync: bool,
    batch: &WriteBatch,
    stall_deadline: StallDeadline,
    place: &str,
) -> tonnage_engine::Result<()> {
    let written = write_batch_until(db, sync, batch, stall_deadline.end);
    written.map_err(|error| {
        let is_out_of_time =
            is_stop(&error) && stall_deadline.kind == tonnage_engine::ErrorKind::TimedOut;
        match is_out_of_time {
            true => Deadline::passed("writes that are stopped").at(place),
            false => translate(place, error),
        }
    })
}

/// The same until `deadline`.
pub(crate) fn write_batch_until(
    db: &Database,
    sync: bool,
    batch: &WriteBatch,
    deadline: Instant,
) -> Result<(), Error> {
    let mut backoff = StallBackoff::new();
    loop {
        match attempt(db, sync, WriteBatch::from_data(batch.data())) {
            Err(error) if is_stop(&error) && Instant::now() < deadline => backoff.sleep(deadline),
            outcome => return outcome,
        }
    }
}
