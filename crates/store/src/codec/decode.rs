//! Bytes to rows.

use arrow::array::RecordBatch;
use tonnage_engine::{Result, Rows};

use super::TableCodec;
use crate::Row;

impl TableCodec {
    /// Decodes rows of this table: all, or those at the given places; all columns, or those at the given places in the schema.
    /// Values are not looked at when only key columns are asked for.
    ///
    /// # Errors
    /// `Corruption` for bytes that no row of this table encodes to, naming the table and the key.
    pub fn decode(&self, rows: &Rows, which: Option<&[u32]>, projection: Option<&[usize]>) -> Result<RecordBatch> {
        let _ = (rows, which, projection);
        unimplemented!()
    }

    /// Decodes one row with all its columns.
    ///
    /// # Errors
    /// `Corruption` for bytes that no row of this table encodes to, naming the table and the key.
    pub fn decode_row(&self, key: &[u8], value: &[u8]) -> Result<Row> {
        let _ = (key, value);
        unimplemented!()
    }
}
