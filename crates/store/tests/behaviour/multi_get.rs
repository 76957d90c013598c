//! Rows of many tables in one call.

use rstest::rstest;
use tonnage::arrow::array::{Int64Array, RecordBatch};
use tonnage::{
    BulkGetOptions, BulkKey, BulkPutOptions, Direction, Error, ErrorKind, FieldRange, KeySource,
    MultiGet, Result, Row, Store, TableBatch, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};

fn reading(device: i64, at: i64) -> Row {
    row! { "device" => device, "at" => at, "level" => (device * 1_000 + at) as f64 }
}

/// Tables `t0`, `t1`, ... of the readings of some devices.
fn with_readings(on: Backend, tables: usize, devices: i64, each: i64) -> TestStore {
    let store = on.open();
    let rows = (0..devices)
        .flat_map(|device| (0..each).map(move |at| reading(device, at)))
        .collect::<Vec<_>>();
    for table in 0..tables {
        store
            .execute(&format!("CREATE TABLE t{table} (device LONG, at LONG, level DOUBLE, PRIMARY KEY (SHARD(device), at))"))
            .unwrap();
        store.multi_put([(format!("t{table}"), rows.clone())], &BulkPutOptions::default()).unwrap();
    }
    store
}

fn device(device: i64) -> Row {
    row! { "device" => device }
}

fn whole(device: i64, at: i64) -> Row {
    row! { "device" => device, "at" => at }
}

/// As record batches, for two key columns or for the first alone.
fn batch(devices: Vec<i64>, moments: Vec<i64>) -> RecordBatch {
    let mut columns = vec![("device", std::sync::Arc::new(Int64Array::from(devices)) as _)];
    if !moments.is_empty() {
        columns.push(("at", std::sync::Arc::new(Int64Array::from(moments)) as _));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

fn forward() -> BulkGetOptions {
    BulkGetOptions { direction: Direction::Forward, ..Default::default() }
}

/// Two workers, whatever the machine has.
fn two_workers() -> BulkGetOptions {
    BulkGetOptions { max_concurrent_requests: Some(2), ..Default::default() }
}

fn rows_of(answer: &Result<Vec<TableBatch>>) -> Vec<Row> {
    let batches = answer.as_ref().unwrap();
    batches
        .iter()
        .flat_map(|batch| {
            (0..batch.rows.num_rows()).map(|row| Row::from_batch(&batch.rows, row).unwrap())
        })
        .collect()
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| format!("{row:?}"));
    rows
}

fn get<K: Into<KeySource>>(
    store: &Store,
    keys: impl IntoIterator<Item = (&'static str, K)>,
) -> Vec<Result<Vec<TableBatch>>> {
    store.multi_get(keys, &two_workers()).unwrap().into_answers()
}

#[rstest]
fn each_request_has_its_own_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 2, 3, 4);
    let answers = get(
        &store,
        [
            ("t0", vec![whole(1, 2), whole(9, 9)]),
            ("T1", vec![device(2)]),
            ("t0", vec![whole(0, 0)]),
        ],
    );
    assert_eq!(rows_of(&answers[0]), [reading(1, 2)], "a key without a row gives none");
    assert_eq!(rows_of(&answers[1]), (0..4).map(|at| reading(2, at)).collect::<Vec<_>>());
    assert_eq!(rows_of(&answers[2]), [reading(0, 0)], "a table may be asked twice");
    assert_eq!(&*answers[1].as_ref().unwrap()[0].table, "t1");
}

#[rstest]
fn keys_come_as_batches_lists_or_streams(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 1, 3, 4);
    let expected = [reading(0, 1), reading(2, 3)];
    let sources = [
        KeySource::from(batch(vec![0, 2], vec![1, 3])),
        KeySource::from(vec![
            vec![Value::Long(0), Value::Long(1)],
            vec![Value::Long(2), Value::Long(3)],
        ]),
        KeySource::keys([whole(0, 1), whole(2, 3)]),
    ];
    for answer in get(&store, sources.map(|source| ("t0", source))) {
        assert_eq!(rows_of(&answer), expected);
    }
}

