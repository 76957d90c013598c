//! Where the tests keep stores and backups.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tonnage::{
    BackupOptions, BackupReport, BackupRepository, Key, PairGetOptions, RestoreOptions, Store,
    WriteOptions,
};

use crate::common::builder;

/// A directory for a store, its backups, and what is restored of them.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A store over as many data directories.
    pub(crate) fn store(&self, directories: usize) -> Store {
        let given: Vec<PathBuf> =
            (0..directories).map(|at| self.at(&format!("disk-{at}"))).collect();
        builder(&text(&self.at("store"))).data_directories(given).open().unwrap()
    }

    pub(crate) fn repository(&self) -> BackupRepository {
        BackupRepository::open_or_create(&self.at("backups")).unwrap()
    }

    /// The files of all backups.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.at("backups/files")).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The pairs of a backup, restored to a new directory that is removed again.
    pub(crate) fn restored(&self, number: Option<u64>) -> BTreeMap<String, Vec<u8>> {
        let target = self.at("restored");
        self.repository().restore(number, &target, &RestoreOptions::default()).unwrap();
        let store = open(&target);
        let checked = store.check().unwrap();
        assert!(checked.is_sound(), "{:?}", checked.damages);
        let pairs = pairs(&store);
        drop(store);
        fs::remove_dir_all(&target).unwrap();
        pairs
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}

pub(crate) fn open(path: &Path) -> Store {
    builder(&text(path)).create_if_missing(false).open().unwrap()
}

pub(crate) fn backup(store: &Store, repository: &BackupRepository) -> BackupReport {
    store.backup(repository, &BackupOptions::default()).unwrap()
}

pub(crate) fn put(store: &Store, name: &str, value: &[u8]) {
    store.kv().put(&Key::of_major([name]), value, &WriteOptions::default()).unwrap();
}

pub(crate) fn pairs(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for batch in store.kv().scan(&PairGetOptions::default()).unwrap() {
        let batch = batch.unwrap();
        for at in 0..batch.len() {
            found.insert(batch.key(at).unwrap().to_string(), batch.value(at).to_vec());
        }
    }
    found
}
