//! What a cluster refuses, and the words for it. Tests of the store that want it all the same are
//! in `expected_failures`.

use tonnage::{
    BulkGetOptions, Direction, ErrorKind, FieldRange, Key, KeySource, PairGetOptions,
    TableScanOptions, WriteOptions,
};

use crate::common::Backend::Memory;
use crate::common::shop;
use crate::common::{assert_error, failure};

/// The story of a bug: the message was about directories, and asked users to keep the store in one.
#[test]
fn ranges_and_places_across_shard_keys_are_refused_since_a_cluster_keeps_no_order_of_them() {
    let store = shop::stocked(Memory, 3);
    let phones = store.table("phones").unwrap();
    let range = || Some(FieldRange::of("maker").from("A"));
    let scan = phones.scan(&TableScanOptions { range: range(), ..Default::default() });
    let what = "a range across shard keys";
    assert_error(failure(scan), ErrorKind::Unsupported, &[what, "cluster", "name the shard keys"]);
    let options = BulkGetOptions { range: range(), ..Default::default() };
    let get = phones.bulk_get(KeySource::all(), &options);
    assert_error(failure(get), ErrorKind::Unsupported, &[what, "cluster", "name the shard keys"]);

    let keys = || KeySource::keys([vec!["Nokia".into()]]);
    let forward =
        BulkGetOptions { direction: Direction::Forward, origins: true, ..Default::default() };
    let mut get = phones.bulk_get(keys(), &forward).unwrap().into_rows();
    assert!(get.next().unwrap().is_ok());
    let options = BulkGetOptions { start_after: get.position(), ..forward };
    let rest = phones.bulk_get(keys(), &options).unwrap().into_rows().map(|row| row.unwrap());
    assert_eq!(rest.count(), 2, "what lies under shard keys that are named has an order");
    let options = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    let mut scan = phones.scan(&options).unwrap();
    assert!(scan.next().unwrap().is_ok());
    assert_eq!(scan.position(), None, "a scan of all rows has no place to go on from");
    let options = TableScanOptions { start_after: get.position(), ..options };
    let scan = phones.scan(&options);
    assert_error(failure(scan), ErrorKind::Unsupported, &["start_after", "cluster"]);
}

#[test]
fn a_key_longer_than_a_clustering_key_is_refused_with_the_limit() {
    let store = Memory.open();
    let put = |bytes| {
        let key = Key::of_major(["x".repeat(bytes)]);
        store.kv().put(&key, b"", &WriteOptions::default())
    };
    put(65_000).unwrap();
    assert_error(failure(put(65_535)), ErrorKind::Invalid, &["65534"]);
    let key = Key::of_major(["x".repeat(65_535)]);
    let get = store.kv().get_subtree(&key, &PairGetOptions::default());
    assert_error(failure(get), ErrorKind::Invalid, &["65534"]);
}

#[test]
fn settling_and_copies_are_refused_with_what_nodes_have_for_it() {
    let store = Memory.open();
    assert_error(failure(store.settle()), ErrorKind::Unsupported, &["nodetool"]);
    let copy = store.checkpoint(&std::env::temp_dir().join("no-copy"));
    assert_error(failure(copy), ErrorKind::Unsupported, &["nodetool", "unload"]);
}
