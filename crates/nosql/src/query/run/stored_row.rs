//! Rows as they come from the store.

use tonnage::Row;

/// A row, and what is known of it.
pub(super) struct FoundRow {
    pub(super) row: Row,
    pub(super) version: u64,
    pub(super) expires_at_ms: u64,
}
