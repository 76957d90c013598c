//! A load with `Fsync` is as durable as the rows that its entries yield to.
//!
//! The bug's story: where all entries of a range yielded there was no file and nothing was synced.
//! The load was reported complete, the power failed, and neither the entries were there nor the
//! rows that they had yielded to.

use rstest::rstest;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, OnExisting, SpaceId,
    WriteBatch,
};

use crate::{RocksEngine, Settings};

const KEYS: u64 = 400;
/// So little that the load stores files.
const LITTLE_MEMORY: usize = 256 << 10;

fn put_all(engine: &RocksEngine, space: SpaceId) {
    for key in 0..KEYS {
        let mut batch = WriteBatch::new(space);
        batch.put(&key.to_be_bytes(), b"written", 0, Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
    }
}

#[rstest]
#[case::to_rows_from_before(OnExisting::Keep)]
#[case::to_rows_written_meanwhile(OnExisting::Replace)]
#[case::without_a_look(OnExisting::BlindReplace)]
fn a_load_with_fsync_syncs_what_it_yields_to(
    #[case] on_existing: OnExisting,
    #[values(10, 2_000)] value_bytes: usize,
) {
    let directory = tempfile::tempdir().unwrap();
    let settings = Settings { cache_bytes: 8 << 20, ..Settings::default() };
    let engine = RocksEngine::open(directory.path().join("store"), settings).unwrap();
    let space = engine.create_space("yields", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    let options = LoadOptions {
        on_existing,
        durability: Durability::Fsync,
        memory_bytes_max: LITTLE_MEMORY,
        parallelism: 2,
        ..LoadOptions::default()
    };
    let session = engine.load(options).unwrap();
    let mut entries = Entries::new();
    (0..KEYS).for_each(|key| entries.push(&key.to_be_bytes(), &vec![b'v'; value_bytes], key, 0));
    session.push(space, 0, &entries).unwrap();
    put_all(&engine, space);
    assert!(!engine.store().shards()[0].is_synced());
    session.finish().unwrap();
    assert!(engine.store().shards()[0].is_synced());
}
