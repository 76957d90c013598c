//! One after the other, again and again.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers below a count in order, from 0 on again after the last. Threads that share one take
/// turns.
#[derive(Debug)]
pub struct Sequential {
    next: AtomicU64,
    count: u64,
}

impl Sequential {
    /// Numbers from 0 to `count`, exclusive; a count of 0 is taken for 1.
    pub fn new(count: u64) -> Self {
        Sequential { next: AtomicU64::new(0), count: count.max(1) }
    }

    /// The next one.
    pub fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) % self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_order_and_begin_again() {
        let sequential = Sequential::new(3);
        let numbers: Vec<u64> = (0..7).map(|_| sequential.next()).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1, 2, 0]);
    }
}
