//! GridDB's samples and programming guide: multi-put, multi-get, containers.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, BulkPutOptions, Direction, ErrorKind, FieldRange, KeySource, MultiGetRequest,
    OnExisting, Row, TableBatch,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, all_rows, assert_error, failure, row};

const TABLES: &str = "CREATE TABLE c0 (name STRING, count LONG, PRIMARY KEY (name));
    CREATE TABLE c1 (name STRING, count LONG, PRIMARY KEY (name))";

fn make(name: &str, count: i64) -> Row {
    row! { "name" => name, "count" => count }
}

fn stocked(on: Backend) -> TestStore {
    let store = on.with_tables(TABLES);
    let rows = |shift: i64| (0..10).map(|n| make(&format!("n{n}"), n + shift)).collect::<Vec<_>>();
    store.multi_put([("c0", rows(0)), ("c1", rows(100))], &BulkPutOptions::default()).unwrap();
    store
}

fn count(answer: &tonnage::Result<Vec<TableBatch>>) -> Option<usize> {
    let rows = |all: &Vec<TableBatch>| all.iter().map(|batch| batch.rows.num_rows()).sum();
    answer.as_ref().ok().map(rows)
}

#[rstest]
fn multi_put_upserts_the_last_row_with_replace(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    store.multi_put([("c0", vec![make("n1", 7), make("n1", 8)])], &options).unwrap();
    assert_eq!(all_rows(&store, "c0")[1], make("n1", 8));
}

#[rstest]
fn multi_put_with_a_missing_container_writes_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let rows = || vec![make("new", 1)];
    let put = store.multi_put([("c0", rows()), ("nowhere", rows())], &BulkPutOptions::default());
    assert_error(failure(put).error, ErrorKind::NotFound, &["nowhere"]);
    assert_eq!(all_rows(&store, "c0").len(), 10);
}

