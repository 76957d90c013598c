//! Oracle NoSQL, `BulkPutTest` and `BulkTableTest`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rstest::rstest;
use tonnage::{
    BulkPutCallbacks, BulkPutOptions, Error, ErrorKind, ExistingEntry, OnExisting, Result, Row,
    StreamReport, row_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, all_rows, assert_error, failure, row};

fn store(on: Backend) -> TestStore {
    on.with_tables(
        "CREATE TABLE u (id LONG, v STRING, PRIMARY KEY (id));
         CREATE TABLE u.a (n LONG, v STRING, PRIMARY KEY (n))",
    )
}

fn make(id: i64, v: &str) -> Row {
    row! { "id" => id, "v" => v }
}

fn stream(rows: Vec<Row>) -> Box<dyn tonnage::EntryStream> {
    let table: Arc<str> = "u".into();
    row_stream("u", rows.into_iter().map(move |row| Ok((table.clone(), row))))
}

/// Counts its calls.
#[derive(Default)]
struct Told {
    existing: AtomicU64,
    completed: Mutex<Vec<String>>,
}

impl BulkPutCallbacks for Told {
    fn existing(&self, _: &ExistingEntry<'_>) -> Result<()> {
        self.existing.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn completed(&self, stream: &StreamReport) {
        self.completed.lock().unwrap().push(stream.name.clone());
    }
}

fn told(on_existing: OnExisting) -> (Arc<Told>, BulkPutOptions) {
    let told = Arc::new(Told::default());
    let options = BulkPutOptions { callbacks: told.clone(), on_existing, ..Default::default() };
    (told, options)
}

#[rstest]
fn test_basic(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 3, 10)] streams: i64,
    #[values(0, 1, 1_000)] rows: i64,
) {
    let store = store(on);
    let (told, options) = told(OnExisting::Keep);
    let of = |stream: i64| (0..rows).map(|n| make(n * streams + stream, "x")).collect();
    let report = store.bulk_put((0..streams).map(|s| stream(of(s))).collect(), &options).unwrap();
    assert_eq!(report.total.inserted, (streams * rows) as u64);
    assert_eq!(told.completed.lock().unwrap().len() as i64, streams);
    assert_eq!(store.table("u").unwrap().count().unwrap(), (streams * rows) as u64);
}

#[rstest]
fn test_key_exists(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let rows = || (0..300).map(|id| make(id, "first")).collect();
    for (round, expected) in [(0, 0), (1, 300), (2, 300)] {
        let (told, options) = told(OnExisting::Keep);
        store.bulk_put(vec![stream(rows())], &options).unwrap();
        assert_eq!(told.existing.load(Ordering::SeqCst), expected, "round {round}");
    }
}

#[rstest]
fn test_duplicates_in_one_stream_keep_the_first(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let (told, options) = told(OnExisting::Keep);
    let rows = vec![make(1, "first"), make(1, "second"), make(1, "third"), make(2, "x")];
    store.bulk_put(vec![stream(rows)], &options).unwrap();
    assert_eq!(told.existing.load(Ordering::SeqCst), 2);
    assert_eq!(all_rows(&store, "u"), [make(1, "first"), make(2, "x")]);
}

#[rstest]
fn test_overwrite_stores_the_last(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let (told, options) = told(OnExisting::Replace);
    store.bulk_put(vec![stream(vec![make(1, "old")])], &options).unwrap();
    store.bulk_put(vec![stream(vec![make(1, "new"), make(1, "last")])], &options).unwrap();
    assert_eq!(told.existing.load(Ordering::SeqCst), 0);
    assert_eq!(all_rows(&store, "u"), [make(1, "last")]);
}

#[rstest]
fn test_duplicates_across_streams_store_one(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let (told, options) = told(OnExisting::Keep);
    let streams = (0..5).map(|s| stream(vec![make(7, &format!("s{s}"))])).collect();
    store.bulk_put(streams, &options).unwrap();
    assert_eq!(told.existing.load(Ordering::SeqCst), 4);
    assert_eq!(all_rows(&store, "u").len(), 1);
}

#[rstest]
fn test_a_failing_stream_stops_the_put(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let (told, options) = told(OnExisting::Keep);
    let table: Arc<str> = "u".into();
    let rows = vec![Ok((table, make(1, "x"))), Err(Error::invalid("the source broke"))];
    let stopped = failure(store.bulk_put(vec![row_stream("broken", rows)], &options));
    assert_error(stopped.error, ErrorKind::Invalid, &["the source broke"]);
    assert!(told.completed.lock().unwrap().is_empty());
}

/// The callback for existing keys fails: the error callback's count has the entry, the load
/// continues.
#[rstest]
fn test_a_failing_key_exists_callback(#[values(Memory, RocksDb)] on: Backend) {
    struct Refusing;
    impl BulkPutCallbacks for Refusing {
        fn existing(&self, _: &ExistingEntry<'_>) -> Result<()> {
            Err(Error::invalid("no"))
        }
    }
    let store = store(on);
    let options = BulkPutOptions { callbacks: Arc::new(Refusing), ..Default::default() };
    let rows = vec![make(1, "x"), make(1, "y"), make(2, "z")];
    let report = store.bulk_put(vec![stream(rows)], &options).unwrap();
    assert_eq!((report.total.inserted, report.total.failed), (2, 1));
}

#[rstest]
fn test_options_made_once_serve_many_puts(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let options = BulkPutOptions::default();
    for id in 0..3 {
        store.bulk_put(vec![stream(vec![make(id, "x")])], &options).unwrap();
    }
    assert_eq!(all_rows(&store, "u").len(), 3);
}

#[rstest]
fn test_no_streams(#[values(Memory, RocksDb)] on: Backend) {
    let stopped = failure(store(on).bulk_put(Vec::new(), &BulkPutOptions::default()));
    assert_error(stopped.error, ErrorKind::Invalid, &["at least one stream"]);
}

#[rstest]
fn test_parents_and_children_in_one_stream(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    let [parent, child]: [Arc<str>; 2] = ["u".into(), "u.a".into()];
    let rows = (0..100).flat_map(|id| {
        let below = row! { "id" => id, "n" => 1_i64, "v" => "child" };
        [Ok((child.clone(), below)), Ok((parent.clone(), make(id, "parent")))]
    });
    let rows: Vec<_> = rows.collect();
    let put = store.bulk_put(vec![row_stream("family", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!(put.total.inserted, 200);
    assert_eq!(store.table("u.a").unwrap().count().unwrap(), 100);
}

#[rstest]
fn test_invalid_options(#[values(Memory, RocksDb)] on: Backend) {
    let store = store(on);
    for (options, named) in [
        (
            BulkPutOptions { stream_parallelism: Some(0), ..Default::default() },
            "stream_parallelism",
        ),
        (
            BulkPutOptions { per_shard_parallelism: Some(0), ..Default::default() },
            "per_shard_parallelism",
        ),
        (BulkPutOptions { memory_bytes_max: Some(0), ..Default::default() }, "memory_bytes_max"),
        (BulkPutOptions { request_bytes_max: 0, ..Default::default() }, "request_bytes_max"),
    ] {
        let stopped = failure(store.bulk_put(vec![stream(vec![make(1, "x")])], &options));
        assert_error(stopped.error, ErrorKind::Invalid, &[named]);
    }
}
