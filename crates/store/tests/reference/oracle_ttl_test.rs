//! Oracle NoSQL, `TTLTest`.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tonnage::{BulkPutOptions, ManualClock, TableScanOptions, WriteOptions, row_stream_with_ttls};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::row;

const HOUR: Duration = Duration::from_secs(3_600);
const TABLE: &str = "CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k)) USING TTL 2 HOURS";

#[rstest]
fn test_update_without_touching_the_ttl(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(TABLE);
    let table = store.table("t").unwrap();
    let key = row! { "k" => 1_i64 };
    let hour = WriteOptions { ttl: Some(HOUR), ..Default::default() };
    table.put(&row! { "k" => 1_i64, "v" => 1_i64 }, &hour).unwrap();
    let before = table.get(&key).unwrap().unwrap().expires_at_ms;
    let keeping = WriteOptions { keep_ttl: true, ..Default::default() };
    table.put_if_present(&row! { "k" => 1_i64, "v" => 2_i64 }, &keeping).unwrap();
    assert_eq!(table.get(&key).unwrap().unwrap().expires_at_ms, before);
}

#[rstest]
fn test_a_ttl_of_zero_is_never(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(TABLE);
    let table = store.table("t").unwrap();
    let never = WriteOptions { ttl: Some(Duration::ZERO), ..Default::default() };
    table.put(&row! { "k" => 1_i64 }, &never).unwrap();
    assert_eq!(table.get(&row! { "k" => 1_i64 }).unwrap().unwrap().expires_at_ms, 0);
}

/// `testUseTTL`: a bulk put whose entries live differently, row by row.
#[rstest]
fn test_use_ttl(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let store = on.open_with_clock(clock.clone());
    store.execute(TABLE).unwrap();
    let lives = [Some(HOUR), None, Some(Duration::ZERO)];
    let rows =
        lives.into_iter().zip(1_i64..).map(|(ttl, k)| Ok(("t".into(), row! { "k" => k }, ttl)));
    let stream = row_stream_with_ttls("rows", rows.collect::<Vec<_>>());
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    let keys = || {
        let rows = store.table("t").unwrap().scan(&TableScanOptions::default()).unwrap();
        let rows = rows.into_rows().map(|row| row.unwrap());
        let mut keys: Vec<_> = rows.map(|row| row.row.get("k").unwrap().to_string()).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(), ["1", "2", "3"]);
    let hours = |hours: u64| 1_000_001 + hours * HOUR.as_millis() as u64;
    clock.set_ms(hours(1));
    assert_eq!(keys(), ["2", "3"]);
    clock.set_ms(hours(2));
    assert_eq!(keys(), ["3"]);
}
