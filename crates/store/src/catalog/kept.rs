//! What a change of a table must leave.

use tonnage_engine::{Error, Result};

use crate::TableSchema;
use crate::index::StoredIndex;

/// Refuses a change of a table that takes a column from under an index.
pub(super) fn check_kept(
    indexes: &[StoredIndex],
    before: &TableSchema,
    after: &TableSchema,
) -> Result<()> {
    for index in indexes {
        let is_kept = |id: u16| after.columns.iter().any(|column| column.id == id);
        if let Some(lost) = index.columns.iter().find(|column| !is_kept(column.column)) {
            let name = before
                .columns
                .iter()
                .find(|column| column.id == lost.column)
                .map_or("", |column| column.name.as_str());
            return Err(Error::conflict(format!(
                "table {}: column '{name}' is in index {}: drop the index first",
                before.path, index.name
            )));
        }
    }
    Ok(())
}
