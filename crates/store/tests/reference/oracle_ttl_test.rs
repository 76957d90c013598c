//! Oracle NoSQL, `TTLTest`: how long rows live, given by the row, by the table, or untouched.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Condition, IndexRange, IndexScanOptions, Key, ManualClock, PairGetOptions,
    Pairs, Row, RowOperation, Table, TableScanOptions, WriteOptions, pair_stream,
    row_stream_with_ttls,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, row};

const HOUR: Duration = Duration::from_secs(3_600);
const NOW_MS: u64 = 1_000_000;
const TABLE: &str = "CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k)) USING TTL 2 HOURS";

/// When a row expires that lives so many hours from now on.
fn in_hours(hours: u64) -> u64 {
    NOW_MS + hours * HOUR.as_millis() as u64
}

fn open(on: Backend) -> (TestStore, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(NOW_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute(TABLE).unwrap();
    (store, clock)
}

fn living(hours: u32) -> WriteOptions {
    WriteOptions { ttl: Some(HOUR * hours), ..Default::default() }
}

fn keeping() -> WriteOptions {
    WriteOptions { keep_ttl: true, ..Default::default() }
}

fn of(v: i64) -> Row {
    row! { "k" => 1_i64, "v" => v }
}

fn expiry(table: &Table) -> u64 {
    table.get(&row! { "k" => 1_i64 }).unwrap().unwrap().expires_at_ms
}

#[rstest]
fn test_table_ttl_is_applied_by_default(#[values(Memory, RocksDb)] on: Backend) {
    let table = open(on).0.table("t").unwrap();
    table.put(&of(1), &WriteOptions::default()).unwrap();
    assert_eq!(expiry(&table), in_hours(2));
}

#[rstest]
fn test_table_ttl_is_overridden_by_row_ttl(#[values(Memory, RocksDb)] on: Backend) {
    let table = open(on).0.table("t").unwrap();
    table.put(&of(1), &living(5)).unwrap();
    assert_eq!(expiry(&table), in_hours(5));
}

#[rstest]
fn test_altered_table_ttl_is_applied(#[values(Memory, RocksDb)] on: Backend) {
    let (store, _) = open(on);
    store.table("t").unwrap().put(&of(1), &WriteOptions::default()).unwrap();
    store.execute("ALTER TABLE t USING TTL 7 HOURS").unwrap();
    let table = store.table("t").unwrap();
    assert_eq!(expiry(&table), in_hours(2), "rows that are there live as they did");
    table.put(&of(2), &WriteOptions::default()).unwrap();
    assert_eq!(expiry(&table), in_hours(7));
}

#[rstest]
fn test_ddl_alters_default_table_ttl(#[values(Memory, RocksDb)] on: Backend) {
    let (store, _) = open(on);
    store.execute("ALTER TABLE t USING TTL 0 DAYS").unwrap();
    assert_eq!(store.table("t").unwrap().schema().ttl_ms, None);
    let table = store.table("t").unwrap();
    table.put(&of(1), &WriteOptions::default()).unwrap();
    assert_eq!(expiry(&table), 0, "for ever");
}

#[rstest]
fn test_get_ttl_of_existing_row(#[values(Memory, RocksDb)] on: Backend) {
    let (store, _) = open(on);
    let table = store.table("t").unwrap();
    table.put(&of(1), &living(3)).unwrap();
    let mut scan = table.scan(&TableScanOptions::default()).unwrap();
    assert_eq!(scan.next().unwrap().unwrap().expiries_ms, [in_hours(3)]);
}

#[rstest]
fn test_table_iterator_expiration_time(#[values(Memory, RocksDb)] on: Backend) {
    let (store, clock) = open(on);
    let table = store.table("t").unwrap();
    for k in 0..10_i64 {
        table.put(&row! { "k" => k }, &living(1 + k as u32)).unwrap();
    }
    for hours in 1..10 {
        clock.set_ms(in_hours(hours));
        let left = table.scan(&TableScanOptions::default()).unwrap().into_rows().count();
        assert_eq!(left as u64, 10 - hours, "after {hours} hours");
    }
}

/// `put`, `putIfAbsent` and `putIfPresent`: the life of the new row is that of its put.
#[rstest]
#[case::test_existing_row_ttl_modified_on_simple_put(Condition::Always, true)]
#[case::test_existing_row_ttl_modified_on_put_if_present(Condition::IfPresent, true)]
#[case::test_new_row_ttl_modified_on_put(Condition::Always, false)]
#[case::test_new_row_ttl_modified_on_put_if_absent(Condition::IfAbsent, false)]
fn test_ttl_modified(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] condition: Condition,
    #[case] exists: bool,
) {
    let table = open(on).0.table("t").unwrap();
    if exists {
        table.put(&of(1), &living(3)).unwrap();
    }
    assert!(table.put_returning(&of(2), condition, &living(9)).unwrap().result.is_stored());
    assert_eq!(expiry(&table), in_hours(9));
}

