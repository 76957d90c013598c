//! The single row of a frame: a row of a table, or the key of a pair.

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use tonnage::{Error, Key, Result, Row, Value};

use super::pairs::{self, KeyForm};

/// The batch of a frame that has one row.
///
/// # Errors
/// `Invalid` for none, or more.
pub(super) fn only_row(batches: &[RecordBatch]) -> Result<&RecordBatch> {
    match batches {
        [batch] if batch.num_rows() == 1 => Ok(batch),
        _ => Err(Error::invalid("each operation has one row: give more frames, or go in bulk")),
    }
}

/// The row of a batch. A column of NULLs alone need not tell its type.
///
/// # Errors
/// `Invalid` for a type that no column has.
pub(super) fn row_of(batch: &RecordBatch) -> Result<Row> {
    let cells = batch.columns().iter().zip(batch.schema_ref().fields()).map(|(array, field)| {
        let value = match array.data_type() {
            DataType::Null => Value::Null,
            _ => Value::from_array(array.as_ref(), field, 0)?,
        };
        Ok((field.name().clone(), value))
    });
    cells.collect()
}

/// The key of a pair.
///
/// # Errors
/// `Invalid` for a key that is none.
pub(super) fn key_of(batch: &RecordBatch) -> Result<Key> {
    KeyForm::of(batch.schema_ref())?;
    pairs::keys(batch)?.key(0)
}
