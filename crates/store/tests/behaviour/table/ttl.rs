//! How long rows live.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tonnage::{Direction, EntryBatch, ManualClock, Payload, TableScanOptions, WriteOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::row;

const DAY: Duration = Duration::from_secs(86_400);
const DAY_MS: u64 = 86_400_000;

fn living(ttl: Duration) -> WriteOptions {
    WriteOptions { ttl: Some(ttl), ..Default::default() }
}

#[rstest]
fn a_row_is_gone_when_its_time_is_up(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(DAY_MS));
    let mut store = on.open_with_clock(clock.clone());
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64 }, &living(DAY)).unwrap();
    table.put(&row! { "k" => 2_i64 }, &WriteOptions::default()).unwrap();
    assert_eq!(table.get(&row! { "k" => 1_i64 }).unwrap().unwrap().expires_at_ms, 2 * DAY_MS);
    clock.set_ms(2 * DAY_MS - 1);
    assert_eq!(table.count().unwrap(), 2);
    clock.set_ms(2 * DAY_MS);
    assert_eq!(table.count().unwrap(), 1);
    assert_eq!(table.get(&row! { "k" => 1_i64 }).unwrap(), None);
    let forward = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    assert_eq!(table.scan(&forward).unwrap().into_rows().count(), 1);
    assert!(
        !table.delete(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap(),
        "an expired row is not there"
    );
    assert!(
        table.put_if_absent(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap().is_stored()
    );
    drop(table);
    store.reopen();
    assert_eq!(store.table("t").unwrap().count().unwrap(), 2);
}

#[rstest]
fn the_time_of_the_table_holds_where_the_put_gives_none(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(DAY_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k)) USING TTL 3 DAYS").unwrap();
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap();
    table.put(&row! { "k" => 2_i64 }, &living(DAY)).unwrap();
    table.put(&row! { "k" => 3_i64 }, &living(9 * DAY)).unwrap();
    for (day, rows) in [(1, 3), (2, 2), (4, 1), (10, 0)] {
        clock.set_ms(day * DAY_MS);
        assert_eq!(table.count().unwrap(), rows, "on day {day}");
    }
}

#[rstest]
fn a_row_that_is_put_again_lives_anew(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(DAY_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64 }, &living(DAY)).unwrap();
    table.put(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap();
    clock.set_ms(100 * DAY_MS);
    assert_eq!(table.count().unwrap(), 1);
}

#[rstest]
fn a_row_that_is_written_back_may_keep_the_life_it_had(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(DAY_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k)) USING TTL 3 DAYS").unwrap();
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64 }, &living(DAY)).unwrap();
    clock.set_ms(DAY_MS + 1);
    let stored = table.get(&row! { "k" => 1_i64 }).unwrap().unwrap();
    let as_before = WriteOptions { expires_at_ms: Some(stored.expires_at_ms), ..living(9 * DAY) };
    assert!(table.put_if_version(&stored.row, stored.version, &as_before).unwrap().is_stored());
    table
        .put(
            &row! { "k" => 2_i64 },
            &WriteOptions { expires_at_ms: Some(0), ..WriteOptions::default() },
        )
        .unwrap();
    assert_eq!(table.get(&row! { "k" => 1_i64 }).unwrap().unwrap().expires_at_ms, 2 * DAY_MS);
    clock.set_ms(100 * DAY_MS);
    assert_eq!(table.get(&row! { "k" => 1_i64 }).unwrap(), None);
    assert_eq!(
        table.get(&row! { "k" => 2_i64 }).unwrap().unwrap().expires_at_ms,
        0,
        "0 is for ever, whatever the table says"
    );
}

/// A time to live of nothing used to store a row that was gone at once.
#[rstest]
fn no_time_to_live_at_all_is_for_ever(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(DAY_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k)) USING TTL 3 DAYS").unwrap();
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64 }, &living(Duration::ZERO)).unwrap();
    let payload = Payload::Rows { table: "t".into(), rows: vec![row! { "k" => 2_i64 }] };
    let load = store.load(&Default::default()).unwrap();
    load.push(load.stream("rows"), EntryBatch { ttl: Some(Duration::ZERO), ..payload.into() })
        .unwrap();
    load.finish().unwrap();
    store.kv().put(&"/a".parse().unwrap(), b"value", &living(Duration::ZERO)).unwrap();
    clock.set_ms(100 * DAY_MS);
    assert_eq!(table.count().unwrap(), 2);
    assert_eq!(table.get(&row! { "k" => 2_i64 }).unwrap().unwrap().expires_at_ms, 0);
    assert!(store.kv().get(&"/a".parse().unwrap()).unwrap().is_some());
}
