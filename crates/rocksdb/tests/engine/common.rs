//! What the tests of this crate share.
#![allow(dead_code, reason = "each suite uses its part")]

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tonnage_rocksdb::Settings;

/// Settings that are kind to a machine that runs many tests.
pub(crate) fn settings() -> Settings {
    Settings {
        cache_bytes: 8 << 20,
        memtable_bytes: 4 << 20,
        background_threads: 2,
        ..Settings::default()
    }
}

/// Copies a directory with everything below it, of one moment: a crash has one moment, a copy has
/// many. A copy during which files came or went is none that a crash leaves, and is made again.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    loop {
        let before = names(from);
        copy_once(from, to);
        if names(from) == before {
            return;
        }
        fs::remove_dir_all(to).unwrap();
    }
}

fn copy_once(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_once(&entry.path(), &target);
        } else {
            match fs::copy(entry.path(), target) {
                Err(error) if error.kind() != ErrorKind::NotFound => panic!("{error}"),
                _ => {}
            }
        }
    }
}

/// All files below a directory.
fn names(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .flat_map(
            |entry| {
                if entry.path().is_dir() { names(&entry.path()) } else { [entry.path()].into() }
            },
        )
        .collect()
}
