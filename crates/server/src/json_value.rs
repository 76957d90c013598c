//! Turns JSON values into values of columns.

use serde_json::Value as Json;
use tonnage::internal::json_text::{self, JsonKind};
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
fn value_of_text(text: &str, column: &Column) -> Result<Value> {
    let kind = column.column_type;
    let parsed = match JsonKind::of(text) {
        JsonKind::Null => return Ok(Value::Null),
        _ if kind == ColumnType::Json => return Ok(Value::Json(text.to_owned())),
        // A column of text keeps numbers as they are written, as it does those of a file.
        JsonKind::Number | JsonKind::Boolean if kind == ColumnType::String => {
            return Ok(Value::String(text.to_owned()));
        }
        // Whole numbers and decimals need no double on the way.
        JsonKind::Number if matches!(kind, ColumnType::Integer | ColumnType::Long) => {
            Value::parse(text, kind)
        }
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

/// The value for a column of a key, or for an end of a range of one. What the column would round
/// stays as it was given: the store finds no row by it, and stores none under it.
///
/// # Errors
/// As [`value_of`].
pub(crate) fn key_value_of(json: &Json, column: &Column) -> Result<Value> {
    let held = value_of(json, column)?;
    Ok(match json {
        Json::String(text) => unrounded(Value::String(text.clone()), held),
        Json::Number(number) => unrounded_number(&number.to_string(), held),
        _ => held,
    })
}

/// The value of a member as it is written, for any column. What the column would round stays as it
/// was given: the store stores no row with it.
///
/// # Errors
/// As [`value_of`].
pub(crate) fn exact_value_of_text(text: &str, column: &Column) -> Result<Value> {
    let held = value_of_text(text, column)?;
    Ok(match JsonKind::of(text) {
        JsonKind::String => unrounded(Value::String(json_text::string(text)?), held),
        JsonKind::Number => unrounded_number(text, held),
        _ => held,
    })
}

fn unrounded_number(text: &str, held: Value) -> Value {
    let given = match (&held, text.parse(), text.parse()) {
        (_, Ok(whole), _) => Value::Long(whole),
        (Value::Float(_), _, Ok(double)) => Value::Double(double),
        _ => Value::String(text.to_owned()),
    };
    unrounded(given, held)
}

/// What a key column holds of what was given, or that itself where the column would round it.
pub(crate) fn unrounded(given: Value, held: Value) -> Value {
    if given.is_kept_as(&held) { held } else { given }
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

    /// They were refused in a row of HTTP alone, and `null` was a document.
    #[test]
    fn a_value_of_a_row_is_what_it_is_in_a_file() {
        let store = Store::open("memory:").unwrap();
        let made = "CREATE TABLE t (k LONG, s STRING, i INTEGER, j JSON, PRIMARY KEY (k))";
        store.execute(made).unwrap();
        let table = store.table("t").unwrap();
        let schema = table.schema();
        for (name, given, wanted) in [
            ("s", "4.50", "4.50".into()),
            ("s", "12345678901234567890.10", "12345678901234567890.10".into()),
            ("s", "true", "true".into()),
            ("s", "null", Value::Null),
            ("i", "7.0", Value::Integer(7)),
            ("k", "9007199254740993.0", Value::Long(9_007_199_254_740_993)),
            ("j", "null", Value::Null),
        ] {
            let column = &schema.columns[schema.column_index(name).unwrap()];
            assert_eq!(exact_value_of_text(given, column).unwrap(), wanted, "{name} {given}");
        }
    }

    /// Rows of other keys were found, written over and deleted.
    #[test]
    fn a_key_that_its_column_would_round_stays_as_it_was_given() {
        let store = Store::open("memory:").unwrap();
        let made = "CREATE TABLE t (at TIMESTAMP(0), n NUMBER(10, 2), d DOUBLE, f FLOAT, \
                    PRIMARY KEY (at, n, d, f))";
        store.execute(made).unwrap();
        let table = store.table("t").unwrap();
        let schema = table.schema();
        let second = Value::Timestamp { value: 1_641_189_600, precision: 0 };
        for (name, given, wanted) in [
            ("at", r#""2022-01-03T06:00:00""#, second),
            ("at", r#""2022-01-03T06:00:00.5""#, "2022-01-03T06:00:00.5".into()),
            ("n", "1.25", Value::Number { unscaled: 125, scale: 2 }),
            ("n", "1.005", "1.005".into()),
            ("n", r#""1.005""#, "1.005".into()),
            ("d", "0.1", Value::Double(0.1)),
            ("d", "9007199254740993", Value::Long(9_007_199_254_740_993)),
            ("f", "0.1", Value::Float(0.1)),
            ("f", "0.123456789", Value::Double(0.123_456_789)),
        ] {
            let column = &schema.columns[schema.column_index(name).unwrap()];
            let json = serde_json::from_str(given).unwrap();
            assert_eq!(key_value_of(&json, column).unwrap(), wanted, "{name} {given}");
            assert_eq!(exact_value_of_text(given, column).unwrap(), wanted, "{name} {given}");
        }
    }
}
