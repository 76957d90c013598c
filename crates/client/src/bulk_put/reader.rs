//! Reads one stream, checks its rows against their table, and sends them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use tokio::sync::mpsc;
use tonnage::internal::catch_panic;
use tonnage::internal::sync::lock;
use tonnage::{
    Column, EntryBatch, EntryStream, Error, FailedEntry, Payload, Result, Row, TableEntry, cores,
};

use super::job::PutJob;
use super::upload;
use crate::pair_batch::batch_of_pairs;
use crate::row_batch::{FittedRows, RowColumn, fitting_rows, rounded_rows, row_columns};

/// Reads all streams, some side by side. Where a thread cannot be had, the job is stopped: it waits
/// for the threads that it has, and says what they sent.
pub(super) fn read_all(job: &Arc<PutJob>, streams: Vec<Box<dyn EntryStream>>) {
    let threads = job.options.stream_parallelism.unwrap_or_else(cores).min(streams.len());
    let waiting: VecDeque<_> = streams.into_iter().enumerate().collect();
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..threads {
        let (reading, left) = (job.clone(), waiting.clone());
        let read_next = move || loop {
            let next = lock(&left).pop_front();
            let Some((number, stream)) = next else { return };
            read(&reading, number, stream);
        };
        let started = std::thread::Builder::new().name("tonnage-put".to_owned()).spawn(read_next);
        if let Err(error) = started {
            job.stop(Error::unavailable(format!("no thread for a stream: {error}")));
            // Perhaps there is no thread at all that would end them.
            let unread = std::mem::take(&mut *lock(&waiting));
            unread.iter().for_each(|(number, _)| job.end(*number));
            return;
        }
    }
}

/// Reads a stream to its end. Whatever happens, its end is reported.
fn read(job: &Arc<PutJob>, number: usize, mut stream: Box<dyn EntryStream>) {
    let mut reader = StreamReader { job, number, target: None, columns: None };
    let panicked = |_: &str| {
        let name = job.stream_name(number);
        Error::internal(format!("{name}: its source panicked: see the lines above"))
    };
    let read = catch_panic(|| reader.read_all(stream.as_mut()), panicked);
    if let Err(error) = read {
        job.stop(error);
    }
    match reader.target {
        // The upload tells the end. Without its marker it does not complete.
        Some(target) => drop(target),
        None => job.end(number),
    }
}

struct StreamReader<'a> {
    job: &'a Arc<PutJob>,
    number: usize,
    target: Option<UploadTarget>,
    /// The columns that single rows go out in.
    columns: Option<Vec<RowColumn>>,
}

/// Where the rows go.
struct UploadTarget {
    /// Nothing for pairs.
    table: Option<Arc<str>>,
    ttl: Option<Duration>,
    /// What is known of the table.
    entry: Option<Arc<TableEntry>>,
    /// The columns of the first batch, which all others must have.
    schema: SchemaRef,
    queue: mpsc::Sender<RecordBatch>,
    marker: upload::EndMarkerFlag,
}

