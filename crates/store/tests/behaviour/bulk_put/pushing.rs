//! Loads that entries are pushed into.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    BulkPutCallbacks, BulkPutOptions, Cancel, EntryBatch, ErrorKind, ErrorsMax, Load, OnExisting,
    Payload, Result, Row, Store, TooManyErrors, TryPush,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::{all_rows, assert_error, failure, row};

const HEAT: &str =
    "CREATE TABLE heat (sensor LONG, at LONG, level DOUBLE, PRIMARY KEY (SHARD(sensor), at))";

/// Long enough for a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(60);

fn heat(sensor: i64, at: i64) -> Row {
    row! { "sensor" => sensor, "at" => at, "level" => at as f64 / 2.0 }
}

fn rows(rows: impl IntoIterator<Item = Row>) -> EntryBatch {
    Payload::Rows { table: "heat".into(), rows: rows.into_iter().collect() }.into()
}

fn is_stored(store: &Store, sensor: i64, at: i64) -> bool {
    store.table("heat").unwrap().get(&row! { "sensor" => sensor, "at" => at }).unwrap().is_some()
}

/// Options with which nothing is flushed unless a caller asks for it.
fn at_leisure() -> BulkPutOptions {
    BulkPutOptions { flush_interval: None, ..Default::default() }
}

#[rstest]
fn a_thousand_slow_pushers_are_acknowledged_at_the_interval(
    #[values(Memory, RocksDb)] on: Backend,
) {
    const PUSHERS: i64 = 1_000;
    const ROUNDS: i64 = 3;
    let store = on.with_tables(HEAT);
    let options =
        BulkPutOptions { flush_interval: Some(Duration::from_millis(50)), ..Default::default() };
    let load = store.load(&options).unwrap();
    // Each thread acts as many connections, each with a stream of its own.
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let (load, store) = (&load, &store);
            scope.spawn(move || {
                let streams: Vec<_> = (0..PUSHERS / 20)
                    .map(|n| (load.stream(format!("{n}")), thread * PUSHERS / 20 + n))
                    .collect();
                for at in 0..ROUNDS {
                    let pushed: Vec<_> = streams
                        .iter()
                        .map(|(stream, sensor)| {
                            (
                                *stream,
                                *sensor,
                                load.push(*stream, rows([heat(*sensor, at)])).unwrap(),
                            )
                        })
                        .collect();
                    for (stream, sensor, position) in pushed {
                        assert_eq!(position, at as u64 + 1);
                        assert!(load.wait_durable(stream, position, SOON).unwrap());
                        assert!(load.durable(stream) >= position && is_stored(store, sensor, at));
                    }
                }
            });
        }
    });
    let report = load.finish().unwrap();
    assert_eq!(report.total.inserted, (PUSHERS * ROUNDS) as u64);
    assert!(
        report
            .streams
            .iter()
            .all(|stream| stream.completed && stream.counts.inserted == ROUNDS as u64)
    );
    assert_eq!(store.table("heat").unwrap().count().unwrap(), (PUSHERS * ROUNDS) as u64);
}

#[rstest]
fn what_is_acknowledged_is_there_after_reopening(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = on.with_tables(HEAT);
    let load = store.load(&at_leisure()).unwrap();
    let stream = load.stream("only");
    let position = load.push(stream, rows((0..500).map(|at| heat(1, at)))).unwrap();
    assert_eq!(position, 500);
    assert!(
        load.wait_durable(stream, position, SOON).unwrap(),
        "who waits makes an idle load flush"
    );
    drop(load);
    store.reopen();
    assert_eq!(all_rows(&store, "heat"), (0..500).map(|at| heat(1, at)).collect::<Vec<_>>());
}

#[rstest]
fn a_flush_makes_durable_what_was_pushed_before(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(HEAT);
    let load = store.load(&at_leisure()).unwrap();
    let streams: Vec<_> = (0..8).map(|n| load.stream(format!("{n}"))).collect();
    for round in 0..5 {
        for stream in &streams {
            load.push(*stream, rows((0..50).map(|at| heat(*stream as i64, round * 50 + at))))
                .unwrap();
        }
        load.flush().unwrap();
        assert!(streams.iter().all(|stream| load.durable(*stream) == 50 * (round as u64 + 1)));
        assert_eq!(store.table("heat").unwrap().count().unwrap(), 400 * (round as u64 + 1));
    }
    load.flush().unwrap();
}

