//! Times of rows, by way of the store.

use std::sync::Arc;

use tonnage_engine::ManualClock;

use crate::{BulkPutOptions, Row, Store, Table, WriteOptions, row_stream};

const BEGIN_MS: u64 = 1_800_000_000_000;

fn store(url: &str, clock: &Arc<ManualClock>) -> Store {
    Store::builder(url).clock(clock.clone()).open().unwrap()
}

fn row(id: i64) -> Row {
    Row::new().with("id", id)
}

fn put(table: &Table, id: i64) {
    table.put(&row(id), &WriteOptions::default()).unwrap();
}

fn written_ms(table: &Table, id: i64) -> u64 {
    let found = table.get(&row(id)).unwrap().unwrap();
    table.written_ms(&found.row, found.version)
}

const TABLE: &str = "CREATE TABLE t (id LONG, PRIMARY KEY (id))";

#[test]
fn rows_have_the_times_of_their_writes_whoever_writes_them() {
    let clock = Arc::new(ManualClock::new(BEGIN_MS));
    let store = store("memory:", &clock);
    store.execute(TABLE).unwrap();
    let table = store.table("t").unwrap();
    put(&table, 1);
    store.keep_write_times().unwrap();
    for (id, later_ms) in [(2, 0), (3, 99), (4, 250), (5, 86_400_000)] {
        clock.set_ms(BEGIN_MS + later_ms);
        put(&table, id);
    }
    clock.set_ms(BEGIN_MS + 90_000_000);
    let stream = row_stream("s", [Ok(("t".into(), row(6)))]);
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    let times: Vec<u64> = (1..=6).map(|id| written_ms(&table, id)).collect();
    // The first row is older than the notes. A note holds for what comes within 100 ms.
    let later = |ms| BEGIN_MS + ms;
    assert_eq!(times, [0, later(0), later(0), later(250), later(86_400_000), later(90_000_000)]);
    // A row that is written again has a new time.
    put(&table, 1);
    assert_eq!(written_ms(&table, 1), later(90_000_000));
}

#[test]
fn times_survive_a_reopening_and_go_on_without_being_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let url = directory.path().to_str().unwrap().to_owned();
    let clock = Arc::new(ManualClock::new(BEGIN_MS));
    let first = store(&url, &clock);
    first.execute(TABLE).unwrap();
    first.keep_write_times().unwrap();
    put(&first.table("t").unwrap(), 1);
    drop(first);
    clock.set_ms(BEGIN_MS + 5_000);
    let second = store(&url, &clock);
    let table = second.table("t").unwrap();
    assert_eq!(written_ms(&table, 1), BEGIN_MS);
    put(&table, 2);
    assert_eq!((written_ms(&table, 1), written_ms(&table, 2)), (BEGIN_MS, BEGIN_MS + 5_000));
    // Notes are no damage, and no table.
    assert!(second.check().unwrap().is_sound());
    assert_eq!(second.tables().len(), 1);
}

#[test]
fn shards_have_times_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let of = |name: &str| directory.path().join(name);
    let clock = Arc::new(ManualClock::new(BEGIN_MS));
    let settings = crate::RocksDbSettings {
        data_directories: vec![of("a"), of("b"), of("c")],
        ..crate::RocksDbSettings::default()
    };
    let url = of("store").to_str().unwrap().to_owned();
    let store = Store::builder(url).rocksdb_settings(settings).clock(clock.clone()).open().unwrap();
    store.execute(TABLE).unwrap();
    store.keep_write_times().unwrap();
    let table = store.table("t").unwrap();
    // Many rows at first: their shards then have versions that are far apart.
    for id in 0..200 {
        put(&table, id);
    }
    for id in 0..60 {
        clock.set_ms(BEGIN_MS + 1_000 * id as u64);
        put(&table, id);
    }
    for id in 0..60 {
        assert_eq!(written_ms(&table, id), BEGIN_MS + 1_000 * id as u64, "{id}");
    }
    assert_eq!(written_ms(&table, 100), BEGIN_MS);
}

#[test]
fn a_store_that_is_not_asked_keeps_no_times() {
    let clock = Arc::new(ManualClock::new(BEGIN_MS));
    let store = store("memory:", &clock);
    store.execute(TABLE).unwrap();
    let table = store.table("t").unwrap();
    put(&table, 1);
    assert_eq!(written_ms(&table, 1), 0);
}
