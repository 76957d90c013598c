//! Readers of record batches for a driver manager.

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage::Result;

/// What ADBC takes rows from.
pub(super) type BoxedReader = Box<dyn RecordBatchReader + Send + 'static>;

/// Batches under their columns.
pub(super) struct BatchReader<I> {
    pub(super) schema: SchemaRef,
    pub(super) batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for BatchReader<I> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> RecordBatchReader for BatchReader<I> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// One batch.
pub(super) fn single_batch_reader(batch: RecordBatch) -> BoxedReader {
    let schema = batch.schema();
    Box::new(BatchReader { schema, batches: std::iter::once(Ok(batch)) })
}

/// The answer of a statement without rows.
pub(super) fn empty_reader() -> BoxedReader {
    single_batch_reader(RecordBatch::new_empty(Schema::empty().into()))
}
