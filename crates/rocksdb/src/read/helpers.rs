//! The bound on threads that read for other threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that read for all calls of a store, beside their own.
const HELPERS_OF_STORE: usize = 32;

/// The threads of a store that read for calls.
pub(crate) struct ReadHelpers {
    free: AtomicUsize,
}

/// Some of them, until this is dropped.
pub(super) struct HelperPermits<'a> {
    from: &'a ReadHelpers,
    pub(super) count: usize,
}

impl ReadHelpers {
    pub(crate) fn new() -> Self {
        Self { free: AtomicUsize::new(HELPERS_OF_STORE) }
    }

    /// So many, or as many as there are.
    pub(super) fn take(&self, wanted: usize) -> HelperPermits<'_> {
        let mut count = 0;
        let _ = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
            count = wanted.min(free);
            Some(free - count)
        });
        HelperPermits { from: self, count }
    }
}

impl Drop for HelperPermits<'_> {
    fn drop(&mut self) {
        self.from.free.fetch_add(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_than_the_bound() {
        let helpers = ReadHelpers::new();
        let first = helpers.take(20);
        let second = helpers.take(20);
        assert_eq!((first.count, second.count, helpers.take(1).count), (20, 12, 0));
        drop(first);
        assert_eq!(helpers.take(100).count, 20);
    }
}
