//! Record batches made to fit a table.

use arrow::array::RecordBatch;
use tonnage_engine::Result;

use super::TableCodec;

/// A batch in the table's own columns and types.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// The rows that fit.
    pub batch: RecordBatch,
    /// The rows that do not, in ascending order.
    pub rejected: Vec<Rejected>,
    /// For each row of `batch` its place in the original; nothing when no row was rejected.
    pub kept: Option<Vec<u32>>,
}

/// A row that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its place in the batch.
    pub row: usize,
    /// The column at fault; empty when it is the row as a whole.
    pub column: String,
    /// What is wrong.
    pub reason: String,
}

impl TableCodec {
    /// Makes a batch fit the table: columns by name, missing ones filled, types cast. A cell that does not fit rejects its row only.
    ///
    /// # Errors
    /// `Invalid` when the batch as a whole cannot fit: an unknown column, a missing key column, a type that cannot be cast.
    pub fn align(&self, batch: &RecordBatch) -> Result<Aligned> {
        let _ = batch;
        unimplemented!()
    }
}
