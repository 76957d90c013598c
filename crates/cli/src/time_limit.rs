//! The time limit of a run, and whether it has passed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static LIMIT: OnceLock<(Instant, Duration)> = OnceLock::new();
/// Whether the limit stopped the run.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// The time of the run begins now.
pub(crate) fn begin(timeout: Duration) {
    let _ = LIMIT.set((Instant::now(), timeout));
}

/// Note that the limit has stopped the run.
pub(crate) fn note_over() {
    IS_OVER.store(true, Ordering::Relaxed);
}

/// The limit, if it has stopped the run.
pub(crate) fn over() -> Option<Duration> {
    LIMIT.get().filter(|_| IS_OVER.load(Ordering::Relaxed)).map(|(_, timeout)| *timeout)
}

/// What is left of the time, if there is a limit: never zero, which is refused as a mistake.
pub(crate) fn remaining() -> Option<Duration> {
    let (began, timeout) = LIMIT.get()?;
    Some(timeout.saturating_sub(began.elapsed()).max(Duration::from_millis(1)))
}
