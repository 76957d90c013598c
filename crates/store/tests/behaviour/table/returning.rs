//! Writes that tell what was there before, and writes that keep how long a row lives.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    Acks, Condition, Durability, ErrorKind, Key, RowOperation, Value, WriteOptions, WriteResult,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};

const T: &str = "CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k)) USING TTL 1 DAYS";

fn make(k: i64, v: i64) -> tonnage::Row {
    row! { "k" => k, "v" => v }
}

fn now() -> WriteOptions {
    WriteOptions::default()
}

fn open(on: Backend, is_indexed: bool) -> TestStore {
    let store = on.with_tables(T);
    if is_indexed {
        store.execute("CREATE INDEX by_v ON t (v)").unwrap();
    }
    store
}

#[rstest]
fn a_put_tells_the_row_that_it_replaced(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] is_indexed: bool,
) {
    let store = open(on, is_indexed);
    let table = store.table("t").unwrap();
    let first = table.put_returning(&make(1, 10), Condition::Always, &now()).unwrap();
    assert_eq!(first.previous, None);
    let second = table.put_returning(&make(1, 11), Condition::Always, &now()).unwrap();
    let previous = second.previous.unwrap();
    assert_eq!((previous.row, Some(previous.version)), (make(1, 10), first.result.version()));
    assert_eq!(table.get(&row! { "k" => 1_i64 }).unwrap().unwrap().row, make(1, 11));
}

#[rstest]
fn a_put_whose_condition_fails_tells_the_row_that_stays(#[values(Memory, RocksDb)] on: Backend) {
    let store = open(on, false);
    let table = store.table("t").unwrap();
    let version = table.put(&make(1, 10), &now()).unwrap();
    let put = table.put_returning(&make(1, 11), Condition::IfAbsent, &now()).unwrap();
    let failed = WriteResult::ConditionFailed { operation: 0, current: Some(version) };
    assert_eq!((put.result, put.previous.unwrap().row), (failed, make(1, 10)));
    let absent = table.put_returning(&make(2, 1), Condition::IfPresent, &now()).unwrap();
    assert_eq!((absent.result.is_stored(), absent.previous), (false, None));
}

#[rstest]
fn a_delete_tells_the_row_that_went(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] is_indexed: bool,
) {
    let store = open(on, is_indexed);
    let table = store.table("t").unwrap();
    table.put(&make(1, 10), &now()).unwrap();
    let key = row! { "k" => 1_i64 };
    let gone = table.delete_returning(&key, Condition::IfPresent, &now()).unwrap();
    assert_eq!((gone.result.is_stored(), gone.previous.unwrap().row), (true, make(1, 10)));
    let again = table.delete_returning(&key, Condition::IfPresent, &now()).unwrap();
    assert_eq!((again.result.is_stored(), again.previous), (false, None));
}

/// Each of many threads adds one again and again, and gets what was there: no number is returned
/// twice.
#[rstest]
fn no_row_is_replaced_by_two(#[values(Memory, RocksDb)] on: Backend) {
    let store = open(on, false);
    let table = store.table("t").unwrap();
    let next = AtomicI64::new(1);
    table.put(&make(1, 0), &now()).unwrap();
    let told: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let work = || {
            let mut told = Vec::new();
            for _ in 0..100 {
                let row = make(1, next.fetch_add(1, Ordering::SeqCst));
                let put = table.put_returning(&row, Condition::Always, &now()).unwrap();
                told.push(put.previous.unwrap().row.get("v").unwrap().clone());
            }
            told
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut told: Vec<String> = told.concat().iter().map(ToString::to_string).collect();
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 400);
}

#[rstest]
fn a_pair_tells_what_it_replaced(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let (pairs, key) = (store.kv(), Key::new(["a"], ["b"]));
    assert_eq!(pairs.put_returning(&key, b"1", Condition::Always, &now()).unwrap().previous, None);
    let put = pairs.put_returning(&key, b"2", Condition::IfPresent, &now()).unwrap();
    assert_eq!(put.previous.unwrap().value, b"1");
    let kept = pairs.put_returning(&key, b"3", Condition::IfAbsent, &now()).unwrap();
    assert!(!kept.result.is_stored());
    assert_eq!(kept.previous.unwrap().value, b"2");
    let gone = pairs.delete_returning(&key, Condition::Always, &now()).unwrap();
    assert_eq!(gone.previous.unwrap().value, b"2");
    assert_eq!(pairs.get(&key).unwrap(), None);
}

#[rstest]
fn an_update_can_keep_how_long_the_row_lives(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] is_indexed: bool,
) {
    let store = open(on, is_indexed);
    let table = store.table("t").unwrap();
    let key = row! { "k" => 1_i64 };
    let expiry = || table.get(&key).unwrap().unwrap().expires_at_ms;
    let hour = WriteOptions { ttl: Some(Duration::from_secs(3_600)), ..now() };
    table.put(&make(1, 1), &hour).unwrap();
    let before = expiry();
    let keeping = WriteOptions { keep_ttl: true, ..now() };
    table.put(&make(1, 2), &keeping).unwrap();
    assert_eq!(expiry(), before);
    table.put(&make(1, 3), &now()).unwrap();
    assert!(expiry() > before, "the table's own time is a day");
    let never = WriteOptions { ttl: Some(Duration::ZERO), ..now() };
    table.put(&make(1, 4), &never).unwrap();
    table.put_if_present(&make(1, 5), &keeping).unwrap();
    assert_eq!(expiry(), 0, "for ever stays for ever");
    table.put(&make(2, 1), &keeping).unwrap();
    let new = table.get(&row! { "k" => 2_i64 }).unwrap().unwrap();
    assert!(new.expires_at_ms > before, "a new row lives as its table says");
}

#[rstest]
fn an_update_of_a_pair_can_keep_how_long_it_lives(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let (pairs, key) = (store.kv(), Key::new(["a"], ["b"]));
    let hour = WriteOptions { ttl: Some(Duration::from_secs(3_600)), ..now() };
    pairs.put(&key, b"1", &hour).unwrap();
    let before = pairs.get(&key).unwrap().unwrap().expires_at_ms;
    pairs.put(&key, b"2", &WriteOptions { keep_ttl: true, ..now() }).unwrap();
    let after = pairs.get(&key).unwrap().unwrap();
    assert_eq!((after.value, after.expires_at_ms), (b"2".to_vec(), before));
}

#[test]
fn options_that_contradict_themselves_are_refused() {
    let store = open(Memory, false);
    let table = store.table("t").unwrap();
    let both = WriteOptions { keep_ttl: true, expires_at_ms: Some(1), ..now() };
    assert_error(failure(table.put(&make(1, 1), &both)), ErrorKind::Invalid, &["keep_ttl"]);
    let keeping = WriteOptions { keep_ttl: true, ..now() };
    let group = store.atomic_write(&[RowOperation::put("t", make(1, 1))], &keeping);
    assert_error(failure(group), ErrorKind::Invalid, &["keep_ttl"]);
    let unheard = WriteOptions {
        acks: Some(Acks::None),
        durability: Durability::Fsync,
        ..WriteOptions::default()
    };
    assert_error(failure(table.put(&make(1, 1), &unheard)), ErrorKind::Invalid, &["acks"]);
    for acks in [Acks::None, Acks::Majority, Acks::All].map(Some) {
        table.put(&make(1, 1), &WriteOptions { acks, ..now() }).unwrap();
    }
}
