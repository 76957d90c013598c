//! Loads over the same keys, one after another: compaction waits for them, and catches up in the
//! end.

use std::time::{Duration, Instant};

use tempfile::TempDir;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, Maintenance,
    OnExisting, Projection, Rows, Slices, SpaceId, WriteBatch,
};
use tonnage_rocksdb::RocksEngine;

use crate::common::open;

const ROWS: u64 = 60_000;
/// After so long without a load compaction continues: a copy of `compaction::pause::PAUSE`.
const PAUSE: Duration = Duration::from_secs(2);
/// How often loads are tried on a machine that pauses between them.
const MAX_TRIES: usize = 10;

fn space(engine: &RocksEngine) -> SpaceId {
    engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(8)])).unwrap()
}

/// Keys that spread over everything, so that each load overlaps all others.
fn key(load: u64, row: u64) -> [u8; 8] {
    (load * ROWS + row).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()
}

fn load(engine: &RocksEngine, space: SpaceId, number: u64) {
    let session = engine
        .load(LoadOptions { on_existing: OnExisting::Replace, ..LoadOptions::default() })
        .unwrap();
    let mut entries = Entries::new();
    (0..ROWS).for_each(|row| entries.push(&key(number, row), &[row as u8; 200], row, 0));
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
}

fn files_at_top(engine: &RocksEngine) -> u64 {
    let statistics = engine.statistics().unwrap();
    let details = statistics.shards.iter().flat_map(|shard| &shard.details);
    details.filter(|(name, _)| name == "files_at_level_0").map(|(_, count)| count).sum()
}

fn put(engine: &RocksEngine, space: SpaceId, row: u64) {
    let mut batch = WriteBatch::new(space);
    batch.put(&key(1_000, row), b"small", 0, Condition::Always);
    engine.write(&batch, Durability::Write).unwrap();
}

/// A store after some loads.
struct Loaded {
    engine: RocksEngine,
    space: SpaceId,
    /// How many it has at the top. None where a load came so late that compaction may have gone on
    /// before it.
    files: Option<u64>,
    directory: TempDir,
}

fn loaded(loads: u64) -> Loaded {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let space = space(&engine);
    let (mut is_prompt, mut begun) = (true, Instant::now());
    for number in 0..loads {
        let before = std::mem::replace(&mut begun, Instant::now());
        load(&engine, space, number);
        put(&engine, space, number);
        is_prompt &= before.elapsed() < PAUSE;
    }
    let files = files_at_top(&engine);
    is_prompt &= begun.elapsed() < PAUSE;
    Loaded { engine, space, files: is_prompt.then_some(files), directory }
}

/// The first of several tries whose files can be counted, or the last one.
fn loaded_at_once(loads: u64) -> Loaded {
    let mut tries = (1..MAX_TRIES).map(|_| loaded(loads));
    let loaded = tries.find(|tried| tried.files.is_some()).unwrap_or_else(|| loaded(loads));
    if loaded.files.is_none() {
        println!("the files are not counted: this machine is too slow");
    }
    loaded
}

fn assert_all_there(engine: &RocksEngine, space: SpaceId, loads: u64) {
    let mut rows = Rows::new();
    for number in 0..loads {
        let keys: Vec<_> = (0..ROWS).step_by(97).map(|row| key(number, row)).collect();
        let keys: Slices = keys.iter().map(|key| &key[..]).collect();
        engine.read(space, &keys, Projection::KeysOnly, &mut rows).unwrap();
        assert_eq!(rows.len(), keys.len());
    }
}

#[test]
fn loads_leave_their_files_until_compaction_catches_up() {
    let Loaded { directory: _directory, engine, space, files } = loaded_at_once(6);
    assert!(
        files.is_none_or(|files| files >= 5),
        "the first load meets nothing, the others leave a file each: {files:?}"
    );
    assert_all_there(&engine, space, 6);
    engine.settle().unwrap();
    assert!(files_at_top(&engine) < 5, "settling compacts what loads left behind");
    assert_all_there(&engine, space, 6);
}

#[test]
fn a_store_closed_in_between_catches_up_when_it_is_opened_and_takes_small_writes_meanwhile() {
    let Loaded { directory, engine, space, files } = loaded_at_once(12);
    assert!(files.is_none_or(|files| files >= 11), "{files:?}");
    drop(engine);
    let engine = open(&directory.path().join("store")).unwrap();
    (0..1_000).for_each(|row| put(&engine, space, row));
    engine.settle().unwrap();
    assert!(files_at_top(&engine) < 11);
    assert_all_there(&engine, space, 12);
}
