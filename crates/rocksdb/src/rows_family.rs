//! The column family of rows.

/// Its name, in every shard.
pub(crate) const ROWS: &str = "rows";
