//! The table that a terminal shows at the end.

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};

use super::{Report, Run};

/// The target that others are measured by.
pub(super) const YARDSTICK: &str = "rocksdb";

/// One line a run. Where the report has runs of raw RocksDB beside others, each run's rate as a
/// multiple of its rate, too.
pub fn summary(report: &Report) -> RecordBatch {
    let runs = &report.runs;
    let counts = |count: fn(&Run) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(runs.iter().map(count)))
    };
    let number = |number: fn(&Run) -> Option<f64>| numbers(runs, |run| number(run).map(rounded));
    let ratio = |run: &Run| report.against_yardstick(run).map(hundredths);
    let ratios = runs.iter().any(|run| ratio(run).is_some());
    let columns = [
        ("run", texts(runs, |run| &run.name)),
        ("target", texts(runs, |run| &run.target)),
        ("threads", counts(|run| run.threads as u64)),
        ("per_second", number(|run| Some(run.throughput()))),
        ("spread_percent", number(|run| run.spread().map(|share| share * 100.0))),
    ];
    let ratios = ratios.then(|| ("against_rocksdb", numbers(runs, ratio)));
    let further = [
        ("p50_us", number(|run| run.latency().map(|latency| latency.at(50.0)))),
        ("p99_us", number(|run| run.latency().map(|latency| latency.at(99.0)))),
        ("max_us", number(|run| run.latency().map(|latency| latency.max_us))),
        ("failures", counts(|run| run.failures)),
    ];
    batch(columns.into_iter().chain(ratios).chain(further))
}

impl Report {
    /// A run's rate as a multiple of raw RocksDB's: of the run of the same name, and with as many
    /// threads where there is one. Nothing for raw RocksDB itself.
    pub(super) fn against_yardstick(&self, run: &Run) -> Option<f64> {
        let same =
            self.runs.iter().filter(|other| other.target == YARDSTICK && other.name == run.name);
        let best = same.min_by_key(|other| other.threads != run.threads);
        let yardstick = best.filter(|_| run.target != YARDSTICK)?.throughput();
        (yardstick > 0.0).then(|| run.throughput() / yardstick)
    }
}

/// A table of columns that may have gaps.
pub(super) fn batch<'c>(columns: impl IntoIterator<Item = (&'c str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("every column has a line for each run")
}

pub(super) fn texts<'a, T>(all: &'a [T], text: impl Fn(&'a T) -> &'a str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(all.iter().map(text)))
}

pub(super) fn numbers<T>(all: &[T], number: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(all.iter().map(number)))
}

/// Large numbers without a fraction, small ones with one digit: what the eye needs.
pub(super) fn rounded(number: f64) -> f64 {
    if number.abs() >= 1_000.0 { number.round() } else { (number * 10.0).round() / 10.0 }
}

pub(super) fn hundredths(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}
