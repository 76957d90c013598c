//! Making schemas: from a definition, and from a schema and a change.

use std::sync::Arc;

use tonnage_engine::Result;

use super::TableSchema;
use crate::{ColumnType, Value};

/// A table as someone asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDefinition {
    /// The full name, `phones.images` for a child table.
    pub path: String,
    /// The table's own columns, without the inherited key columns.
    pub columns: Vec<ColumnDefinition>,
    /// The table's own key columns, in key order.
    pub key: Vec<String>,
    /// How many of the leading key columns make the shard key; all without it. Child tables inherit theirs.
    pub shard_key_len: Option<usize>,
    /// How long rows live when their put does not say.
    pub ttl_ms: Option<u64>,
}

/// A column as someone asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub column_type: ColumnType,
    /// Whether it may be NULL; key columns never are, whatever this says.
    pub nullable: bool,
    /// What a row holds that does not name the column.
    pub default: Option<Value>,
}

/// A change to a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A further column.
    AddColumn(ColumnDefinition),
    /// One column less.
    DropColumn(String),
    /// Another time to live for rows put from now on; none for ever.
    SetTtl(Option<u64>),
}

impl ColumnDefinition {
    /// A column that may be NULL.
    pub fn new(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self { name: name.into(), column_type, nullable: true, default: None }
    }
}

impl TableSchema {
    /// The schema of a new table: of a top-level one without a parent, else of a child of that parent. `table_id` is its number
    /// inside the space, 0 for a top-level table.
    ///
    /// # Errors
    /// `Invalid` for a definition that breaks a rule, naming the table and the rule.
    pub fn define(definition: &TableDefinition, parent: Option<&Arc<TableSchema>>, table_id: u32) -> Result<TableSchema> {
        let _ = (definition, parent, table_id);
        unimplemented!()
    }

    /// The schema after changes.
    ///
    /// # Errors
    /// `Invalid` for a change that breaks a rule, naming the table and the rule.
    pub fn alter(&self, changes: &[Change]) -> Result<TableSchema> {
        let _ = changes;
        unimplemented!()
    }
}
