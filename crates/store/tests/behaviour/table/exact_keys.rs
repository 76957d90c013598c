//! A key column holds a value as it is given, or it is another value.
//!
//! Look-ups used to round what they were asked for: a timestamp with a fraction found the row of
//! the whole second. Of two large whole numbers put under a DOUBLE key the second silently replaced
//! the first.

use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{
    ArrayRef, Decimal128Array, Decimal256Array, Int64Array, RecordBatch, StringArray,
};
use tonnage::arrow::datatypes::i256;
use tonnage::{
    BulkPutOptions, ErrorKind, FieldRange, IndexRange, IndexScanOptions, KeySource, Row, Value,
    ValueRef, WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};

const EXACT: i64 = 1 << 53;

fn now() -> WriteOptions {
    WriteOptions::default()
}

/// A table with one key column of a type and a row with this key.
fn with_key(on: Backend, column_type: &str, key: impl Into<Value>) -> TestStore {
    let store = on.with_tables(&format!(
        "CREATE TABLE t (k {column_type}, n LONG, v {column_type}, PRIMARY KEY (SHARD(k), n)); CREATE INDEX by_v ON t (v)"
    ));
    let key = key.into();
    store
        .table("t")
        .unwrap()
        .put(&row! { "k" => key.clone(), "n" => 1_i64, "v" => key }, &now())
        .unwrap();
    store
}

fn number(unscaled: i128, scale: i8) -> Value {
    Value::Number { unscaled, scale }
}

#[rstest]
#[case::moment("TIMESTAMP(0)", "2022-01-03T06:00:00".into(), "2022-01-03T06:00:00.9".into())]
#[case::decimal_text("NUMBER(10, 2)", "1.00".into(), "1.004".into())]
#[case::decimal("NUMBER(10, 2)", number(100, 2), number(1_004, 3))]
#[case::wide_decimal("NUMBER(60, 20)", "12345678901234567890123456789.00000000000000000001".into(), "12345678901234567890123456789.000000000000000000011".into())]
#[case::wide_decimal_of_a_narrow_one(
    "NUMBER(60, 20)",
    number(15, 1),
    number(1_500_000_000_000_000_000_001, 21)
)]
#[case::narrow_decimal_of_a_wide_one("NUMBER(38, 9)", "0.000000001".into(), Value::number(i256::from_string(&format!("1{}1", "0".repeat(50))).unwrap(), 60))]
#[case::decimal_fraction("NUMBER(10, 2)", 1.into(), 1.004.into())]
#[case::large_whole_number("DOUBLE", EXACT.into(), (EXACT + 1).into())]
#[case::fraction("FLOAT", 0.5.into(), 0.500000001.into())]
fn a_value_that_its_column_would_round_finds_nothing(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] column_type: &str,
    #[case] held: Value,
    #[case] near: Value,
) {
    let store = with_key(on, column_type, held.clone());
    let table = store.table("t").unwrap();
    let index = table.index("by_v").unwrap();
    for (asked, rows) in [(held, 1), (near, 0)] {
        let key = row! { "k" => asked.clone(), "n" => 1_i64 };
        assert_eq!(table.get(&key).unwrap().is_some(), rows == 1);
        let cells = [ValueRef::from(&asked), ValueRef::Long(1)];
        assert_eq!(table.session().get(&cells).unwrap().is_some(), rows == 1);
        for key in [vec![asked.clone()], vec![asked.clone(), Value::Long(1)]] {
            let get = table.bulk_get(KeySource::from(vec![key]), &Default::default()).unwrap();
            assert_eq!(get.into_rows().inspect(|row| assert!(row.is_ok())).count(), rows);
        }
        let scan =
            index.scan(&IndexRange::prefix([asked.clone()]), &IndexScanOptions::default()).unwrap();
        assert_eq!(scan.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), rows);
        assert_eq!(
            index.count_entries(&IndexRange::prefix([asked.clone()]), 10).unwrap(),
            rows as u64
        );
        let deleted =
            table.delete_range(&row! { "k" => asked.clone() }, &Default::default()).unwrap();
        assert_eq!(deleted, rows as u64);
        assert!(!table.delete(&key, &now()).unwrap(), "it is gone, or was never there");
        if rows == 1 {
            table.put(&row! { "k" => asked.clone(), "n" => 1_i64, "v" => asked }, &now()).unwrap();
        }
    }
}

#[rstest]
fn keys_of_a_record_batch_are_not_rounded_either(#[values(Memory, RocksDb)] on: Backend) {
    let get = |store: &TestStore, keys: ArrayRef| {
        let keys = KeySource::from(RecordBatch::try_from_iter([("k", keys)]).unwrap());
        store
            .table("t")
            .unwrap()
            .bulk_get(keys, &Default::default())
            .unwrap()
            .into_rows()
            .inspect(|row| assert!(row.is_ok()))
            .count()
    };
    let store = with_key(on, "DOUBLE", EXACT);
    assert_eq!(get(&store, Arc::new(Int64Array::from(vec![EXACT + 1, 7]))), 0);
    assert_eq!(get(&store, Arc::new(Int64Array::from(vec![EXACT + 1, EXACT]))), 1);
    let store = with_key(on, "TIMESTAMP(0)", "2022-01-03T06:00:00");
    assert_eq!(get(&store, Arc::new(StringArray::from(vec!["2022-01-03T06:00:00.9"]))), 0);
    assert_eq!(get(&store, Arc::new(StringArray::from(vec!["2022-01-03T06:00:00.0"]))), 1);
}

