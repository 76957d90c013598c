//! Bulk puts whose server stays there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tonnage::arrow::array::{Int64Array, RecordBatch};
use tonnage::{
    BulkPutOptions, Cancel, Direction, Durability, Error, ErrorKind, ErrorsMax, Key, OnExisting,
    PairGetOptions, Pairs, Progress, Row, TooManyErrors, record_batch_stream, row_stream,
};

use crate::support::{BulkCalls, Heard, Running, failing, maybe_ships, ships};

#[test]
fn a_put_is_completed_and_its_report_counts_every_row() {
    let server = Running::new();
    let (heard, progress) = (Arc::new(Heard::default()), Progress::default());
    let options = BulkPutOptions {
        durability: Durability::Fsync,
        callbacks: heard.clone(),
        progress: Some(progress.clone()),
        ..BulkPutOptions::default()
    };
    let batches = (0..10).map(|batch| Ok(ships(batch * 1_000..batch * 1_000 + 1_000)));
    let report = server.client().put_batches("ships", batches, &options).unwrap();
    assert_eq!((report.total.read, report.total.inserted), (10_000, 10_000));
    assert!(report.streams[0].completed);
    assert_eq!(*heard.completed.lock().unwrap(), ["ships"]);
    assert_eq!(progress.total().inserted, 10_000);
    assert_eq!(server.ships(), 10_000);
}

#[test]
fn streams_side_by_side_are_reported_one_by_one() {
    let server = Running::new();
    let stream = |number: i64| {
        let rows = ships(number * 100..number * 100 + 100);
        record_batch_stream(format!("file {number}"), "ships", [Ok(rows)])
    };
    let streams = (0..5).map(stream).collect();
    let options = BulkPutOptions { stream_parallelism: Some(2), ..BulkPutOptions::default() };
    let report = server.client().bulk_put(streams, &options).unwrap();
    let told: Vec<_> = report.streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(told, ["file 0", "file 1", "file 2", "file 3", "file 4"]);
    assert!(report.streams.iter().all(|stream| stream.completed && stream.counts.inserted == 100));
}

#[test]
fn a_stream_without_rows_is_complete() {
    let server = Running::new();
    let report = server.client().put_batches("ships", [], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.read, report.streams[0].completed), (0, true));
}

#[test]
fn existing_rows_stay_or_are_replaced_as_asked_for() {
    let server = Running::new();
    let client = server.client();
    let row = |name: &str| Row::new().with("id", 1).with("name", name);
    client.put("ships", [row("old")], &BulkPutOptions::default()).unwrap();
    let kept = client.put("ships", [row("new")], &BulkPutOptions::default()).unwrap();
    assert_eq!((kept.total.existed, kept.total.inserted), (1, 0));
    let name =
        || client.table("ships").unwrap().get(&Row::new().with("id", 1)).unwrap().unwrap().row;
    assert_eq!(name().get("name"), Some(&"old".into()));
    let replace = BulkPutOptions { on_existing: OnExisting::Replace, ..BulkPutOptions::default() };
    client.put("ships", [row("new")], &replace).unwrap();
    assert_eq!(name().get("name"), Some(&"new".into()));
}

#[test]
fn rows_that_do_not_fit_are_told_by_their_place_in_the_source() {
    let server = Running::new();
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let batches = [maybe_ships(&[Some(1), None, Some(2)]), maybe_ships(&[Some(3), None])];
    let report = server.client().put_batches("ships", batches.map(Ok), &options).unwrap();
    let counts = report.total;
    assert_eq!((counts.read, counts.inserted, counts.failed), (5, 3, 2));
    let places: Vec<u64> = heard.failed.lock().unwrap().iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [1, 4]);
}

