//! Rows of every type in and out.

use rstest::rstest;
use tonnage::arrow::datatypes::i256;
use tonnage::{BulkPutOptions, Direction, Row, TableScanOptions, Value, WriteOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::row;
use crate::common::shop::rows_of;

const COLUMNS: &str = "i INTEGER, l LONG, f FLOAT, d DOUBLE, n NUMBER(12, 3), s STRING, b BOOLEAN, x BINARY, t0 TIMESTAMP(0),
    t9 TIMESTAMP(9), u UUID, j JSON, dt DATE, tm TIME, x4 BINARY(4), e ENUM('red', 'green', 'it''s blue'),
    a ARRAY(STRING), m MAP(NUMBER(12, 3)), r RECORD(at TIMESTAMP(3), parts ARRAY(BINARY(2))),
    w NUMBER(76, 20), aw ARRAY(NUMBER(50))";

fn moment(value: i64, precision: u8) -> Value {
    Value::Timestamp { value, precision }
}

fn record(at: Value, parts: Value) -> Value {
    Value::Record(vec![("at".into(), at), ("parts".into(), parts)])
}

/// A number of so many digits, at scale 20.
fn wide(digits: &str) -> Value {
    Value::number(i256::from_string(digits).unwrap(), 20)
}

fn number(unscaled: i128) -> Value {
    Value::Number { unscaled, scale: 3 }
}

/// Rows of ordinary, extreme and missing values.
fn samples() -> Vec<Row> {
    let ordinary = row! {
        "i" => 5, "l" => -7_i64, "f" => 1.5_f32, "d" => -2.25, "n" => number(123_456), "s" => "text ü 船", "b" => true,
        "x" => vec![0_u8, 255, 1], "t0" => moment(1_641_168_000, 0), "t9" => moment(1_641_168_000_123_456_789, 9),
        "u" => [7_u8; 16], "j" => Value::Json(r#"{"a":[1,null,"x"]}"#.into()),
        "dt" => Value::Date(19_000), "tm" => Value::Time(21_600_000_000_001), "x4" => vec![0_u8, 1, 2, 255], "e" => "green",
        "a" => Value::Array(vec!["x".into(), Value::Null, "".into()]),
        "m" => Value::Map(vec![("b".into(), number(5)), ("a".into(), Value::Null)]),
        "r" => record(moment(1_500, 3), Value::Array(vec![vec![1_u8, 2].into(), Value::Null])),
        "w" => wide("-12345678901234567890"),
        "aw" => Value::Array(vec![Value::number(i256::from_string(&"7".repeat(50)).unwrap(), 0), Value::Null]),
    };
    let low = row! {
        "i" => i32::MIN, "l" => i64::MIN, "f" => f32::MIN, "d" => f64::MIN, "n" => number(-999_999_999_999), "s" => "",
        "b" => false, "x" => Vec::<u8>::new(), "t0" => moment(-1, 0), "t9" => moment(i64::MIN, 9), "u" => [0_u8; 16],
        "j" => Value::Json("null".into()), "dt" => Value::Date(i32::MIN), "tm" => Value::Time(0), "x4" => vec![0_u8; 4],
        "e" => "red", "a" => Value::Array(vec![]), "m" => Value::Map(vec![]), "r" => record(Value::Null, Value::Null),
        "w" => wide(&format!("-{}", "9".repeat(76))), "aw" => Value::Array(vec![]),
    };
    let high = row! {
        "i" => i32::MAX, "l" => i64::MAX, "f" => f32::INFINITY, "d" => f64::NEG_INFINITY, "n" => number(999_999_999_999),
        "s" => "\0\u{1}\u{10ffff}", "b" => true, "x" => vec![0_u8; 70_000], "t0" => moment(253_402_300_799, 0),
        "t9" => moment(i64::MAX, 9), "u" => [255_u8; 16], "j" => Value::Json("[]".into()), "dt" => Value::Date(i32::MAX),
        "tm" => Value::Time(86_399_999_999_999), "x4" => vec![255_u8; 4], "e" => "it's blue",
        "a" => Value::Array(vec!["y".into(); 5_000]), "m" => Value::Map(vec![("".into(), number(-1))]),
        "r" => record(moment(i64::MAX, 3), Value::Array(vec![])), "w" => wide(&"9".repeat(76)),
        "aw" => Value::Array(vec![Value::Number { unscaled: 0, scale: 0 }]),
    };
    let missing = low.iter().map(|(name, _)| (name.to_string(), Value::Null)).collect();
    vec![ordinary, low, high, missing]
}

fn numbered(number: usize, sample: &Row) -> Row {
    let mut row = row! { "id" => number as i64 };
    sample.iter().for_each(|(name, value)| row.set(name, value.clone()));
    row
}

#[rstest]
fn every_type_comes_back_as_it_was_put(#[values(Memory, RocksDb)] on: Backend) {
    let mut store =
        on.with_tables(&format!("CREATE TABLE t (id LONG, {COLUMNS}, PRIMARY KEY (id))"));
    let rows: Vec<Row> =
        samples().iter().enumerate().map(|(number, sample)| numbered(number, sample)).collect();
    for row in &rows[..2] {
        store.table("t").unwrap().put(row, &WriteOptions::default()).unwrap();
    }
    store.bulk_put(vec![rows_of("t", rows[2..].to_vec())], &BulkPutOptions::default()).unwrap();
    store.reopen();
    let table = store.table("t").unwrap();
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(table.get(&row! { "id" => number as i64 }).unwrap().unwrap().row, *row);
    }
    assert_eq!(crate::common::all_rows(&store, "t"), rows);
}

/// For each type that a key may be of, values in ascending order.
#[rstest]
#[case("INTEGER", &[Value::from(i32::MIN), (-1).into(), 0.into(), 1.into(), i32::MAX.into()])]
#[case("LONG", &[Value::from(i64::MIN), (-1_i64).into(), 0_i64.into(), 1_i64.into(), i64::MAX.into()])]
#[case("FLOAT", &[Value::from(f32::NEG_INFINITY), (-1.5_f32).into(), 0.0_f32.into(), 1e-20_f32.into(), f32::INFINITY.into()])]
#[case("DOUBLE", &[Value::from(f64::NEG_INFINITY), (-1.5).into(), 0.0.into(), 1e-200.into(), f64::INFINITY.into()])]
#[case("NUMBER(12, 3)", &[number(-999_999_999_999), number(-1), number(0), number(1), number(999_999_999_999)])]
#[case("NUMBER(76, 20)", &[wide(&format!("-{}", "9".repeat(76))), wide("-170141183460469231731687303715884105729"),
    wide("-170141183460469231731687303715884105728"), wide("-1"), wide("0"), wide("1"),
    wide("170141183460469231731687303715884105727"), wide("170141183460469231731687303715884105728"), wide(&"9".repeat(76))])]
