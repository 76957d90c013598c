//! What operations took and how many there were: first of one thread, then of all.

use std::time::Duration;

use hdrhistogram::{Counter, Histogram};

use crate::report::{Latency, OperationReport, Run};

/// The longest time that is distinguished from longer ones.
const NANOS_MAX: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds, of 1 ns to 1 h, exact to three digits. Its memory is touched only
/// where times fall.
pub(super) fn new_histogram<C: Counter>() -> Histogram<C> {
    Histogram::new_with_bounds(1, NANOS_MAX, 3).expect("the bounds and the digits are valid")
}

/// Counts one time.
fn record<C: Counter>(histogram: &mut Histogram<C>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(NANOS_MAX));
}

/// Failures that are kept in words.
const MESSAGES_MAX: usize = 10;

/// The numbers of one operation. Histograms are created when something falls into them.
#[derive(Default)]
struct OperationTotals {
    service: Option<Histogram<u64>>,
    intended: Option<Histogram<u64>>,
    rows: u64,
    failed: u64,
}

/// What one thread did, or all of them. A thread writes after each operation, the sampler reads now
/// and then: the lock around it is free nearly always. Alone in its cache lines, so that threads do
/// not slow each other down.
#[repr(align(128))]
pub(super) struct Totals {
    operations: Vec<OperationTotals>,
    /// Rows that were done, warm-up included.
    pub(super) done: u64,
    /// Service times of the current reading, warm-up or not.
    pub(super) times: Histogram<u32>,
    /// Bytes of rows that went by in bulk calls, warm-up cut.
    pub(super) bytes: u64,
    /// What was counted, and the first failures in words.
    pub(super) measured: Run,
}

impl Totals {
    pub(super) fn new(operations: usize) -> Self {
        let operations = (0..operations).map(|_| OperationTotals::default()).collect();
        Totals { operations, done: 0, times: new_histogram(), bytes: 0, measured: Run::default() }
    }

    /// An operation worked and did `rows`. One of the warm-up counts for the series alone, one
    /// without a name for nothing.
    pub(super) fn worked(
        &mut self,
        operation: usize,
        rows: u64,
        service: Duration,
        intended: Option<Duration>,
        is_warm_up: bool,
    ) {
        let Some(operation) = self.operations.get_mut(operation) else { return };
        if rows > 0 {
            self.done += rows;
            record(&mut self.times, service);
        }
        if is_warm_up {
            return;
        }
        self.measured.operations_count += rows;
        operation.rows += rows;
        record(operation.service.get_or_insert_with(new_histogram), service);
        if let Some(intended) = intended {
            record(operation.intended.get_or_insert_with(new_histogram), intended);
        }
    }

    /// Operations failed.
    pub(super) fn failed(
        &mut self,
        operation: Option<usize>,
        failures: u64,
        message: impl FnOnce() -> String,
    ) {
        self.measured.failures += failures;
        if self.measured.failure_messages.len() < MESSAGES_MAX {
            self.measured.failure_messages.push(message());
        }
        if let Some(operation) = operation.and_then(|operation| self.operations.get_mut(operation))
        {
            operation.failed += failures;
        }
    }

    /// Takes over those of another thread.
    pub(super) fn merge(&mut self, other: &mut Totals) {
        self.bytes += other.bytes;
        let (mine, theirs) = (&mut self.measured, &mut other.measured);
        mine.operations_count += theirs.operations_count;
        mine.failures += theirs.failures;
        mine.failure_messages.append(&mut theirs.failure_messages);
        mine.failure_messages.truncate(MESSAGES_MAX);
        for (mine, theirs) in self.operations.iter_mut().zip(other.operations.drain(..)) {
            mine.merge(theirs);
        }
    }

    /// The operations that occurred, and `ALL` of them when there is more than one. The times of
    /// those without rows are left out there: they are part of something else.
    pub(super) fn reports(&mut self, names: &[&str]) -> Vec<OperationReport> {
        let (mut reports, mut all) = (Vec::new(), OperationTotals::default());
        for (mut operation, name) in self.operations.drain(..).zip(names) {
            if operation.service.is_some() || operation.failed > 0 {
                reports.push(operation.report(name));
            }
            if operation.rows == 0 {
                (operation.service, operation.intended) = (None, None);
            }
            all.merge(operation);
        }
        if reports.len() > 1 {
            reports.push(all.report("ALL"));
        }
        reports
    }
}

impl OperationTotals {
    fn merge(&mut self, other: OperationTotals) {
        self.rows += other.rows;
        self.failed += other.failed;
        for (mine, theirs) in
            [(&mut self.service, other.service), (&mut self.intended, other.intended)]
        {
            if let Some(theirs) = theirs {
                *mine.get_or_insert_with(new_histogram) += theirs;
            }
        }
    }

    fn report(&self, name: &str) -> OperationReport {
        OperationReport {
            name: name.to_owned(),
            count: self.service.as_ref().map_or(0, Histogram::len),
            failed: self.failed,
            service: self.service.as_ref().map(Latency::of).unwrap_or_default(),
            intended: self.intended.as_ref().map(Latency::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_times_within_a_thousandth(
            mut nanos in prop::collection::vec(1u64..3_000_000_000_000, 1..400)
        ) {
            let mut totals = Totals::new(1);
            for &time in &nanos {
                totals.worked(0, 1, Duration::from_nanos(time), None, false);
            }
            let service = totals.reports(&["READ"]).remove(0).service;
            nanos.sort_unstable();
            for percentile in &service.percentiles {
                let rank = (percentile.percent / 100.0 * nanos.len() as f64).ceil().max(1.0) as usize;
                let exact = nanos[rank - 1] as f64 / 1e3;
                let apart = (percentile.us - exact).abs();
                prop_assert!(apart <= exact * 1e-3 + 1e-3, "{percentile:?} is not {exact}");
            }
            let mean = nanos.iter().sum::<u64>() as f64 / nanos.len() as f64 / 1e3;
            prop_assert!((service.mean_us - mean).abs() <= mean * 1e-3 + 1e-3);
            prop_assert_eq!(service.histogram().unwrap().unwrap().len(), nanos.len() as u64);
        }
    }
}
