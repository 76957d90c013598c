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
//! 1. Definitions (`CREATE TABLE`, ...), `SHOW` and `DESCRIBE` are for the store.
//! 2. A `SELECT` of columns or plain aggregates over one table whose conditions the primary key or
//!    one index answers alone is read straight from the store: no planning, no threads for a few
//!    rows.
//! 3. Everything else is planned by DataFusion, over tables that know how the store can be asked.
//!
//! Ways 2 and 3 give the same rows, the same names and the same types. `EXPLAIN` shows which way a
//! statement takes, and what the store is asked for.
//!
//! # The life of a SELECT
//!
//! Files are those below `src`.
//!
//! 1. `session/sql.rs` takes a request: a text, its parameters, its timeout (`session/request.rs`).
//! 2. `session/statement_cache.rs` finds the statements of a text that came before. Steps 3 to 7
//!    are for other texts.
//! 3. `text/script.rs` cuts the text into tokens, and these into statements.
//! 4. `text/question_marks.rs` numbers `?`, and `text/parameter.rs` checks `$n`.
//! 5. `text/file_name.rs` replaces files by names of tables.
//! 6. `text/shorthand.rs` spells out `FROM t` and `TABLE t`.
//! 7. `text/kind.rs` finds the kind of the statement by its first words.
//! 8. `session/guard.rs` starts the time of the statement.
//! 9. `direct/mod.rs` answers a simple SELECT whose rows the key or an index finds. Its life ends
//!    here.
//! 10. `plan/keyset.rs` takes long lists of values out of the tokens (`plan/long_lists.rs`).
//! 11. `text/depth.rs` refuses chains that are deeper than a stack.
//! 12. `text/path.rs` makes one name of each path of four parts or more.
//! 13. `text/spelling.rs` replaces words and signs that the parser does not know.
//! 14. `text/name_case.rs` folds names in quotes.
//! 15. `text/parse_budget.rs` parses, in the dialect of `text/dialect.rs`, within a bound.
//! 16. `text/nesting.rs` and `text/growth.rs` refuse what the planner would multiply.
//! 17. `text/rewrite.rs` rewrites the parsed statement in one walk: its parts are in files of their
//!     own.
//! 18. `views.rs` replaces views by their queries.
//! 19. `upstream/scopes/mod.rs` finds the column that each bare name means.
//! 20. DataFusion plans the statement. It looks tables up in `catalog/mod.rs`, and asks
//!     `plan/operators.rs`, `plan/members.rs`, `plan/texts.rs` and `plan/relations.rs` about
//!     operators, names, texts and joins of our own.
//! 21. `planner.rs` puts in the values of parameters, or optimises the plan once for all times.
//! 22. `upstream/mod.rs` lists the analyzer rules. `plan/types.rs` is the largest: it settles types
//!     before DataFusion does.
//! 23. `upstream/mod.rs` lists the optimizer rules.
//! 24. `upstream/null_joins.rs` makes the joins by IS NOT DISTINCT FROM.
//! 25. `plan/join_order/mod.rs` chooses the order of joins, by the estimates of
//!     `plan/estimate/mod.rs`.
//! 26. `plan/filter_order.rs` puts cheap conditions first.
//! 27. `session/cached_query.rs` keeps the plan if its tables and statistics stay the same.
//! 28. `asof/planner.rs` makes operators. `catalog/provider.rs` asks `access/mod.rs` for the path
//!     through the key or an index, and makes a scan (`plan/scan.rs`).
//! 29. `upstream/mod.rs` lists the rules for operators.
//! 30. `upstream/guarded_joins.rs` lets joins without keys be cancelled.
//! 31. `plan/sorted_joins.rs` runs a plan again by sorting if a join exceeds the memory before the
//!     first row.
//! 32. `plan/scan.rs` opens its read at the first row that is asked for: by then
//!     `plan/dynamic_filters.rs` knows the keys of the other side of a join. Readers share the
//!     parts of a table (`plan/parts.rs`), which come from live columns of the store.
//! 33. `session/answer.rs` hands on the rows, under the names as declared, and checks the time
//!     between batches.
//! 34. `errors/error.rs` makes an error of Tonnage of each error, and `text/error_location.rs` adds
//!     line and column.

mod access;
mod aggregate;
mod asof;
mod catalog;
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
pub use row_expression::RowExpression;
pub use session::{
    Access, Answer, Changes, ColumnCacheStatistics, Description, Parameters, Prepared, Request,
    Rows, Script, Sql, SqlOptions, TableAccess,
};
pub use text::{SqlToken, SqlTokenKind, SqlTokens, Unclosed};
