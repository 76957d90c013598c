//! A read under way.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::datatypes::SchemaRef;
use tonnage::{Error, Result, TableBatch};

use crate::guard::Guard;
use crate::plan::settle;

/// Where batches come from: a bulk get, a scan, an index.
pub(super) type Batches = Box<dyn Iterator<Item = Result<TableBatch>> + Send>;

/// Batches of the columns asked for, under their SQL names, up to the limit.
pub(crate) struct Read {
    rows: Option<Batches>,
    schema: SchemaRef,
    /// For each column wanted where it comes from.
    origins: Vec<ColumnOrigin>,
    left: u64,
    guard: Guard,
}

/// Where a column comes from: the table itself, or what the store notes of each row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnOrigin {
    Own,
    Version,
    Expiry,
}

impl Read {
    /// A read of columns, given as places in the SQL schema of a table with `own` columns.
    pub(super) fn new(
        own: usize,
        columns: &[usize],
        schema: SchemaRef,
        limit: Option<u64>,
        rows: Option<Batches>,
        guard: Guard,
    ) -> Self {
        let origin = |column: &usize| match column.checked_sub(own) {
            None => ColumnOrigin::Own,
            Some(0) => ColumnOrigin::Version,
            Some(_) => ColumnOrigin::Expiry,
        };
        let origins = columns.iter().map(origin).collect();
        Self { rows, schema, origins, left: limit.unwrap_or(u64::MAX), guard }
    }

    fn shape(&self, batch: TableBatch) -> Result<RecordBatch> {
        let rows = batch.rows.num_rows();
        let is_own = self.origins.iter().all(|origin| *origin == ColumnOrigin::Own);
        let mut arrays =
            if is_own { batch.rows.columns().to_vec() } else { self.with_notes(&batch) };
        arrays.iter_mut().for_each(settle);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(|error| {
            Error::internal(format!("table {}: {error}", batch.table)).with_source(error)
        })
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

impl Iterator for Read {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.guard.check() {
            self.rows = None;
            return Some(Err(error)).filter(|_| std::mem::take(&mut self.left) > 0);
        }
        let batch = self.rows.as_mut()?.next()?.and_then(|batch| self.shape(batch));
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
