//! Parts of a space: of about the same size, whatever the keys look like.

use rstest::rstest;
use tonnage_engine::{
    Cuts, Engine, Entries, KeyPart, KeyShape, LoadOptions, Projection, Rows, ScanOptions, SpaceId,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common;

/// Rows for each directory: enough for the load to write files.
const ROWS: u64 = 100_000;

/// Keys of eight bytes that spread over everything.
fn spread(row: u64) -> [u8; 8] {
    row.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()
}

/// Keys of eight bytes of which most lie close together.
fn crowded(row: u64) -> [u8; 8] {
    if row.is_multiple_of(100) { (row << 40).to_be_bytes() } else { row.to_be_bytes() }
}

fn load(engine: &RocksEngine, count: u64, key: fn(u64) -> [u8; 8]) -> SpaceId {
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    let session = engine.load(LoadOptions::default()).unwrap();
    let mut entries = Entries::new();
    let value: Vec<u8> =
        (0..200_u32).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for row in 0..count {
        let mut value = value.clone();
        value[..8].copy_from_slice(&spread(row));
        entries.push(&key(row), &value, row, 0);
    }
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    space
}

#[rstest]
#[case::spread_in_one_directory(spread, 1)]
#[case::spread_in_three_directories(spread, 3)]
#[case::crowded_in_one_directory(crowded, 1)]
fn parts_hold_about_the_same(#[case] key: fn(u64) -> [u8; 8], #[case] directories: u64) {
    let place = tempfile::tempdir().unwrap();
    let data_directories =
        (0..directories).map(|number| place.path().join(format!("disk-{number}"))).collect();
    // What does not compress, so that bytes on disk are bytes of rows.
    let settings = Settings {
        data_directories,
        compression: tonnage_rocksdb::Compression::None,
        ..common::settings()
    };
    let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
    let count = ROWS * directories;
    let space = load(&engine, count, key);

    let parts = engine.split(space, 4, Cuts::Anywhere).unwrap();
    let options = ScanOptions { projection: Projection::KeysOnly, ..ScanOptions::default() };
    let count_of = |part| {
        let mut scanner = engine.scan_part(space, part, options.clone()).unwrap();
        let (mut rows, mut count) = (Rows::new(), 0);
        while scanner.next_batch(&mut rows).unwrap() {
            count += rows.len() as u64;
        }
        count
    };
    let counts: Vec<u64> = parts.iter().map(count_of).collect();
    assert_eq!(counts.len(), 4);
    assert_eq!(counts.iter().sum::<u64>(), count);
    let fair = count / 4;
    assert!(counts.iter().all(|count| (fair / 2..fair * 2).contains(count)), "{counts:?}");
}