#[rstest]
fn a_request_that_cannot_be_answered_has_its_error_and_the_others_have_their_rows(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = with_readings(on, 2, 3, 4);
    let other: BulkKey = BulkKey::OfTable("t1".into(), whole(1, 1));
    let keys = [
        ("t0", KeySource::from(vec![device(0)])),
        ("wind", KeySource::from(vec![device(0)])),
        ("t0", KeySource::from(vec![row! { "at" => 1_i64 }])),
        ("t0", KeySource::keys([other])),
        (
            "t1",
            KeySource::try_keys([
                Ok(whole(1, 1).into()),
                Err(Error::unavailable("the queue is gone")),
            ]),
        ),
        ("t1", KeySource::from(vec![device(1)])),
    ];
    let mut answers = get(&store, keys);
    assert_eq!((rows_of(&answers[0]).len(), rows_of(&answers[5]).len()), (4, 4));
    assert_error(failure(answers.remove(4)), ErrorKind::Unavailable, &["the queue is gone"]);
    assert_error(failure(answers.remove(3)), ErrorKind::Invalid, &["t1", "key 0"]);
    assert_error(failure(answers.remove(2)), ErrorKind::Invalid, &["device", "key 0"]);
    assert_error(failure(answers.remove(1)), ErrorKind::NotFound, &["wind"]);
}

#[rstest]
fn after_its_error_nothing_comes_of_a_request(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 2, 50, 100);
    let bad = || {
        (0..5_000).map(
            |number| if number == 4_000 { Row::new() } else { whole(number / 100, number % 100) },
        )
    };
    let keys = [
        ("t0", KeySource::keys(bad().collect::<Vec<_>>())),
        ("t1", KeySource::from(vec![device(1)])),
    ];
    let mut failed = [false; 2];
    for (number, batch) in store.multi_get(keys, &two_workers()).unwrap() {
        assert!(!failed[number], "request {number} goes on after its error");
        failed[number] = batch.is_err();
    }
    assert_eq!(failed, [true, false]);
}

#[rstest]
fn options_hold_for_each_table(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 2, 3, 10);
    let options = BulkGetOptions {
        columns: Some(vec!["at".to_owned()]),
        range: Some(FieldRange::of("at").from(3)),
        limit_per_key: Some(1),
        direction: Direction::Reverse,
        ..Default::default()
    };
    let answers = store
        .multi_get([("t0", vec![device(1), device(0)]), ("t1", vec![device(2)])], &options)
        .unwrap()
        .into_answers();
    assert_eq!(rows_of(&answers[0]), [row! { "at" => 9_i64 }, row! { "at" => 9_i64 }]);
    assert_eq!(rows_of(&answers[1]), [row! { "at" => 9_i64 }]);
    // A column that one of the tables lacks is the error of that one.
    store.execute("CREATE TABLE other (device LONG, level DOUBLE, PRIMARY KEY (device))").unwrap();
    let options = BulkGetOptions { columns: Some(vec!["at".to_owned()]), ..Default::default() };
    let mut answers = store
        .multi_get([("t0", vec![device(1)]), ("other", vec![device(2)])], &options)
        .unwrap()
        .into_answers();
    assert_error(failure(answers.remove(1)), ErrorKind::Invalid, &["at"]);
    assert_eq!(rows_of(&answers[0]).len(), 10);
}

#[rstest]
fn ordered_answers_come_in_the_order_of_their_keys(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 4, 30, 200);
    let devices = || (0..30).rev().map(device).collect::<Vec<_>>();
    let expected: Vec<Row> =
        (0..30).rev().flat_map(|device| (0..200).map(move |at| reading(device, at))).collect();
    let options =
        BulkGetOptions { batch_rows_max: 64, max_concurrent_requests: Some(3), ..forward() };
    for answer in store
        .multi_get(["t0", "t1", "t2", "t3"].map(|table| (table, devices())), &options)
        .unwrap()
        .into_answers()
    {
        assert_eq!(rows_of(&answer), expected);
    }
}