impl StreamReader<'_> {
    fn read_all(&mut self, stream: &mut dyn EntryStream) -> Result<()> {
        while !self.job.is_stopped() {
            let Some(batch) = stream.next_batch()? else {
                // Only here, where the source itself said that this was all.
                match &self.target {
                    Some(target) => target.marker.set(),
                    None => self.job.with_state(self.number, |tally| {
                        tally.is_completed = true;
                        tally.is_flushed = true;
                    }),
                }
                return Ok(());
            };
            // A source may wait long, and the caller may have heard of the end meanwhile.
            if self.job.is_stopped() || !self.send_batch(batch)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends a batch. False when the upload has ended.
    fn send_batch(&mut self, batch: EntryBatch) -> Result<bool> {
        for unread in &batch.unread {
            self.report_refused(unread.position, unread.column.as_deref(), &unread.reason)?;
        }
        if batch.ttls.is_some() {
            return Err(Error::unsupported(
                "rows over Flight have one time to live a stream: put those of each time apart",
            ));
        }
        // Rows of each kind go out as record batches: the server takes no other.
        match &batch.payload {
            // The server holds rows to what is given, so what is computed is rounded here.
            Payload::Batch { table, rows } if batch.is_computed => {
                let entry = self.job.client.describe(table)?;
                let fitting = rounded_rows(&entry, rows)?;
                self.send_fitting(&batch, table, rows.num_rows(), fitting)
            }
            Payload::Batch { table, rows } => self.send_rows(&batch, Some(table), rows),
            Payload::Pairs(pairs) => {
                let pairs =
                    (0..pairs.len()).map(|index| Ok((pairs.key(index)?, pairs.value(index))));
                let pairs = pairs.collect::<Result<Vec<_>>>()?;
                let rows = batch_of_pairs(pairs.iter().map(|(key, value)| (key, *value)))?;
                self.send_rows(&batch, None, &rows)
            }
            Payload::Rows { table, rows } => {
                let columns = self.columns(table, rows)?;
                let fitting = fitting_rows(&columns, rows)?;
                self.send_fitting(&batch, table, rows.len(), fitting)
            }
        }
    }

    /// Sends the rows of a batch that fit, and reports the others.
    fn send_fitting(
        &mut self,
        batch: &EntryBatch,
        table: &Arc<str>,
        rows: usize,
        fitting: FittedRows,
    ) -> Result<bool> {
        // Looked at before rows go out: `send_rows` moves the positions on.
        let first = self.job.with_state(self.number, |tally| tally.positions.next());
        let place = |row: usize| match &batch.positions {
            Some(positions) => positions[row],
            None => first + row as u64,
        };
        for misfit in &fitting.misfits {
            let column = Some(misfit.column.as_str()).filter(|name| !name.is_empty());
            self.report_refused(place(misfit.row), column, &misfit.reason)?;
        }
        let positions = fitting.kept.iter().map(|row| place(*row)).collect();
        let kept = EntryBatch {
            positions: Some(positions),
            ttl: batch.ttl,
            unread: batch.unread.clone(),
            ..EntryBatch::rows(table.clone(), fitting.batch.clone())
        };
        let goes_on = self.send_rows(&kept, Some(table), &fitting.batch)?;
        // Rows at its end may have been lost.
        let behind = rows.checked_sub(1).map_or(first, |last| place(last) + 1);
        self.job.with_state(self.number, |tally| tally.positions.skip_to(behind));
        Ok(goes_on)
    }

    /// The columns that single rows go out in: those of the table, but for one that the server
    /// makes values for and that none of the first rows names.
    fn columns(&mut self, table: &Arc<str>, rows: &[Row]) -> Result<Vec<RowColumn>> {
        if let Some(columns) = &self.columns {
            return Ok(columns.clone());
        }
        let columns = row_columns(&self.job.client.describe(table)?.schema, rows);
        self.columns = Some(columns.clone());
        Ok(columns)
    }

    /// Sends rows, or pairs where there is no table.
    fn send_rows(
        &mut self,
        batch: &EntryBatch,
        table: Option<&Arc<str>>,
        rows: &RecordBatch,
    ) -> Result<bool> {
        if rows.num_rows() > 0 {
            self.open_upload(table, batch.ttl, rows)?;
        }
        let unread =
            batch.unread.iter().map(|unread| unread.position + 1).max().unwrap_or_default();
        let Some(target) = &self.target else {
            self.job.with_state(self.number, |tally| tally.positions.skip_to(unread));
            return Ok(true);
        };
        if target.table.as_ref() != table || target.ttl != batch.ttl {
            return Err(Error::unsupported(
                "a stream over Flight has one table and one time to live: give each its own stream",
            ));
        }
        let rejected = match &target.entry {
            // The server numbers rows, and judges those that have no number yet.
            Some(entry) if !lacks_number(entry, rows) => entry.codec.align_given(rows)?.rejected,
            _ => Vec::new(),
        };
        let first = self.job.with_state(self.number, |tally| tally.positions.next());
        let place = |row: usize| match &batch.positions {
            Some(positions) => positions[row],
            None => first + row as u64,
        };
        for rejected in &rejected {
            let column = Some(rejected.column.as_str()).filter(|name| !name.is_empty());
            self.report_refused(place(rejected.row), column, &rejected.reason)?;
        }
        let is_kept =
            |row: usize| rejected.binary_search_by_key(&row, |rejected| rejected.row).is_err();
        let kept = self.matching_rows(rows, &is_kept)?;
        self.job.pace(kept.num_rows() as u64);
        // Noted before it is sent: the server may answer at once.
        self.job.with_state(self.number, |tally| {
            (0..rows.num_rows()).filter(|row| is_kept(*row)).for_each(|row| {
                tally.positions.send(place(row));
            });
            let last = (0..rows.num_rows()).last().map_or(0, |row| place(row) + 1);
            tally.positions.skip_to(unread.max(last));
        });
        self.job.update_progress(false);
        if kept.num_rows() == 0 {
            return Ok(true);
        }
        Ok(self.target.as_ref().is_none_or(|target| target.queue.blocking_send(kept).is_ok()))
    }

    /// With the first rows it is known where they go.
    fn open_upload(
        &mut self,
        table: Option<&Arc<str>>,
        ttl: Option<Duration>,
        rows: &RecordBatch,
    ) -> Result<()> {
        if self.target.is_some() {
            return Ok(());
        }
        let entry = table.map(|table| self.job.client.describe(table)).transpose()?;
        let fields = rows.schema_ref().fields().iter();
        let fields = fields.map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let path = table.map(AsRef::as_ref);
        let (queue, marker) = upload::begin(self.job, self.number, path, ttl, schema.clone())?;
        let table = table.cloned();
        self.target = Some(UploadTarget { table, ttl, entry, schema, queue, marker });
        Ok(())
    }

    /// The rows that go out, in the columns of the first batch.
    fn matching_rows(
        &self,
        rows: &RecordBatch,
        is_kept: &dyn Fn(usize) -> bool,
    ) -> Result<RecordBatch> {
        let Some(target) = &self.target else {
            return Err(Error::internal("rows without a target"));
        };
        let rows = RecordBatch::try_new(target.schema.clone(), rows.columns().to_vec())
            .ok()
            .filter(|_| is_same(&target.schema, rows.schema_ref()))
            .ok_or_else(|| {
                Error::unsupported(format!(
                    "the columns change on the way, from ({}) to ({}): put them apart",
                    column_names(&target.schema),
                    column_names(rows.schema_ref())
                ))
            })?;
        let kept: BooleanArray = (0..rows.num_rows()).map(|row| Some(is_kept(row))).collect();
        match kept.true_count() == rows.num_rows() {
            true => Ok(rows),
            false => filter_record_batch(&rows, &kept)
                .map_err(|error| Error::internal(format!("rows cannot be left out: {error}"))),
        }
    }

    /// Reports an entry that is not sent.
    fn report_refused(&self, position: u64, column: Option<&str>, reason: &str) -> Result<()> {
        self.job.with_state(self.number, |tally| tally.refused += 1);
        self.job.options.callbacks.failed(&FailedEntry {
            stream: self.number,
            stream_name: self.job.stream_name(self.number),
            position,
            table: self.target.as_ref().and_then(|target| target.table.as_deref()),
            column,
            reason,
            entry: None,
        })
    }
}

/// Whether the rows lack the column in which the store numbers them.
fn lacks_number(entry: &TableEntry, rows: &RecordBatch) -> bool {
    let mut numbered = entry.schema.columns.iter().filter(|column| column.identity.is_some());
    let is_there = |column: &Column| {
        rows.schema_ref().fields().iter().any(|field| column.is_named(field.name()))
    };
    numbered.any(|column| !is_there(column))
}

fn is_same(one: &Schema, other: &Schema) -> bool {
    one.fields().len() == other.fields().len()
        && one.fields().iter().zip(other.fields()).all(|(one, other)| one.name() == other.name())
}

fn column_names(schema: &Schema) -> String {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.collect::<Vec<_>>().join(", ")
}
