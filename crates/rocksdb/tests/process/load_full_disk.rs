//! A load that fills the disk: an error, nothing left behind, and the same load works once there is
//! space. Needs root for a small tmpfs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;
use tonnage_engine::{
    Engine, Entries, ErrorKind, KeyPart, KeyShape, LoadOptions, Ranges, Result, Rows, ScanOptions,
    SpaceId,
};
use tonnage_rocksdb::RocksEngine;

use crate::common;

/// A tmpfs of 48 MiB, unmounted in the end.
struct SmallDisk {
    place: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=48m", "tmpfs"])
            .arg(place.path())
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        if !mounted {
            println!("passed over, no tmpfs can be mounted here");
        }
        mounted.then_some(Self { place })
    }

    fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.place.path()).status();
    }
}

/// Rows of 1 KB that do not compress.
fn rows(start: u64, count: u64) -> Entries {
    let mut state = start + 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut entries = Entries::new();
    for row in start..start + count {
        let value: Vec<u8> = (0..1_000).map(|_| next()).collect();
        entries.push(&row.to_be_bytes(), &value, row, 0);
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

fn count(engine: &RocksEngine, space: SpaceId) -> usize {
    let mut scanner = engine.scan(space, Ranges::whole_space(), ScanOptions::default()).unwrap();
    let (mut rows, mut count) = (Rows::new(), 0);
    while scanner.next_batch(&mut rows).unwrap() {
        count += rows.len();
    }
    count
}

/// The disk fills up while runs are spilled to it, or while the files for RocksDB are written.
#[rstest]
fn a_full_disk_stops_a_load_until_space_is_freed(#[values(true, false)] spill_elsewhere: bool) {
    let Some(disk) = SmallDisk::mount() else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    let spill = spill_elsewhere.then(|| elsewhere.path().to_path_buf());
    let engine = RocksEngine::open(disk.path().join("store"), common::settings()).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    load(&engine, space, 0, 2_000, spill.clone()).unwrap();

    let ballast = disk.path().join("ballast");
    let ballast_file = File::create(&ballast).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(7), 36 << 20), &mut &ballast_file)
        .unwrap();
    let error = load(&engine, space, 10_000, 15_000, spill.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.message().contains("No space left"), "{error}");
    let stored = count(&engine, space);
    assert!((2_000..17_000).contains(&stored), "{stored} rows");
    assert_eq!(
        std::fs::read_dir(disk.path().join("store").join("load")).map_or(0, Iterator::count),
        0
    );

    drop(ballast_file);
    std::fs::remove_file(&ballast).unwrap();
    load(&engine, space, 10_000, 15_000, spill).unwrap();
    assert_eq!(count(&engine, space), 17_000);
}
