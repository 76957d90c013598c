//! Directories that are created are on the disk before anything in them is acknowledged.
//!
//! The story of a bug: a directory was created and its content synced, but not the directory above,
//! which holds its name. By the letter of POSIX the store was gone after a power failure, though
//! many file systems keep it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tonnage_engine::{Condition, Durability, Engine, KeyPart, KeyShape, Maintenance, WriteBatch};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::again;

use crate::{common, shim};

const ROOT: &str = "SYNCED_DIRECTORIES_ROOT";

/// Not a test by itself: makes a store over two directories, puts a row, and copies the store.
#[test]
fn in_a_child() {
    let Some(place) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let disks = ["disks/first", "disks/second"].map(|disk| place.join(disk)).to_vec();
    let settings = Settings { data_directories: disks, ..common::settings() };
    let engine = RocksEngine::open(place.join("stores/store"), settings).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
    let mut batch = WriteBatch::new(space);
    batch.put(&[1], &[1], 0, Condition::Always);
    engine.write(&batch, Durability::Fsync).unwrap();
    engine.checkpoint(&place.join("copies/copy")).unwrap();
}

/// All directories below a place that a store needs to be found.
fn directories(place: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            directories(&path, found);
            found.push(path);
        }
    }
}

#[test]
fn every_directory_that_is_made_is_synced_into_the_one_above() {
    let place = tempfile::tempdir().unwrap();
    let Some(shim) = shim::syncs_shim(place.path()) else { return };
    let syncs = place.path().join("syncs");
    let made = place.path().join("made");
    fs::create_dir(&made).unwrap();
    let child = again("synced_directories::in_a_child")
        .env("LD_PRELOAD", shim)
        .env("SYNC_LOG", &syncs)
        .env(ROOT, &made)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let syncs = fs::read_to_string(syncs).unwrap();
    let synced: BTreeSet<PathBuf> = syncs.lines().map(PathBuf::from).collect();
    let mut found = Vec::new();
    directories(&made, &mut found);
    assert!(found.len() > 8, "{found:?}");
    for directory in found {
        let above = directory.parent().unwrap();
        // A copy gets its name when it is whole.
        let partial = above.to_string_lossy().replace("copies/copy", "copies/copy.partial");
        let is_synced = synced.contains(above) || synced.contains(Path::new(&partial));
        assert!(
            is_synced,
            "{} was not synced after {} was made",
            above.display(),
            directory.display()
        );
    }
}
