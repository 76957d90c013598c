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
    failed: u64,
}

/// The numbers of all operations.
pub(super) struct Totals {
    /// One for each name, and all of them together at the end.
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
        let operations = (0..=operations).map(|_| OperationTotals::default()).collect();
        Totals { operations, count: 0, failures: 0, messages: Vec::new() }
    }

    /// Whether there is an operation of that number.
    pub(super) fn knows(&self, operation: usize) -> bool {
        operation + 1 < self.operations.len()
    }

    /// An operation worked and did `rows`. One without rows is part of something else and left out
    /// of all together.
    pub(super) fn worked(
        &mut self,
        operation: usize,
        rows: u64,
        service: Duration,
        intended: Option<Duration>,
    ) {
        self.count += rows;
        let all = self.operations.len() - 1;
        self.operations[operation].record(service, intended);
        if all > 1 && rows > 0 {
            self.operations[all].record(service, intended);
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

    /// The operations that occurred, and `ALL` of them when there is more than one.
    pub(super) fn reports(mut self, names: &[&str]) -> Vec<OperationReport> {
        let all = self.operations.pop();
        let occurred =
            self.operations.into_iter().zip(names).filter(|(operation, _)| operation.occurred());
        let mut reports: Vec<_> =
            occurred.map(|(operation, name)| operation.report(name)).collect();
        if reports.len() > 1 {
            let failed = reports.iter().map(|report| report.failed).sum();
            reports.extend(all.map(|all| OperationTotals { failed, ..all }.report("ALL")));
        }
        reports
    }
}

impl OperationTotals {
    fn record(&mut self, service: Duration, intended: Option<Duration>) {
        record(self.service.get_or_insert_with(new_histogram), service);
        if let Some(intended) = intended {
            record(self.intended.get_or_insert_with(new_histogram), intended);
        }
    }

    fn merge(&mut self, other: OperationTotals) {
        self.failed += other.failed;
        merge_optional(&mut self.service, other.service);
        merge_optional(&mut self.intended, other.intended);
    }

    fn occurred(&self) -> bool {
        self.service.is_some() || self.failed > 0
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
        (None, Some(from)) => *into = Some(from),
        (_, None) => {}
    }
}
