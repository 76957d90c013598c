//! Levels of writes and reads reach the engine: those of the call, otherwise those of the store.

use tonnage::{
    Acks, BulkGetOptions, BulkPutOptions, Condition, Consistency, GetOptions, KeySource, Levels,
    Row, Store, TableScanOptions, WriteOptions,
};

use super::noting::{noted, open};
use crate::common::row;

fn writing(acks: Acks) -> Levels {
    Levels { acks, ..Levels::default() }
}

fn reading(consistency: Consistency) -> Levels {
    Levels { consistency, ..Levels::default() }
}

const TABLE: &str = "CREATE TABLE t (s LONG, k LONG, PRIMARY KEY (SHARD(s), k))";

fn key() -> Row {
    row! { "s" => 1_i64, "k" => 1_i64 }
}

#[test]
fn a_call_writes_and_reads_at_the_levels_that_it_asks_for() {
    let url = "cassandra://calls/k";
    let store = Store::builder(url).cluster_engine(open).open().unwrap();
    store.execute(TABLE).unwrap();
    let table = store.table("t").unwrap();
    let put = WriteOptions { acks: Some(Acks::All), ..WriteOptions::default() };
    let all = writing(Acks::All);
    let one = || {
        table.put(&key(), &put).unwrap();
    };
    assert_eq!(noted(url, one), [("write", all)]);
    // The row that decides is always the latest.
    let exchange = || drop(table.put_returning(&key(), Condition::Always, &put).unwrap());
    assert_eq!(noted(url, exchange), [("write", all)]);
    let load = BulkPutOptions { acks: Some(Acks::None), ..BulkPutOptions::default() };
    let load = || drop(store.multi_put([("t", vec![key()])], &load).unwrap());
    assert_eq!(noted(url, load), [("load", writing(Acks::None))]);

    let none = Some(Consistency::None);
    let old = reading(Consistency::None);
    let get = GetOptions { consistency: none, ..GetOptions::default() };
    assert_eq!(noted(url, || drop(table.get_with(&key(), &get).unwrap())), [("read", old)]);
    let get = BulkGetOptions { consistency: none, ..BulkGetOptions::default() };
    let rows = |partial: Row| {
        let keys = KeySource::keys(vec![partial]);
        table.bulk_get(keys, &get).unwrap().for_each(|batch| drop(batch.unwrap()));
    };
    assert_eq!(noted(url, || rows(row! { "s" => 1_i64 })), [("scan", old)]);
    let scan = TableScanOptions { consistency: none, ..TableScanOptions::default() };
    let scan = || table.scan(&scan).unwrap().for_each(|batch| drop(batch.unwrap()));
    assert_eq!(noted(url, scan), [("scan", old)]);
}

#[test]
fn a_call_that_does_not_say_has_the_levels_of_its_store() {
    let url = "cassandra://stores/k";
    let builder = Store::builder(url).cluster_engine(open);
    let store = builder.acks(Acks::All).consistency(Consistency::None).open().unwrap();
    store.execute(TABLE).unwrap();
    let (table, pairs) = (store.table("t").unwrap(), store.kv());
    let (all, old) = (writing(Acks::All), reading(Consistency::None));
    let put = || {
        table.put(&key(), &WriteOptions::default()).unwrap();
    };
    assert_eq!(noted(url, put), [("write", all)]);
    assert_eq!(noted(url, || drop(table.get(&key()).unwrap())), [("read", old)]);
    let pair = "/a".parse().unwrap();
    assert_eq!(noted(url, || drop(pairs.get(&pair).unwrap())), [("read", old)]);
    let latest = GetOptions { consistency: Some(Consistency::Absolute), ..GetOptions::default() };
    assert!(noted(url, || drop(table.get_with(&key(), &latest).unwrap())).is_empty());
    let majority = WriteOptions { acks: Some(Acks::Majority), ..WriteOptions::default() };
    let put = || {
        table.put(&key(), &majority).unwrap();
    };
    assert!(noted(url, put).is_empty());
}
