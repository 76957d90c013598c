//! A small load waits only for what a small write waits for, too.

use std::thread;

use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, OnExisting, SpaceId,
    WriteBatch,
};

use crate::{RocksEngine, Settings};

struct Store {
    _directory: tempfile::TempDir,
    engine: RocksEngine,
    space: SpaceId,
}

fn store() -> Store {
    let directory = tempfile::tempdir().unwrap();
    let settings = Settings { cache_bytes: 8 << 20, ..Settings::default() };
    let engine = RocksEngine::open(directory.path().join("store"), settings).unwrap();
    let space = engine.create_space("small", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    Store { _directory: directory, engine, space }
}

fn load(store: &Store, on_existing: OnExisting, keys: std::ops::Range<u64>) {
    let session = store.engine.load(LoadOptions { on_existing, ..LoadOptions::default() }).unwrap();
    let mut entries = Entries::new();
    keys.for_each(|key| entries.push(&key.to_be_bytes(), b"loaded", key, 0));
    session.push(store.space, 0, &entries).unwrap();
    session.finish().unwrap();
}

/// The bug's story: loads of one shard waited for each other for a whole flush, so a load of one
/// row waited hours for a giant one. Here a large load is at work on all keys for as long as the
/// test takes.
#[test]
fn a_small_load_does_not_wait_for_a_large_one() {
    let store = store();
    let _large = store.engine.store().shards()[0].loading.lock(None, None);
    for on_existing in [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace] {
        load(&store, on_existing, 0..1);
        load(&store, on_existing, 0..5_000);
    }
}

/// Nor does it wait for small writes of other shard keys, or these for it: one that holds the gate
/// is in the middle of a write.
#[test]
fn a_small_load_goes_on_beside_small_writes() {
    let store = store();
    let shard = &store.engine.store().shards()[0];
    let _writing = shard.gate.read();
    load(&store, OnExisting::Replace, 0..5_000);
}

/// A small load and a small write of one row take turns: the write on a condition finds what the
/// load stored, or the load what it wrote.
#[test]
fn small_loads_and_small_writes_of_one_row_take_turns() {
    let store = store();
    let (engine, space) = (&store.engine, store.space);
    for key in 0..300_u64 {
        let inserted = thread::scope(|threads| {
            let put = threads.spawn(move || {
                let mut batch = WriteBatch::new(space);
                batch.put(&key.to_be_bytes(), b"written", 0, Condition::IfAbsent);
                u64::from(engine.write(&batch, Durability::None).unwrap().version().is_some())
            });
            load(&store, OnExisting::Keep, key..key + 1);
            put.join().unwrap()
        });
        let keys = [&key.to_be_bytes()[..]].into_iter().collect();
        let mut rows = tonnage_engine::Rows::new();
        engine.read(space, &keys, tonnage_engine::Projection::default(), &mut rows).unwrap();
        assert_eq!(rows.values.get(0) == b"written", inserted == 1, "key {key}");
    }
}