/// `setUpdateTTL(false)`: the row that is replaced keeps its life; a new row has that of its put.
#[rstest]
#[case::test_existing_row_ttl_not_modified_on_put(Condition::Always, true, 3)]
#[case::test_existing_row_ttl_not_modified_on_put_if_present(Condition::IfPresent, true, 3)]
#[case::test_new_row_ttl_not_modified_on_put_if_absent(Condition::IfAbsent, false, 2)]
fn test_ttl_not_modified(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] condition: Condition,
    #[case] exists: bool,
    #[case] hours: u64,
) {
    let (store, clock) = open(on);
    let table = store.table("t").unwrap();
    if exists {
        table.put(&of(1), &living(3)).unwrap();
        clock.set_ms(NOW_MS + 1_000);
    }
    assert!(table.put_returning(&of(2), condition, &keeping()).unwrap().result.is_stored());
    assert_eq!(expiry(&table), in_hours(hours));
}

/// `testPreviousRowOn...`: the previous row is returned with its expiry, with any outcome of the
/// write.
#[rstest]
#[case::put(Condition::Always, true)]
#[case::put_if_absent(Condition::IfAbsent, false)]
#[case::put_if_present(Condition::IfPresent, true)]
fn test_previous_row_on_put(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] condition: Condition,
    #[case] is_stored: bool,
) {
    let table = open(on).0.table("t").unwrap();
    table.put(&of(1), &living(3)).unwrap();
    let put = table.put_returning(&of(2), condition, &living(9)).unwrap();
    assert_eq!(put.result.is_stored(), is_stored);
    let previous = put.previous.unwrap();
    assert_eq!((previous.row, previous.expires_at_ms), (of(1), in_hours(3)));
}

#[rstest]
fn test_previous_row_on_put_if_version(#[values(Memory, RocksDb)] on: Backend) {
    let table = open(on).0.table("t").unwrap();
    let version = table.put(&of(1), &living(3)).unwrap();
    let put = table.put_returning(&of(2), Condition::IfVersion(version), &living(9)).unwrap();
    assert_eq!(put.previous.unwrap().expires_at_ms, in_hours(3));
    let late = table.put_returning(&of(3), Condition::IfVersion(version), &living(1)).unwrap();
    assert_eq!(late.previous.unwrap().expires_at_ms, in_hours(9));
}

#[rstest]
fn test_previous_row_on_delete(#[values(Memory, RocksDb)] on: Backend) {
    let table = open(on).0.table("t").unwrap();
    table.put(&of(1), &living(3)).unwrap();
    let gone = table.delete_returning(&of(1), Condition::Always, &WriteOptions::default());
    assert_eq!(gone.unwrap().previous.unwrap().expires_at_ms, in_hours(3));
}

/// The same in a group of operations.
#[rstest]
#[case::test_previous_row_on_put_in_batch(Condition::Always, true)]
#[case::test_previous_row_on_put_if_absent_in_batch(Condition::IfAbsent, false)]
#[case::test_previous_row_on_put_if_present_in_batch(Condition::IfPresent, true)]
fn test_previous_row_in_batch(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] condition: Condition,
    #[case] is_stored: bool,
) {
    let (store, _) = open(on);
    let table = store.table("t").unwrap();
    table.put(&of(1), &living(3)).unwrap();
    let group = [RowOperation::put("t", of(2)).when(condition)];
    let answers = store.write_each(&group, &living(9)).unwrap();
    assert_eq!(answers[0].result.is_stored(), is_stored);
    assert_eq!(answers[0].previous.as_ref().unwrap().expires_at_ms, in_hours(3));
    assert_eq!(expiry(&table), in_hours(if is_stored { 9 } else { 3 }));
}

#[rstest]
fn test_batch_put_same_option(#[values(Memory, RocksDb)] on: Backend) {
    let (store, _) = open(on);
    let group = [RowOperation::put("t", of(1)), RowOperation::put("t", of(2))];
    store.atomic_write(&group, &living(4)).unwrap();
    assert_eq!(expiry(&store.table("t").unwrap()), in_hours(4));
}

