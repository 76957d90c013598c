//! A session: statements and their parameters in, rows and counts out.
//!
//! `sql.rs` takes a statement. The other files are the parts of a session (options, settings,
//! cached statements, the open transaction), what a caller gives (a request, its limits) and gets
//! (an answer), and the statements that the session answers alone.

mod accesses;
mod answer;
mod cached_query;
mod column_cache;
mod describe;
mod explain;
mod fetch_all;
mod function_list;
mod given_names;
mod guard;
mod levels;
mod named_table;
mod options;
mod prepared_batch;
mod request;
mod run;
mod session_statement;
mod settings;
mod show;
mod sql;
mod statement;
mod statement_cache;
mod summary;
mod table_access;
mod transaction;
mod wait;

pub use answer::{Answer, Changes, Rows};
pub(crate) use cached_query::{CachedPlan, CachedQuery};
pub use column_cache::ColumnCacheStatistics;
pub use describe::Description;
pub(crate) use function_list::function_names;
pub(crate) use guard::Guard;
pub(crate) use named_table::NamedTable;
pub use options::SqlOptions;
pub use request::{Parameters, Request};
pub use sql::{Prepared, Script, Sql};
pub(crate) use table_access::TableAccesses;
pub use table_access::{Access, TableAccess};
pub(crate) use transaction::{ChangedRows, Transaction, key_of};
pub(crate) use wait::wait;
