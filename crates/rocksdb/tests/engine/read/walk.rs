//! Keys that lie close together are walked to, or looked up first and then walked to: the answer is
//! that of the memory engine.

use std::sync::Arc;

use rstest::rstest;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, ManualClock,
    MemoryEngine, Projection, Rows, Slices, SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common;

const ROWS: u32 = 40_000;
const NOW_MS: u64 = 1_000;

fn key(row: u32) -> [u8; 4] {
    row.to_be_bytes()
}

/// Every second number is a row; of the first thousand some are expired and some deleted.
fn fill(engine: &dyn Engine) -> SpaceId {
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let session = engine.load(LoadOptions::default()).unwrap();
    let mut entries = Entries::new();
    for row in (0..ROWS).step_by(2) {
        let expires_at_ms = if row < 1_000 && row % 10 == 0 { NOW_MS - 1 } else { 0 };
        entries.push(&key(row), &[row as u8; 300], u64::from(row), expires_at_ms);
    }
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    for row in (0..1_000).step_by(14) {
        let mut batch = WriteBatch::new(space);
        batch.delete(&key(row), Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
    }
    space
}

fn read(
    engine: &dyn Engine,
    space: SpaceId,
    keys: &Slices,
    projection: Projection,
) -> (Slices, Slices, Vec<u32>) {
    let mut rows = Rows::new();
    engine.read(space, keys, projection, &mut rows).unwrap();
    (rows.keys, rows.values, rows.origins)
}

#[rstest]
fn the_answer_is_that_of_the_memory_engine(
    #[values(1, 3)] directories: u32,
    #[values(1, 3, 12, 40, 150)] stride: usize,
    #[values(Projection::KeysOnly, Projection::KeysAndValues)] projection: Projection,
) {
    let clock = Arc::new(ManualClock::new(NOW_MS));
    let place = tempfile::tempdir().unwrap();
    let data_directories =
        (0..directories).map(|number| place.path().join(format!("disk-{number}"))).collect();
    let settings = Settings { data_directories, ..common::settings() };
    let rocksdb =
        RocksEngine::open_with_clock(place.path().join("store"), settings, clock.clone()).unwrap();
    let memory = MemoryEngine::with_clock(clock);
    let spaces = (fill(&rocksdb), fill(&memory));

    // Some numbers beyond the last row, and one key twice.
    let keys: Slices = (0..ROWS + 100)
        .step_by(stride)
        .chain([ROWS + 200, ROWS + 200])
        .map(key)
        .collect::<Vec<_>>()
        .iter()
        .map(|key| &key[..])
        .collect();
    let found = read(&rocksdb, spaces.0, &keys, projection);
    assert_eq!(found, read(&memory, spaces.1, &keys, projection));
    assert!(!found.2.is_empty());
}
