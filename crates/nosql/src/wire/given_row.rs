//! Rows and keys as requests give them.

use tonnage::{Generated, Row, TableSchema, Value};

use super::collection::{RowField, row_field};
use super::failure::{Failure, Outcome};
use super::values::{column_value, json_object};
use crate::nson::NsonFields;

/// The key of a row. Fields of other names are passed over.
pub(super) fn whole_key(fields: NsonFields<'_>, schema: &TableSchema) -> Outcome<Row> {
    let key = partial_key(fields, schema)?;
    match schema.key_columns().find(|column| key.get(&column.name).is_none()) {
        Some(column) => Err(missing_key(&column.name)),
        None => Ok(key),
    }
}

/// What is given of a key, up to the first column that is not.
pub(super) fn partial_key(fields: NsonFields<'_>, schema: &TableSchema) -> Outcome<Row> {
    let mut key = Row::with_capacity(schema.key.len());
    for column in schema.key_columns() {
        let mut named = fields.filter(|(name, value)| column.is_named(name) && !value.is_null());
        let Some((_, value)) = named.next() else { break };
        key.set(&column.name, column_value(value, column.column_type).map_err(Failure::argument)?);
    }
    Ok(key)
}

/// A row to be put. Columns of other names are passed over unless the match is to be exact.
/// `is_new` says whether the put may make a row, which the store then numbers.
pub(super) fn put_row(
    fields: NsonFields<'_>,
    schema: &TableSchema,
    is_exact: bool,
    is_new: bool,
) -> Outcome<Row> {
    let mut row = Row::with_capacity(schema.columns.len());
    if let Some(document) = schema.collection_column() {
        let is_of_document =
            |name: &str| matches!(row_field(schema, name), Some(RowField::Document(_)));
        let text = json_object(fields.filter(|(name, _)| is_of_document(name)));
        let text = text.map_err(Failure::argument)?;
        row.set(&schema.columns[document].name, Value::Json(text));
    }
    for (name, given) in fields {
        let index = match row_field(schema, name) {
            Some(RowField::Column(index)) => index,
            Some(RowField::Document(_)) => continue,
            None if is_exact => {
                return Err(Failure::argument(format!("There is no field with name {name}")));
            }
            None => continue,
        };
        let column = &schema.columns[index];
        let is_numbered = column.identity.map(|identity| identity.generated);
        if is_new && is_numbered == Some(Generated::Always) {
            return Err(Failure::argument(format!(
                "Value should not be set for a generated always identity column: {}",
                column.name
            )));
        }
        let value = column_value(given, column.column_type).map_err(Failure::argument)?;
        // A NULL asks for a number where the column says so.
        let may_be_null = column.nullable || is_numbered == Some(Generated::ByDefaultOnNull);
        if value == Value::Null && !may_be_null {
            return Err(match schema.is_key(index) {
                true => missing_key(&column.name),
                false => Failure::argument(format!("The field can not be null: {}", column.name)),
            });
        }
        row.set(&column.name, value);
    }
    // Defaults are the store's: only a key must be there.
    let lacks = |column: &&tonnage::Column| {
        let is_made = column.identity.is_some() || column.default_function.is_some();
        row.get(&column.name).is_none() && !is_made
    };
    match schema.key_columns().find(lacks) {
        Some(column) => Err(missing_key(&column.name)),
        None => Ok(row),
    }
}

#[cold]
fn missing_key(name: &str) -> Failure {
    Failure::argument(format!("Missing primary key field: {name}"))
}
