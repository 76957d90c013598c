//! The histograms that times are kept in.

use std::time::Duration;

use hdrhistogram::{Counter, Histogram};

/// The longest time that is told apart from longer ones.
const NANOS_MAX: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds, of 1 ns to 1 h, exact to three digits. Its memory is touched only
/// where times fall.
pub(crate) fn new_histogram<C: Counter>() -> Histogram<C> {
    Histogram::new_with_bounds(1, NANOS_MAX, 3).expect("the bounds and the digits are valid")
}

/// Counts one time.
pub(crate) fn record<C: Counter>(histogram: &mut Histogram<C>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(NANOS_MAX));
}

/// Adds the counts of a histogram that [`new_histogram`] made to those of another.
pub(crate) fn merge<C: Counter>(into: &mut Histogram<C>, from: &Histogram<C>) {
    into.add(from).expect("both have the same bounds");
}
