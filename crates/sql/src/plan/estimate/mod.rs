//! Estimates of how many rows a logical plan gives.
//!
//! No estimate changes an answer: they decide in which order joins run. Unknown quantities are
//! guessed, as the constants say.

mod range;
mod rows;
mod selectivity;
mod source;

pub(super) use rows::{estimate_rows, semi_join_selectivity};
pub(super) use selectivity::selectivity;
pub(super) use source::{ColumnSource, column_source};
