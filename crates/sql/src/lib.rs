//! SQL over a Tonnage store.
//!
//! ```
//! # fn main() -> tonnage::Result<()> {
//! use tonnage_sql::{Answer, Request, Sql, SqlOptions};
//!
//! let sql = Sql::new(tonnage::Store::open("memory:")?, SqlOptions::default())?;
//! sql.execute("CREATE TABLE phones (maker STRING, price INTEGER, id LONG, PRIMARY KEY (SHARD(maker), price, id))")?;
//! sql.execute("INSERT INTO phones VALUES ('Nokia', 300, 1), ('Nokia', 900, 2), ('Apple', 999, 3)")?;
//!
//! let cheap = Request::new("SELECT id FROM phones WHERE maker = :maker AND price < 500").named("maker", "Nokia");
//! let Answer::Rows(rows) = sql.execute(cheap)? else { unreachable!("a SELECT gives rows") };
//! assert_eq!(rows.into_batch()?.num_rows(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! A statement takes one of three ways:
//!
//! 1. Definitions (`CREATE TABLE`, ...), `SHOW` and `DESCRIBE` go to the store.
//! 2. A `SELECT` of columns or plain aggregates over one table whose conditions the primary key or
//!    one index answers alone is read straight from the store: no planning, no threads for a few
//!    rows.
//! 3. Everything else is planned by DataFusion, over tables that know how the store can be asked.
//!
//! Ways 2 and 3 give the same rows, the same names and the same types. `EXPLAIN` tells which way a
//! statement goes, and what the store is asked for.

mod access;
mod aggregate;
mod asof;
mod catalog;
mod column_cache;
mod direct;
mod documents;
mod engine;
mod errors;
mod functions;
mod interval;
mod plan;
mod planner;
mod row_expression;
mod session;
mod statistics;
mod text;
mod upstream;
mod views;
mod write;

pub use catalog::INFORMATION_SCHEMA;
pub use column_cache::ColumnCacheStatistics;
pub use row_expression::RowExpression;
pub use session::{
    Access, Answer, Changes, Description, Parameters, Prepared, Request, Rows, Script, Sql,
    SqlOptions, TableAccess,
};
pub use text::{SqlToken, SqlTokenKind, SqlTokens, Unclosed};
