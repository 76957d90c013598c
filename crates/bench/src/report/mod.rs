//! What came out of a benchmark: one model, and its ways onto paper.

mod build;
pub(crate) mod format;
mod latency;
mod model;

pub use model::{Chart, ChartKind, ChartSeries, Latency, OperationReport, Percentile, ProgressPoint, Report, Run, Second};
