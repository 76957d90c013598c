//! Filters and indexes of data files take memory outside of the cache only while they are small
//! beside it.

use std::path::Path;

use tonnage_engine::{
    Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, Maintenance, OnExisting,
    Projection, Rows, Slices, SpaceId,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common;

const ROWS: u64 = 400_000;
const MORE: u64 = 100_000;

fn open(root: &Path, cache_bytes: usize) -> RocksEngine {
    RocksEngine::open(root, Settings { cache_bytes, ..common::settings() }).unwrap()
}

/// Numbers in no order, so that values do not compress.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

fn value(row: u64) -> Vec<u8> {
    (0..5).flat_map(|part| mix(row << 3 | part).to_be_bytes()).collect()
}

fn load(engine: &RocksEngine, space: SpaceId, rows: std::ops::Range<u64>) {
    let options = LoadOptions {
        on_existing: OnExisting::BlindReplace,
        durability: Durability::Fsync,
        memory_bytes_max: 64 << 20,
        parallelism: 2,
        ..LoadOptions::default()
    };
    let session = engine.load(options).unwrap();
    for first in rows.clone().step_by(20_000) {
        let mut entries = Entries::new();
        for row in first..(first + 20_000).min(rows.end) {
            entries.push(&row.to_be_bytes(), &value(row), row, 0);
        }
        session.push(space, 0, &entries).unwrap();
    }
    session.finish().unwrap();
}

/// Reads rows that are there and as many that are not.
fn check(engine: &RocksEngine, rows: u64) {
    let space = engine.spaces().unwrap()[0].id;
    let (mut keys, mut found) = (Slices::new(), Rows::new());
    let wanted: Vec<u64> = (0..rows).step_by(1_009).collect();
    wanted.iter().for_each(|row| keys.push(&row.to_be_bytes()));
    wanted.iter().for_each(|row| keys.push(&(rows + row).to_be_bytes()));
    engine.read(space, &keys, Projection::KeysAndValues, &mut found).unwrap();
    assert_eq!(found.len(), wanted.len());
    for (index, row) in wanted.iter().enumerate() {
        assert_eq!(found.values.get(index), value(*row), "row {row}");
    }
}

/// What filters and indexes take outside of the cache.
fn outside(engine: &RocksEngine) -> u64 {
    let statistics = engine.statistics().unwrap();
    let mut details = statistics.shards.iter().flat_map(|shard| &shard.details);
    details.find(|(name, _)| name == "estimate_table_readers_mem").unwrap().1
}

#[test]
fn filters_and_indexes_lie_in_the_cache_once_the_store_is_large_beside_it() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let (large, small) = (256 << 20, 1 << 20);
    let engine = open(&root, large);
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    load(&engine, space, 0..ROWS);
    drop(engine);

    let engine = open(&root, large);
    check(&engine, ROWS);
    assert!(outside(&engine) > ROWS, "{} bytes", outside(&engine));
    drop(engine);

    let engine = open(&root, small);
    check(&engine, ROWS);
    assert!(outside(&engine) < ROWS / 4, "{} bytes", outside(&engine));
    load(&engine, space, ROWS..ROWS + MORE);
    check(&engine, ROWS + MORE);
    assert!(outside(&engine) < ROWS / 4, "{} bytes with more files", outside(&engine));
    drop(engine);

    check(&open(&root, large), ROWS + MORE);
}

/// The bug's story: where filters and indexes lie was decided when the store was opened. One that
/// was created, filled and kept open took memory without a bound.
#[test]
fn a_store_that_outgrows_its_memory_for_indexes_while_it_is_open_takes_no_more_of_it() {
    let place = tempfile::tempdir().unwrap();
    let engine = open(&place.path().join("store"), 1 << 20);
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    load(&engine, space, 0..ROWS);
    check(&engine, ROWS);
    let before = outside(&engine);
    load(&engine, space, ROWS..3 * ROWS);
    check(&engine, 3 * ROWS);
    let grown = outside(&engine).saturating_sub(before);
    assert!(grown < ROWS / 4, "{before} bytes have grown by {grown}");
}
