//! Rows of many tables in one call.
//!
//! 1. Single rows become record batches of their tables' columns, which are asked for by one call.
//!    Rows that do not fit stay here.
//! 2. One action takes a frame for each request. The server carries it out by
//!    [`tonnage::Store::multi_put`].
//! 3. The counts and failures that it answers are joined with those of step 1.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tonnage::{
    BulkPutOptions, Counts, Error, FailedEntry, MultiPutError, MultiPutReport, Result, RowFailure,
    StreamReport, TableEntry, TableRows, TooManyErrors,
};

use crate::bulk_put::command::{check, is_exceeded, options_of};
use crate::bulk_put::upload_state::report_of;
use crate::frame;
use crate::multi_call::check_body;
use crate::row_batch::{FittedRows, RejectedRow, fitting_rows, row_columns};
use crate::store::RemoteStore;

/// What the server did with a request.
#[derive(Deserialize)]
struct PutAnswer {
    ok: CountsAnswer,
    failures: Vec<FailureAnswer>,
}

#[derive(Deserialize)]
struct CountsAnswer {
    read: u64,
    inserted: u64,
    existed: u64,
    overtaken: u64,
    failed: u64,
    bytes: u64,
}

#[derive(Deserialize)]
struct FailureAnswer {
    row: u64,
    column: Option<String>,
    reason: String,
}

/// A request on its way.
struct TablePut {
    path: String,
    batches: Vec<RecordBatch>,
    /// For single rows the numbers of those that are sent.
    kept: Option<Vec<usize>>,
    misfits: Vec<RejectedRow>,
}

impl RemoteStore {
    /// Puts rows into many tables in one call, as [`tonnage::Store::multi_put`] does. The server
    /// checks all names first: when a table does not exist, nothing is written. It counts rows that
    /// existed, but does not name them to callbacks.
    ///
    /// # Errors
    /// `NotFound` naming the missing table; `Invalid` for rows of more than 64 MiB in all; what else
    /// the server says, and `Unavailable` when it cannot be reached. Rows that do not fit are in the
    /// report.
    pub fn multi_put<T, R>(
        &self,
        rows: impl IntoIterator<Item = (T, R)>,
        options: &BulkPutOptions,
    ) -> std::result::Result<MultiPutReport, MultiPutError>
    where
        T: AsRef<str>,
        R: Into<TableRows>,
    {
        check(options)?;
        let started = Instant::now();
        let limits = self.limits_of(&options.cancel, options.timeout);
        let rows: Vec<(String, TableRows)> = rows
            .into_iter()
            .map(|(table, rows)| (table.as_ref().to_owned(), rows.into()))
            .collect();
        if rows.is_empty() {
            return Ok(MultiPutReport::default());
        }
        let puts = self.table_puts(rows)?;
        // The server judges what it is sent: where too much stays here, nothing is sent.
        let misfits: u64 = puts.iter().map(|put| put.misfits.len() as u64).sum();
        let read: u64 = puts.iter().map(TablePut::read).sum();
        if is_exceeded(options.errors_max, misfits, read, true) {
            return Err(too_many_errors(options, misfits, read));
        }
        let frames = puts.iter().map(|put| {
            // The server takes the options of the first frame for all of them.
            let mut header = options_of(options);
            header.insert("table".to_owned(), json!(put.path));
            frame::write(&Json::Object(header), &put.batches)
        });
        let body = frames.collect::<Result<Vec<_>>>()?.concat();
        let told = self.act_within(&limits, "tonnage.MultiPut", check_body(body)?)?;
        let answers = told.iter().map(|answer| serde_json::from_slice::<PutAnswer>(answer).ok());
        let answers = answers.collect::<Option<Vec<_>>>().filter(|all| all.len() == puts.len());
        let answers = answers.ok_or_else(|| self.unreadable_answer())?;
        report(puts, answers, options, started)
    }

