//! The rows of one table, as a bulk get returns them.

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::read::ahead::ReadPiece;
use crate::read::origin::KeyOrigin;

/// Rows of one table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableBatch {
    /// The path of the table.
    pub table: Arc<str>,
    /// Its rows.
    pub rows: RecordBatch,
    /// The version of each row.
    pub versions: Vec<u64>,
    /// When each row expires, in milliseconds since 1970; 0 for never.
    pub expiries_ms: Vec<u64>,
    /// Which key each row answers, if [`BulkGetOptions::origins`] asks for that; else empty. A row
    /// of an ancestor has the origin of the first row below it.
    ///
    /// [`BulkGetOptions::origins`]: crate::BulkGetOptions::origins
    pub origins: Vec<KeyOrigin>,
}

impl TableBatch {
    /// Rows of a table, with no more known of them.
    pub fn new(table: Arc<str>, rows: RecordBatch) -> Self {
        Self { table, rows, versions: Vec::new(), expiries_ms: Vec::new(), origins: Vec::new() }
    }
}

impl ReadPiece for TableBatch {
    fn bytes(&self) -> usize {
        let stamps = self.versions.capacity() + self.expiries_ms.capacity();
        self.rows.get_array_memory_size()
            + stamps * size_of::<u64>()
            + self.origins.capacity() * size_of::<KeyOrigin>()
    }
}
