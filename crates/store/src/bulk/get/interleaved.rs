//! Rows of several tables in batches, with their order.

use tonnage_engine::Result;

use super::result::BulkGet;
use super::table_batch::TableBatch;

/// Rows of several tables that come together, with their order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InterleavedBatch {
    /// The rows of each table, ancestors first. A table without rows here may be missing.
    pub batches: Vec<TableBatch>,
    /// For each row in key order the batch that holds it. The rows of a batch come in their order.
    pub order: Vec<u32>,
}

impl InterleavedBatch {
    /// Batches that another store gave, with the order of their rows.
    pub fn new(batches: Vec<TableBatch>, order: Vec<u32>) -> Self {
        Self { batches, order }
    }
}

/// The rows of a bulk get in their order: as [`BulkGet::into_rows`], in batches.
#[derive(Debug)]
pub struct BulkGetInterleaved(BulkGet);

impl BulkGet {
    /// The same rows in batches of several tables, each with the order of its rows.
    pub fn into_interleaved(self) -> BulkGetInterleaved {
        BulkGetInterleaved(self)
    }
}

impl Iterator for BulkGetInterleaved {
    type Item = Result<InterleavedBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = match self.0.next_chunk()? {
            Ok(chunk) => chunk,
            Err(error) => return Some(Err(error)),
        };
        let order = match &chunk.parts[..] {
            [alone] => vec![0; alone.rows.num_rows()],
            _ => chunk.order,
        };
        Some(Ok(InterleavedBatch { batches: chunk.parts, order }))
    }
}