#[rstest]
fn a_stream_completes_when_it_is_ended_while_others_go_on(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(HEAT);
    let (recorder, options) = Recorder::default().watch(at_leisure());
    let load = store.load(&options).unwrap();
    let (first, second) = (load.stream("first"), load.stream("second"));
    load.push(first, rows([heat(1, 1)])).unwrap();
    load.push(second, rows([heat(2, 1)])).unwrap();
    load.end(first);
    let started = Instant::now();
    while recorder.completed().is_empty() {
        assert!(started.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(is_stored(&store, 1, 1));
    assert_eq!(recorder.completed()[0].name, "first");
    assert_error(failure(load.push(first, rows([heat(1, 2)]))), ErrorKind::Invalid, &["ended"]);
    assert_error(
        failure(load.push(99, rows([heat(1, 2)]))),
        ErrorKind::Invalid,
        &["99", "Load::stream"],
    );
    load.push(second, rows([heat(2, 2)])).unwrap();
    assert_eq!(load.finish().unwrap().total.inserted, 3);
    assert_eq!(recorder.completed().len(), 2);
}

/// Holds the load up in a callback until the test lets it continue.
struct Gate(std::sync::Mutex<()>);

impl BulkPutCallbacks for Gate {
    fn failed(&self, _entry: &tonnage::FailedEntry<'_>) -> Result<()> {
        drop(self.0.lock().unwrap());
        Ok(())
    }
}

#[test]
fn a_full_load_gives_a_batch_back_or_lets_its_pusher_wait() {
    let store = Memory.with_tables(HEAT);
    let gate = Arc::new(Gate(std::sync::Mutex::new(())));
    let options = BulkPutOptions {
        memory_bytes_max: Some(1 << 20),
        stream_parallelism: Some(1),
        callbacks: gate.clone(),
        ..at_leisure()
    };
    let load = store.load(&options).unwrap();
    let (held, other) = (load.stream("held"), load.stream("other"));
    let closed = gate.0.lock().unwrap();
    load.push(held, rows([row! { "sensor" => 1_i64 }])).unwrap();
    // An eighth of a mebibyte is soon full.
    let mut taken = 0;
    let full = loop {
        match load.try_push(other, rows((0..100).map(|n| heat(2, taken * 100 + n)))).unwrap() {
            TryPush::Taken(position) => taken = (position / 100) as i64,
            TryPush::Full(batch) => break batch,
        }
        assert!(taken < 1_000, "nothing holds this load up");
    };
    assert_eq!(full.payload.len(), 100);
    let TryPush::Full(full) = load.push_within(other, *full, Duration::from_millis(20)).unwrap()
    else {
        panic!("there is no room");
    };
    assert!(!load.flush_within(Duration::from_millis(20)).unwrap(), "a batch is held up");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| load.push(other, *full).unwrap());
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waits.is_finished());
        drop(closed);
        assert_eq!(waits.join().unwrap(), (taken as u64 + 1) * 100);
    });
    let report = load.finish().unwrap();
    assert_eq!((report.total.inserted, report.total.failed), ((taken as u64 + 1) * 100, 1));
}

#[rstest]
fn the_batches_of_one_stream_keep_their_order_whoever_pushes_them(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(HEAT);
    let options = BulkPutOptions {
        on_existing: OnExisting::Replace,
        stream_parallelism: Some(4),
        ..Default::default()
    };
    let load = store.load(&options).unwrap();
    let streams: Vec<_> = (0..4).map(|n| load.stream(format!("{n}"))).collect();
    for round in 0..200_i64 {
        for stream in &streams {
            let row = row! { "sensor" => *stream as i64, "at" => 0_i64, "level" => round as f64 };
            load.push(*stream, rows([row])).unwrap();
        }
    }
    load.finish().unwrap();
    let last = |sensor: i64| row! { "sensor" => sensor, "at" => 0_i64, "level" => 199.0 };
    let mut stored = all_rows(&store, "heat");
    stored.sort_by_key(|row| row.get("sensor").unwrap().to_string());
    assert_eq!(stored, (0..4).map(last).collect::<Vec<_>>());
}