/// Such rows were stored under rounded keys, where all but one of a second were lost.
#[test]
fn a_row_whose_key_would_be_rounded_is_refused() {
    let server = Running::new();
    let ddl = "CREATE TABLE fixes (at TIMESTAMP(0), PRIMARY KEY (at))";
    server.store.execute(ddl).unwrap();
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let rows = ["00.2", "01", "01.7", "02"].map(|second| {
        let at = format!("2022-01-03T06:00:{second}");
        Ok(("fixes".into(), Row::new().with("at", at)))
    });
    let report = server.client().bulk_put(vec![row_stream("fixes", rows)], &options).unwrap();
    let counts = report.total;
    assert_eq!((counts.read, counts.inserted, counts.failed), (4, 2, 2));
    let places: Vec<u64> = heard.failed.lock().unwrap().iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [0, 2]);
}

/// NULL was stored in their place.
#[test]
fn the_server_makes_the_defaults_that_are_made_for_each_row() {
    let server = Running::new();
    let ddl = "CREATE TABLE fixes (id LONG, at TIMESTAMP(3) DEFAULT now(), PRIMARY KEY (id))";
    server.store.execute(ddl).unwrap();
    let row = |id: i64| Row::new().with("id", id);
    let given = "2022-01-03T06:00:00";
    let streams = [vec![row(1), row(2)], vec![row(3), row(4).with("at", given)]];
    let streams = streams
        .map(|rows| row_stream("fixes", rows.into_iter().map(|row| Ok(("fixes".into(), row)))));
    server.client().bulk_put(streams.into(), &BulkPutOptions::default()).unwrap();
    let table = server.store.table("fixes").unwrap();
    for id in 1..=4 {
        let found = table.get(&row(id)).unwrap().unwrap().row;
        assert!(found.get("at").is_some_and(|at| !at.is_null()), "{found:?}");
    }
}

/// Rows of later batches were reported by their positions in these.
#[test]
fn rows_are_told_by_their_place_in_the_source_whichever_batch_they_come_in() {
    let server = Running::new();
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let rows = (0..3_000_i64).map(|id| {
        let row = Row::new();
        let row = if id % 1_000 == 999 { row.with("id", "x") } else { row.with("id", id) };
        Ok(("ships".into(), row))
    });
    server.client().bulk_put(vec![row_stream("ships", rows)], &options).unwrap();
    let places: Vec<u64> = heard.failed.lock().unwrap().iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [999, 1_999, 2_999]);
}

/// Once the server reported the first 10,000 only, and a list of rejects was cut short.
#[test]
fn every_row_that_the_server_refuses_is_told() {
    const ROWS: u64 = 30_000;
    let server = Running::new();
    let ddl = "CREATE TABLE calls (n LONG GENERATED ALWAYS AS IDENTITY, port LONG NOT NULL, \
               PRIMARY KEY (n))";
    server.store.execute(ddl).unwrap();
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let ports: Int64Array = (0..ROWS).map(|_| None::<i64>).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([("port", Arc::new(ports) as _, true)]);
    let report = server.client().put_batches("calls", [Ok(batch.unwrap())], &options).unwrap();
    assert_eq!((report.total.read, report.total.failed), (ROWS, ROWS));
    let mut places: Vec<u64> = heard.failed.lock().unwrap().iter().map(|(at, _)| *at).collect();
    places.sort_unstable();
    assert!(places.into_iter().eq(0..ROWS));
}

#[test]
fn a_row_that_exists_stops_a_put_that_may_meet_none() {
    let server = Running::new();
    let client = server.client();
    client.put_batches("ships", [Ok(ships([7]))], &BulkPutOptions::default()).unwrap();
    let options = BulkPutOptions { on_existing: OnExisting::Fail, ..BulkPutOptions::default() };
    let batch = maybe_ships(&[None, Some(6), Some(7)]);
    let stopped = client.put_batches("ships", [Ok(batch)], &options).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::Conflict);
    let message = stopped.error.message();
    assert!(message.contains("id 7") && message.contains("without the 1 that"), "{message}");
    assert!(!stopped.report.streams[0].completed);
}

