//! The language that defines tables.
//!
//! ```
//! use tonnage::ddl::parse;
//! let statements = parse(
//!     "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, PRIMARY KEY (SHARD(maker), price, id)) USING TTL 30 DAYS;
//!      CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))",
//! )?;
//! assert_eq!(statements.len(), 2);
//! # Ok::<(), tonnage_engine::Error>(())
//! ```

mod column;
mod cursor;
mod execute;
mod statement;

use tonnage_engine::Result;

use crate::TableDefinition;
use crate::index::IndexDefinition;
use crate::schema::Change;
use cursor::Cursor;
pub use execute::Outcome;
pub(crate) use execute::execute;

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `CREATE TABLE [IF NOT EXISTS] path (column TYPE [NOT NULL] [DEFAULT literal], ..., PRIMARY KEY (SHARD(a, b), c)) [USING TTL n DAYS]`
    CreateTable {
        /// What to make.
        definition: TableDefinition,
        /// Whether a table of that name is no error.
        if_not_exists: bool,
    },
    /// `DROP TABLE [IF EXISTS] path`
    DropTable {
        /// Which.
        path: String,
        /// Whether a missing table is no error.
        if_exists: bool,
    },
    /// `ALTER TABLE path ADD [COLUMN] column TYPE ... | DROP [COLUMN] column | USING TTL n DAYS`,
    /// or several in parentheses.
    AlterTable {
        /// Which.
        path: String,
        /// What to change, carried out together.
        changes: Vec<Change>,
    },
    /// `CREATE INDEX [IF NOT EXISTS] name ON path (column, document.place, ...)`
    CreateIndex {
        /// What to make.
        definition: IndexDefinition,
        /// Whether an index of that name on the table is no error.
        if_not_exists: bool,
    },
    /// `DROP INDEX [IF EXISTS] name ON path`
    DropIndex {
        /// Which.
        name: String,
        /// Of which table.
        table: String,
        /// Whether a missing index is no error.
        if_exists: bool,
    },
    /// `SHOW TABLES`
    ShowTables,
    /// `DESCRIBE [TABLE] path`
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
    let mut cursor = Cursor::new(sql)?;
    let mut statements = Vec::new();
    while !cursor.skip_semicolons() {
        statements.push(statement::statement(&mut cursor)?);
        cursor.end_of_statement()?;
    }
    Ok(statements)
}

#[cfg(test)]
mod tests;
