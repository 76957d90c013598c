//! What ANALYZE finds of tables: the number of rows, and for each column the number of NULLs and of
//! distinct values, the least and the greatest value.
//!
//! 1. ANALYZE reads a table once for each 128 of its columns ([`analyse_tables`]).
//! 2. It stores a row in the table `_statistics`, which it creates when there is none
//!    (`stored.rs`). So copies of a store include them. The row names the space and the number of
//!    its table, which no other table ever gets, and the numbers of its columns. So a table that
//!    was dropped and created again has no statistics, and a renamed column keeps its own.
//! 3. Plans ask the [`StatisticsCache`]. It reads the row again when `_statistics` or the
//!    definition of the table has changed, and every ten seconds where the store counts no changes.
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
