//! Batches of a table, read one after another.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::datatypes::SchemaRef;
use tonnage::{Error, Result, TableBatch};

use crate::plan::canonicalise_doubles;
use crate::session::Guard;

/// Where rows of the store come from: a bulk get, a scan, an index.
pub(super) type StoredBatches = Box<dyn Iterator<Item = Result<TableBatch>> + Send>;

/// The same as a plan sees them.
pub(super) type SqlBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Batches of the columns asked for, under their SQL names, up to the limit.
pub(crate) struct TableReader {
    rows: Option<SqlBatches>,
    left: u64,
    guard: Guard,
}

impl TableReader {
    pub(super) fn new(rows: Option<SqlBatches>, limit: Option<u64>, guard: Guard) -> Self {
        Self { rows, left: limit.unwrap_or(u64::MAX), guard }
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.guard.check() {
            self.rows = None;
            return Some(Err(error)).filter(|_| std::mem::take(&mut self.left) > 0);
        }
        let batch = self.rows.as_mut()?.next()?;
        let Ok(batch) = batch else {
            self.rows = None;
            return Some(batch);
        };
        let count = batch.num_rows() as u64;
        let batch = if count > self.left { batch.slice(0, self.left as usize) } else { batch };
        self.left -= count.min(self.left);
        if self.left == 0 {
            self.rows = None;
        }
        Some(Ok(batch))
    }
}

/// Brings rows of the store into the columns asked for.
pub(super) struct ShapedBatches {
    rows: StoredBatches,
    schema: SchemaRef,
    /// For each column wanted where it comes from.
    origins: Vec<ColumnOrigin>,
}

/// Where a column comes from: the table itself, or what the store notes of each row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnOrigin {
    Own,
    Version,
    Expiry,
}

impl ShapedBatches {
    /// Columns are given as positions in the SQL schema of a table with `own` columns.
    pub(super) fn new(
        own: usize,
        columns: &[usize],
        schema: SchemaRef,
        rows: StoredBatches,
    ) -> Self {
        let origin = |column: &usize| match column.checked_sub(own) {
            None => ColumnOrigin::Own,
            Some(0) => ColumnOrigin::Version,
            Some(_) => ColumnOrigin::Expiry,
        };
        Self { rows, schema, origins: columns.iter().map(origin).collect() }
    }

    fn shape(&self, batch: &TableBatch) -> Result<RecordBatch> {
        let is_own = self.origins.iter().all(|origin| *origin == ColumnOrigin::Own);
        let mut arrays =
            if is_own { batch.rows.columns().to_vec() } else { self.with_notes(batch) };
        arrays.iter_mut().for_each(canonicalise_doubles);
        with_schema(&self.schema, arrays, batch.rows.num_rows())
            .map_err(|error| error.at(format_args!("table {}", batch.table)))
    }

    fn with_notes(&self, batch: &TableBatch) -> Vec<ArrayRef> {
        let noted =
            |numbers: &Vec<u64>| Some(Arc::new(UInt64Array::from(numbers.clone())) as ArrayRef);
        let mut own = batch.rows.columns().iter();
        let next = |origin: &ColumnOrigin| match origin {
            ColumnOrigin::Own => own.next().cloned(),
            ColumnOrigin::Version => noted(&batch.versions),
            ColumnOrigin::Expiry => noted(&batch.expiries_ms),
        };
        self.origins.iter().filter_map(next).collect()
    }
}

impl Iterator for ShapedBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.rows.next()?;
        Some(batch.and_then(|batch| self.shape(&batch)))
    }
}

/// Some columns of a batch, given as positions among those that it has.
pub(super) fn project_batch(
    batch: &RecordBatch,
    columns: &[usize],
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let arrays = columns.iter().map(|column| batch.column(*column).clone()).collect();
    with_schema(schema, arrays, batch.num_rows())
}

pub(super) fn with_schema(
    schema: &SchemaRef,
    arrays: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
        .map_err(|error| Error::internal(error.to_string()).with_source(error))
}