#[case("STRING", &[Value::from(""), "\0".into(), "\0\0".into(), "\0a".into(), "\u{1}".into(), "a".into(), "aa".into(), "船".into()])]
#[case("BINARY", &[Value::from(vec![]), vec![0_u8].into(), vec![0_u8, 0].into(), vec![0_u8, 255].into(), vec![1_u8].into(), vec![255_u8].into(), vec![255_u8, 255].into()])]
#[case("BOOLEAN", &[Value::from(false), true.into()])]
#[case("TIMESTAMP(0)", &[moment(-1, 0), moment(0, 0), moment(1_641_168_000, 0)])]
#[case("TIMESTAMP(9)", &[moment(i64::MIN, 9), moment(-1, 9), moment(0, 9), moment(i64::MAX, 9)])]
#[case("UUID", &[Value::from([0_u8; 16]), [7_u8; 16].into(), [255_u8; 16].into()])]
#[case("DATE", &[Value::Date(i32::MIN), Value::Date(-1), Value::Date(0), Value::Date(i32::MAX)])]
#[case("TIME", &[Value::Time(0), Value::Time(1), Value::Time(86_399_999_999_999)])]
#[case("BINARY(2)", &[Value::from(vec![0_u8, 0]), vec![0_u8, 255].into(), vec![1_u8, 0].into(), vec![255_u8, 255].into()])]
#[case("ENUM(red, green, blue)", &[Value::from("red"), "green".into(), "blue".into()])]
fn keys_of_every_type_are_found_and_come_in_order(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] key_type: &str,
    #[case] ascending: &[Value],
) {
    let store = on.with_tables(&format!(
        "CREATE TABLE t (g LONG, k {key_type}, v LONG, PRIMARY KEY (SHARD(g), k))"
    ));
    let table = store.table("t").unwrap();
    let row = |number: usize| row! { "g" => 1_i64, "k" => ascending[number].clone(), "v" => number as i64 };
    for number in (0..ascending.len()).rev() {
        table.put(&row(number), &WriteOptions::default()).unwrap();
    }
    for (number, value) in ascending.iter().enumerate() {
        let key = row! { "g" => 1_i64, "k" => value.clone() };
        assert_eq!(table.get(&key).unwrap().unwrap().row, row(number));
    }
    let options = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    let found: Vec<Row> =
        table.scan(&options).unwrap().into_rows().map(|row| row.unwrap().row).collect();
    assert_eq!(found, (0..ascending.len()).map(row).collect::<Vec<_>>());
}

#[rstest]
fn a_key_that_its_column_would_round_is_never_found(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (day DATE, PRIMARY KEY (day))");
    let table = store.table("t").unwrap();
    table.put(&row! { "day" => "2022-01-03" }, &WriteOptions::default()).unwrap();
    let found = |day: Value| table.get(&row! { "day" => day }).unwrap().is_some();
    assert!(found("2022-01-03".into()) && found("2022-01-03T00:00:00".into()));
    assert!(found(moment(1_641_168_000, 0)) && !found(moment(1_641_168_001, 0)));
    assert!(!found("2022-01-03T06:00:00".into()) && !found("2022-01-04".into()));
    let refused = table.put(&row! { "day" => "2022-01-03T06:00:00" }, &WriteOptions::default());
    assert!(refused.unwrap_err().message().contains("would be rounded"));
}

