//! A load that fills the disk: an error, no remains, and the same load works once there is space.
//! Needs root for a small tmpfs.

use std::path::PathBuf;

use rstest::rstest;
use tonnage_engine::{Engine, Entries, ErrorKind, KeyPart, KeyShape, LoadOptions, Result, SpaceId};
use tonnage_rocksdb::RocksEngine;
use tonnage_testkit::{Random, SmallDisk, wait_until};

use crate::common::{open, row_count};

/// Rows of 1 KB that do not compress.
fn rows(start: u64, count: u64) -> Entries {
    let mut random = Random(start);
    let mut entries = Entries::new();
    for row in start..start + count {
        entries.push(&row.to_be_bytes(), &random.bytes(1_000), row, 0);
    }
    entries
}

fn load(
    engine: &RocksEngine,
    space: SpaceId,
    start: u64,
    count: u64,
    spill_directory: Option<PathBuf>,
) -> Result<()> {
    let options = LoadOptions {
        memory_bytes_max: 1 << 20,
        parallelism: 2,
        spill_directory,
        ..LoadOptions::default()
    };
    let session = engine.load(options)?;
    for batch in (start..start + count).step_by(500) {
        session.push(space, 0, &rows(batch, 500))?;
    }
    session.finish()
}

/// The disk fills up while runs are spilled to it, or while the files for RocksDB are written.
#[rstest]
fn a_full_disk_stops_a_load_until_space_is_freed(#[values(true, false)] spill_elsewhere: bool) {
    let Some(disk) = SmallDisk::mount(48 << 20) else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    let spill = spill_elsewhere.then(|| elsewhere.path().to_path_buf());
    let engine = open(&disk.path().join("store")).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    load(&engine, space, 0, 2_000, spill.clone()).unwrap();

    let ballast = disk.take(36 << 20);
    let error = load(&engine, space, 10_000, 15_000, spill.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.message().contains("No space left"), "{error}");
    let stored = row_count(&engine, space);
    assert!((2_000..17_000).contains(&stored), "{stored} rows");
    assert_eq!(
        std::fs::read_dir(disk.path().join("store").join("load")).map_or(0, Iterator::count),
        0
    );

    drop(ballast);
    // Compaction may have met the full disk too, and needs a short time to notice that there is
    // room.
    wait_until("the load works", || match load(&engine, space, 10_000, 15_000, spill.clone()) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            false
        }
    });
    assert_eq!(row_count(&engine, space), 17_000);
}