#[rstest]
fn test_batch_put_parent_child_tables(#[values(Memory, RocksDb)] on: Backend) {
    let (store, _) = open(on);
    store.execute("CREATE TABLE t.c (n LONG, PRIMARY KEY (n)) USING TTL 6 HOURS").unwrap();
    let child = row! { "k" => 1_i64, "n" => 1_i64 };
    let group = [RowOperation::put("t", of(1)), RowOperation::put("t.c", child.clone())];
    store.atomic_write(&group, &WriteOptions::default()).unwrap();
    assert_eq!(expiry(&store.table("t").unwrap()), in_hours(2));
    let child = store.table("t.c").unwrap().get(&child).unwrap().unwrap();
    assert_eq!(child.expires_at_ms, in_hours(6), "each table has a time to live of its own");
}

/// An entry of an index is gone with its row.
#[rstest]
fn test_index_population(#[values(Memory, RocksDb)] on: Backend) {
    let (store, clock) = open(on);
    store.execute("CREATE INDEX by_v ON t (v)").unwrap();
    let table = store.table("t").unwrap();
    table.put(&of(5), &living(3)).unwrap();
    let found = || {
        let index = table.index("by_v").unwrap();
        let rows = index.scan(&IndexRange::prefix([5_i64]), &IndexScanOptions::default()).unwrap();
        rows.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>()
    };
    assert_eq!(found(), 1);
    clock.set_ms(in_hours(3));
    assert_eq!(found(), 0);
}

#[rstest]
fn test_ttl_in_store_iterator(#[values(Memory, RocksDb)] on: Backend) {
    let (store, _) = open(on);
    let keys = || (0..20).map(|n| Key::new(["a"], [n.to_string()]));
    let mut pairs = Pairs::new();
    keys().for_each(|key| pairs.push(&key, b"v").unwrap());
    let ttls = (0..20).map(|n| (n % 2 == 0).then_some(HOUR * n));
    let batch = tonnage::EntryBatch::pairs(pairs).with_ttls(ttls);
    let load = store.load(&BulkPutOptions::default()).unwrap();
    load.push(load.stream("pairs"), batch).unwrap();
    load.finish().unwrap();
    let keys: Vec<Key> = keys().collect();
    for batch in store.kv().bulk_get(keys, &PairGetOptions::default()).unwrap() {
        let batch = batch.unwrap();
        for index in 0..batch.len() {
            let n: u64 = batch.key(index).unwrap().to_string()[5..].parse().unwrap();
            let expected = if n.is_multiple_of(2) && n > 0 { in_hours(n) } else { 0 };
            assert_eq!(batch.expires_at_ms(index), expected, "pair {n}");
        }
    }
}

#[rstest]
fn test_a_ttl_of_zero_is_never(#[values(Memory, RocksDb)] on: Backend) {
    let table = open(on).0.table("t").unwrap();
    table.put(&of(1), &living(0)).unwrap();
    assert_eq!(expiry(&table), 0);
}

/// `BulkTableTest.testUseTTL`: a bulk put whose entries live differently, row by row.
#[rstest]
fn test_use_ttl(#[values(Memory, RocksDb)] on: Backend) {
    let (store, clock) = open(on);
    let lives = [Some(HOUR), None, Some(Duration::ZERO)];
    let rows =
        lives.into_iter().zip(1_i64..).map(|(ttl, k)| Ok(("t".into(), row! { "k" => k }, ttl)));
    let stream = row_stream_with_ttls("rows", rows.collect::<Vec<_>>());
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    for (hours, left) in [(0, 3), (1, 2), (2, 1), (1_000, 1)] {
        clock.set_ms(in_hours(hours));
        assert_eq!(store.table("t").unwrap().count().unwrap(), left, "after {hours} hours");
    }
}

/// The observed rule: a row that has expired is absent for a bulk put.
#[rstest]
fn test_an_expired_pair_is_absent_for_a_bulk_put(#[values(Memory, RocksDb)] on: Backend) {
    let (store, clock) = open(on);
    let key = Key::new(["a"], [""; 0]);
    store.kv().put(&key, b"old", &living(1)).unwrap();
    clock.set_ms(in_hours(1));
    let mut pairs = Pairs::new();
    pairs.push(&key, b"new").unwrap();
    let stream = pair_stream("pairs", [Ok(pairs)]);
    let report = store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.inserted, report.total.existed), (1, 0));
}