#[rstest]
fn multi_put_names_row_and_column_of_a_wrong_type(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let rows = vec![make("a", 1), row! { "name" => "b", "count" => "abc" }];
    let put = store.multi_put([("c0", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!((put.report.total.inserted, put.failures.len()), (1, 1));
    assert_eq!((put.failures[0].row, put.failures[0].column.as_deref()), (1, Some("count")));
}

/// `RowKeyPredicate.setStart`, `setFinish`; GridDB refuses string keys there.
#[rstest]
fn multi_get_by_a_range_of_row_keys(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let options = BulkGetOptions {
        range: Some(FieldRange::of("name").from("n2").to("n5")),
        direction: Direction::Forward,
        ..Default::default()
    };
    let requests = ["c0", "c1"].map(|table| (table, KeySource::all()));
    let answers = store.multi_get(requests, &options).unwrap().into_answers();
    assert_eq!(answers.iter().map(count).collect::<Vec<_>>(), [Some(4), Some(4)]);
}

#[rstest]
fn multi_get_without_a_condition_gives_all_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let requests = ["c0", "c1"].map(|table| (table, KeySource::all()));
    let answers = store.multi_get(requests, &BulkGetOptions::default()).unwrap().into_answers();
    assert_eq!(answers.iter().map(count).collect::<Vec<_>>(), [Some(10), Some(10)]);
}

#[rstest]
fn multi_get_with_a_condition_for_each_container(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let from = |name: &str| BulkGetOptions {
        range: Some(FieldRange::of("name").from(name)),
        ..Default::default()
    };
    let requests = [
        MultiGetRequest::new("c0", KeySource::all()).with(from("n8")),
        MultiGetRequest::new("c1", KeySource::all()).with(from("n3")),
    ];
    let options = BulkGetOptions::default();
    let answers = store.multi_get_requests(requests, &options).unwrap().into_answers();
    assert_eq!(answers.iter().map(count).collect::<Vec<_>>(), [Some(2), Some(7)]);
}

#[rstest]
fn multi_get_names_a_missing_container(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let keys = || vec![row! { "name" => "n1" }];
    let answers = store
        .multi_get([("nowhere", keys()), ("c0", keys())], &BulkGetOptions::default())
        .unwrap()
        .into_answers();
    assert_eq!(count(&answers[1]), Some(1));
    let refused = answers.into_iter().next().unwrap();
    assert_error(failure(refused), ErrorKind::NotFound, &["nowhere"]);
}

#[rstest]
fn multi_get_passes_over_missing_keys_and_merges_repeated_ones(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = stocked(on);
    let keys = ["n1", "none", "n1", "n2"].map(|name| row! { "name" => name }).to_vec();
    let answers = store.multi_get([("c0", keys)], &BulkGetOptions::default()).unwrap();
    assert_eq!(count(&answers.into_answers()[0]), Some(2));
}

#[rstest]
fn nothing_at_all_is_accepted(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let no_rows: [(&str, Vec<Row>); 0] = [];
    let put = store.multi_put(no_rows, &BulkPutOptions::default()).unwrap();
    assert_eq!(put.report.total.inserted, 0);
    let no_keys: [(&str, Vec<Row>); 0] = [];
    let answers = store.multi_get(no_keys, &BulkGetOptions::default()).unwrap().into_answers();
    assert!(answers.is_empty());
}

/// `putContainer` with a `ContainerInfo`: created, or checked.
#[rstest]
fn put_container_compares_the_definition(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let again = TABLES.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS");
    store.execute(&again).unwrap();
    let other = again.replace("count LONG", "count DOUBLE");
    let refused = failure(store.execute(&other));
    assert_error(refused, ErrorKind::Conflict, &["c0", "'count' is LONG, not DOUBLE"]);
}

/// `multi_put` into containers that have other rows already.
#[rstest]
#[case(OnExisting::Keep, 1)]
#[case(OnExisting::Replace, 7)]
fn multi_put_over_existing_row_keys(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] on_existing: OnExisting,
    #[case] expected: i64,
) {
    let store = stocked(on);
    let options = BulkPutOptions { on_existing, ..Default::default() };
    let put = store.multi_put([("c0", vec![make("n1", 7)])], &options).unwrap();
    assert_eq!(put.report.total.existed, 1);
    assert_eq!(all_rows(&store, "c0")[1], make("n1", expected));
}

#[rstest]
fn multi_put_of_a_row_of_another_schema_leaves_the_others(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let rows = vec![make("a", 1), make("b", 2).with("level", 5), make("c", 3)];
    let put = store.multi_put([("c0", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!((put.report.total.inserted, put.failures.len()), (2, 1));
    assert_eq!((put.failures[0].row, put.failures[0].column.as_deref()), (1, Some("level")));
}

#[rstest]
fn multi_put_into_a_hundred_containers(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let name = |number: usize| format!("device{number}");
    for number in 0..100 {
        let ddl = "(at TIMESTAMP(3), level DOUBLE, PRIMARY KEY (at))";
        store.execute(&format!("CREATE TABLE {} {ddl}", name(number))).unwrap();
    }
    let row = || tonnage::Row::new().with("at", "2026-01-01T00:00:00").with("level", 0.5);
    let rows = (0..100).map(|number| (name(number), vec![row()]));
    let put = store.multi_put(rows, &BulkPutOptions::default()).unwrap();
    assert_eq!(put.report.total.inserted, 100);
    let keys = (0..100).map(|number| (name(number), KeySource::all()));
    let answers = store.multi_get(keys, &BulkGetOptions::default()).unwrap().into_answers();
    assert!(answers.iter().all(|answer| count(answer) == Some(1)));
}

/// A range of times, the condition of GridDB's time series.
#[rstest]
fn multi_get_by_a_range_of_times(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE s (at TIMESTAMP(3), v LONG, PRIMARY KEY (at))");
    let at = |minute: i64| format!("2026-01-01T00:{minute:02}:00");
    let rows = (0..60).map(|minute| row! { "at" => at(minute), "v" => minute });
    store.multi_put([("s", rows.collect::<Vec<_>>())], &BulkPutOptions::default()).unwrap();
    let options = BulkGetOptions {
        range: Some(FieldRange::of("at").from(at(10)).to(at(19))),
        ..Default::default()
    };
    let answers = store.multi_get([("s", KeySource::all())], &options).unwrap().into_answers();
    assert_eq!(count(&answers[0]), Some(10));
}

/// The same container twice in one call: two answers.
#[rstest]
fn multi_get_of_one_container_twice(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let key = |name: &str| vec![row! { "name" => name }];
    let requests = [("c0", key("n1")), ("c0", key("n2")), ("c0", key("none"))];
    let answers = store.multi_get(requests, &BulkGetOptions::default()).unwrap().into_answers();
    assert_eq!(answers.iter().map(count).collect::<Vec<_>>(), [Some(1), Some(1), Some(0)]);
}

/// `remove` of a row, and of one that is not there.
#[rstest]
fn remove_tells_whether_there_was_a_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let table = store.table("c0").unwrap();
    let key = row! { "name" => "n1" };
    let remove = || table.delete(&key, &Default::default()).unwrap();
    assert_eq!((remove(), remove()), (true, false));
}

/// `dropContainer`, and a container that is created again is empty.
#[rstest]
fn drop_container(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    store.execute("DROP TABLE c0; DROP TABLE IF EXISTS c0").unwrap();
    assert_error(failure(store.execute("DROP TABLE c0")), ErrorKind::NotFound, &["c0"]);
    store.execute("CREATE TABLE c0 (name STRING, count LONG, PRIMARY KEY (name))").unwrap();
    assert_eq!(all_rows(&store, "c0").len(), 0);
}
