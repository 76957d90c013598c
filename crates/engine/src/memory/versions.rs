//! The versions that a store hands out.

use std::sync::atomic::{AtomicU64, Ordering};

/// Hands out versions: each is greater than all before it.
#[derive(Debug, Default)]
pub(super) struct MemoryVersions {
    last: AtomicU64,
}

impl MemoryVersions {
    pub(super) fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::SeqCst) + 1
    }
}
