//! Loads that are stopped: by a source, a callback, too many errors, a panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rstest::rstest;
use tonnage::{BulkPutOptions, Error, ErrorKind, ErrorsMax, Result, Row, row_stream};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::shop::rows_of;
use crate::common::{all_rows, assert_error, failure, row};

const SHIPS: &str = "CREATE TABLE ships (id INTEGER, name STRING, PRIMARY KEY (id))";

fn ship(id: i32) -> Row {
    row! { "id" => id, "name" => format!("ship {id}") }
}

/// A row that cannot be stored: its key is NULL.
fn bad_ship() -> Row {
    row! { "id" => tonnage::Value::Null, "name" => "nobody" }
}

fn ships(rows: impl IntoIterator<Item = Result<Row>>) -> Vec<Result<(Arc<str>, Row)>> {
    rows.into_iter().map(|row| row.map(|row| ("ships".into(), row))).collect()
}

#[rstest]
fn when_a_source_fails_the_entries_before_are_stored_and_the_error_names_stream_and_position(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SHIPS);
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let rows =
        ships((0..10).map(|id| Ok(ship(id))).chain([Err(Error::invalid("line 11 is torn"))]));
    let stopped = failure(store.bulk_put(vec![row_stream("fleet.csv", rows)], &options));

    assert_eq!((stopped.report.total.read, stopped.report.total.inserted), (10, 10));
    assert!(!stopped.report.streams[0].completed && !stopped.too_many_errors);
    assert_error(
        stopped,
        ErrorKind::Invalid,
        &["fleet.csv", "stream 0", "10 entries", "line 11 is torn"],
    );
    assert_eq!(recorder.completed(), []);
    assert_eq!(recorder.failed(), []);
    assert_eq!(all_rows(&store, "ships").len(), 10);
}

#[rstest]
fn a_stream_that_panics_stops_the_load_with_an_error(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let rows = (0..20).map(|id| {
        if id == 15 { panic!("the gauge broke") } else { Ok(("ships".into(), ship(id))) }
    });
    let batches = row_stream("gauge", rows);
    let stopped = failure(store.bulk_put(vec![batches], &BulkPutOptions::default()));
    assert_error(stopped, ErrorKind::Internal, &["gauge", "panicked", "the gauge broke"]);
    // The store is none the worse for it.
    store.bulk_put(vec![rows_of("ships", (0..20).map(ship))], &BulkPutOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "ships").len(), 20);
}

#[rstest]
fn when_the_existing_callback_fails_the_entry_counts_as_failed_and_the_load_goes_on(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SHIPS);
    store.bulk_put(vec![rows_of("ships", [ship(1)])], &BulkPutOptions::default()).unwrap();
    let recorder = Recorder {
        on_existing: Some(Box::new(|_| Err(Error::invalid("no room for it")))),
        ..Default::default()
    };
    let (recorder, options) = recorder.watch(BulkPutOptions::default());
    let report = store.bulk_put(vec![rows_of("ships", (0..4).map(ship))], &options).unwrap();

    assert_eq!((report.total.inserted, report.total.existed, report.total.failed), (3, 0, 1));
    let failed = recorder.failed();
    assert_eq!(
        (failed.len(), failed[0].position, failed[0].reason.as_str()),
        (1, 1, "no room for it")
    );
    assert_eq!(recorder.completed().len(), 1);
}

#[rstest]
fn when_the_error_callback_fails_the_load_stops_with_that_error(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SHIPS);
    let recorder = Recorder {
        on_failed: Some(Box::new(|_| Err(Error::conflict("enough of this")))),
        ..Default::default()
    };
    let (recorder, options) = recorder.watch(BulkPutOptions::default());
    let stopped =
        failure(store.bulk_put(vec![rows_of("ships", [ship(1), bad_ship(), ship(2)])], &options));

    assert_eq!(stopped.report.total.failed, 1);
    assert_error(stopped, ErrorKind::Conflict, &["enough of this"]);
    assert_eq!(recorder.completed(), []);
}

