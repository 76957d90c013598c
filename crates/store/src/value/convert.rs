//! Values made to fit a column.

use tonnage_engine::Result;

use super::Value;
use crate::ColumnType;

impl Value {
    /// The same value as a column of that type holds it. NULL stays NULL.
    ///
    /// # Errors
    /// `Invalid` when it cannot be held, saying why.
    pub fn convert_to(&self, column_type: ColumnType) -> Result<Value> {
        let _ = column_type;
        unimplemented!()
    }

    /// The value as a JSON value: numbers and booleans as such, JSON as it is, the rest as the text that it shows as.
    pub fn to_json(&self) -> serde_json::Value {
        unimplemented!()
    }
}
