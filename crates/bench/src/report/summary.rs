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
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("run", texts(runs, |run| &run.name)),
        ("target", texts(runs, |run| &run.target)),
        (
            "threads",
            Arc::new(UInt64Array::from_iter_values(runs.iter().map(|run| run.threads as u64))),
        ),
        ("per_second", numbers(runs, |run| Some(run.throughput()))),
        ("spread_percent", numbers(runs, |run| run.spread().map(|share| share * 100.0))),
    ];
    if has_yardstick(report) {
        columns.push(("against_rocksdb", ratios(report)));
    }
    columns.extend([
        ("p50_us", numbers(runs, |run| run.latency().map(|latency| latency.at(50.0)))),
        ("p99_us", numbers(runs, |run| run.latency().map(|latency| latency.at(99.0)))),
        ("max_us", numbers(runs, |run| run.latency().map(|latency| latency.max_us))),
        (
            "failures",
            Arc::new(UInt64Array::from_iter_values(runs.iter().map(|run| run.failures)))
                as ArrayRef,
        ),
    ]);
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .expect("every column has a line for each run")
}

impl Report {
    /// The run of raw RocksDB that a run is measured by: of the same name, and with as many threads
    /// where there is one.
    pub(super) fn yardstick_of(&self, run: &Run) -> Option<&Run> {
        let mut same =
            self.runs.iter().filter(|other| other.target == YARDSTICK && other.name == run.name);
        let first = same.clone().next();
        same.find(|other| other.threads == run.threads).or(first)
    }

    /// A run's rate as a multiple of raw RocksDB's. Nothing for raw RocksDB itself.
    pub(super) fn against_yardstick(&self, run: &Run) -> Option<f64> {
        let yardstick = self.yardstick_of(run).filter(|_| run.target != YARDSTICK)?.throughput();
        (yardstick > 0.0).then(|| run.throughput() / yardstick)
    }
}

fn has_yardstick(report: &Report) -> bool {
    report.runs.iter().any(|run| report.against_yardstick(run).is_some())
}

fn ratios(report: &Report) -> ArrayRef {
    let hundredths = |ratio: f64| (ratio * 100.0).round() / 100.0;
    Arc::new(Float64Array::from_iter(
        report.runs.iter().map(|run| report.against_yardstick(run).map(hundredths)),
    ))
}

fn texts<'a>(runs: &'a [Run], text: impl Fn(&'a Run) -> &'a str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(runs.iter().map(text)))
}

fn numbers(runs: &[Run], number: impl Fn(&Run) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(runs.iter().map(|run| number(run).map(rounded))))
}

/// Large numbers without a fraction, small ones with one digit: what the eye needs.
pub(super) fn rounded(number: f64) -> f64 {
    if number.abs() >= 1_000.0 { number.round() } else { (number * 10.0).round() / 10.0 }
}
