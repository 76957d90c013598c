//! Ends the sources of a bulk call early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::measure::Meter;

/// Sources outlive the meter that knows when the time is over, so they share this. Set once, never
/// taken back.
#[derive(Clone, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub(super) fn set(&self) {
        self.0.store(true, Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Tells the meter of rows that went by, and looks whether it is over.
    pub(super) fn count(&self, meter: &Meter<'_>, rows: u64, bytes: u64) {
        meter.add(rows, bytes);
        if meter.is_over() {
            self.set();
        }
    }
}
