//! Reads where the system has no thread for them.

use tonnage::{
    BulkGetOptions, ErrorKind, KeySource, Result, Row, Store, TableScanOptions, WriteOptions,
};
use tonnage_testkit::alone;

use crate::common::row;

const ROWS: i64 = 20_000;

/// Set in the process whose threads cannot be had: each is to have a stack that no machine has.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "1152921504606846976");

/// The story of a bug: bulk gets and scans panicked where the system had no thread for them. A
/// source of keys that may wait could then wait for ever.
#[test]
fn a_read_without_threads_gives_all_rows_or_an_error() {
    let test = "few_threads::a_read_without_threads_gives_all_rows_or_an_error";
    alone(test, NO_THREADS, read_without_threads);
}

fn read_without_threads() {
    let started = std::thread::Builder::new().spawn(|| {});
    assert!(started.is_err(), "there are threads");
    let store = Store::open("memory:").unwrap();
    store.execute("CREATE TABLE t (id LONG, PRIMARY KEY (id))").unwrap();
    let table = store.table("t").unwrap();
    for id in 0..ROWS {
        table.put(&row! { "id" => id }, &WriteOptions::default()).unwrap();
    }
    let keys = || (0..ROWS).map(|id| row! { "id" => id });
    // A source that may wait for its next key.
    let source = || {
        let mut left = keys();
        KeySource::keys(std::iter::from_fn(move || left.next()))
    };
    check(table.scan(&TableScanOptions::default()).map(|read| {
        read.map(|batch| batch.map(|batch| batch.rows.num_rows())).sum::<Result<usize>>()
    }));
    for source in [
        KeySource::keys(keys().collect::<Vec<Row>>()),
        source(),
        KeySource::side_by_side([source(), KeySource::keys(Vec::<Row>::new())]),
    ] {
        check(table.bulk_get(source, &BulkGetOptions::default()).map(|read| {
            read.map(|batch| batch.map(|batch| batch.rows.num_rows())).sum::<Result<usize>>()
        }));
    }
    let answers = store.multi_get([("t", source())], &BulkGetOptions::default()).unwrap();
    for answer in answers.into_answers() {
        let rows = answer.map(|batches| batches.iter().map(|batch| batch.rows.num_rows()).sum());
        check(Ok(rows));
    }
}

fn check(read: Result<Result<usize>>) {
    match read.and_then(|rows| rows) {
        Ok(rows) => assert_eq!(rows, ROWS as usize),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
    }
}