#[rstest]
fn when_the_error_callback_fails_for_an_existing_entry_the_load_stops_too(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SHIPS);
    store.bulk_put(vec![rows_of("ships", [ship(1)])], &BulkPutOptions::default()).unwrap();
    let recorder = Recorder {
        on_existing: Some(Box::new(|_| Err(Error::invalid("refused")))),
        on_failed: Some(Box::new(|_| Err(Error::conflict("and stopped")))),
        ..Default::default()
    };
    let (_, options) = recorder.watch(BulkPutOptions::default());
    let stopped = failure(store.bulk_put(vec![rows_of("ships", (0..4).map(ship))], &options));
    assert_error(stopped, ErrorKind::Conflict, &["and stopped"]);
}

#[rstest]
fn more_failures_than_allowed_stop_the_load(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let mixed = || rows_of("ships", [ship(1), bad_ship(), ship(2), bad_ship(), ship(3)]);
    let allow = |errors_max| BulkPutOptions { errors_max, ..Default::default() };

    let report = store.bulk_put(vec![mixed()], &allow(ErrorsMax::Count(2))).unwrap();
    assert_eq!((report.total.inserted, report.total.failed), (3, 2));
    let stopped = failure(store.bulk_put(vec![mixed()], &allow(ErrorsMax::Count(1))));
    assert!(stopped.too_many_errors);
    assert_eq!(stopped.report.total.failed, 2);
    assert_error(stopped, ErrorKind::Invalid, &["errors_max", "1"]);
}

#[rstest]
fn a_larger_share_of_failures_than_allowed_stops_the_load(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let tenth_is_bad =
        || rows_of("ships", (0..5_000).map(|id| if id % 10 == 0 { bad_ship() } else { ship(id) }));
    let allow =
        |percent| BulkPutOptions { errors_max: ErrorsMax::Percent(percent), ..Default::default() };

    assert_eq!(store.bulk_put(vec![tenth_is_bad()], &allow(11.0)).unwrap().total.failed, 500);
    let stopped = failure(store.bulk_put(vec![tenth_is_bad()], &allow(9.0)));
    assert!(stopped.too_many_errors && stopped.report.total.read < 5_000);
    assert_error(stopped, ErrorKind::Invalid, &["errors_max", "9%"]);
    // A few rows are judged at the end.
    let few = rows_of("ships", [ship(1), bad_ship()]);
    assert!(failure(store.bulk_put(vec![few], &allow(9.0))).too_many_errors);
}

#[rstest]
fn when_one_stream_fails_the_others_stop_and_keep_what_they_brought(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(SHIPS);
    let fails =
        row_stream("short", ships([Ok(ship(-1)), Err(Error::unavailable("the line went dead"))]));
    let read = Arc::new(AtomicUsize::new(0));
    let counted = read.clone();
    let endless = row_stream(
        "endless",
        (0..).map(move |id| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(("ships".into(), ship(id)))
        }),
    );
    let options = BulkPutOptions { stream_parallelism: Some(2), ..Default::default() };
    let stopped = failure(store.bulk_put(vec![fails, endless], &options));

    let total = stopped.report.total;
    assert_eq!(total.inserted + total.existed + total.failed, total.read);
    assert_eq!(all_rows(&store, "ships").len() as u64, total.inserted);
    assert_error(stopped, ErrorKind::Unavailable, &["short", "the line went dead"]);
}

#[rstest]
#[case::when_told_of_a_failure(Recorder { on_failed: Some(Box::new(|_| panic!("the callback broke"))), ..Default::default() })]
#[case::when_told_of_an_existing_key(Recorder { on_existing: Some(Box::new(|_| panic!("the callback broke"))), ..Default::default() })]
#[case::when_told_of_a_complete_stream(Recorder { on_completed: Some(Box::new(|_| panic!("the callback broke"))), ..Default::default() })]
fn a_callback_that_panics_stops_the_load_with_an_error(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] recorder: Recorder,
) {
    let store = on.with_tables(SHIPS);
    let (_, options) = recorder.watch(BulkPutOptions::default());
    let rows = [ship(1), bad_ship(), ship(1)];
    let stopped = failure(store.bulk_put(vec![rows_of("ships", rows.clone())], &options));
    assert_error(stopped, ErrorKind::Internal, &["panicked", "the callback broke"]);
    // The store is none the worse for it.
    store.bulk_put(vec![rows_of("ships", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "ships"), [ship(1)]);
}
