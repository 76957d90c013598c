//! All rows, and ranges of row keys across shard keys.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Direction, FieldRange, KeySource, MultiGetRequest, RelatedRow, Row,
    TableScanOptions, Value, WriteOptions,
};

use super::{get, get_from};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS};
use crate::common::{TestStore, row};

/// A table whose key is its shard key: 100 rows from `k00` to `k99`.
fn plain(on: Backend) -> TestStore {
    let store = on.with_tables("CREATE TABLE plain (k STRING, n INTEGER, PRIMARY KEY (k))");
    let table = store.table("plain").unwrap();
    for n in 0..100 {
        let row = row! { "k" => format!("k{n:02}"), "n" => n };
        table.put(&row, &WriteOptions::default()).unwrap();
    }
    store
}

fn numbers(rows: impl IntoIterator<Item = Row>) -> Vec<i64> {
    let number = |row: Row| match row.get("n") {
        Some(Value::Integer(n)) => i64::from(*n),
        other => panic!("{other:?}"),
    };
    rows.into_iter().map(number).collect()
}

#[rstest]
fn all_rows_come_without_a_key(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
) {
    let store = shop::stocked(on, 30);
    let options = BulkGetOptions { direction, ..Default::default() };
    assert_eq!(get(&store, KeySource::all(), &options).len(), 4 * 30);
}

#[rstest]
fn a_range_of_the_first_key_column_goes_across_shard_keys(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
) {
    let store = plain(on);
    let range = Some(FieldRange::of("k").from("k20").before("k25"));
    let options = BulkGetOptions { direction, range: range.clone(), ..Default::default() };
    let rows = get_from(&store, "plain", KeySource::all(), &options);
    let mut found = numbers(rows.into_iter().map(|row| row.row));
    if direction == Direction::Reverse {
        found.reverse();
    }
    assert_eq!(found, [20, 21, 22, 23, 24]);
    let options = TableScanOptions { direction, range, ..Default::default() };
    let scan = store.table("plain").unwrap().scan(&options).unwrap().into_rows();
    let mut found = numbers(scan.map(|row| row.unwrap().row));
    if direction == Direction::Reverse {
        found.reverse();
    }
    assert_eq!(found, [20, 21, 22, 23, 24]);
}

#[rstest]
fn a_range_must_be_on_the_first_key_column(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let range = Some(FieldRange::of("price").from(1));
    let options = TableScanOptions { range, ..Default::default() };
    let error = crate::common::failure(store.table("phones").unwrap().scan(&options));
    crate::common::assert_error(error, tonnage::ErrorKind::Invalid, &["price", "maker"]);
}

#[rstest]
fn each_request_of_a_multi_get_has_a_range_of_its_own(#[values(Memory, RocksDb)] on: Backend) {
    let store = plain(on);
    let between = |low: &str, high: &str| BulkGetOptions {
        range: Some(FieldRange::of("k").from(low).to(high)),
        direction: Direction::Forward,
        ..Default::default()
    };
    let requests = [
        MultiGetRequest::new("plain", KeySource::all()).with(between("k10", "k12")),
        MultiGetRequest::new("plain", vec![row! { "k" => "k50" }]),
        MultiGetRequest::new("plain", KeySource::all()),
        MultiGetRequest::new("plain", KeySource::all())
            .with(BulkGetOptions { limit: Some(1), ..Default::default() }),
    ];
    let answers =
        store.multi_get_requests(requests, &BulkGetOptions::default()).unwrap().into_answers();
    let count = |answer: &tonnage::Result<Vec<tonnage::TableBatch>>| {
        let rows = |all: &Vec<tonnage::TableBatch>| {
            all.iter().map(|batch| batch.rows.num_rows()).sum::<usize>()
        };
        answer.as_ref().ok().map(rows)
    };
    assert_eq!(count(&answers[0]), Some(3));
    assert_eq!(count(&answers[1]), Some(1));
    assert_eq!(count(&answers[2]), Some(100));
    assert!(answers[3].as_ref().is_err_and(|error| error.message().contains("limit_per_key")));
}

#[test]
fn a_range_across_shard_keys_needs_one_directory() {
    let [first, second] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let settings = tonnage::RocksDbSettings {
        data_directories: vec![first.path().join("disk"), second.path().join("disk")],
        ..crate::common::settings()
    };
    let url = first.path().join("store").display().to_string();
    let store = tonnage::Store::builder(url).rocksdb_settings(settings).open().unwrap();
    store.execute("CREATE TABLE plain (k STRING, PRIMARY KEY (k))").unwrap();
    let range = Some(FieldRange::of("k").from("a"));
    let options = TableScanOptions { range, ..Default::default() };
    let error = crate::common::failure(store.table("plain").unwrap().scan(&options));
    crate::common::assert_error(error, tonnage::ErrorKind::Unsupported, &["directories"]);
}

#[rstest]
fn a_range_of_nothing_gives_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let range = Some(FieldRange::of("maker").from(MAKERS[1]).before(MAKERS[1]));
    let options = BulkGetOptions { range, ..Default::default() };
    assert_eq!(get(&store, KeySource::all(), &options).len(), 0);
}

#[rstest]
fn a_long_range_is_read_in_parts_that_have_each_row_once(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
) {
    let store = on.with_tables("CREATE TABLE many (k LONG, n INTEGER, PRIMARY KEY (k))");
    let table = store.table("many").unwrap();
    let rows = (0..300_000_i64).map(|k| Row::new().with("k", k).with("n", 1));
    store.multi_put([("many", rows.collect::<Vec<_>>())], &Default::default()).unwrap();
    let (from, to) = (50_001, 251_234);
    let range = FieldRange::of("k").from(from).before(to);
    let about = table.rows_estimate_in(&range).unwrap();
    assert!((150_000..=300_000).contains(&about), "{about}");

    let options = TableScanOptions { direction, range: Some(range), ..Default::default() };
    let parts = table.scan_parts(&options, 4).unwrap();
    assert!(parts.len() > 1);
    let key = |row: tonnage::Result<RelatedRow>| match row.unwrap().row.get("k") {
        Some(Value::Long(k)) => *k,
        other => panic!("{other:?}"),
    };
    let mut in_parts: Vec<i64> =
        parts.into_iter().flat_map(|part| part.into_rows().map(key)).collect();
    in_parts.sort_unstable();
    assert!(in_parts.into_iter().eq(from..to));

    let mut whole: Vec<i64> = table.scan(&options).unwrap().into_rows().map(key).collect();
    match direction {
        Direction::Unordered => whole.sort_unstable(),
        Direction::Forward => {}
        Direction::Reverse => whole.reverse(),
    }
    assert!(whole.into_iter().eq(from..to));
}
