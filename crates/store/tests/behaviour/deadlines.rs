//! Calls with a timeout: one that has no time left says so, and leaves the store as it was.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    BulkGetOptions, BulkPutOptions, CheckOptions, Condition, CreateIndexOptions, DeleteOptions,
    Depth, ErrorKind, GetOptions, IndexColumn, IndexDefinition, Key, KeySource, PairOperation,
    Result, Row, RowOperation, Store, SystemClock, Value, WriteOptions,
};
use tonnage_engine::MemoryEngine;

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, all_rows, assert_error, failure, row};
use crate::stepped::{EngineStep, SteppedEngine};

const HEAT: &str =
    "CREATE TABLE heat (sensor LONG, at LONG, level DOUBLE, PRIMARY KEY (SHARD(sensor), at))";
const BY_LEVEL: &str = "CREATE INDEX by_level ON heat (level)";

const FLEETS: &str = "
    CREATE TABLE fleets (id LONG, PRIMARY KEY (id));
    CREATE TABLE fleets.ships (ship LONG, PRIMARY KEY (ship))";

/// Over before the call has looked at the clock.
const NO_TIME: Duration = Duration::from_nanos(1);

fn late() -> WriteOptions {
    WriteOptions { timeout: Some(NO_TIME), ..Default::default() }
}

fn heat(at: i64) -> Row {
    row! { "sensor" => 1_i64, "at" => at, "level" => 0.5 }
}

fn key(at: i64) -> Row {
    row! { "sensor" => 1_i64, "at" => at }
}

/// A store with one row and one pair.
fn stocked(on: Backend, indexed: bool) -> TestStore {
    let store = on.with_tables(HEAT);
    if indexed {
        store.execute(BY_LEVEL).unwrap();
    }
    store.table("heat").unwrap().put(&heat(1), &WriteOptions::default()).unwrap();
    store.kv().put(&pair("a"), b"1", &WriteOptions::default()).unwrap();
    store
}

fn pair(minor: &str) -> Key {
    Key::new(["major"], [minor])
}

fn assert_late<T>(answer: Result<T>) {
    assert_eq!(failure(answer).kind(), ErrorKind::TimedOut);
}

#[rstest]
fn writes_of_rows_that_are_out_of_time_store_nothing(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] indexed: bool,
) {
    let store = stocked(on, indexed);
    let table = store.table("heat").unwrap();
    let before = all_rows(&store, "heat");
    let put = |at| RowOperation::Put {
        table: "heat".into(),
        row: heat(at),
        condition: Condition::Always,
    };
    assert_late(table.put(&heat(2), &late()));
    assert_late(table.put_if_absent(&heat(2), &late()));
    assert_late(table.put_returning(&heat(2), Condition::Always, &late()));
    assert_late(table.delete(&key(1), &late()));
    assert_late(table.delete_returning(&key(1), Condition::Always, &late()));
    assert_late(store.atomic_write(&[put(2)], &late()));
    assert_late(store.write_each(&[put(2)], &late()));
    for put in table.put_many(&[heat(2), heat(3)], Condition::Always, &late()) {
        assert_late(put);
    }
    let options = DeleteOptions { timeout: Some(NO_TIME), ..Default::default() };
    assert_late(table.delete_range(&row! { "sensor" => 1_i64 }, &options));
    assert_eq!(all_rows(&store, "heat"), before);
}

#[rstest]
fn writes_of_pairs_that_are_out_of_time_store_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, false);
    let kv = store.kv();
    let put =
        PairOperation::Put { key: pair("b"), value: b"2".to_vec(), condition: Condition::Always };
    assert_late(kv.put(&pair("b"), b"2", &late()));
    assert_late(kv.put_returning(&pair("b"), b"2", Condition::Always, &late()));
    assert_late(kv.delete(&pair("a"), &late()));
    assert_late(kv.write(std::slice::from_ref(&put), &late()));
    assert_late(kv.write_each(std::slice::from_ref(&put), &late()));
    for outcome in kv.write_many(&[vec![put]], &late()) {
        assert_late(outcome);
    }
    let major = Key::new(["major"], [""; 0]);
    assert_late(kv.delete_subtree_with(&major, Depth::ParentAndDescendants, None, &late()));
    assert!(kv.get(&pair("a")).unwrap().is_some());
    assert!(kv.get(&pair("b")).unwrap().is_none());
}

