//! Multi-put: rows of many tables in one call.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use tonnage_engine::Result;

use crate::bulk::put::{
    BulkPutCallbacks, BulkPutOptions, BulkPutReport, EntryBatch, EntryStream, ExistingEntry, FailedEntry, Payload, StreamReport,
};
use crate::row::Row;
use crate::store::Store;

/// Failures that a report holds one by one; further ones are only counted.
const FAILURES_MAX: usize = 1_000;

/// Rows for one table of a multi-put.
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
pub struct RowFailure {
    /// The path of its table.
    pub table: String,
    /// Its place among the rows given for that table, from 0.
    pub row: u64,
    /// The column at fault, when it is known.
    pub column: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// What a multi-put did. The streams of the report are the tables, in the order given, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultiPutReport {
    /// The counts, per table and in all.
    pub report: BulkPutReport,
    /// The first thousand rows that could not be stored.
    pub failures: Vec<RowFailure>,
}

pub(crate) fn multi_put(store: &Store, rows: Vec<(String, TableRows)>, options: &BulkPutOptions) -> Result<MultiPutReport> {
    let tables = rows.iter().map(|(path, _)| store.table(path)).collect::<Result<Vec<_>>>()?;
    if rows.is_empty() {
        return Ok(MultiPutReport::default());
    }
    let failures = Arc::new(Failures { found: Mutex::default(), next: options.callbacks.clone() });
    let streams = rows.into_iter().zip(&tables).map(|((_, rows), table)| TableStream::boxed(table.path(), rows)).collect();
    let options = BulkPutOptions { callbacks: failures.clone(), ..options.clone() };
    let report = store.bulk_put(streams, &options)?;
    let failures = std::mem::take(&mut *failures.found.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(MultiPutReport { report, failures })
}

/// Keeps the first failures, and passes everything on.
struct Failures {
    found: Mutex<Vec<RowFailure>>,
    next: Arc<dyn BulkPutCallbacks>,
}

impl BulkPutCallbacks for Failures {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        self.next.existing(entry)
    }

    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() < FAILURES_MAX {
            found.push(RowFailure {
                table: entry.stream_name.to_string(),
                row: entry.position,
                column: entry.column.map(str::to_string),
                reason: entry.reason.to_string(),
            });
        }
        drop(found);
        self.next.failed(entry)
    }

    fn completed(&self, stream: &StreamReport) {
        self.next.completed(stream);
    }
}

/// The rows of one table.
struct TableStream {
    table: Arc<str>,
    batches: std::vec::IntoIter<RecordBatch>,
    rows: Vec<Row>,
}

impl TableStream {
    fn boxed(path: &str, rows: TableRows) -> Box<dyn EntryStream> {
        let (batches, rows) = match rows {
            TableRows::Batches(batches) => (batches, Vec::new()),
            TableRows::Rows(rows) => (Vec::new(), rows),
        };
        Box::new(TableStream { table: path.into(), batches: batches.into_iter(), rows })
    }
}

impl EntryStream for TableStream {
    fn name(&self) -> String {
        self.table.to_string()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        if let Some(rows) = self.batches.next() {
            return Ok(Some(EntryBatch::rows(self.table.clone(), rows)));
        }
        let rows = std::mem::take(&mut self.rows);
        Ok((!rows.is_empty()).then(|| Payload::Rows { table: self.table.clone(), rows }.into()))
    }
}
