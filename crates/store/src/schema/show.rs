//! Schemas as DDL text.

use super::TableSchema;

impl TableSchema {
    /// The statement that makes this table.
    pub fn to_ddl(&self) -> String {
        unimplemented!()
    }
}
