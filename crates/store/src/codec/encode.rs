//! Rows to bytes.

use arrow::array::RecordBatch;
use tonnage_engine::{Result, Slices};

use super::TableCodec;
use crate::{Row, Value};

impl TableCodec {
    /// Encodes an aligned batch; what `keys` and `values` held is replaced.
    ///
    /// # Errors
    /// `Invalid` when the batch is not aligned.
    pub fn encode(&self, batch: &RecordBatch, keys: &mut Slices, values: &mut Slices) -> Result<()> {
        let _ = (batch, keys, values);
        unimplemented!()
    }

    /// Encodes the keys of a batch that holds the key columns by name (others are ignored); what `keys` held is replaced. A
    /// batch of aligned rows serves too.
    ///
    /// # Errors
    /// `Invalid` when a key column is missing, NULL or of another type, naming the column and the row.
    pub fn encode_keys(&self, batch: &RecordBatch, keys: &mut Slices) -> Result<()> {
        let _ = (batch, keys);
        unimplemented!()
    }

    /// Encodes one row; `key` and `value` are cleared first. The bytes are those of [`TableCodec::encode`].
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_row(&self, row: &Row, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<()> {
        let _ = (row, key, value);
        unimplemented!()
    }

    /// Encodes the whole primary key out of a row; `key` is cleared first. Other columns of the row are not looked at.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_key(&self, row: &Row, key: &mut Vec<u8>) -> Result<()> {
        let _ = (row, key);
        unimplemented!()
    }

    /// Encodes a whole primary key given as values in key order; `key` is cleared first.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_key_values(&self, values: &[Value], key: &mut Vec<u8>) -> Result<()> {
        let _ = (values, key);
        unimplemented!()
    }
}
