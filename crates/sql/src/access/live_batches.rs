//! Batches of live columns, as a plan sees them.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::Result;
use tonnage::internal::ColumnPart;

use super::SourceCounts;
use super::table_reader::with_schema;
use crate::plan::canonicalise_doubles;

/// Brings a part of live columns under the names that SQL has for them.
pub(super) struct LiveBatches {
    part: ColumnPart,
    schema: SchemaRef,
    counts: SourceCounts,
}

impl LiveBatches {
    pub(super) fn new(part: ColumnPart, schema: SchemaRef, counts: SourceCounts) -> Self {
        Self { part, schema, counts }
    }

    /// The same in batches of no more rows.
    pub(super) fn of_at_most(self, rows: usize) -> impl Iterator<Item = Result<RecordBatch>> {
        self.flat_map(move |batch| {
            let (pieces, error) = match batch {
                Ok(batch) => (Some(pieces_of(batch, rows)), None),
                Err(error) => (None, Some(Err(error))),
            };
            pieces.into_iter().flatten().map(Ok).chain(error)
        })
    }

    fn shape(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays = batch.columns().to_vec();
        arrays.iter_mut().for_each(canonicalise_doubles);
        with_schema(&self.schema, arrays, batch.num_rows())
    }
}

/// A batch in pieces of so many rows, the last one of fewer.
fn pieces_of(batch: RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(rows.max(1));
    starts.map(move |start| batch.slice(start, rows.min(batch.num_rows() - start)))
}

impl Iterator for LiveBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.part.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        self.counts.add(self.part.source(), batch.num_rows());
        Some(self.shape(&batch))
    }
}
