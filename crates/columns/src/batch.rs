//! How many rows are decoded at once.

/// The rows of a batch: they stay in the cache of a core.
pub const BATCH_ROWS: usize = 8_192;
