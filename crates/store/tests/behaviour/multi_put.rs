//! Rows of many tables in one call.

use rstest::rstest;
use tonnage::{BulkPutOptions, ErrorKind, ErrorsMax, OnExisting, Row, TableRows};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::{all_rows, assert_error, failure, row};

const SENSORS: &str = "CREATE TABLE heat (at LONG, level DOUBLE, PRIMARY KEY (at)); CREATE TABLE light (at LONG, lux INTEGER, PRIMARY KEY (at))";

fn heat(at: i64) -> Row {
    row! { "at" => at, "level" => at as f64 / 2.0 }
}

fn light(at: i64) -> Row {
    row! { "at" => at, "lux" => at as i32 * 10 }
}

#[rstest]
fn rows_go_to_their_tables_and_are_counted_table_by_table(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let rows =
        [("heat", (0..3).map(heat).collect::<Vec<_>>()), ("LIGHT", (0..5).map(light).collect())];
    let put = store.multi_put(rows, &BulkPutOptions::default()).unwrap();
    let counted: Vec<_> = put
        .report
        .streams
        .iter()
        .map(|stream| (stream.name.as_str(), stream.counts.inserted))
        .collect();
    assert_eq!(counted, [("heat", 3), ("light", 5)]);
    assert_eq!(put.failures, []);
    assert_eq!(all_rows(&store, "heat"), (0..3).map(heat).collect::<Vec<_>>());
    assert_eq!(all_rows(&store, "light"), (0..5).map(light).collect::<Vec<_>>());
}

#[rstest]
fn a_missing_table_is_named_and_nothing_is_written(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let put = store
        .multi_put([("heat", vec![heat(1)]), ("wind", vec![heat(1)])], &BulkPutOptions::default());
    assert_error(failure(put), ErrorKind::NotFound, &["wind"]);
    assert!(all_rows(&store, "heat").is_empty());
}

#[rstest]
fn a_row_of_another_schema_is_reported_with_table_row_and_column_and_the_others_are_stored(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SENSORS);
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let rows = [
        ("heat", vec![heat(1)]),
        ("light", vec![light(1), heat(2), light(3), row! { "at" => 4_i64, "lux" => true }]),
    ];
    let put = store.multi_put(rows, &options).unwrap();
    let failures: Vec<_> = put
        .failures
        .iter()
        .map(|failure| {
            (
                failure.table.as_str(),
                failure.row,
                format!("{:?} {}", failure.column, failure.reason),
            )
        })
        .collect();
    assert_eq!((failures.len(), failures[0].0, failures[0].1, failures[1].1), (2, "light", 1, 3));
    assert!(failures[0].2.contains("level"), "{failures:?}");
    assert!(failures[1].2.contains("lux") && failures[1].2.contains("BOOLEAN"), "{failures:?}");
    assert_eq!((put.report.total.inserted, put.report.total.failed), (3, 2));
    assert_eq!(all_rows(&store, "light"), [light(1), light(3)]);
    // The caller's own callbacks are called too.
    assert_eq!((recorder.failed().len(), recorder.completed().len()), (2, 2));
}

#[rstest]
fn no_tables_and_no_rows_are_fine(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let nothing =
        store.multi_put(Vec::<(String, TableRows)>::new(), &BulkPutOptions::default()).unwrap();
    assert_eq!(nothing.report.total.read, 0);
    let empty = store.multi_put([("heat", Vec::<Row>::new())], &BulkPutOptions::default()).unwrap();
    assert_eq!((empty.report.total.read, empty.report.streams[0].completed), (0, true));
}

#[rstest]
fn a_table_named_twice_gets_the_rows_of_both(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let put = store
        .multi_put(
            [("heat", vec![heat(1)]), ("heat", vec![heat(1), heat(2)])],
            &BulkPutOptions::default(),
        )
        .unwrap();
    assert_eq!((put.report.total.inserted, put.report.total.existed), (2, 1));
}

#[rstest]
fn replacing_upserts(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let options = || BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    store.multi_put([("light", vec![light(1)])], &options()).unwrap();
    let newer = |lux: i32| row! { "at" => 1_i64, "lux" => lux };
    let put = store.multi_put([("light", vec![newer(5), newer(6), light(2)])], &options()).unwrap();
    assert_eq!(all_rows(&store, "light"), [newer(6), light(2)]);
    assert_eq!((put.report.total.inserted, put.report.total.existed), (1, 2));
}

#[rstest]
fn record_batches_are_taken_too(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    store
        .multi_put([("heat", (0..100).map(heat).collect::<Vec<_>>())], &BulkPutOptions::default())
        .unwrap();
    let batches = store.table("heat").unwrap().scan(&Default::default()).unwrap();
    let batches: Vec<_> = batches.map(|batch| batch.unwrap().rows).collect();
    store.execute("CREATE TABLE copy (at LONG, level DOUBLE, PRIMARY KEY (at))").unwrap();
    store.multi_put([("copy", batches)], &BulkPutOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "copy"), all_rows(&store, "heat"));
}

/// A multi-put that stopped used to give its error alone: the caller could not learn which rows
/// were stored.
#[rstest]
fn a_multi_put_that_stopped_tells_what_it_had_done(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let options = BulkPutOptions {
        errors_max: ErrorsMax::Count(0),
        stream_parallelism: Some(1),
        ..Default::default()
    };
    let rows = [("heat", (0..9).map(heat).collect::<Vec<_>>()), ("light", vec![heat(1)])];
    let stopped = failure(store.multi_put(rows, &options));
    assert!(stopped.too_many_errors && stopped.flushed);
    assert_eq!((stopped.report.report.total.inserted, stopped.report.report.total.failed), (9, 1));
    assert_eq!(
        (stopped.report.failures[0].table.as_str(), stopped.report.failures[0].row),
        ("light", 0)
    );
    assert_error(stopped, ErrorKind::Invalid, &["errors_max", "9 were stored", "1 failed"]);
}

#[rstest]
fn failures_name_the_request_and_the_column(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SENSORS);
    let rows = [
        ("heat", vec![heat(1), row! { "at" => 2_i64, "level" => "warm" }]),
        ("heat", vec![row! { "level" => 1.0 }]),
        ("heat", vec![heat(3).with("colour", "red")]),
    ];
    let put = store
        .multi_put(rows, &BulkPutOptions { stream_parallelism: Some(1), ..Default::default() })
        .unwrap();
    let found: Vec<_> = put
        .failures
        .iter()
        .map(|failure| (failure.request, failure.row, failure.column.as_deref()))
        .collect();
    assert_eq!(found, [(0, 1, Some("level")), (1, 0, Some("at")), (2, 0, Some("colour"))]);
}

#[rstest]
fn thousands_of_tables_get_their_rows_in_one_call(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let tables: Vec<_> = (0..3_000).map(|number| format!("t{number}")).collect();
    let count = if on == Memory { 3_000 } else { 300 };
    for table in &tables[..count] {
        store
            .execute(&format!("CREATE TABLE {table} (at LONG, level DOUBLE, PRIMARY KEY (at))"))
            .unwrap();
    }
    let put = store
        .multi_put(
            tables[..count].iter().map(|table| (table, vec![heat(1)])),
            &BulkPutOptions::default(),
        )
        .unwrap();
    assert_eq!(put.report.total.inserted, count as u64);
    assert!(
        put.report.streams.iter().all(|stream| stream.completed && stream.counts.inserted == 1)
    );
    assert!(tables[..count].iter().all(|table| store.table(table).unwrap().count().unwrap() == 1));
}
