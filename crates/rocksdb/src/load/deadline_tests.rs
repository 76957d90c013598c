//! What a load does when its time is over while it waits for others.

use std::thread;
use std::time::Duration;

use tonnage_engine::{
    Deadline, Engine, Entries, ErrorKind, KeyPart, KeyShape, LoadOptions, LoadSession, Maintenance,
    OnExisting, SpaceId,
};

use crate::{RocksEngine, Settings};

/// So little that the load stores files.
const LITTLE_MEMORY: usize = 256 << 10;

struct Store {
    _directory: tempfile::TempDir,
    engine: RocksEngine,
    space: SpaceId,
}

impl Store {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { cache_bytes: 8 << 20, ..Settings::default() };
        let engine = RocksEngine::open(directory.path().join("store"), settings).unwrap();
        let space = engine.create_space("late", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
        Self { _directory: directory, engine, space }
    }

    fn load(&self) -> Box<dyn LoadSession> {
        let options = LoadOptions {
            on_existing: OnExisting::Replace,
            memory_bytes_max: LITTLE_MEMORY,
            parallelism: 2,
            ..LoadOptions::default()
        };
        self.engine.load(options).unwrap()
    }

    fn rows(&self) -> u64 {
        self.engine.verify().unwrap().rows
    }
}

fn entries(keys: std::ops::Range<u64>, value_bytes: usize) -> Entries {
    let mut entries = Entries::new();
    keys.for_each(|key| entries.push(&key.to_be_bytes(), &vec![b'v'; value_bytes], key, 0));
    entries
}

/// Late enough that a machine that pauses for 3 seconds reaches the wait before it.
fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(4))
}

#[test]
fn a_small_flush_waits_for_the_gate_until_its_deadline() {
    let store = Store::new();
    let session = store.load();
    session.push(store.space, 0, &entries(0..10, 10)).unwrap();
    let alone = store.engine.store().shards()[0].gate.write();
    let error = session.flush_by(soon()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.message().contains("stores its rows"), "{error}");
    drop(alone);
    assert_eq!(session.flush().unwrap_err().kind(), ErrorKind::TimedOut, "the load is stopped");
    drop(session);
    assert_eq!(store.rows(), 0);
}

#[test]
fn a_large_flush_waits_for_other_loads_until_its_deadline() {
    let store = Store::new();
    let session = store.load();
    session.push(store.space, 0, &entries(0..400, 2_000)).unwrap();
    let other = store.engine.store().shards()[0].loading.lock(None, None);
    let error = session.finish_by(soon()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.message().contains("another load of the same keys"), "{error}");
    drop(other);
    assert_eq!(store.rows(), 0);
}

#[test]
fn a_large_flush_waits_for_small_writes_until_its_deadline() {
    let store = Store::new();
    let session = store.load();
    session.push(store.space, 0, &entries(0..400, 2_000)).unwrap();
    let writing = store.engine.store().shards()[0].gate.read();
    let error = session.finish_by(soon()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.message().contains("small writes that are under way"), "{error}");
    drop(writing);
    assert_eq!(store.rows(), 0);
}

/// Pushes of one entry are taken or not, so the load continues after one that was not.
#[test]
fn a_push_waits_for_memory_until_its_deadline() {
    let store = Store::new();
    let session = store.load();
    session.push(store.space, 0, &entries(0..400, 2_000)).unwrap();
    let writing = store.engine.store().shards()[0].gate.read();
    let mut taken = 400;
    thread::scope(|threads| {
        let flush = threads.spawn(|| session.flush());
        // While the flush holds its memory there is room for a few entries only.
        let error = loop {
            let one = entries(taken..taken + 1, 2_000);
            match session.push_by(store.space, 0, &one, soon()) {
                Ok(()) => taken += 1,
                Err(error) => break error,
            }
            assert!(taken < 100_000, "the memory has no end");
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(writing);
        flush.join().unwrap().unwrap();
    });
    session.push(store.space, 0, &entries(taken..taken + 1, 2_000)).unwrap();
    session.finish().unwrap();
    assert_eq!(store.rows(), taken + 1);
}
