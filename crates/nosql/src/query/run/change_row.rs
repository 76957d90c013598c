//! Items as the values of columns.

use tonnage::{Column, ColumnType, Row, TableSchema, Value};

use crate::nson::{NsonWriter, read_document};
use crate::query::evaluate::cast_item;
use crate::query::item::{Item, json_text_of, write_item};
use crate::query::syntax::{Place, TypeKind};
use crate::wire::{Failure, Outcome, column_value};

/// What a column holds of an item.
///
/// # Errors
/// Why it cannot hold it.
pub(super) fn value_of_item(place: Place, item: &Item, column: &Column) -> Outcome<Value> {
    if column.column_type == ColumnType::Json {
        return Ok(match item {
            Item::Null => Value::Null,
            other => Value::Json(json_text_of(other)),
        });
    }
    // The null of documents is that of a column here.
    if matches!(item, Item::Null | Item::JsonNull) {
        return Ok(Value::Null);
    }
    let item = match type_kind(column.column_type) {
        Some(kind) => cast_item(place, item, &kind)?,
        None => item.clone(),
    };
    let mut out = NsonWriter::default();
    write_item(&item, &mut out);
    let bytes = out.finish();
    let view = read_document(&bytes).map_err(|fault| Failure::argument(fault.to_string()))?;
    column_value(view, column.column_type)
        .map_err(|why| Failure::argument(format!("Error: {place} {why}")))
}

fn type_kind(column_type: ColumnType) -> Option<TypeKind> {
    Some(match column_type {
        ColumnType::Integer => TypeKind::Integer,
        ColumnType::Long => TypeKind::Long,
        ColumnType::Float => TypeKind::Float,
        ColumnType::Double => TypeKind::Double,
        ColumnType::Number { .. } => TypeKind::Number,
        ColumnType::String => TypeKind::String,
        ColumnType::Boolean => TypeKind::Boolean,
        ColumnType::Timestamp(precision) => TypeKind::Timestamp(Some(precision)),
        _ => return None,
    })
}

/// The key of a row.
pub(super) fn key_of_row(row: &Row, schema: &TableSchema) -> Row {
    let columns = schema.key_columns().map(|column| column.name.as_str());
    columns.filter_map(|name| Some((name, row.get(name)?.clone()))).collect()
}
