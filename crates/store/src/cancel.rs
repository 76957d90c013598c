//! A handle that cancels a running call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a bulk operation from another thread.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A fresh, unused one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the operation to stop soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
