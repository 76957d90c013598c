//! Values out of text.

use tonnage_engine::Result;

use super::Value;
use crate::ColumnType;

impl Value {
    /// Reads the text of a value for a column of that type.
    ///
    /// # Errors
    /// `Invalid`, quoting the text and saying what is wrong with it.
    pub fn parse(text: &str, column_type: ColumnType) -> Result<Value> {
        let _ = (text, column_type);
        unimplemented!()
    }
}
