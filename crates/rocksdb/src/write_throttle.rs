//! Slows small writes down, or stops them, while compaction lags.
//!
//! RocksDB can slow writers down by itself, but only while they wait inside, which none may
//! ([`stall`](crate::stall)). Those that it refuses instead are charged as if they had been
//! let in: a batch of a mebibyte never got through, and many small ones went at a thirteenth of the
//! rate. So its own delays are off ([`BacklogLimits::options`]), and writers are slowed down here,
//! before they take any lock:
//!
//! 1. Every [`CHECK_INTERVAL`] one of those who pass looks at the files at level 0, at the bytes
//!    that wait for compaction, and whether RocksDB has stopped writes.
//! 2. **Open.** Within the limits everybody passes.
//! 3. **Slow.** Past them writers are given slots, one after another in the order in which they
//!    came, at a rate. It falls from [`RATE_MAX`] to [`RATE_MIN`] on the way from where slowing
//!    down begins to where writes are stopped, by the same part for each step, so that it settles
//!    where compaction keeps up.
//! 4. **Stopped.** Everybody waits until RocksDB takes writes again, or the deadline of the call
//!    has come.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rocksdb::DB;
use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

use crate::attempt_outcome::AttemptOutcome;
use crate::backlog::{BacklogLimits, CompactionBacklog, STEADY};
use crate::stall::{StallBackoff, StallDeadline};

/// How often a waiting writer checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How often while writes are stopped: stops are often short.
const CHECK_INTERVAL_STOPPED: Duration = Duration::from_millis(5);
/// Bytes a second with which slowing down begins, and those next to the stop. Somewhere between
/// them compaction keeps up.
const RATE_MAX: f64 = (128 << 20) as f64;
const RATE_MIN: f64 = (1 << 20) as f64;
/// A writer that slept too long may make up for so much.
const CREDIT: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests;

/// Whether writers pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum ThrottleState {
    Open,
    Slow,
    Stopped,
}

/// The throttle of one shard.
pub(crate) struct WriteThrottle {
    db: Arc<DB>,
    state: AtomicU8,
    began: Instant,
    /// When the next check is due, in microseconds since `began`.
    next_check_us: AtomicU64,
    slots: Mutex<WriteSlots>,
}

impl WriteThrottle {
    /// The throttle of a database that was just opened with the steady limits.
    pub(crate) fn new(db: Arc<DB>) -> Self {
        let slots = Mutex::new(WriteSlots::new(Instant::now()));
        Self {
            db,
            state: AtomicU8::new(ThrottleState::Open as u8),
            began: Instant::now(),
            next_check_us: AtomicU64::new(0),
            slots,
        }
    }

    /// Waits until so many bytes may be written. The caller holds no lock.
    ///
    /// # Errors
    /// The kind of `stall_deadline` when that is not before its end.
    #[inline]
    pub(crate) fn admit(&self, bytes: usize, stall_deadline: StallDeadline) -> Result<()> {
        self.check_if_due();
        match self.state() {
            ThrottleState::Open => Ok(()),
            _ => self.wait(bytes, stall_deadline),
        }
    }

    /// Lets `attempt` write so many bytes, again whenever it meets writes stopped. It takes its
    /// locks itself and gives them up before it answers: no writer waits while it holds a lock.
    ///
    /// # Errors
    /// Those of `attempt`, and the kind of `stall_deadline` when it could not write before
    /// its end.
    pub(crate) fn write<T>(
        &self,
        bytes: usize,
        stall_deadline: StallDeadline,
        mut attempt: impl FnMut() -> Result<AttemptOutcome<T>>,
    ) -> Result<T> {
        self.admit(bytes, stall_deadline)?;
        loop {
            match attempt()? {
                AttemptOutcome::Done(done) => return Ok(done),
                AttemptOutcome::Stopped(refusal) => self.wait_out(&refusal, stall_deadline)?,
            }
        }
    }

    #[cold]
    fn wait(&self, bytes: usize, stall_deadline: StallDeadline) -> Result<()> {
        let deadline = stall_deadline.end;
        let (mut slot, mut backoff) = (None, StallBackoff::new());
        loop {
            let now = Instant::now();
            match self.state() {
                ThrottleState::Open => return Ok(()),
                ThrottleState::Slow if bytes == 0 => return Ok(()),
                ThrottleState::Stopped if now >= deadline => {
                    return Err(self.stopped_for_long(stall_deadline));
                }
                ThrottleState::Stopped => backoff.sleep(deadline),
                ThrottleState::Slow => {
                    // Taken once and kept, so that writers go in the order in which they came.
                    if slot.is_none() {
                        slot = self.slots().take(bytes, now, deadline);
                    }
                    let slot = slot.ok_or_else(|| too_many_waiting(stall_deadline))?;
                    if slot <= now {
                        return Ok(());
                    }
                    // In pieces: the state may change long before the slot comes.
                    std::thread::sleep((slot - now).min(CHECK_INTERVAL));
                }
            }
            self.check_if_due();
        }
    }