#[rstest]
fn definitions_that_are_out_of_time_change_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, false);
    store.execute("CREATE INDEX by_at ON heat (at)").unwrap();
    let description = || store.execute("SHOW TABLES; DESCRIBE TABLE heat").unwrap();
    let before = description();
    for late in [
        "CREATE TABLE other (id LONG, PRIMARY KEY (id))",
        "CREATE TABLE heat.child (id LONG, PRIMARY KEY (id))",
        "ALTER TABLE heat ADD note STRING",
        "DROP TABLE heat",
        BY_LEVEL,
        "DROP INDEX by_at ON heat",
    ] {
        assert_late(store.execute_within(late, NO_TIME));
        assert_eq!(description(), before, "{late}");
    }
    let definition = IndexDefinition {
        name: "by_level".into(),
        table: "heat".into(),
        columns: vec![IndexColumn::new("level")],
    };
    let options = CreateIndexOptions { timeout: Some(NO_TIME), ..Default::default() };
    assert_late(store.create_index(&definition, &options));
    assert_eq!(description(), before);
    store.execute_within(BY_LEVEL, Duration::from_secs(3_600)).unwrap();
    assert!(store.table("heat").unwrap().index("by_level").is_ok());
}

#[rstest]
fn a_bulk_put_that_waits_too_long_for_the_store_acknowledges_nothing(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = stocked(on, true);
    let options = BulkPutOptions { flush_timeout: Some(NO_TIME), ..Default::default() };
    let stopped = store.multi_put([("heat", vec![heat(2), heat(3)])], &options).unwrap_err();
    assert_eq!(stopped.report.report.total.inserted, 0);
    assert_eq!(stopped.error.kind(), ErrorKind::TimedOut);
    assert_eq!(all_rows(&store, "heat").len(), 1);
}

#[rstest]
fn single_reads_and_counts_that_are_out_of_time_say_so(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, false);
    let (table, kv) = (store.table("heat").unwrap(), store.kv());
    let late = GetOptions { timeout: Some(NO_TIME), ..Default::default() };
    assert_late(table.get_with(&key(1), &late));
    assert_late(kv.get_with(&pair("a"), &late));
    assert_late(table.count_within(NO_TIME));
    assert_late(kv.count_within(NO_TIME));
    let hour = Duration::from_secs(3_600);
    let in_time = GetOptions { timeout: Some(hour), ..Default::default() };
    assert!(table.get_with(&key(1), &in_time).unwrap().is_some());
    assert!(kv.get_with(&pair("a"), &in_time).unwrap().is_some());
    assert_eq!((table.count_within(hour).unwrap(), kv.count_within(hour).unwrap()), (1, 1));
}

#[rstest]
fn maintenance_that_is_out_of_time_changes_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, true);
    let late = CheckOptions { timeout: Some(NO_TIME), ..Default::default() };
    assert_late(store.check_with(&late));
    assert_late(store.settle_within(NO_TIME));
    let hour = Duration::from_secs(3_600);
    let in_time = CheckOptions { timeout: Some(hour), ..Default::default() };
    assert!(store.check_with(&in_time).unwrap().is_sound());
    store.settle_within(hour).unwrap();
    let called_off = CheckOptions::default();
    called_off.cancel.cancel();
    let error = failure(store.check_with(&called_off));
    assert_error(error, ErrorKind::Cancelled, &["the check", "nothing was changed"]);
}