#[test]
fn a_put_stops_when_too_much_has_failed() {
    let server = Running::new();
    let errors_max = ErrorsMax::Count(1);
    let options = BulkPutOptions { errors_max, ..BulkPutOptions::default() };
    let batch = maybe_ships(&[None, Some(6), None]);
    let stopped = server.client().put_batches("ships", [Ok(batch)], &options).unwrap_err();
    assert!(stopped.too_many_errors);
    assert!(stopped.error.message().contains("errors_max"), "{stopped}");
    assert!(!stopped.report.streams[0].completed);
}

#[test]
fn a_source_that_fails_is_never_completed_and_what_came_is_stored() {
    let server = Running::new();
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let batches = failing(3, Error::invalid("line 301 cannot be read"));
    let stopped = server.client().put_batches("ships", batches, &options).unwrap_err();
    assert_eq!(stopped.error.message(), "line 301 cannot be read");
    assert!(!stopped.report.streams[0].completed);
    assert!(heard.completed.lock().unwrap().is_empty());
    assert!(stopped.flushed, "the server said what it stored");
    assert_eq!((stopped.report.total.inserted, server.ships()), (300, 300));
}

#[test]
fn a_source_that_panics_is_never_completed() {
    let server = Running::new();
    let batches = (0..3).map(|batch| match batch {
        2 => panic!("the source of this test panics"),
        batch => Ok(ships(batch * 10..batch * 10 + 10)),
    });
    let options = BulkPutOptions::default();
    let stopped = server.client().put_batches("ships", batches, &options).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::Internal);
    assert!(!stopped.report.streams[0].completed);
}

/// A source that brings one batch and then nothing for a long time.
fn stuck() -> impl Iterator<Item = tonnage::Result<tonnage::arrow::array::RecordBatch>> + Send {
    let wait = || {
        std::thread::sleep(Duration::from_secs(60));
        Ok(ships([1_000]))
    };
    std::iter::once(Ok(ships(0..10))).chain(std::iter::once_with(wait))
}

#[test]
fn a_put_that_is_cancelled_returns_without_its_source_and_tells_what_is_stored() {
    let server = Running::new();
    let cancel = Cancel::new();
    let options = BulkPutOptions { cancel: cancel.clone(), ..BulkPutOptions::default() };
    let (started, store) = (Instant::now(), server.store.clone());
    std::thread::spawn(move || {
        // Until what came first is stored: at the latest after half a minute.
        let count = || store.table("ships").unwrap().count().unwrap();
        for _ in (0..300).take_while(|_| count() < 10) {
            std::thread::sleep(Duration::from_millis(100));
        }
        cancel.cancel();
    });
    let stopped = server.client().put_batches("ships", stuck(), &options).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::Cancelled);
    // Less than the source takes.
    assert!(started.elapsed() < Duration::from_secs(55), "{:?}", started.elapsed());
    assert_eq!((stopped.report.total.inserted, stopped.report.streams[0].completed), (10, false));
}

#[test]
fn a_put_whose_time_is_over_stops() {
    let server = Running::new();
    let timeout = Some(Duration::from_millis(500));
    let options = BulkPutOptions { timeout, ..BulkPutOptions::default() };
    let stopped = server.client().put_batches("ships", stuck(), &options).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::TimedOut);
    assert!(!stopped.report.streams[0].completed);
}

/// Counts the ships at the server once a stream is complete, and then panics if that is wanted.
struct Counting {
    client: tonnage_client::RemoteStore,
    counted: std::sync::Mutex<Option<u64>>,
    panics: bool,
}

impl tonnage::BulkPutCallbacks for Counting {
    fn completed(&self, _: &tonnage::StreamReport) {
        *self.counted.lock().unwrap() = self.client.table("ships").unwrap().count().ok();
        assert!(!self.panics, "the callback of this test panics");
    }
}

#[test]
fn a_callback_may_call_the_server() {
    let server = Running::new();
    let client = server.client();
    let callbacks =
        Arc::new(Counting { client: client.clone(), counted: None.into(), panics: false });
    let options = BulkPutOptions { callbacks: callbacks.clone(), ..BulkPutOptions::default() };
    client.put_batches("ships", [Ok(ships(0..10))], &options).unwrap();
    assert_eq!(*callbacks.counted.lock().unwrap(), Some(10));
}

