//! Loads, writes and statements of DDL all at once: what was acknowledged is there afterwards, and
//! indexes hold.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    BulkPutOptions, DeleteOptions, EntryBatch, IndexRange, OnExisting, Payload, Row, Store,
    WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{clean_all, row};

/// How long the turmoil lasts.
const LASTS: Duration = Duration::from_secs(3);
/// Rows that the load alone writes have numbers from here on.
const LOADED: i64 = 1_000_000;

fn car(plate: i64, year: i32) -> Row {
    row! { "plate" => plate, "year" => year }
}

fn batch(table: &str, rows: Vec<Row>) -> EntryBatch {
    Payload::Rows { table: table.into(), rows }.into()
}

/// Pushes rows into the table that is altered and into one that is created and dropped. Gives how
/// many of the former were acknowledged.
fn load(store: &Store, is_over: &AtomicBool) -> i64 {
    let options = BulkPutOptions {
        on_existing: OnExisting::Replace,
        flush_interval: Some(Duration::from_millis(20)),
        memory_bytes_max: Some(4 << 20),
        ..Default::default()
    };
    let load = store.load(&options).unwrap();
    let (stream, other) = (load.stream("cars"), load.stream("others"));
    let mut pushed = 0;
    while !is_over.load(Ordering::Relaxed) {
        let own = (0..20).map(|n| car(LOADED + pushed + n, (n % 5) as i32));
        // The writers change these too.
        let shared = (0..5).map(|n| car((pushed / 20 + n) % 200, 7));
        load.push(stream, batch("cars", own.chain(shared).collect())).unwrap();
        load.push(other, batch("brief", vec![row! { "id" => pushed }])).unwrap();
        load.push(
            other,
            batch("cars.trips", vec![row! { "plate" => LOADED + pushed, "trip" => 1_i64 }]),
        )
        .unwrap();
        pushed += 20;
    }
    let acknowledged = load.durable(stream) as i64 / 25 * 20;
    let report = load.finish().unwrap();
    assert!(acknowledged <= pushed && report.total.read == pushed as u64 / 20 * 27);
    pushed
}

fn write(store: &Store, is_over: &AtomicBool) {
    let old = store.table("cars").unwrap();
    let mut n = 0;
    while !is_over.load(Ordering::Relaxed) {
        n += 1;
        old.put(&car(n % 200, (n % 11) as i32), &WriteOptions::default()).unwrap();
        if n % 3 == 0 {
            old.delete(&row! { "plate" => (n * 7) % 200 }, &WriteOptions::default()).unwrap();
        }
        if n % 50 == 0 {
            old.delete_range(&row! { "plate" => n % 200 }, &DeleteOptions::default()).unwrap();
        }
    }
}

fn change(store: &Store, is_over: &AtomicBool) {
    let mut round = 0;
    while !is_over.load(Ordering::Relaxed) {
        round += 1;
        let statements = format!(
            "CREATE TABLE brief (id LONG, PRIMARY KEY (id)); ALTER TABLE cars ADD COLUMN c{round} INTEGER; \
             CREATE TABLE cars.trips (trip LONG, PRIMARY KEY (trip)); CREATE INDEX by_plate ON cars (year, plate); \
             DROP TABLE brief; DROP INDEX by_plate ON cars; DROP TABLE cars.trips; ALTER TABLE cars DROP COLUMN c{round}"
        );
        store.execute(&statements).unwrap();
        // A load that does not pause may hold it up.
        let _ = store.table("cars").unwrap().index("by_year").unwrap().clean();
    }
}

#[rstest]
fn nothing_acknowledged_is_lost_while_tables_come_and_go(#[values(Memory, RocksDb)] on: Backend) {
    let mut store =
        on.with_tables("CREATE TABLE cars (plate LONG, year INTEGER, PRIMARY KEY (plate)); CREATE INDEX by_year ON cars (year)");
    let is_over = AtomicBool::new(false);
    let loaded = std::thread::scope(|scope| {
        let (store, is_over) = (&*store, &is_over);
        let loading = scope.spawn(|| load(store, is_over));
        let others = [
            scope.spawn(|| write(store, is_over)),
            scope.spawn(|| write(store, is_over)),
            scope.spawn(|| change(store, is_over)),
        ];
        let started = Instant::now();
        while started.elapsed() < LASTS
            && !others.iter().any(|thread| thread.is_finished())
            && !loading.is_finished()
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        others.into_iter().for_each(|thread| thread.join().unwrap());
        loading.join().unwrap()
    });
    let table = store.table("cars").unwrap();
    for plate in LOADED..LOADED + loaded {
        assert!(table.get(&row! { "plate" => plate }).unwrap().is_some(), "{plate}");
    }
    let in_index = |store: &Store| {
        let index = store.table("cars").unwrap().index("by_year").unwrap();
        let batches = index.scan(&IndexRange::default(), &Default::default()).unwrap();
        batches.map(|batch| batch.unwrap().rows.num_rows() as u64).sum::<u64>()
    };
    assert_eq!(in_index(&store), table.count().unwrap());
    clean_all(&store, &table.index("by_year").unwrap());
    let report = store.check().unwrap();
    assert!(report.is_sound() && report.stale_index_entries == 0, "{report:?}");
    drop(table);
    store.reopen();
    assert_eq!(in_index(&store), store.table("cars").unwrap().count().unwrap());
    assert!(store.tables().iter().all(|table| table.path() == "cars"
        || table.path().starts_with("cars.")
        || table.path() == "brief"));
}
