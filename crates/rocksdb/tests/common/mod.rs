//! What the tests of this crate share.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;
use tonnage_engine::conformance::Harness;
use tonnage_engine::{Clock, Engine};
use tonnage_rocksdb::{RocksEngine, Settings};

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

/// `syncs.c` as a library to preload; nothing where there is no compiler.
pub(crate) fn syncs_shim(place: &Path) -> Option<PathBuf> {
    let source = Path::new("tests/common/syncs.c");
    let library = place.join("syncs.so");
    let compiled = ["clang", "cc", "gcc"].iter().any(|compiler| {
        let built = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(source)
            .output();
        built.is_ok_and(|built| built.status.success())
    });
    if !compiled {
        println!("passed over, there is no C compiler here");
    }
    compiled.then_some(library)
}

/// A store in one directory.
pub(crate) struct OneDirectory(Stores);

/// A store over three directories.
pub(crate) struct ThreeDirectories(Stores);

struct Stores {
    directory: TempDir,
    shards: usize,
}

impl Stores {
    fn new(shards: usize) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), shards }
    }

    fn open(&self, clock: Arc<dyn Clock>, data_directories: Vec<PathBuf>) -> Box<dyn Engine> {
        let settings = Settings { data_directories, ..settings() };
        Box::new(
            RocksEngine::open_with_clock(self.directory.path().join("store"), settings, clock)
                .unwrap(),
        )
    }
}

impl OneDirectory {
    pub(crate) fn new() -> Self {
        Self(Stores::new(0))
    }
}

impl ThreeDirectories {
    pub(crate) fn new() -> Self {
        Self(Stores::new(3))
    }
}

impl Harness for Stores {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine> {
        let directories = (0..self.shards)
            .map(|shard| self.directory.path().join(format!("disk-{shard}")))
            .collect();
        Stores::open(self, clock, directories)
    }

    /// The store remembers its directories.
    fn reopen(
        &mut self,
        engine: Box<dyn Engine>,
        clock: Arc<dyn Clock>,
    ) -> Option<Box<dyn Engine>> {
        drop(engine);
        Some(Stores::open(self, clock, Vec::new()))
    }
}

impl Harness for OneDirectory {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine> {
        Harness::open(&mut self.0, clock)
    }

    fn reopen(
        &mut self,
        engine: Box<dyn Engine>,
        clock: Arc<dyn Clock>,
    ) -> Option<Box<dyn Engine>> {
        self.0.reopen(engine, clock)
    }
}

impl Harness for ThreeDirectories {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine> {
        Harness::open(&mut self.0, clock)
    }

    fn reopen(
        &mut self,
        engine: Box<dyn Engine>,
        clock: Arc<dyn Clock>,
    ) -> Option<Box<dyn Engine>> {
        self.0.reopen(engine, clock)
    }
}