/// Remembers how far each stream was said to be durable.
#[derive(Default)]
struct Durable([AtomicU64; 2]);

impl BulkPutCallbacks for Durable {
    fn durable(&self, stream: usize, position: u64) {
        assert!(self.0[stream].swap(position, Ordering::SeqCst) < position, "positions ascend");
    }
}

#[rstest]
fn entries_that_fail_or_exist_are_dealt_with_too(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(HEAT);
    let told = Arc::new(Durable::default());
    let load = store.load(&BulkPutOptions { callbacks: told.clone(), ..at_leisure() }).unwrap();
    let (first, second) = (load.stream("first"), load.stream("second"));
    load.push(first, rows([heat(1, 1), row! { "sensor" => 1_i64 }, heat(1, 1)])).unwrap();
    load.push(second, rows([row! { "sensor" => 2_i64 }])).unwrap();
    load.flush().unwrap();
    assert_eq!((load.durable(first), load.durable(second)), (3, 1));
    assert_eq!(told.0.each_ref().map(|position| position.load(Ordering::SeqCst)), [3, 1]);
    let total = load.finish().unwrap().total;
    assert_eq!((total.inserted, total.existed, total.failed), (1, 1, 2));
}

#[rstest]
fn a_load_that_stopped_says_why_to_all_who_push_or_wait(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(HEAT);
    let cancel = Cancel::new();
    let load = store.load(&BulkPutOptions { cancel: cancel.clone(), ..at_leisure() }).unwrap();
    let stream = load.stream("only");
    load.push(stream, rows([heat(1, 1)])).unwrap();
    load.flush().unwrap();
    cancel.cancel();
    let refused = loop {
        if let Err(error) = load.push(stream, rows([heat(1, 2)])) {
            break error;
        }
    };
    assert!(refused.message().contains("cancelled"), "{refused}");
    assert!(failure(load.wait_durable(stream, u64::MAX, SOON)).message().contains("cancelled"));
    assert!(failure(load.flush()).message().contains("cancelled"));
    let stopped = failure(load.finish());
    assert!(stopped.error.message().contains("cancelled") && stopped.report.total.inserted >= 1);
    assert!(is_stored(&store, 1, 1));

    let load =
        store.load(&BulkPutOptions { errors_max: ErrorsMax::Count(0), ..at_leisure() }).unwrap();
    let stream = load.stream("only");
    load.push(stream, rows([row! { "sensor" => 1_i64 }])).unwrap();
    let waited = failure(load.wait_durable(stream, 2, SOON));
    assert!(waited.message().contains("errors_max") && TooManyErrors::caused(&waited));
    let stopped = failure(load.finish());
    assert!(stopped.too_many_errors && TooManyErrors::caused(&stopped.error));
    assert!(TooManyErrors::caused(&stopped.into()), "it is not lost on the way to an Error");
}

#[rstest]
fn a_dropped_load_keeps_what_was_durable_and_lets_the_store_close(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let mut store = on.with_tables(HEAT);
    let load = store.load(&at_leisure()).unwrap();
    let stream = load.stream("only");
    load.push(stream, rows([heat(1, 1)])).unwrap();
    load.flush().unwrap();
    load.push(stream, rows([heat(1, 2)])).unwrap();
    drop(load);
    store.reopen();
    assert!(is_stored(&store, 1, 1));
}

#[rstest]
fn pushers_side_by_side_lose_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(HEAT);
    let options = BulkPutOptions {
        memory_bytes_max: Some(2 << 20),
        flush_interval: Some(Duration::from_millis(20)),
        ..Default::default()
    };
    let load: Load = store.load(&options).unwrap();
    std::thread::scope(|scope| {
        for sensor in 0..8_i64 {
            let load = &load;
            scope.spawn(move || {
                let stream = load.stream(format!("{sensor}"));
                for first in (0..5_000).step_by(100) {
                    load.push(stream, rows((first..first + 100).map(|at| heat(sensor, at))))
                        .unwrap();
                }
                load.end(stream);
            });
        }
    });
    let report = load.finish().unwrap();
    assert_eq!(report.total.inserted, 40_000);
    assert_eq!(store.table("heat").unwrap().count().unwrap(), 40_000);
}