#[rstest]
fn a_put_that_would_round_its_key_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_key(on, "DOUBLE", EXACT);
    let table = store.table("t").unwrap();
    let put = |key: i64| row! { "k" => key, "n" => 1_i64, "v" => key };
    assert_error(
        failure(table.put(&put(EXACT + 1), &now())),
        ErrorKind::Invalid,
        &["'k'", "rounded", "9007199254740993"],
    );
    table.put(&put(7).with("v", EXACT + 1), &now()).unwrap();

    let rows: Vec<Row> = vec![put(1), put(EXACT + 1), put(2)];
    let report = store.multi_put([("t", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.report.total.inserted, report.report.total.failed), (2, 1));
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![3, EXACT + 1, 4]));
    let ones: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 1]));
    let batch = RecordBatch::try_from_iter([("k", whole), ("n", ones)]).unwrap();
    let report = store.multi_put([("t", vec![batch])], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.report.total.inserted, report.report.total.failed), (2, 1));
    assert_eq!(table.count().unwrap(), 6);
}

#[rstest]
fn ends_of_ranges_lie_where_they_are_given(#[values(Memory, RocksDb)] on: Backend) {
    let store =
        on.with_tables("CREATE TABLE t (k LONG, f FLOAT, d DOUBLE, PRIMARY KEY (SHARD(k), f)); CREATE INDEX by_d ON t (d)");
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64, "f" => 0.5, "d" => EXACT }, &now()).unwrap();
    let count = |range: FieldRange| {
        let options = tonnage::BulkGetOptions { range: Some(range), ..Default::default() };
        let get = table.bulk_get(KeySource::from(vec![vec![Value::Long(1)]]), &options).unwrap();
        get.into_rows().inspect(|row| assert!(row.is_ok())).count()
    };
    assert_eq!(count(FieldRange::of("f").from(0.500000001)), 0);
    assert_eq!(count(FieldRange::of("f").before(0.500000001)), 1);
    assert_eq!(count(FieldRange::of("f").from(0.5).to(0.5)), 1);
    let index = table.index("by_d").unwrap();
    let entries =
        |range: FieldRange| index.count_entries(&IndexRange::default().within(range), 10).unwrap();
    assert_eq!(entries(FieldRange::of("d").from(EXACT + 1)), 0);
    assert_eq!(entries(FieldRange::of("d").before(EXACT + 1)), 1);
}

/// Doubles merged two numbers that differ after their sixteenth digit, and so an end beside a row
/// counted as the row.
#[rstest]
#[case("NUMBER(38, 0)", "12345678901234567890", "12345678901234567890.4", "12345678901234567890.6")]
#[case(
    "NUMBER(76, 30)",
    "1e40",
    "1e40",
    "10000000000000000000000000000000000000000.0000000000000000000000000000001"
)]
fn ends_beside_long_numbers_lie_where_they_are_given(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] column_type: &str,
    #[case] held: &str,
    #[case] near: &str,
    #[case] further: &str,
) {
    let store = with_key(on, column_type, held);
    let index = store.table("t").unwrap().index("by_v").unwrap();
    let entries =
        |range: FieldRange| index.count_entries(&IndexRange::default().within(range), 10).unwrap();
    let (above, is_same) = (u64::from(held != near), u64::from(held == near));
    assert_eq!(entries(FieldRange::of("v").from(near)), is_same);
    assert_eq!(entries(FieldRange::of("v").before(near)), above);
    assert_eq!(entries(FieldRange::of("v").to(near)), 1);
    for end in [further, &further.replace(".6", ".500000000000000000000000000000001")] {
        assert_eq!(entries(FieldRange::of("v").before(end)), 1);
        assert_eq!(entries(FieldRange::of("v").after(end)), 0);
        assert_eq!(entries(FieldRange::of("v").from(end)), 0);
    }
    assert_eq!(entries(FieldRange::of("v").from(held).to(held)), 1);
}

/// Arrow does not look at how many digits a decimal has, and a row with too many could not be put
/// back.
#[rstest]
fn decimals_with_too_many_digits_are_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (k LONG, v NUMBER(5, 2), PRIMARY KEY (k))");
    let values = Decimal128Array::from(vec![12_345, 100_000, -99_999])
        .with_precision_and_scale(5, 2)
        .unwrap();
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch =
        RecordBatch::try_from_iter([("k", keys), ("v", Arc::new(values) as ArrayRef)]).unwrap();
    let report = store.multi_put([("t", vec![batch])], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.report.total.inserted, report.report.total.failed), (2, 1));
    assert_eq!(store.table("t").unwrap().get(&row! { "k" => 2_i64 }).unwrap(), None);

    store.execute("CREATE TABLE w (k LONG, v NUMBER(40, 2), PRIMARY KEY (k))").unwrap();
    let digits = |text: &str| Some(i256::from_string(text).unwrap());
    let numbers = [digits(&"9".repeat(40)), digits(&format!("1{}", "0".repeat(40))), None];
    let values = Decimal256Array::from_iter(numbers).with_precision_and_scale(40, 2).unwrap();
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch =
        RecordBatch::try_from_iter([("k", keys), ("v", Arc::new(values) as ArrayRef)]).unwrap();
    let report = store.multi_put([("w", vec![batch])], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.report.total.inserted, report.report.total.failed), (2, 1));
}

/// A bulk get refused what a get and a delete passed over.
#[rstest]
fn a_key_that_names_an_unknown_column_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_key(on, "LONG", 1_i64);
    let table = store.table("t").unwrap();
    let key = row! { "k" => 1_i64, "n" => 1_i64, "colour" => "red" };
    assert!(failure(table.get(&key)).message().contains("colour"));
    assert!(failure(table.delete(&key, &now())).message().contains("colour"));
    assert!(
        table.get(&row! { "k" => 1_i64, "n" => 1_i64, "v" => 9_i64 }).unwrap().is_some(),
        "other columns are not looked at"
    );
}