#[test]
fn a_callback_that_panics_stops_the_put() {
    let server = Running::new();
    let client = server.client();
    let callbacks =
        Arc::new(Counting { client: client.clone(), counted: None.into(), panics: true });
    let options = BulkPutOptions { callbacks, ..BulkPutOptions::default() };
    let stopped = client.put_batches("ships", [Ok(ships(0..10))], &options).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::Internal);
}

#[test]
fn a_table_that_there_is_not_is_named() {
    let server = Running::new();
    let put = server.client().put_batches("ferries", [Ok(ships([1]))], &BulkPutOptions::default());
    let stopped = put.unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::NotFound);
    assert!(stopped.error.message().contains("ferries"), "{stopped}");
}

#[test]
fn a_rate_is_kept() {
    let server = Running::new();
    let rows_per_second_max = Some(1_000);
    let options = BulkPutOptions { rows_per_second_max, ..BulkPutOptions::default() };
    let batches = (0..4).map(|batch| Ok(ships(batch * 100..batch * 100 + 100)));
    let started = Instant::now();
    server.client().put_batches("ships", batches, &options).unwrap();
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
}

#[test]
fn pairs_go_in_and_come_out() {
    let server = Running::new();
    let client = server.client();
    let key = |minor: &str| Key::new(["fleet"], [minor]);
    let put = |pairs: &[(&str, &str)]| {
        let mut batch = Pairs::new();
        pairs.iter().for_each(|(minor, value)| {
            batch.push(&key(minor), value.as_bytes()).unwrap();
        });
        let replace =
            BulkPutOptions { on_existing: OnExisting::Replace, ..BulkPutOptions::default() };
        client.kv().bulk_put([Ok(batch)], &replace).unwrap();
    };
    put(&[("a", "1"), ("b", "2")]);
    put(&[("b", "3")]);
    let options = PairGetOptions { direction: Direction::Forward, ..PairGetOptions::default() };
    let found = client.kv().bulk_get(["a", "b", "c"].map(key), &options).unwrap();
    let found: Vec<_> = found
        .flat_map(|batch| {
            let batch = batch.unwrap();
            (0..batch.len()).map(|at| batch.pair(at).unwrap()).collect::<Vec<_>>()
        })
        .map(|pair| (pair.key, pair.value))
        .collect();
    assert_eq!(found, [(key("a"), b"1".to_vec()), (key("b"), b"3".to_vec())]);
}

/// Once the client looked for a word in the server's message.
#[test]
fn too_many_errors_that_only_the_server_sees_are_told_as_such() {
    let server = Running::new();
    server.store.execute("CREATE TABLE long (k STRING, PRIMARY KEY (k))").unwrap();
    let row = |k: String| Row::new().with("k", k);
    let rows = [row("short".into()), row("x".repeat(200_000)), row("y".repeat(200_000))];
    let errors_max = ErrorsMax::Count(1);
    let options = BulkPutOptions { errors_max, ..BulkPutOptions::default() };
    let stopped = server.client().put("long", rows, &options).unwrap_err();
    assert!(stopped.too_many_errors && TooManyErrors::caused(&stopped.error), "{stopped:?}");
    assert_eq!((stopped.error.kind(), stopped.report.total.failed), (ErrorKind::Invalid, 2));

    // The name of a column that has the word in it is not enough.
    server.store.execute("CREATE TABLE errors_max (k LONG, PRIMARY KEY (k))").unwrap();
    let row = || Row::new().with("k", 1);
    let client = server.client();
    client.put("errors_max", [row()], &BulkPutOptions::default()).unwrap();
    let options = BulkPutOptions { on_existing: OnExisting::Fail, ..BulkPutOptions::default() };
    let stopped = client.put("errors_max", [row()], &options).unwrap_err();
    assert!(!stopped.too_many_errors, "{stopped:?}");
}
