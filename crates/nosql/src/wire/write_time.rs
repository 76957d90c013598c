//! When rows were written.

use tonnage::{StoredRow, Table};

/// The time of the last write of a row, in milliseconds since 1970; 0 where it is not known.
pub(super) fn modified_ms(table: &Table, row: &StoredRow) -> i64 {
    i64::try_from(table.written_ms(&row.row, row.version)).unwrap_or(i64::MAX)
}
