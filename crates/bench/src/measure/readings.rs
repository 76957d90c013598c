//! Service times by reading, for the 99th percentile of each.

use std::collections::VecDeque;

use hdrhistogram::Histogram;

use super::histogram::{merge, new_histogram};

/// Readings whose times are still awaited: a thread that waits in one operation hands over late.
/// What comes later still counts for the oldest of them. Each takes a hundred kilobytes or so.
const OPEN_MAX: usize = 30;

/// Service times by reading.
#[derive(Default)]
pub(super) struct Readings {
    /// 99th percentiles, microseconds, of the readings before the open ones.
    closed: Vec<Option<f64>>,
    open: VecDeque<Histogram<u32>>,
}

impl Readings {
    /// Adds what a thread did in a reading.
    pub(super) fn add(&mut self, reading: usize, times: &Histogram<u32>) {
        let place = reading.saturating_sub(self.closed.len());
        while self.open.len() <= place {
            self.open.push_back(new_histogram());
        }
        merge(&mut self.open[place], times);
        while self.open.len() > OPEN_MAX {
            self.close_oldest();
        }
    }

    /// Makes a reading part of the one before.
    pub(super) fn join(&mut self, reading: usize) {
        let place = reading.saturating_sub(self.closed.len());
        if place > 0
            && place < self.open.len()
            && let Some(times) = self.open.remove(place)
        {
            merge(&mut self.open[place - 1], &times);
        }
    }

    /// The 99th percentile of each reading, microseconds; none where nothing ended.
    pub(super) fn finish(&mut self) -> Vec<Option<f64>> {
        while !self.open.is_empty() {
            self.close_oldest();
        }
        std::mem::take(&mut self.closed)
    }

    fn close_oldest(&mut self) {
        let oldest = self.open.pop_front();
        self.closed.push(
            oldest
                .filter(|times| !times.is_empty())
                .map(|times| times.value_at_quantile(0.99) as f64 / 1e3),
        );
    }
}