#[rstest]
fn many_keys_of_many_tables_give_what_bulk_gets_give(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 2, 7)] workers: usize,
) {
    let store = with_readings(on, 3, 40, 100);
    // Each key once, in no order; some have no row.
    let places = || (0..6_500).map(|number| number * 7_919 % 6_500);
    let points = batch(
        places().map(|place| place / 130).collect(),
        places().map(|place| place % 130).collect(),
    );
    let partial = batch((0..60).collect(), Vec::new());
    let options = BulkGetOptions {
        max_concurrent_requests: Some(workers),
        batch_rows_max: 500,
        memory_bytes_max: 64 << 10,
        ..Default::default()
    };
    let requests =
        [("t0", points.clone()), ("t1", partial.clone()), ("t2", points), ("t1", partial)];
    let answers = store.multi_get(requests.clone(), &options).unwrap().into_answers();
    for ((table, keys), answer) in requests.into_iter().zip(&answers) {
        let alone = store.table(table).unwrap().bulk_get(keys.into(), &options).unwrap();
        let alone: Vec<Row> = alone.into_rows().map(|row| row.unwrap().row).collect();
        let answer = rows_of(answer);
        assert_eq!((answer.len(), alone.len()), (4_000, 4_000));
        assert!(sorted(answer) == sorted(alone), "other rows of {table}");
    }
}

#[rstest]
fn no_requests_and_no_keys_are_fine(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 1, 1, 1);
    assert!(get(&store, Vec::<(&'static str, KeySource)>::new()).is_empty());
    let answers = get(&store, [("t0", Vec::<Row>::new())]);
    assert!(rows_of(&answers[0]).is_empty());
}

#[test]
fn settings_out_of_their_range_are_refused_at_once() {
    let store = with_readings(Memory, 1, 1, 1);
    let options = BulkGetOptions { limit_per_key: Some(0), ..Default::default() };
    assert_error(
        failure(store.multi_get([("t0", vec![device(0)])], &options)),
        ErrorKind::Invalid,
        &["limit_per_key"],
    );
}

#[test]
fn a_source_of_keys_that_panics_is_an_error_of_its_request() {
    let store = with_readings(Memory, 2, 2, 2);
    let panicking = KeySource::keys(
        (0..2).map(|number| if number == 1 { panic!("no more keys") } else { device(0) }),
    );
    let mut answers = get(&store, [("t0", panicking), ("t1", KeySource::from(vec![device(1)]))]);
    assert_eq!(rows_of(&answers[1]).len(), 2);
    assert_error(failure(answers.remove(0)), ErrorKind::Internal, &["panicked"]);
}

#[rstest]
fn a_reader_that_leaves_ends_requests_that_find_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 2, 2, 1_000);
    let nothing = KeySource::keys((0_i64..).map(|number| whole(-1, number)));
    let mut answers = store
        .multi_get([("t0", KeySource::from(vec![device(1)])), ("t1", nothing)], &two_workers())
        .unwrap();
    assert!(answers.next().is_some());
    drop(answers);
}

/// The first rows are there long before the last key is drawn, and a reader that leaves ends the
/// reading.
#[rstest]
fn answers_are_drawn_as_they_come_and_may_be_left(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 2, 2, 100);
    let endless = || KeySource::keys((0_i64..).map(|number| whole(number % 2, number % 100)));
    let mut answers: MultiGet =
        store.multi_get([("t0", endless()), ("t1", endless())], &two_workers()).unwrap();
    for _ in 0..20 {
        assert!(answers.next().unwrap().1.unwrap().rows.num_rows() > 0);
    }
    drop(answers);
}

/// Hundreds of requests shared so little memory that none was left for a single key: empty tasks
/// were created without end.
#[rstest]
fn many_requests_share_little_memory(#[values(Memory, RocksDb)] on: Backend) {
    let store = with_readings(on, 1, 4, 1);
    let options = BulkGetOptions {
        memory_bytes_max: 64 << 10,
        max_concurrent_requests: Some(1_024),
        ..Default::default()
    };
    let requests = (0..600).map(|number| ("t0", KeySource::keys(vec![whole(number % 4, 0)])));
    let answers = store.multi_get(requests, &options).unwrap().into_answers();
    assert_eq!(answers.len(), 600);
    assert!(answers.iter().all(|answer| rows_of(answer).len() == 1));
}
