//! The layout of the values of a row on disk under one schema number.

use serde::{Deserialize, Serialize};

use crate::schema::ColumnType;

/// The columns outside the key as they were when a schema number was in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The schema number that rows of this layout carry.
    pub number: u16,
    /// The columns outside the key, in their order at the time.
    pub columns: Vec<LayoutColumn>,
}

/// What a layout must know of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutColumn {
    /// The column's number.
    pub id: u16,
    /// Its type.
    pub column_type: ColumnType,
}
