//! Millions of rows in one call: [`put`] stores streams of entries, [`get`] reads the rows of keys.

pub(crate) mod get;
pub(crate) mod put;