    /// RocksDB refused a write: later writers wait, the caller too.
    #[cold]
    fn wait_out(&self, refusal: &rocksdb::Error, stall_deadline: StallDeadline) -> Result<()> {
        self.slots().refusal = Some(refusal.to_string());
        self.state.store(ThrottleState::Stopped as u8, Ordering::SeqCst);
        self.next_check_us
            .fetch_min(self.micros() + CHECK_INTERVAL_STOPPED.as_micros() as u64, Ordering::SeqCst);
        self.wait(0, stall_deadline)?;
        if Instant::now() < stall_deadline.end {
            Ok(())
        } else {
            Err(self.stopped_for_long(stall_deadline))
        }
    }

    /// From now on these limits hold. None while compaction rests.
    pub(crate) fn set_limits(&self, limits: Option<BacklogLimits>) {
        self.slots().limits = limits;
        self.next_check_us.store(0, Ordering::SeqCst);
    }

    /// Bytes a second to which writers are slowed down; 0 while they are not.
    pub(crate) fn rate(&self) -> u64 {
        self.check_if_due();
        if self.state() == ThrottleState::Slow { self.slots().rate as u64 } else { 0 }
    }

    fn state(&self) -> ThrottleState {
        match self.state.load(Ordering::Relaxed) {
            0 => ThrottleState::Open,
            1 => ThrottleState::Slow,
            _ => ThrottleState::Stopped,
        }
    }

    #[inline]
    fn check_if_due(&self) {
        let (now, due) = (self.micros(), self.next_check_us.load(Ordering::Relaxed));
        if now >= due {
            let next = now + CHECK_INTERVAL.as_micros() as u64;
            if self
                .next_check_us
                .compare_exchange(due, next, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
            {
                self.check(now);
            }
        }
    }

    fn check(&self, now_us: u64) {
        let is_stopped =
            self.db.property_int_value("rocksdb.is-write-stopped").ok().flatten() == Some(1);
        let backlog = CompactionBacklog::of(&self.db);
        let mut slots = self.slots();
        let is_slow = slots.update_rate(backlog, Instant::now());
        let state = match (is_stopped, is_slow) {
            (true, _) => ThrottleState::Stopped,
            (false, true) => ThrottleState::Slow,
            (false, false) => ThrottleState::Open,
        };
        if is_stopped {
            self.next_check_us
                .store(now_us + CHECK_INTERVAL_STOPPED.as_micros() as u64, Ordering::SeqCst);
        } else {
            slots.refusal = None;
        }
        self.state.store(state as u8, Ordering::SeqCst);
    }

    fn micros(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    fn slots(&self) -> MutexGuard<'_, WriteSlots> {
        lock(&self.slots)
    }

    fn stopped_for_long(&self, stall_deadline: StallDeadline) -> Error {
        let refusal = self.slots().refusal.clone().unwrap_or_else(|| "write stall".to_owned());
        Error::new(
            stall_deadline.kind,
            format!(
                "{}: {refusal} (writes have stalled for a minute: the disk is full, or slower than what is written)",
                self.db.path().display()
            ),
        )
    }
}

#[cold]
fn too_many_waiting(stall_deadline: StallDeadline) -> Error {
    Error::new(
        stall_deadline.kind,
        "more writes wait already than can be taken within a minute, since compaction has fallen behind: try again later, or \
         write less at a time",
    )
}

/// Who may write when, while writers are slowed down.
struct WriteSlots {
    limits: Option<BacklogLimits>,
    /// Bytes a second.
    rate: f64,
    /// When the bytes of all slots given so far will have been written at that rate.
    taken_until: Instant,
    /// What RocksDB said when it last refused a write.
    refusal: Option<String>,
}

impl WriteSlots {
    fn new(now: Instant) -> Self {
        Self { limits: Some(STEADY), rate: RATE_MAX, taken_until: now, refusal: None }
    }

    /// Whether writers are to be slowed down, and how much.
    fn update_rate(&mut self, backlog: CompactionBacklog, now: Instant) -> bool {
        let part = |at: u64, slow: u64, stop: u64| {
            (at >= slow).then(|| (at - slow) as f64 / (stop - slow) as f64)
        };
        let way_to_stop = self.limits.and_then(|limits| {
            let files = part(backlog.files, limits.slow_files, limits.stop_files);
            let bytes = part(backlog.bytes, limits.slow_bytes, limits.stop_bytes);
            files.into_iter().chain(bytes).reduce(f64::max)
        });
        match way_to_stop {
            Some(way) => self.rate = RATE_MAX * (RATE_MIN / RATE_MAX).powf(way.min(1.0)),
            // Everybody passes, those who wait for their slots too.
            None => self.taken_until = now,
        }
        way_to_stop.is_some()
    }

    /// When so many bytes may be written; nothing when that is after `deadline`, and then no slot
    /// is taken.
    fn take(&mut self, bytes: usize, now: Instant, deadline: Instant) -> Option<Instant> {
        let slot = now
            .checked_sub(CREDIT)
            .map_or(self.taken_until, |earliest| self.taken_until.max(earliest));
        if slot > deadline {
            return None;
        }
        self.taken_until = slot + Duration::from_secs_f64(bytes as f64 / self.rate);
        Some(slot)
    }
}
