//! Streams that wait for what they bring, and loads that do not wait for them.
//!
//! A load used to look at its time-out, its cancel and the wishes of others only when a stream had
//! given a batch: while one waited, nothing helped, and streams that had ended were complete only
//! when the last one had. A load that was cancelled while its last stream waited even ended well.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Cancel, EntryBatch, EntryStream, ErrorKind, IndexRange, OnExisting, Payload,
    Row,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::scripted::scripted;
use crate::common::shop::rows_of;
use crate::common::{all_rows, assert_error, failure, row};

const SHIPS: &str = "CREATE TABLE ships (id LONG, PRIMARY KEY (id))";

/// How long a stream that would wait for ever does wait: longer than any load here needs.
const FOR_EVER: Duration = Duration::from_secs(40);
/// In which a busy machine reads what a stream brings before it waits.
const TIME_ENOUGH: Duration = Duration::from_secs(4);
/// Long enough for a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(20);

fn ship(id: i64) -> Row {
    row! { "id" => id }
}

fn ships(ids: impl IntoIterator<Item = i64>) -> Option<EntryBatch> {
    Some(Payload::Rows { table: "ships".into(), rows: ids.into_iter().map(ship).collect() }.into())
}

/// A stream that gives one ship, then waits until the other end of a channel is dropped.
fn waiting(id: i64) -> (Box<dyn EntryStream>, Sender<()>) {
    let (end, ended): (Sender<()>, Receiver<()>) = channel();
    let stream = scripted(move |step| {
        if step == 0 {
            return ships([id]);
        }
        let _ = ended.recv_timeout(FOR_EVER);
        None
    });
    (stream, end)
}

fn two_at_a_time() -> BulkPutOptions {
    BulkPutOptions { stream_parallelism: Some(2), ..Default::default() }
}

#[rstest]
fn time_runs_out_while_a_stream_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let (recorder, options) =
        Recorder::default().watch(BulkPutOptions { timeout: Some(TIME_ENOUGH), ..two_at_a_time() });
    let (stream, _end) = waiting(3);
    let started = Instant::now();
    let stopped =
        failure(store.bulk_put(vec![rows_of("ships", [ship(1), ship(2)]), stream], &options));
    assert!(started.elapsed() < SOON);
    assert_eq!(
        stopped.report.streams.iter().map(|stream| stream.completed).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(recorder.completed().len(), 1);
    assert_eq!(
        (stopped.report.total.read, stopped.report.total.inserted, stopped.flushed),
        (3, 3, true)
    );
    assert_eq!(all_rows(&store, "ships"), [ship(1), ship(2), ship(3)]);
    assert_error(stopped, ErrorKind::TimedOut, &["timeout"]);
}

#[rstest]
fn a_load_is_cancelled_while_a_stream_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let cancel = Cancel::new();
    let options = BulkPutOptions { cancel: cancel.clone(), ..Default::default() };
    let (_end, ended) = channel::<()>();
    let stream = scripted(move |step| {
        if step == 0 {
            return ships([1]);
        }
        let cancel = cancel.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        let _ = ended.recv_timeout(FOR_EVER);
        None
    });
    let started = Instant::now();
    let stopped = failure(store.bulk_put(vec![stream], &options));
    assert!(started.elapsed() < SOON);
    assert_eq!(all_rows(&store, "ships"), [ship(1)]);
    assert_eq!(stopped.error.message().matches("cancelled").count(), 1, "{stopped}");
}

#[rstest]
fn a_load_that_was_cancelled_never_ends_well(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let cancel = Cancel::new();
    let options = BulkPutOptions { cancel: cancel.clone(), ..Default::default() };
    let stream = scripted(move |step| {
        if step == 0 {
            return ships([1]);
        }
        cancel.cancel();
        None
    });
    let stopped = failure(store.bulk_put(vec![stream], &options));
    assert!(stopped.error.message().contains("cancelled"), "{stopped}");
    assert_eq!((stopped.report.total.inserted, all_rows(&store, "ships")), (1, vec![ship(1)]));
}

#[rstest]
fn a_stream_that_has_ended_completes_while_another_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(SHIPS);
    let (end, ended) = channel::<()>();
    let recorder = Recorder {
        on_completed: Some(Box::new(move |stream| {
            if stream.stream == 0 {
                let _ = end.send(());
            }
            Ok(())
        })),
        ..Default::default()
    };
    let (_, options) = recorder.watch(two_at_a_time());
    let waits = scripted(move |step| {
        if step > 0 {
            return None;
        }
        ended.recv_timeout(SOON).expect("the other stream completes");
        ships([2])
    });
    store.bulk_put(vec![rows_of("ships", [ship(1)]), waits], &options).unwrap();
    assert_eq!(all_rows(&store, "ships"), [ship(1), ship(2)]);
}

#[rstest]
fn an_index_is_made_while_a_stream_waits(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE ships (id LONG, year INTEGER, PRIMARY KEY (id))");
    let indexing = (*store).clone();
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    let batch = |id: i64| {
        let rows = vec![row! { "id" => id, "year" => 1990 }];
        Some(EntryBatch::from(Payload::Rows { table: "ships".into(), rows }))
    };
    let stream = scripted(move |step| match step {
        0 => batch(1),
        1 => {
            let started = Instant::now();
            indexing.execute("CREATE INDEX by_year ON ships (year)").unwrap();
            assert!(started.elapsed() < SOON);
            batch(2)
        }
        _ => None,
    });
    store.bulk_put(vec![stream], &options).unwrap();
    let index = store.table("ships").unwrap().index("by_year").unwrap();
    let rows: usize = index
        .scan(&IndexRange::prefix([1990]), &Default::default())
        .unwrap()
        .map(|batch| batch.unwrap().rows.num_rows())
        .sum();
    assert_eq!(rows, 2);
}

/// What the thread of a stream that never comes back holds: its stream, and nothing of the store.
#[rstest]
fn a_stream_that_never_returns_does_not_keep_the_store_open(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let mut store = on.with_tables(SHIPS);
    let (stream, end) = waiting(1);
    let options = BulkPutOptions { timeout: Some(TIME_ENOUGH), ..Default::default() };
    let stopped = failure(store.bulk_put(vec![stream], &options));
    assert_eq!(stopped.report.total.inserted, 1);
    let engine = Arc::downgrade(store.engine());
    store.reopen();
    assert_eq!(all_rows(&store, "ships"), [ship(1)]);
    if on == RocksDb {
        assert!(engine.upgrade().is_none());
    }
    drop(end);
}
