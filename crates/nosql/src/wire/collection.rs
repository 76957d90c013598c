//! JSON collections: tables whose rows have any fields beside their columns.
//!
//! The store keeps these fields as one document, in a column that is marked for it. Requests see them
//! beside the columns of the row, and never see that column.

use tonnage::TableSchema;

use super::failure::{Failure, Outcome};

/// The field of a row that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowField {
    /// A column.
    Column(usize),
    /// A field of the document, which is in this column.
    Document(usize),
}

/// What a name means in rows of a table; nothing where they cannot have such a field.
pub(crate) fn row_field(schema: &TableSchema, name: &str) -> Option<RowField> {
    let document = schema.collection_column();
    match schema.column_index(name).filter(|column| Some(*column) != document) {
        Some(column) => Some(RowField::Column(column)),
        None => document.map(RowField::Document),
    }
}

/// Whether a column is shown to requests.
pub(crate) fn is_shown(schema: &TableSchema, column: usize) -> bool {
    schema.collection_column() != Some(column)
}

/// Refuses a document whose fields are columns.
pub(crate) fn check_document<'n>(
    schema: &TableSchema,
    mut names: impl Iterator<Item = &'n str>,
) -> Outcome<()> {
    let is_column = |name: &&str| matches!(row_field(schema, name), Some(RowField::Column(_)));
    match names.find(is_column) {
        None => Ok(()),
        Some(name) => Err(Failure::argument(format!(
            "Error: Cannot update a primary key column: {name} is a column of the table, and no \
             field of its documents"
        ))),
    }
}
