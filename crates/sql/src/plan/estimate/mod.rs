//! How many rows a logical plan gives, about.
//!
//! Nothing that is estimated here changes an answer: it decides in which order joins are carried
//! out. What is not known is guessed, as the constants say.

mod range;
mod rows;
mod selectivity;
mod source;

pub(super) use rows::{estimate_rows, semi_join_selectivity};
pub(super) use selectivity::selectivity;
pub(super) use source::{ColumnSource, column_source};
