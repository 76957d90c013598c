//! The language that defines tables.
//!
//! ```
//! use tonnage::parse_ddl as parse;
//! let statements = parse(
//!     "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, PRIMARY KEY (SHARD(maker), price, id)) USING TTL 30 DAYS;
//!      CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))",
//! )?;
//! assert_eq!(statements.len(), 2);
//! # Ok::<(), tonnage_engine::Error>(())
//! ```

mod column;
mod dialect;
mod execute;
mod statement;
mod token_cursor;

use std::str::FromStr;

use tonnage_engine::{Error, Result};

use crate::schema::ColumnType;
use column::column_type;
pub use execute::DdlOutcome;
pub(crate) use execute::execute;
pub use statement::Statement;
use statement::statement;
use token_cursor::TokenCursor;

/// Reads statements separated by semicolons.
///
/// # Errors
/// `Invalid`, naming line and column; `Unsupported` for queries.
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    let mut cursor = TokenCursor::new(sql)?;
    let mut statements = Vec::new();
    while !cursor.skip_semicolons() {
        statements.push(statement(&mut cursor)?);
        cursor.end_of_statement()?;
    }
    Ok(statements)
}

impl FromStr for ColumnType {
    type Err = Error;

    /// Reads a type as definitions have it: `LONG`, `TIMESTAMP(3)`, `NUMBER(10, 2)`.
    fn from_str(text: &str) -> Result<Self> {
        let mut cursor = TokenCursor::new(text)?;
        let column_type = column_type(&mut cursor)?;
        match cursor.skip_semicolons() {
            true => Ok(column_type),
            false => Err(cursor.expected("nothing after the type")),
        }
    }
}

#[cfg(test)]
mod tests;
