//! Numbers given out once each.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Numbers for new records. A number is seen by others only when it and all before it are
/// acknowledged, so that no read asks for a record that is still being inserted.
///
/// 1. A thread claims the next number and inserts its record.
/// 2. It drops its claim, which marks the number in a window of flags that begins at the first
///    number not acknowledged.
/// 3. It moves the window's beginning past all marks, clearing them.
#[derive(Debug)]
pub struct AcknowledgedCounter {
    next: AtomicU64,
    /// All numbers below are acknowledged.
    end: AtomicU64,
    /// Whether each number from `end` on is acknowledged; those after it are not.
    window: Mutex<VecDeque<bool>>,
}

impl AcknowledgedCounter {
    /// A thread that is so many numbers ahead of the slowest one waits for it.
    const WINDOW: u64 = 1 << 16;

    /// The first number that is given out is `first`; all below count as acknowledged.
    pub fn new(first: u64) -> Self {
        AcknowledgedCounter {
            next: AtomicU64::new(first),
            end: AtomicU64::new(first),
            window: Mutex::default(),
        }
    }

    /// All numbers below are acknowledged.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// The next number; it is acknowledged when the claim is dropped.
    pub fn claim(&self) -> InsertClaim<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        while number - self.end().min(number) >= Self::WINDOW {
            std::thread::yield_now();
        }
        InsertClaim { counter: self, number }
    }

    fn acknowledge(&self, number: u64) {
        let mut window = self.window.lock();
        let mut end = self.end();
        let place = (number - end) as usize;
        let len = window.len().max(place + 1);
        window.resize(len, false);
        window[place] = true;
        while window.front() == Some(&true) {
            window.pop_front();
            end += 1;
        }
        self.end.store(end, Ordering::Release);
    }
}

/// A number whose record is being inserted.
#[derive(Debug)]
pub struct InsertClaim<'a> {
    counter: &'a AcknowledgedCounter,
    /// The number.
    pub number: u64,
}

impl Drop for InsertClaim<'_> {
    fn drop(&mut self) {
        self.counter.acknowledge(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_seen_only_when_all_before_it_are_acknowledged() {
        let counter = AcknowledgedCounter::new(10);
        let [first, second, third] = [(); 3].map(|()| counter.claim());
        assert_eq!([first.number, second.number, third.number, counter.end()], [10, 11, 12, 10]);
        drop(second);
        assert_eq!(counter.end(), 10);
        drop(first);
        assert_eq!(counter.end(), 12);
        drop(third);
        assert_eq!(counter.end(), 13);
    }

    #[test]
    fn threads_together_leave_no_number_out() {
        const EACH: u64 = 3 * AcknowledgedCounter::WINDOW;
        let counter = AcknowledgedCounter::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..EACH).for_each(|_| drop(counter.claim())));
            }
        });
        assert_eq!(counter.end(), 4 * EACH);
    }

    #[test]
    fn a_thread_far_ahead_waits_for_the_slowest() {
        let counter = AcknowledgedCounter::new(0);
        let slowest = counter.claim();
        std::thread::scope(|scope| {
            let ahead = scope
                .spawn(|| (0..AcknowledgedCounter::WINDOW).for_each(|_| drop(counter.claim())));
            while counter.next.load(Ordering::Relaxed) <= AcknowledgedCounter::WINDOW {
                std::thread::yield_now();
            }
            assert!(!ahead.is_finished());
            assert_eq!(counter.end(), 0);
            drop(slowest);
        });
        assert_eq!(counter.end(), AcknowledgedCounter::WINDOW + 1);
    }
}
