//! What is kept as columns, as a session tells it.

use tonnage::Store;

/// What a store keeps as columns of the tables that its sessions scan again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnCacheStatistics {
    /// The tables that columns are kept of.
    pub tables: usize,
    /// The memory that they take, with what was written over them.
    pub bytes: usize,
    /// How many scans found some.
    pub scans: u64,
}

impl ColumnCacheStatistics {
    pub(super) fn of(store: &Store) -> Self {
        let live = store.column_statistics();
        Self { tables: live.tables, bytes: live.bytes, scans: live.scans }
    }
}