#[test]
fn no_time_at_all_is_a_mistake() {
    let store = stocked(Memory, false);
    let none = Some(Duration::ZERO);
    let options = WriteOptions { timeout: none, ..Default::default() };
    let table = store.table("heat").unwrap();
    assert_error(failure(table.put(&heat(2), &options)), ErrorKind::Invalid, &["timeout", "0"]);
    let options = DeleteOptions { timeout: none, ..Default::default() };
    let deleted = table.delete_range(&row! { "sensor" => 1_i64 }, &options);
    assert_error(failure(deleted), ErrorKind::Invalid, &["timeout", "0"]);
    let executed = store.execute_within("DROP TABLE heat", Duration::ZERO);
    assert_error(failure(executed), ErrorKind::Invalid, &["timeout", "0"]);
    let get = GetOptions { timeout: none, ..Default::default() };
    assert_error(failure(table.get_with(&key(1), &get)), ErrorKind::Invalid, &["timeout", "0"]);
    let counted = table.count_within(Duration::ZERO);
    assert_error(failure(counted), ErrorKind::Invalid, &["timeout", "0"]);
    let check = CheckOptions { timeout: none, ..Default::default() };
    assert_error(failure(store.check_with(&check)), ErrorKind::Invalid, &["timeout", "0"]);
    let settled = store.settle_within(Duration::ZERO);
    assert_error(failure(settled), ErrorKind::Invalid, &["timeout", "0"]);
}

/// The story of a bug: an engine that hung held such calls for longer than their timeouts.
#[test]
fn all_reads_of_a_call_have_its_deadline() {
    let deadlines = Arc::new(Mutex::new(Vec::new()));
    let noted = deadlines.clone();
    let engine = SteppedEngine::over(&Arc::new(MemoryEngine::new()), move |step| {
        if let EngineStep::Read(deadline) = step {
            noted.lock().unwrap().push(deadline);
        }
        Ok(())
    });
    let store = Store::over(engine, Arc::new(SystemClock)).unwrap();
    store.execute(FLEETS).unwrap();
    let ships = store.table("fleets.ships").unwrap();
    let timeout = Some(Duration::from_secs(3_600));
    let in_time = WriteOptions { timeout, ..Default::default() };
    let assert_all = |call: &str| {
        let reads = std::mem::take(&mut *deadlines.lock().unwrap());
        assert!(!reads.is_empty(), "{call} reads nothing");
        assert!(reads.iter().all(|deadline| deadline.moment().is_some()), "{call}");
    };
    deadlines.lock().unwrap().clear();

    let put = |table: &str, row| RowOperation::Put {
        table: table.into(),
        row,
        condition: Condition::IfAbsent,
    };
    let fleet = put("fleets", row! { "id" => 1_i64 });
    let ship = put("fleets.ships", row! { "id" => 1_i64, "ship" => 7_i64 });
    store.write_each(&[fleet, ship], &in_time).unwrap();
    assert_all("write_each of rows");
    let put =
        PairOperation::Put { key: pair("a"), value: b"1".to_vec(), condition: Condition::IfAbsent };
    store.kv().write_each(&[put], &in_time).unwrap();
    assert_all("write_each of pairs");
    let relatives = vec!["fleets".to_owned()];
    let options = BulkGetOptions { relatives: relatives.clone(), timeout, ..Default::default() };
    let keys = KeySource::keys([vec![Value::from(1_i64), Value::from(7_i64)]]);
    let rows = ships.bulk_get(keys, &options).unwrap().into_rows();
    assert_eq!(rows.inspect(|row| assert!(row.is_ok())).count(), 2);
    assert_all("bulk_get with ancestors");
    let options = DeleteOptions { relatives, timeout, ..Default::default() };
    assert_eq!(ships.delete_range(&row! { "id" => 1_i64 }, &options).unwrap(), 2);
    assert_all("delete_range with ancestors");
}

#[test]
fn options_show_all_their_timeouts() {
    let second = Some(Duration::from_secs(1));
    let put =
        BulkPutOptions { timeout: second, flush_timeout: Some(NO_TIME), ..Default::default() };
    let shown = format!("{put:?}");
    assert!(shown.contains(" timeout: Some(1s)"), "{shown}");
    assert!(shown.contains("flush_timeout: Some(1ns)"), "{shown}");
    let index = CreateIndexOptions { timeout: second, ..Default::default() };
    let shown = format!("{index:?}");
    assert!(shown.contains(" timeout: Some(1s)"), "{shown}");
}
