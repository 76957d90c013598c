//! The bytes of `docs/format.md`. They are on people's disks: when one of these tests fails the
//! format has changed, and needs a new number.

use std::sync::Arc;

use super::support::{codec, definition};
use crate::codec::{Limits, TableCodec};
use crate::row::Row;
use crate::schema::ColumnType;
use crate::schema::TableSchema;
use crate::value::Value;

#[test]
fn the_example_of_the_format_page() {
    let ships = codec(
        "CREATE TABLE ships (name STRING, no INTEGER, speed DOUBLE, flag STRING, armed BOOLEAN, note STRING, PRIMARY KEY (SHARD(name), no))",
    );
    let row = Row::new()
        .with("name", "A\0")
        .with("no", 5)
        .with("speed", 1.5)
        .with("flag", "NL")
        .with("armed", true);
    let (mut key, mut value) = (Vec::new(), Vec::new());
    ships.encode_row(&row, &mut key, &mut value).unwrap();
    assert_eq!(key, [b'A', 0x00, 0xFF, 0x00, 0x01, 0x80, 0, 0, 5]);
    let expected = [
        &[1, 0][..],                     // schema number
        &[0b0000_1000],                  // the fourth column outside the key is NULL
        &[0, 0, 0, 0, 0, 0, 0xF8, 0x3F], // speed
        &[1],                            // armed
        &[2, 0, 0, 0],                   // flag ends here
        &[2, 0, 0, 0],                   // so does note
        b"NL",
    ];
    assert_eq!(value, expected.concat());

    let images = definition("CREATE TABLE ships.images (image LONG, PRIMARY KEY (image))");
    let images = TableCodec::new(
        Arc::new(TableSchema::define(&images, Some(ships.schema()), 3).unwrap()),
        Limits::default(),
    );
    let mut child_key = Vec::new();
    images.encode_key_values(&["A\0".into(), 5.into(), Value::Long(-1)], &mut child_key).unwrap();
    assert_eq!(
        child_key,
        [&key[..], &[0, 0, 0, 3], &[0x7F, 255, 255, 255, 255, 255, 255, 255]].concat()
    );
}

#[test]
fn nested_values() {
    let table = codec(
        "CREATE TABLE t (k INTEGER, a ARRAY(STRING), m MAP(INTEGER), r RECORD(d DATE, a ARRAY(BOOLEAN)), PRIMARY KEY (k))",
    );
    let row = Row::new()
        .with("k", 1)
        .with("a", Value::Array(vec!["ab".into(), Value::Null]))
        .with("m", Value::Map(vec![("x".into(), 7.into())]))
        .with("r", Value::Map(vec![("a".into(), Value::Array(vec![true.into()]))]));
    let (mut key, mut value) = (Vec::new(), Vec::new());
    table.encode_row(&row, &mut key, &mut value).unwrap();
    let expected = [
        &[1, 0][..],                              // schema number
        &[0],                                     // no column is NULL
        &[12, 0, 0, 0],                           // a ends here
        &[26, 0, 0, 0],                           // m
        &[38, 0, 0, 0],                           // r
        &[2, 0, 0, 0, 1, 2, 0, 0, 0, b'a', b'b'], // two elements, the first of two bytes
        &[0],                                     // the second is NULL
        &[1, 0, 0, 0, 1, 0, 0, 0, b'x', 1, 7, 0, 0, 0],
        &[0, 1, 6, 0, 0, 0, 1, 0, 0, 0, 1, 1], // d is NULL; a takes six bytes
    ];
    assert_eq!(value, expected.concat());
}

const NUMBER_50: ColumnType = ColumnType::Number { precision: 50, scale: 2 };

/// A positive number in a key of 32 bytes.
fn wide_key(digits: &[u8]) -> Vec<u8> {
    let mut key = vec![0; 32 - digits.len()];
    key[0] = 0x80;
    key.extend_from_slice(digits);
    key
}

/// Beyond 38 digits a NUMBER takes 32 bytes, whatever it is; below them it stays as it was.
#[test]
fn numbers_in_a_value() {
    let table = codec(
        "CREATE TABLE t (k INTEGER, n NUMBER(38, 2), w NUMBER(39, 2), a ARRAY(NUMBER(76)), PRIMARY KEY (k))",
    );
    let row = Row::new().with("k", 1).with("n", -2).with("w", -2).with("a", "[1]");
    let (mut key, mut value) = (Vec::new(), Vec::new());
    table.encode_row(&row, &mut key, &mut value).unwrap();
    let minus_200 = |width: usize| [&[0x38][..], &vec![0xFF; width - 1]].concat();
    let expected = [
        &[1, 0, 0][..],                                    // schema number, no NULL
        &minus_200(16),                                    // n
        &minus_200(32),                                    // w
        &[37, 0, 0, 0],                                    // a ends here
        &[&[1, 0, 0, 0, 1, 1][..], &[0; 31][..]].concat(), // one element, not NULL
    ];
    assert_eq!(value, expected.concat());
}

#[test]
fn every_type_in_a_key() {
    for (column_type, value, bytes) in [
        ("INTEGER", Value::Integer(-2), &[0x7F, 255, 255, 254][..]),
        ("LONG", Value::Long(1), &[0x80, 0, 0, 0, 0, 0, 0, 1]),
        ("TIMESTAMP(3)", Value::Timestamp { value: 1, precision: 3 }, &[0x80, 0, 0, 0, 0, 0, 0, 1]),
        ("FLOAT", Value::Float(1.0), &[0xBF, 0x80, 0, 0]),
        ("FLOAT", Value::Float(-1.0), &[0x40, 0x7F, 255, 255]),
        ("DOUBLE", Value::Double(-0.0), &[0x80, 0, 0, 0, 0, 0, 0, 0]),
        ("DOUBLE", Value::Double(f64::NAN), &[0xFF, 0xF8, 0, 0, 0, 0, 0, 0]),
        (
            "NUMBER(9, 2)",
            Value::Number { unscaled: 258, scale: 2 },
            &[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2],
        ),
        ("NUMBER(39, 2)", Value::Number { unscaled: 258, scale: 2 }, &wide_key(&[1, 2])),
        (
            "NUMBER(50, 2)",
            Value::parse(&format!("1{}", "0".repeat(38)), NUMBER_50).unwrap(),
            // Ten to the power of 40.
            &wide_key(&[
                0x1D, 0x63, 0x29, 0xF1, 0xC3, 0x5C, 0xA4, 0xBF, 0xAB, 0xB9, 0xF5, 0x61, 0, 0, 0, 0,
                0,
            ]),
        ),
        ("BOOLEAN", Value::Boolean(true), &[1]),
        ("UUID", Value::Uuid([7; 16]), &[7; 16]),
        ("DATE", Value::Date(1), &[0x80, 0, 0, 1]),
        ("TIME", Value::Time(258), &[0x80, 0, 0, 0, 0, 0, 1, 2]),
        ("BINARY(2)", Value::Binary(vec![0, 7]), &[0, 7]),
        ("ENUM('red', 'green')", "green".into(), &[0, 1]),
        ("STRING", "é".into(), &[0xC3, 0xA9, 0, 1]),
        ("BINARY", Value::Binary(vec![0, 255]), &[0, 255, 255, 0, 1]),
    ] {
        let mut key = Vec::new();
        codec(&format!("CREATE TABLE t (k {column_type}, PRIMARY KEY (k))"))
            .encode_key_values(&[value], &mut key)
            .unwrap();
        assert_eq!(key, bytes, "{column_type}");
    }
}
