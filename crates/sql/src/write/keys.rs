//! Keys of rows as text, for comparison and for messages.

use tonnage::{AlreadyExists, Error, Row, TableSchema, Value};

/// The key of a row, as a text that no other key has.
pub(super) fn key_text(row: &Row, schema: &TableSchema) -> String {
    let mut text = String::new();
    for column in schema.key_columns() {
        let value = match row.get(&column.name) {
            Some(Value::Double(value)) if *value == 0.0 => "0".to_owned(),
            Some(Value::Float(value)) if *value == 0.0 => "0".to_owned(),
            Some(value) => value.to_string(),
            None => continue,
        };
        text.push_str(&format!("{}:{value}", value.len()));
    }
    text
}

pub(super) fn exists(schema: &TableSchema, key: &Row, what: &str) -> Error {
    let key: Vec<_> = key.iter().map(|(name, value)| format!("{name} {value}")).collect();
    AlreadyExists::error(format!(
        "table {}: the key ({}) {what}; write UPSERT to store over it, or ON CONFLICT DO NOTHING to leave it",
        schema.path,
        key.join(", ")
    ))
}
