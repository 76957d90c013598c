//! The language that defines tables.

use tonnage_engine::Result;

use crate::TableDefinition;
use crate::schema::Change;

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `CREATE TABLE`
    CreateTable {
        /// What to make.
        definition: TableDefinition,
        /// Whether a table of that name is no error.
        if_not_exists: bool,
    },
    /// `DROP TABLE`
    DropTable {
        /// Which.
        path: String,
        /// Whether a missing table is no error.
        if_exists: bool,
    },
    /// `ALTER TABLE`
    AlterTable {
        /// Which.
        path: String,
        /// What to change, carried out together.
        changes: Vec<Change>,
    },
    /// `SHOW TABLES`
    ShowTables,
    /// `DESCRIBE`
    DescribeTable {
        /// Which.
        path: String,
    },
}

/// Reads statements separated by semicolons.
///
/// # Errors
/// `Invalid`, naming line and column; `Unsupported` for queries.
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    let _ = sql;
    unimplemented!()
}
