//! What operations took and how many there were: first of one thread, then of all.

use std::time::Duration;

use hdrhistogram::{Counter, Histogram};

use crate::report::{Latency, OperationReport};

/// The longest time that is told apart from longer ones.
const NANOS_MAX: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds, of 1 ns to 1 h, exact to three digits. Its memory is touched only
/// where times fall.
pub(super) fn new_histogram<C: Counter>() -> Histogram<C> {
    Histogram::new_with_bounds(1, NANOS_MAX, 3).expect("the bounds and the digits are valid")
}

/// Counts one time.
pub(super) fn record<C: Counter>(histogram: &mut Histogram<C>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(NANOS_MAX));
}

/// Failures that are kept in words.
const MESSAGES_MAX: usize = 10;

/// The numbers of one operation. Histograms are made when something falls into them.
#[derive(Default)]
struct OperationTotals {
    service: Option<Histogram<u64>>,
    intended: Option<Histogram<u64>>,
    rows: u64,
    failed: u64,
}

/// The numbers of all operations.
pub(super) struct Totals {
    operations: Vec<OperationTotals>,
    /// Operations or rows that worked.
    pub(super) count: u64,
    /// Operations that failed.
    pub(super) failures: u64,
    /// The first failures in words.
    pub(super) messages: Vec<String>,
}

impl Totals {
    pub(super) fn new(operations: usize) -> Self {
        let operations = (0..operations).map(|_| OperationTotals::default()).collect();
        Totals { operations, count: 0, failures: 0, messages: Vec::new() }
    }

    /// Whether there is an operation of that number.
    pub(super) fn knows(&self, operation: usize) -> bool {
        operation < self.operations.len()
    }

    /// An operation worked and did `rows`.
    pub(super) fn worked(
        &mut self,
        operation: usize,
        rows: u64,
        service: Duration,
        intended: Option<Duration>,
    ) {
        self.count += rows;
        let operation = &mut self.operations[operation];
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
        self.failures += failures;
        if self.messages.len() < MESSAGES_MAX {
            self.messages.push(message());
        }
        if let Some(operation) = operation.and_then(|operation| self.operations.get_mut(operation))
        {
            operation.failed += failures;
        }
    }

    /// Adds those of another thread.
    pub(super) fn merge(&mut self, other: Totals) {
        self.count += other.count;
        self.failures += other.failures;
        self.messages.extend(other.messages);
        self.messages.truncate(MESSAGES_MAX);
        for (mine, theirs) in self.operations.iter_mut().zip(other.operations) {
            mine.merge(theirs);
        }
    }

    /// The operations that occurred, and `ALL` of them when there is more than one. The times of
    /// those without rows are left out there: they are part of something else.
    pub(super) fn reports(self, names: &[&str]) -> Vec<OperationReport> {
        let (mut reports, mut all) = (Vec::new(), OperationTotals::default());
        for (mut operation, name) in self.operations.into_iter().zip(names) {
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
        merge_optional(&mut self.service, other.service);
        merge_optional(&mut self.intended, other.intended);
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

fn merge_optional(into: &mut Option<Histogram<u64>>, from: Option<Histogram<u64>>) {
    match (into.as_mut(), from) {
        (Some(into), Some(from)) => *into += from,
        (None, from) => *into = from,
        (_, None) => {}
    }
}
