//! A column stores a value as it is given, or rejects it. What was computed is rounded.

use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray,
};
use tonnage::{
    BulkPutOptions, BulkPutReport, ErrorKind, Row, Value, WriteOptions, computed_batch_stream,
    record_batch_stream, row_stream,
};

use crate::common::Backend::Memory;
use crate::common::{TestStore, assert_error, failure, row};

fn decimal(unscaled: i128, scale: i8) -> (Value, ArrayRef) {
    let array = Decimal128Array::from(vec![unscaled]).with_precision_and_scale(38, scale).unwrap();
    (Value::Number { unscaled, scale }, Arc::new(array))
}

fn double(value: f64) -> (Value, ArrayRef) {
    (value.into(), Arc::new(Float64Array::from(vec![value])))
}

fn text(value: &str) -> (Value, ArrayRef) {
    (value.into(), Arc::new(StringArray::from(vec![value])))
}

fn nanoseconds(value: i64) -> (Value, ArrayRef) {
    let array = TimestampNanosecondArray::from(vec![value]);
    (Value::Timestamp { value, precision: 9 }, Arc::new(array))
}

fn load(store: &TestStore, array: &ArrayRef, is_computed: bool) -> BulkPutReport {
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("k", keys), ("v", array.clone())]);
    let stream = match is_computed {
        true => computed_batch_stream("", "t", [Ok(batch.unwrap())]),
        false => record_batch_stream("", "t", [Ok(batch.unwrap())]),
    };
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap()
}

fn stored(store: &TestStore) -> Option<String> {
    let found = store.table("t").unwrap().get(&row! { "k" => 1_i64 }).unwrap();
    found.map(|found| found.row.get("v").unwrap().to_string())
}

/// The type of the column, a value that it does not hold, and that value rounded.
#[rstest]
#[case::digits_of_a_decimal("NUMBER(8, 3)", decimal(1255, 4), "0.126")]
#[case::digits_of_a_double("NUMBER(8, 3)", double(0.1255), "0.126")]
#[case::digits_of_a_text("NUMBER(8, 3)", text("0.1255"), "0.126")]
#[case::a_tiny_fraction("NUMBER(8, 3)", decimal(1, 20), "0")]
#[case::digits_of_a_wide_one("NUMBER(60, 20)", text("0.000000000000000000001"), "0")]
#[case::a_part_of_a_second("TIMESTAMP(0)", nanoseconds(1_500_000_000), "1970-01-01T00:00:01")]
#[case::nanoseconds("TIMESTAMP(6)", nanoseconds(1_001), "1970-01-01T00:00:00.000001")]
#[case::a_part_in_text("TIMESTAMP(0)", text("1970-01-01 00:00:01.5"), "1970-01-01T00:00:01")]
#[case::digits_behind_the_ninth(
    "TIMESTAMP(9)",
    text("1970-01-01 00:00:01.0000000001"),
    "1970-01-01T00:00:01.000000000"
)]
#[case::a_time_of_day("DATE", nanoseconds(86_400_000_000_001), "1970-01-02")]
#[case::a_time_in_text("DATE", text("1970-01-02 06:00:00"), "1970-01-02")]
fn a_value_that_its_column_would_round_is_rejected(
    #[case] column_type: &str,
    #[case] (value, array): (Value, ArrayRef),
    #[case] rounded: &str,
) {
    let made = format!("CREATE TABLE t (k LONG, v {column_type}, PRIMARY KEY (k))");
    let store = Memory.with_tables(&made);
    let row = row! { "k" => 1_i64, "v" => value };
    let put = store.table("t").unwrap().put(&row, &WriteOptions::default());
    assert_error(failure(put), ErrorKind::Invalid, &["'v'", "would be rounded", "round it first"]);
    let rows = row_stream("", [Ok(("t".into(), row))]);
    let report = store.bulk_put(vec![rows], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.failed, report.total.inserted), (1, 0));
    let report = load(&store, &array, false);
    assert_eq!((report.total.failed, report.total.inserted), (1, 0));
    assert_eq!(stored(&store), None);
    let report = load(&store, &array, true);
    assert_eq!((report.total.failed, report.total.inserted), (0, 1));
    assert_eq!(stored(&store).as_deref(), Some(rounded));
}

/// Zeros after the point are not digits, and FLOAT and DOUBLE take the nearest of any number.
#[rstest]
#[case("NUMBER(8, 3)", decimal(1250, 4), "0.125")]
#[case("NUMBER(8, 3)", double(0.125), "0.125")]
#[case("NUMBER(8, 3)", text("0.1250"), "0.125")]
#[case("TIMESTAMP(0)", nanoseconds(1_000_000_000), "1970-01-01T00:00:01")]
#[case("TIMESTAMP(0)", text("1970-01-01 00:00:01.000"), "1970-01-01T00:00:01")]
#[case("DATE", nanoseconds(86_400_000_000_000), "1970-01-02")]
#[case("DOUBLE", decimal(1_234_567_890_123_456_789, 19), "0.12345678901234568")]
#[case("FLOAT", double(0.1), "0.1")]
fn a_value_that_its_column_holds_is_stored(
    #[case] column_type: &str,
    #[case] (value, array): (Value, ArrayRef),
    #[case] held: &str,
) {
    let made = format!("CREATE TABLE t (k LONG, v {column_type}, PRIMARY KEY (k))");
    let store = Memory.with_tables(&made);
    let row = row! { "k" => 1_i64, "v" => value };
    store.table("t").unwrap().put(&row, &WriteOptions::default()).unwrap();
    assert_eq!(stored(&store).as_deref(), Some(held));
    store.table("t").unwrap().delete(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap();
    assert_eq!(load(&store, &array, false).total.failed, 0);
    assert_eq!(stored(&store).as_deref(), Some(held));
}

#[test]
fn parts_of_nested_values_are_not_rounded_either() {
    let store =
        Memory.with_tables("CREATE TABLE t (k LONG, v ARRAY(NUMBER(8, 3)), PRIMARY KEY (k))");
    let put = |items: Vec<Value>| {
        let row = Row::new().with("k", 1_i64).with("v", Value::Array(items));
        store.table("t").unwrap().put(&row, &WriteOptions::default())
    };
    put(vec![0.125.into(), Value::Null]).unwrap();
    let refused = failure(put(vec![0.125.into(), 0.1255.into()]));
    assert_error(refused, ErrorKind::Invalid, &["'v'", "would be rounded"]);
}

#[test]
fn days_are_moments_without_loss() {
    let store = Memory.with_tables("CREATE TABLE t (k LONG, v TIMESTAMP(0), PRIMARY KEY (k))");
    let days: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    let report = load(&store, &days, false);
    assert_eq!(report.total.failed, 0);
    assert_eq!(stored(&store).as_deref(), Some("1970-01-02T00:00:00"));
}