    fn table_puts(&self, rows: Vec<(String, TableRows)>) -> Result<Vec<TablePut>> {
        let of_rows = rows.iter().filter(|(_, rows)| matches!(rows, TableRows::Rows(_)));
        let paths: Vec<&str> = of_rows.map(|(path, _)| path.as_str()).collect();
        let mut entries = self.describe_each(&paths).into_iter();
        let puts = rows.into_iter().map(|(path, rows)| match rows {
            TableRows::Batches(batches) => {
                Ok(TablePut { path, batches, kept: None, misfits: Vec::new() })
            }
            TableRows::Rows(rows) => {
                let entry: Arc<TableEntry> =
                    entries.next().unwrap_or_else(|| Err(self.unreadable_answer()))?;
                let FittedRows { batch, kept, misfits } =
                    fitting_rows(&row_columns(&entry.schema, &rows), &rows)?;
                Ok(TablePut { path, batches: vec![batch], kept: Some(kept), misfits })
            }
        });
        puts.collect()
    }
}

impl TablePut {
    /// Rows that the caller gave.
    fn read(&self) -> u64 {
        let sent: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        (sent + self.misfits.len()) as u64
    }

    /// The rows that failed, here or at the server.
    fn failures(&self, request: usize, told: &[FailureAnswer]) -> Vec<RowFailure> {
        let misfits = self.misfits.iter().map(|misfit| {
            let column = Some(misfit.column.as_str()).filter(|name| !name.is_empty());
            RowFailure::new(request, &self.path, misfit.row as u64, column, &misfit.reason)
        });
        let told = told.iter().map(|failure| {
            // The server counts the rows that it was sent.
            let kept = self.kept.as_ref().and_then(|kept| kept.get(failure.row as usize));
            let row = kept.map_or(failure.row, |row| *row as u64);
            RowFailure::new(request, &self.path, row, failure.column.as_deref(), &failure.reason)
        });
        misfits.chain(told).collect()
    }
}

/// What became of all rows, as callbacks and the report tell it.
fn report(
    puts: Vec<TablePut>,
    answers: Vec<PutAnswer>,
    options: &BulkPutOptions,
    started: Instant,
) -> std::result::Result<MultiPutReport, MultiPutError> {
    let mut report = MultiPutReport::default();
    let mut streams = Vec::with_capacity(puts.len());
    for (number, (put, PutAnswer { ok, failures })) in puts.into_iter().zip(answers).enumerate() {
        // Rows that stayed here are none of those that the server counts.
        let misfits = put.misfits.len() as u64;
        let counts = Counts {
            read: ok.read + misfits,
            inserted: ok.inserted,
            existed: ok.existed,
            overtaken: ok.overtaken,
            failed: ok.failed + misfits,
            bytes: ok.bytes,
        };
        let failures = put.failures(number, &failures);
        for failure in &failures {
            options.callbacks.failed(&FailedEntry {
                stream: number,
                stream_name: &put.path,
                position: failure.row,
                table: Some(&put.path),
                column: failure.column.as_deref(),
                reason: &failure.reason,
                entry: None,
            })?;
        }
        report.failures.extend(failures);
        streams.push(StreamReport { stream: number, name: put.path, counts, completed: true });
    }
    report.report = report_of(streams, started.elapsed());
    if let Some(progress) = &options.progress {
        progress.follow(&report.report.streams);
    }
    report.report.streams.iter().for_each(|stream| options.callbacks.completed(stream));
    // The limit holds for both kinds of failures together. What fits is stored by now.
    let Counts { failed, read, .. } = report.report.total;
    if !is_exceeded(options.errors_max, failed, read, true) {
        return Ok(report);
    }
    let mut stopped = too_many_errors(options, failed, read);
    stopped.report = Box::new(report);
    Err(stopped)
}

fn too_many_errors(options: &BulkPutOptions, failed: u64, read: u64) -> MultiPutError {
    let error = Error::invalid(format!(
        "{failed} of {read} rows failed, more than errors_max ({}) allows: fix the rows, or allow more",
        options.errors_max
    ));
    let mut stopped = MultiPutError::from(error.with_source(TooManyErrors));
    stopped.too_many_errors = true;
    stopped
}
