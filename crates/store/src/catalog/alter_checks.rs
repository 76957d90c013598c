//! Checks that ALTER TABLE leaves indexes and child tables intact.

use tonnage_engine::{Error, Result};

use super::TableEntry;
use crate::index::{StoredColumn, StoredIndex};
use crate::schema::{Change, TableSchema};

/// Refuses a change of a table that takes a column from under an index.
pub(super) fn check_indexed_columns(
    indexes: &[StoredIndex],
    before: &TableSchema,
    after: &TableSchema,
) -> Result<()> {
    for index in indexes {
        let is_kept = |id: u16| after.columns.iter().any(|column| column.id == id);
        let mut sources = index.columns.iter().flat_map(StoredColumn::sources);
        if let Some(lost) = sources.find(|id| !is_kept(*id)) {
            let name = before
                .columns
                .iter()
                .find(|column| column.id == lost)
                .map_or("", |column| column.name.as_str());
            return Err(Error::conflict(format!(
                "table {}: column '{name}' is in index {}: drop the index first",
                before.path, index.name
            )));
        }
    }
    Ok(())
}

/// Refuses another name for a column that tables below have in their keys.
pub(super) fn check_inherited(entry: &TableEntry, changes: &[Change]) -> Result<()> {
    for change in changes {
        let Change::RenameColumn { from, .. } = change else { continue };
        let is_key = entry.schema.column_index(from).is_some_and(|at| entry.schema.is_key(at));
        if is_key && !entry.children.is_empty() {
            return Err(Error::conflict(format!(
                "table {}: column '{from}' is in the keys of {}: its name stays",
                entry.schema.path,
                entry.children.join(", ")
            )));
        }
    }
    Ok(())
}
