//! The clock that decides which rows have expired. It is injected, so tests can set it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time in milliseconds since 1970-01-01T00:00:00Z.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The time now.
    fn now_ms(&self) -> u64;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// How long ago 1970 began, as finely as the machine knows it; nothing before.
    pub fn since_epoch(&self) -> Duration {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the real clock")]
        let now = SystemTime::now();
        now.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        self.since_epoch().as_millis() as u64
    }
}

/// A clock that does not move until it is set.
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ms: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now_ms`.
    pub fn new(now_ms: u64) -> Self {
        Self { now_ms: AtomicU64::new(now_ms) }
    }

    /// Turns the clock to `now_ms`.
    pub fn set_ms(&self, now_ms: u64) {
        self.now_ms.store(now_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }
}
