//! Rows by the million: [`put`] takes streams in, [`get`] takes keys in and gives rows out.

pub mod get;
pub mod put;
