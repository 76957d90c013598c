//! Loads that run while another load calls its observer.
//!
//! The bug's story: the observer was called while its load kept all others out of the shard, or
//! small writes even. Its own load, the obvious thing to do with a duplicate, waited for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rstest::rstest;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadObserver, LoadOptions,
    OnExisting, Result, SpaceId, StoredRun, WriteBatch,
};
use tonnage_rocksdb::RocksEngine;

use crate::common::open;

const KEYS: u64 = 300;
/// A load with so little memory stores files.
const LITTLE_MEMORY: usize = 64 << 10;

fn entries(keys: impl Iterator<Item = u64>) -> Entries {
    let mut entries = Entries::new();
    keys.for_each(|key| entries.push(&key.to_be_bytes(), &[b'v'; 1_000], key, 0));
    entries
}

/// Loads and puts what existed, or was stored, elsewhere.
struct Loader {
    engine: Arc<RocksEngine>,
    elsewhere: SpaceId,
    memory_bytes_max: usize,
    nested: AtomicU64,
}

impl Loader {
    fn load(&self, space: SpaceId, keys: impl Iterator<Item = u64>) -> Result<()> {
        let options = LoadOptions {
            on_existing: OnExisting::Replace,
            memory_bytes_max: self.memory_bytes_max,
            parallelism: 2,
            ..LoadOptions::default()
        };
        let session = self.engine.load(options)?;
        session.push(space, 0, &entries(keys))?;
        session.finish()?;
        self.nested.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl LoadObserver for Loader {
    fn stored(&self, _run: StoredRun) {
        self.load(self.elsewhere, 0..KEYS).unwrap();
    }

    fn existed(&self, _stream: u32, position: u64, space: SpaceId, key: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new(space);
        batch.put(key, b"written", 0, Condition::Always);
        self.engine.write(&batch, Durability::Write)?;
        if position.is_multiple_of(100) {
            self.load(self.elsewhere, 0..KEYS)?;
            self.load(space, 0..KEYS)?;
        }
        Ok(())
    }
}

#[rstest]
fn an_observer_may_write_and_load(
    #[values(LITTLE_MEMORY, 64 << 20)] outer_memory: usize,
    #[values(LITTLE_MEMORY, 64 << 20)] nested_memory: usize,
) {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let engine = Arc::new(engine);
    let [space, elsewhere] = ["space", "elsewhere"]
        .map(|name| engine.create_space(name, &KeyShape::new([KeyPart::Fixed(8)])).unwrap());
    let loader = Arc::new(Loader {
        engine: engine.clone(),
        elsewhere,
        memory_bytes_max: nested_memory,
        nested: AtomicU64::new(0),
    });
    loader.load(space, 0..KEYS).unwrap();
    let observer = loader.clone();
    let session = engine.load(LoadOptions {
        memory_bytes_max: outer_memory,
        parallelism: 2,
        observer,
        ..LoadOptions::default()
    });
    let session = session.unwrap();
    session.push(space, 0, &entries(0..KEYS + 10)).unwrap();
    session.finish().unwrap();
    // Two for each of three entries that existed, one for what was stored, and the first.
    assert!(loader.nested.load(Ordering::SeqCst) >= 8);
}
