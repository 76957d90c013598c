//! One column.

use arrow::array::ArrayRef;
use arrow::datatypes::Field;
use serde::{Deserialize, Serialize};
use tonnage_engine::Result;

use super::{DefaultFunction, Identity};
use crate::schema::ColumnType;
use crate::value::Value;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its number in its table, never given to another column: rows on disk know columns by it.
    pub id: u16,
    /// Its name as it was declared; matched without regard to ASCII case.
    pub name: String,
    /// What it holds.
    pub column_type: ColumnType,
    /// Whether it may be NULL. Key columns never are.
    pub nullable: bool,
    /// What a row holds that does not name the column; NULL without it.
    pub default: Option<Value>,
    /// The function that computes the value of such a row, in place of `default`, which then
    /// applies to the rows from before the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_function: Option<DefaultFunction>,
    /// How the store numbers rows in the column, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Whether it holds, in a document, the fields of a row that no other column has: the table is
    /// a JSON collection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_collection: bool,
}

impl Column {
    /// The Arrow field of the column.
    pub fn to_arrow(&self) -> Field {
        self.column_type.to_arrow(&self.name, self.nullable)
    }

    /// The value of a row that does not name the column, computed for this row.
    ///
    /// # Errors
    /// `Unavailable` when the system has no random numbers, or a clock out of all range.
    pub fn made_default(&self) -> Result<Value> {
        match (self.default_function, &self.default) {
            (Some(function), _) => function.value(self.column_type),
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => Ok(Value::Null),
        }
    }

    /// What so many rows hold that do not name the column, if it has a default.
    ///
    /// # Errors
    /// As with [`made_default`](Self::made_default).
    pub fn default_array(&self, rows: usize) -> Result<Option<ArrayRef>> {
        match (&self.default_function, &self.default) {
            (Some(function), _) => function.array(self.column_type, rows).map(Some),
            (None, Some(default)) => default.to_array(self.column_type, rows).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Its default as DDL writes it, without quotes; nothing where there is none.
    pub fn default_text(&self) -> Option<String> {
        let function = self.default_function.as_ref().map(ToString::to_string);
        function.or_else(|| self.default.as_ref().map(ToString::to_string))
    }

    /// Whether the column is called that.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}