#[rstest]
#[case("e ENUM(red, green)", "e", "purple", "it has red, green")]
#[case("x BINARY(4)", "x", "AAEC", "3 bytes do not fit BINARY(4)")]
#[case("a ARRAY(INTEGER)", "a", "[1, \"x\"]", "element 1: 'x' is not an INTEGER")]
#[case("a ARRAY(INTEGER)", "a", "1, 2", "is not JSON")]
#[case("m MAP(DATE)", "m", "{\"a\": 5}", "'a': a value of type LONG does not fit")]
#[case("r RECORD(a LONG)", "r", "{\"b\": 5}", "has no field 'b'; it has a")]
#[case("m MAP(LONG)", "m", "{\"a\": 1, \"a\": 2}", "the key 'a' is given twice")]
#[case("r RECORD(a LONG)", "r", "{\"a\": 1, \"A\": 2}", "the field 'A' is given twice")]
#[case("d DATE", "d", "2022-02-30", "'2022-02-30' is not a DATE")]
#[case("m TIME", "m", "24:00", "'24:00' is not a TIME")]
fn a_value_that_is_none_of_its_type_is_refused_with_the_reason(
    #[case] column: &str,
    #[case] name: &str,
    #[case] text: &str,
    #[case] reason: &str,
) {
    let store =
        Memory.with_tables(&format!("CREATE TABLE t (id LONG, {column}, PRIMARY KEY (id))"));
    let bad = row! { "id" => 1_i64, name => text };
    let error = store.table("t").unwrap().put(&bad, &WriteOptions::default()).unwrap_err();
    assert!(error.message().contains(reason), "{error}");
    let good = row! { "id" => 2_i64 };
    let streams = vec![rows_of("t", vec![bad, good])];
    let report = store.bulk_put(streams, &BulkPutOptions::default()).unwrap();
    assert_eq!((report.streams[0].counts.failed, report.streams[0].counts.inserted), (1, 1));
}

#[rstest]
#[case("ARRAY(LONG)")]
#[case("MAP(LONG)")]
#[case("RECORD(a LONG)")]
fn nested_values_have_no_order_and_are_in_no_key_and_no_index(#[case] column_type: &str) {
    let store =
        Memory.with_tables(&format!("CREATE TABLE t (id LONG, v {column_type}, PRIMARY KEY (id))"));
    let error = store.execute("CREATE INDEX i ON t (v)").unwrap_err();
    assert!(error.message().contains("has no order"), "{error}");
    let error =
        store.execute(&format!("CREATE TABLE u (v {column_type}, PRIMARY KEY (v))")).unwrap_err();
    assert!(error.message().contains("cannot be part of a PRIMARY KEY"), "{error}");
}

#[rstest]
fn nested_values_are_read_from_json_and_show_as_json(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (id LONG, v RECORD(day DATE, n ARRAY(NUMBER(12, 3)), m MAP(JSON)), PRIMARY KEY (id))");
    let table = store.table("t").unwrap();
    let text = r#"{"N": [1.5, null], "m": {"a": {"b": [1]}}, "day": "2022-01-03"}"#;
    table.put(&row! { "id" => 1_i64, "v" => text }, &WriteOptions::default()).unwrap();
    let stored = table.get(&row! { "id" => 1_i64 }).unwrap().unwrap().row;
    let value = stored.get("v").unwrap();
    // A document keeps its text as written.
    assert_eq!(value.to_string(), r#"{"day":"2022-01-03","n":[1.5,null],"m":{"a":{"b": [1]}}}"#);
    assert_eq!(value.to_json()["n"][0], 1.5);
}

#[rstest]
fn no_digit_of_a_nested_number_is_lost_on_its_way_through_json() {
    let store =
        Memory.with_tables("CREATE TABLE t (id LONG, v ARRAY(NUMBER(38, 19)), PRIMARY KEY (id))");
    let table = store.table("t").unwrap();
    let put =
        |text: &str| table.put(&row! { "id" => 1_i64, "v" => text }, &WriteOptions::default());
    let shown = || {
        let stored = table.get(&row! { "id" => 1_i64 }).unwrap().unwrap();
        stored.row.get("v").unwrap().to_string()
    };
    let exact = r#"["0.1234567890123456789",0.1,9007199254740993]"#;
    put(exact).unwrap();
    assert_eq!(shown(), exact.replace("9007199254740993", "\"9007199254740993\""));
    put(&shown()).unwrap();
    // Without quotes the digits are the same: they were rounded once, and then refused.
    put("[0.1234567890123456789, 0.1, 9007199254740993]").unwrap();
    assert_eq!(shown(), exact.replace("9007199254740993", "\"9007199254740993\""));
}
