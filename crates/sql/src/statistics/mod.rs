//! What ANALYZE found of tables: how many rows, and of each column NULLs, distinct values and ends.
//!
//! 1. ANALYZE reads a table once ([`analyse_tables`]).
//! 2. What it found is a row of the table `_statistics`, which is made with the first of them, so
//!    that whatever copies or moves a store takes it along (`stored.rs`). The row names the space
//!    and the number of its table, which no other table ever gets, and the numbers of its columns.
//!    So a table that was dropped and made again has nothing, and a column keeps its own under
//!    another name.
//! 3. Plans ask the [`StatisticsCache`]: it reads the row again only once `_statistics` has changed.
//!
//! All of it is an estimate. The table may have changed since, so nothing here may decide about an
//! answer.

mod analyse;
mod cache;
mod figures;
mod listing;
mod scalar_text;
mod statement;
mod stored;
mod table;

pub(crate) use analyse::analyse_tables;
pub(crate) use cache::{StatisticsCache, StatisticsVersion};
pub(crate) use listing::list_statistics;
pub(crate) use statement::AnalyzeStatement;
pub(crate) use stored::{TABLE, delete_statistics};
pub(crate) use table::{ColumnStatistics, TableStatistics};
