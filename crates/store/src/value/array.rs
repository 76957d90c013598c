//! Values out of Arrow arrays, and arrays out of values.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::Field;
use tonnage_engine::Result;

use super::Value;
use crate::ColumnType;

impl Value {
    /// The value at `row` of an Arrow array.
    ///
    /// # Errors
    /// `Invalid` when the field is of a type that Tonnage does not know.
    ///
    /// # Panics
    /// If the array has no such row.
    pub fn from_array(array: &dyn Array, field: &Field, row: usize) -> Result<Value> {
        let _ = (array, field, row);
        unimplemented!()
    }

    /// An array that holds this value `count` times, as a column of that type.
    ///
    /// # Errors
    /// `Invalid` when the value does not fit the type.
    pub fn to_array(&self, column_type: ColumnType, count: usize) -> Result<ArrayRef> {
        let _ = (column_type, count);
        unimplemented!()
    }
}
