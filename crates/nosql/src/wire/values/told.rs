//! Values of columns as documents.

use tonnage::{ColumnType, Row, TableSchema, Value};

use super::decimal::decimal_text;
use super::json_document::{write_document, write_members};
use super::timestamp::timestamp_text;
use crate::nson::NsonWriter;

/// Writes all columns of a row, and the fields of a JSON collection beside them.
pub(crate) fn write_row(row: &Row, schema: &TableSchema, out: &mut NsonWriter) {
    let document = schema.collection_column().map(|column| schema.columns[column].name.as_str());
    out.begin_map();
    for (name, value) in row.iter() {
        match value {
            Value::Json(text) if Some(name) == document => write_members(text, name, out),
            value => write_value(value, out.field(name)),
        }
    }
    out.end();
}

/// Writes a value.
pub(crate) fn write_value(value: &Value, out: &mut NsonWriter) {
    match value {
        Value::Null => out.null(),
        Value::Boolean(truth) => out.boolean(*truth),
        Value::Integer(number) => out.integer(*number),
        Value::Long(number) => out.long(*number),
        // A FLOAT is written as its double, with all digits.
        Value::Float(number) => out.double((*number).into()),
        Value::Double(number) => out.double(*number),
        Value::Number { .. } | Value::WideNumber(_) => {
            out.number(&decimal_text(value).unwrap_or_else(|| value.to_string()));
        }
        Value::String(text) => out.string(text),
        Value::Binary(bytes) => out.binary(bytes),
        Value::Timestamp { value, precision } => out.timestamp(&timestamp_text(*value, *precision)),
        Value::Json(text) => write_document(text, out),
        Value::Array(items) => {
            out.begin_array();
            items.iter().for_each(|item| write_value(item, out));
            out.end();
        }
        Value::Map(members) | Value::Record(members) => {
            out.begin_map();
            for (name, member) in members {
                write_value(member, out.field(name));
            }
            out.end();
        }
        // The SDKs have no kinds for these.
        Value::Uuid(_) | Value::Date(_) | Value::Time(_) => out.string(&value.to_string()),
    }
}

/// The name of the kind of value that a column takes, as errors have it.
pub(super) fn kind_name(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Integer => "Integer",
        ColumnType::Long => "Long",
        ColumnType::Float => "Float",
        ColumnType::Double => "Double",
        ColumnType::Number { .. } => "Number",
        ColumnType::Boolean => "Boolean",
        ColumnType::Timestamp(_) => "Timestamp",
        ColumnType::Binary | ColumnType::FixedBinary(_) => "BINARY",
        ColumnType::Array(_) => "ARRAY",
        ColumnType::Map(_) => "MAP",
        ColumnType::Record(_) => "RECORD",
        _ => "STRING",
    }
}
