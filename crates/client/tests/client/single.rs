//! Single rows and pairs, which go and come in Protocol Buffers.

use tonnage::{
    ColumnType, Condition, ErrorKind, GetOptions, Key, Row, RowOperation, Value, WriteOptions,
    WriteResult,
};

use crate::support::Running;

const TABLE: &str = "CREATE TABLE t (id LONG, i INTEGER, f FLOAT, d DOUBLE, n NUMBER(12, 3), \
    wide NUMBER(70, 5), s STRING, b BOOLEAN, bytes BINARY, two BINARY(2), at TIMESTAMP(6), day DATE, \
    time TIME, u UUID, e ENUM('red', 'green'), j JSON, a ARRAY(LONG), m MAP(DOUBLE), \
    r RECORD(x INTEGER, y STRING), PRIMARY KEY (id))";

fn row() -> Row {
    let wide = ColumnType::Number { precision: 70, scale: 5 };
    let wide = Value::parse(&format!("-{}.12345", "7".repeat(60)), wide);
    Row::new()
        .with("id", 7_i64)
        .with("i", Value::Integer(-3))
        .with("f", Value::Float(0.5))
        .with("d", 1e300)
        .with("n", Value::Number { unscaled: -1_250, scale: 3 })
        .with("wide", wide.unwrap())
        .with("s", "Emma, \u{e9}")
        .with("b", true)
        .with("bytes", Value::Binary(vec![0, 0xff]))
        .with("two", Value::Binary(vec![1, 2]))
        .with("at", Value::Timestamp { value: -1, precision: 6 })
        .with("day", Value::Date(-1))
        .with("time", Value::Time(86_399_999_999_999))
        .with("u", Value::Uuid([9; 16]))
        .with("e", "green")
        .with("j", Value::Json(r#"{"a": [1, null]}"#.to_owned()))
        .with("a", Value::Array(vec![Value::Long(1), Value::Null]))
        .with("m", Value::Map(vec![("k".to_owned(), Value::Double(2.5))]))
        .with(
            "r",
            Value::Record(vec![("x".to_owned(), Value::Integer(1)), ("y".to_owned(), Value::Null)]),
        )
}

#[test]
fn a_row_of_every_type_is_stored_and_read_as_by_the_library() {
    let server = Running::new();
    let client = server.client();
    client.execute(TABLE).unwrap();
    for row in [row(), Row::new().with("id", 8_i64)] {
        let stored =
            client.atomic_write(&[RowOperation::put("t", row.clone())], &WriteOptions::default());
        assert!(matches!(stored, Ok(WriteResult::Stored { .. })), "{stored:?}");
        let key = Row::new().with("id", row.get("id").unwrap().clone());
        let found = client.table("t").unwrap().get(&key).unwrap().unwrap();
        let local = server.store.table("t").unwrap().get(&key).unwrap().unwrap();
        assert_eq!(found, local);
    }
}

#[test]
fn some_columns_come_in_the_order_that_they_were_asked_in() {
    let server = Running::new();
    let client = server.client();
    client.execute(TABLE).unwrap();
    client.atomic_write(&[RowOperation::put("t", row())], &WriteOptions::default()).unwrap();
    let (key, columns) = (Row::new().with("ID", 7_i64), ["s".to_owned(), "I".to_owned()]);
    let table = client.table("t").unwrap();
    let found = table.get_columns(&key, &columns, &GetOptions::default()).unwrap();
    let names: Vec<String> = found.unwrap().row.iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["s", "i"]);
    let missing = Row::new().with("id", 9_i64);
    assert!(table.get(&missing).unwrap().is_none());
    let partial = table.get(&Row::new()).unwrap_err();
    assert_eq!(partial.kind(), ErrorKind::Invalid);
}

#[test]
fn a_pair_of_any_bytes_comes_back_and_an_empty_value_is_one() {
    let server = Running::new();
    let client = server.client();
    let key = Key::new([b"major".to_vec(), vec![0, 0xff]], [vec![1_u8]]);
    for value in [&b"\0\xff"[..], b""] {
        client.kv().put(&key, value, &WriteOptions::default()).unwrap();
        assert_eq!(client.kv().get(&key).unwrap().unwrap().value, value);
    }
    let gone = client.kv().delete_if(&key, Condition::Always, &WriteOptions::default());
    assert!(matches!(gone, Ok(WriteResult::Stored { .. })), "{gone:?}");
    assert!(client.kv().get(&key).unwrap().is_none());
}
