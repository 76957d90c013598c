//! Multi-put: rows of many tables in one call.

use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

use crate::bulk::put::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, EntryBatch, ExistingEntry,
    FailedEntry, Payload, StreamReport, run_in_memory,
};
use crate::inner::Inner;
use crate::row::Row;

/// Failures that a report holds one by one; further ones are only counted.
const FAILURES_MAX: usize = 1_000;

/// Rows for one table of a multi-put.
#[derive(Debug)]
pub enum TableRows {
    /// As record batches.
    Batches(Vec<RecordBatch>),
    /// One by one.
    Rows(Vec<Row>),
}

impl From<RecordBatch> for TableRows {
    fn from(batch: RecordBatch) -> Self {
        TableRows::Batches(vec![batch])
    }
}

impl From<Vec<RecordBatch>> for TableRows {
    fn from(batches: Vec<RecordBatch>) -> Self {
        TableRows::Batches(batches)
    }
}

impl From<Vec<Row>> for TableRows {
    fn from(rows: Vec<Row>) -> Self {
        TableRows::Rows(rows)
    }
}

/// A row that a multi-put could not store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowFailure {
    /// The number of its request among those of the call, from 0: a table may be named by several.
    pub request: usize,
    /// The path of its table.
    pub table: String,
    /// Its position among the rows of the request, from 0.
    pub row: u64,
    /// The column at fault, when it is known.
    pub column: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl RowFailure {
    /// A row of a request, and why it was not stored.
    pub fn new(request: usize, table: &str, row: u64, column: Option<&str>, reason: &str) -> Self {
        Self {
            request,
            table: table.to_owned(),
            row,
            column: column.map(str::to_owned),
            reason: reason.to_owned(),
        }
    }
}

/// What a multi-put did. The streams of the report are the requests, in the order given, by the
/// names of their tables.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MultiPutReport {
    /// The counts, per request and in all.
    pub report: BulkPutReport,
    /// The first thousand rows that could not be stored.
    pub failures: Vec<RowFailure>,
}

/// Why a multi-put stopped, and what it had done by then.
#[derive(Debug)]
#[non_exhaustive]
pub struct MultiPutError {
    /// Why it stopped.
    pub error: Error,
    /// What it had done. Everything counted as inserted or existing is durable.
    pub report: Box<MultiPutReport>,
    /// Whether it stopped because more rows failed than allowed.
    pub too_many_errors: bool,
    /// Whether everything that was handed to the engine is stored, as durable as was asked for.
    pub flushed: bool,
}

impl std::fmt::Display for MultiPutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for MultiPutError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A multi-put that could not begin.
impl From<Error> for MultiPutError {
    fn from(error: Error) -> Self {
        multi_put_error(error.into(), Vec::new())
    }
}

/// The report is lost on the way, but for its totals, which the message tells.
impl From<MultiPutError> for Error {
    fn from(stopped: MultiPutError) -> Self {
        let MultiPutError { error, report, too_many_errors, flushed } = stopped;
        BulkPutError { error, report: report.report.into(), too_many_errors, flushed }.into()
    }
}

pub(crate) fn multi_put(
    store: &Arc<Inner>,
    requests: Vec<(String, TableRows)>,
    options: &BulkPutOptions,
) -> std::result::Result<MultiPutReport, MultiPutError> {
    // All tables are looked up first: a call that names an unknown one stores nothing.
    let path = |path: &str| Ok(store.catalog.table(path)?.schema.path.clone());
    let paths = requests.iter().map(|(name, _)| path(name)).collect::<Result<Vec<_>>>();
    let paths = paths?;
    if requests.is_empty() {
        return Ok(MultiPutReport::default());
    }
    let failures =
        Arc::new(FailureCollector { found: Mutex::default(), next: options.callbacks.clone() });
    let streams = paths.into_iter().zip(requests).map(|(path, (_, rows))| {
        let batches = rows.into_batches(path.as_str().into());
        (path, batches)
    });
    let options = BulkPutOptions { callbacks: failures.clone(), ..options.clone() };
    let put = run_in_memory(store, streams.collect(), &options);
    let failures = std::mem::take(&mut *lock(&failures.found));
    match put {
        Ok(report) => Ok(MultiPutReport { report, failures }),
        Err(stopped) => Err(multi_put_error(stopped, failures)),
    }
}

fn multi_put_error(stopped: BulkPutError, failures: Vec<RowFailure>) -> MultiPutError {
    let BulkPutError { error, report, too_many_errors, flushed } = stopped;
    let report = MultiPutReport { report: *report, failures }.into();
    MultiPutError { error, report, too_many_errors, flushed }
}

impl TableRows {
    fn into_batches(self, table: Arc<str>) -> Vec<EntryBatch> {
        match self {
            TableRows::Batches(batches) => {
                batches.into_iter().map(|rows| EntryBatch::rows(table.clone(), rows)).collect()
            }
            TableRows::Rows(rows) if rows.is_empty() => Vec::new(),
            TableRows::Rows(rows) => vec![Payload::Rows { table, rows }.into()],
        }
    }
}

/// Keeps the first failures, and passes everything on.
struct FailureCollector {
    found: Mutex<Vec<RowFailure>>,
    next: Arc<dyn BulkPutCallbacks>,
}

impl BulkPutCallbacks for FailureCollector {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        self.next.existing(entry)
    }

    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let mut found = lock(&self.found);
        if found.len() < FAILURES_MAX {
            let (request, table, row) = (entry.stream, entry.stream_name, entry.position);
            found.push(RowFailure::new(request, table, row, entry.column, entry.reason));
        }
        drop(found);
        self.next.failed(entry)
    }

    fn durable(&self, stream: usize, position: u64) {
        self.next.durable(stream, position);
    }

    fn completed(&self, stream: &StreamReport) {
        self.next.completed(stream);
    }
}
