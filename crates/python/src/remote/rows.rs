//! Turns rows of a server into batches for Python.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::{Cancel, Result};
use tonnage_client::Rows;

use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;

/// Rows as they come, at most `limit`.
pub(crate) fn batches(
    rows: Rows,
    limit: Option<u64>,
    needs_python: bool,
    cancel: Cancel,
) -> Batches {
    let schema = rows.schema().clone();
    let rows = BatchIterator::new(first_of(rows, limit)).with_python(needs_python);
    Batches::new(schema, rows, cancel)
}

/// No rows, under these columns.
pub(crate) fn empty_batches(schema: SchemaRef) -> Batches {
    Batches::new(schema, BatchIterator::new(std::iter::empty()), Cancel::new())
}

fn first_of(
    rows: Rows,
    limit: Option<u64>,
) -> impl Iterator<Item = Result<RecordBatch>> + Send + 'static {
    let mut left = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut rows = Some(rows);
    std::iter::from_fn(move || {
        if left == 0 {
            // The server need not read on.
            rows = None;
        }
        let batch = rows.as_mut()?.next()?;
        Some(batch.map(|batch| {
            let batch = batch.slice(0, left.min(batch.num_rows()));
            left -= batch.num_rows();
            batch
        }))
    })
}
