//! Partial keys and field ranges.

use arrow::array::RecordBatch;
use tonnage_engine::{Result, Slices};

use super::TableCodec;
use crate::{Row, Value};

/// A range of one key column; an end without a value is open.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRange {
    /// The column.
    pub column: String,
    /// The low end, and whether it belongs to the range.
    pub low: Option<(Value, bool)>,
    /// The high end, and whether it belongs to the range.
    pub high: Option<(Value, bool)>,
}

impl TableCodec {
    /// Encodes the leading columns of a primary key, given in key order; trailing NULLs stand for columns left open. `key` is
    /// cleared first. The answer is how many columns are given.
    ///
    /// The bytes are a prefix of the keys of all matching rows and of the rows of tables below them.
    ///
    /// # Errors
    /// `Invalid` when the shard key is not whole, naming the missing column, or when a value does not fit its column.
    pub fn partial_key(&self, values: &[Value], key: &mut Vec<u8>) -> Result<usize> {
        let _ = (values, key);
        unimplemented!()
    }

    /// The same out of a row that names key columns of this table.
    ///
    /// # Errors
    /// As [`TableCodec::partial_key`]; `Invalid` too for a column that is not in the key, or with a column missing before it.
    pub fn partial_key_row(&self, row: &Row, key: &mut Vec<u8>) -> Result<usize> {
        let _ = (row, key);
        unimplemented!()
    }

    /// The same for a batch of keys whose columns are leading key columns by name. What `keys` and `columns` held is replaced:
    /// the bytes of each key, and how many columns it gives.
    ///
    /// # Errors
    /// As [`TableCodec::partial_key`], naming the row of the batch.
    pub fn partial_keys(&self, batch: &RecordBatch, keys: &mut Slices, columns: &mut Vec<u16>) -> Result<()> {
        let _ = (batch, keys, columns);
        unimplemented!()
    }

    /// The bounds of the keys that begin with `prefix`, a partial key that gives `columns` columns. `start` and `end` are
    /// cleared first; an empty end means the end of the space.
    pub fn prefix_bounds(&self, prefix: &[u8], start: &mut Vec<u8>, end: &mut Vec<u8>) {
        let _ = (prefix, start, end);
        unimplemented!()
    }

    /// The bounds of the keys that begin with `prefix`, a partial key that gives `columns` columns, and whose next column lies in
    /// the range; rows of tables below matching rows lie within them too. `start` and `end` are cleared first; an empty
    /// end means the end of the space.
    ///
    /// # Errors
    /// `Invalid` when the range is not on the first column that the key leaves open, or its values do not fit the column.
    pub fn range_bounds(
        &self,
        prefix: &[u8],
        columns: usize,
        range: &FieldRange,
        start: &mut Vec<u8>,
        end: &mut Vec<u8>,
    ) -> Result<()> {
        let _ = (prefix, columns, range, start, end);
        unimplemented!()
    }
}
