//! A full disk: an error before the acknowledgement, nothing acknowledged is lost, and the store
//! works again after space is freed. Needs root for a small tmpfs.
//!
//! The story of a bug: these tests hung, once in some twenty runs. After space was freed a writer
//! waited inside RocksDB for the memtables to be flushed, at the head of the queue of writers, and
//! RocksDB's recovery, which had to flush them, waited in the same queue after it. Since then no
//! write waits inside RocksDB, see `src/stall.rs`.

use std::time::{Duration, Instant};

use tonnage_engine::{
    Condition, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, Maintenance, Projection,
    Rows, Slices, SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::{Random, SmallDisk};

use crate::common;

/// Of a disk that each test fills, and of what takes room on it until space is freed.
const DISK_BYTES: u64 = 16 << 20;
const BALLAST_BYTES: usize = 6 << 20;

fn put(
    engine: &RocksEngine,
    space: SpaceId,
    key: u32,
    durability: Durability,
) -> Result<(), Error> {
    let mut batch = WriteBatch::new(space);
    batch.put(&key.to_be_bytes(), &value(key), 0, Condition::Always);
    engine.write(&batch, durability).map(drop)
}

/// 10 KB that do not compress.
fn value(key: u32) -> Vec<u8> {
    Random(key.into()).bytes(10_000)
}

fn assert_all_there(engine: &RocksEngine, space: SpaceId, acknowledged: &[u32]) {
    let keys: Vec<[u8; 4]> = acknowledged.iter().map(|key| key.to_be_bytes()).collect();
    let keys: Slices = keys.iter().map(|key| &key[..]).collect();
    let mut rows = Rows::new();
    engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
    assert_eq!(rows.len(), acknowledged.len());
    for (index, key) in acknowledged.iter().enumerate() {
        assert_eq!(rows.values.get(index), value(*key));
    }
}

fn a_full_disk(durability: Durability) {
    let Some(disk) = SmallDisk::mount(DISK_BYTES) else { return };
    let settings = Settings { memtable_bytes: 1 << 20, ..common::settings() };
    let root = disk.path().join("store");
    let engine = RocksEngine::open(&root, settings.clone()).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let ballast = disk.take(BALLAST_BYTES);

    let mut acknowledged = Vec::new();
    let mut keys = 0..10_000;
    let error = keys.find_map(|key| match put(&engine, space, key, durability) {
        Ok(()) => {
            acknowledged.push(key);
            None
        }
        Err(error) => Some(error),
    });
    let error = error.expect("the disk is smaller than that");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("disk is full") && error.is_retryable(), "{error}");
    assert_all_there(&engine, space, &acknowledged);

    drop(ballast);
    let freed = Instant::now();
    while let Err(error) = put(&engine, space, 1_000_000, durability) {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(
            freed.elapsed() < Duration::from_secs(60),
            "still refused a minute after space was freed: {error}"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    println!(
        "{durability:?}: writes work again {} ms after space was freed",
        freed.elapsed().as_millis()
    );
    acknowledged.push(1_000_000);
    for key in 1_000_001..1_000_100 {
        put(&engine, space, key, durability).unwrap();
        acknowledged.push(key);
    }
    assert_all_there(&engine, space, &acknowledged);
    drop(engine);
    let engine = RocksEngine::open(&root, settings).unwrap();
    assert_all_there(&engine, space, &acknowledged);
    assert_eq!(engine.verify().unwrap().damages, []);
}

#[test]
fn a_full_disk_refuses_synced_writes_until_space_is_freed() {
    a_full_disk(Durability::Fsync);
}

#[test]
fn a_full_disk_refuses_writes_until_space_is_freed() {
    a_full_disk(Durability::Write);
}

/// A store that was full when it was closed opens once there is space, with all that was
/// acknowledged.
#[test]
fn a_store_closed_on_a_full_disk_opens_again() {
    let Some(disk) = SmallDisk::mount(DISK_BYTES) else { return };
    let settings = Settings { memtable_bytes: 1 << 20, ..common::settings() };
    let root = disk.path().join("store");
    let ballast = disk.take(BALLAST_BYTES);
    let engine = RocksEngine::open(&root, settings.clone()).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let acknowledged: Vec<u32> = (0..10_000)
        .take_while(|key| put(&engine, space, *key, Durability::Write).is_ok())
        .collect();
    assert!(acknowledged.len() < 10_000);
    drop(engine);
    drop(ballast);
    let engine = RocksEngine::open(&root, settings).unwrap();
    assert_all_there(&engine, space, &acknowledged);
    put(&engine, space, 77_777, Durability::Fsync).unwrap();
}
