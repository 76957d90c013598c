//! What came out of a benchmark: one model, and its ways onto paper.
//!
//! [`write()`] puts all of them into a directory: `report.json` (the model), `report.html` (to look
//! at), `report.txt` (YCSB's text format), `runs.csv` and `series.csv` (for other programs), and an
//! HdrHistogram log for each run. [`read()`] takes a report back from its JSON, [`summary()`] makes
//! the table that a terminal shows, and [`compare()`] sets two reports side by side.

mod build;
mod compare;
mod csv;
mod files;
pub(crate) mod format;
mod hdr;
mod html;
mod model;
mod summary;
mod ycsb_text;

pub(crate) use build::{MEMORY_PEAK, distinct, labels, named};
pub use compare::{Comparison, Match, NoiseSource, Verdict, compare};
pub use files::{read, write};
pub use model::{
    Chart, ChartKind, ChartSeries, Latency, OperationReport, Percentile, ProgressPoint, Report,
    Run, Second,
};
pub use summary::summary;
