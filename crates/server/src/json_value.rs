//! JSON values as values of columns.

use serde_json::Value as Json;
use tonnage::value::json_text::JsonKind;
use tonnage::{Column, ColumnType, Error, Result, Value};

/// The value for a column: numbers and booleans as JSON has them, everything else as its text. A
/// number that JSON's readers would round must come as text.
///
/// # Errors
/// `Invalid`, with the column's name.
pub(crate) fn value_of(json: &Json, column: &Column) -> Result<Value> {
    if column.column_type == ColumnType::Json {
        return Ok(Value::Json(json.to_string()));
    }
    let parsed = match (json, column.column_type) {
        (Json::Null, _) => return Ok(Value::Null),
        (Json::String(text), kind) => Value::parse(text, kind),
        (Json::Array(_) | Json::Object(_), kind) if kind.is_nested() => {
            Value::parse(&json.to_string(), kind)
        }
        (Json::Bool(truth), ColumnType::Boolean) => Ok(Value::Boolean(*truth)),
        (Json::Number(number), kind) if kind != ColumnType::String => {
            Value::parse_json_number(number, kind)
        }
        _ => Err(Error::invalid(format!("{json} is no {}", column.column_type))),
    };
    parsed.map_err(|error| error.at(format!("column {}", column.name)))
}

/// The same for a value as it is written: a document keeps the digits of its numbers, and so does a
/// NUMBER.
///
/// # Errors
/// As [`value_of`].
pub(crate) fn value_of_text(text: &str, column: &Column) -> Result<Value> {
    let kind = column.column_type;
    let parsed = match JsonKind::of(text) {
        _ if kind == ColumnType::Json => return Ok(Value::Json(text.to_owned())),
        JsonKind::Array | JsonKind::Object if kind.is_nested() => Value::parse(text, kind),
        JsonKind::Number if matches!(kind, ColumnType::Number { .. }) => Value::parse(text, kind),
        _ => {
            let json = serde_json::from_str(text)
                .map_err(|error| Error::invalid(format!("{text}: {error}")))?;
            return value_of(&json, column);
        }
    };
    parsed.map_err(|error| error.at(format!("column {}", column.name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tonnage::Store;

    use super::*;

    #[test]
    fn values_take_the_types_of_their_columns() {
        let store = Store::open("memory:").unwrap();
        let made = "CREATE TABLE t (k LONG, s STRING, b BOOLEAN, n NUMBER(10, 2), j JSON, \
                    d DOUBLE, PRIMARY KEY (k))";
        store.execute(made).unwrap();
        let table = store.table("t").unwrap();
        let column =
            |name: &str| &table.schema().columns[table.schema().column_index(name).unwrap()];
        let cases = [
            ("k", json!(5), Value::Long(5)),
            ("k", json!("9223372036854775807"), Value::Long(i64::MAX)),
            ("s", json!("hi"), Value::String("hi".into())),
            ("b", json!(true), Value::Boolean(true)),
            ("n", json!(1.25), Value::Number { unscaled: 125, scale: 2 }),
            ("j", json!({"a": 1}), Value::Json("{\"a\":1}".into())),
            ("s", json!(null), Value::Null),
        ];
        for (name, given, wanted) in cases {
            assert_eq!(value_of(&given, column(name)).unwrap(), wanted, "{name} {given}");
        }
        // They were stored as their neighbours.
        for text in ["1650169190702e199", "4059906723e25", "1e-274"] {
            let given = serde_json::from_str(text).unwrap();
            let wanted = Value::Double(text.parse().unwrap());
            assert_eq!(value_of(&given, column("d")).unwrap(), wanted, "{text}");
        }
        let rounded = serde_json::from_str("12345678901234567890.5").unwrap();
        for (name, given) in [("k", json!([1])), ("s", json!(5)), ("b", json!({})), ("n", rounded)]
        {
            let error = value_of(&given, column(name)).unwrap_err();
            assert!(error.message().contains(&format!("column {name}")), "{error}");
        }
    }
}
