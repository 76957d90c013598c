//! What the tests of the store share.
#![allow(dead_code, reason = "each test program uses its part")]

pub(crate) mod order;
pub(crate) mod recorder;
pub(crate) mod scripted;
pub(crate) mod shop;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tonnage::{Clock, Error, ErrorKind, Index, RocksDbSettings, Row, Store, SystemClock};

/// A row: `row! { "maker" => "Nokia", "price" => 300 }`.
macro_rules! row {
    ($($name:expr => $value:expr),* $(,)?) => {
        tonnage::Row::new()$(.with($name, $value))*
    };
}
pub(crate) use row;

/// The engine below a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Memory,
    RocksDb,
}

impl Backend {
    /// A fresh store.
    pub(crate) fn open(self) -> TestStore {
        self.open_with_clock(Arc::new(SystemClock))
    }

    /// A fresh store that uses this clock.
    pub(crate) fn open_with_clock(self, clock: Arc<dyn Clock>) -> TestStore {
        if let Some(store) = crate::elsewhere::store(&clock) {
            return TestStore { store: Some(store), directory: None, clock };
        }
        let directory = (self == Backend::RocksDb).then(|| tempfile::tempdir().unwrap());
        let url = directory.as_ref().map_or("memory:".to_string(), store_path);
        let store = builder(&url).clock(clock.clone()).open().unwrap();
        TestStore { store: Some(store), directory, clock }
    }

    /// A fresh store with tables.
    pub(crate) fn with_tables(self, ddl: &str) -> TestStore {
        let store = self.open();
        store.execute(ddl).unwrap();
        store
    }
}

/// Settings that are kind to a machine that runs many tests.
pub(crate) fn settings() -> RocksDbSettings {
    RocksDbSettings {
        cache_bytes: 8 << 20,
        memtable_bytes: 4 << 20,
        background_threads: 2,
        ..RocksDbSettings::default()
    }
}

pub(crate) fn builder(url: &str) -> tonnage::StoreBuilder {
    // Tests count stale entries; the ones that are about the cleaning switch it on.
    Store::builder(url).rocksdb_settings(settings()).clean_in_background(false)
}

fn store_path(directory: &TempDir) -> String {
    directory.path().join("store").display().to_string()
}

/// A store that is deleted after the test.
pub(crate) struct TestStore {
    store: Option<Store>,
    directory: Option<TempDir>,
    clock: Arc<dyn Clock>,
}

impl TestStore {
    /// A store that lives on elsewhere, and cannot be reopened here.
    pub(crate) fn of(store: Store) -> Self {
        Self { store: Some(store), directory: None, clock: Arc::new(SystemClock) }
    }

    /// Closes the store and opens it again. In memory a new store is laid over the same engine.
    pub(crate) fn reopen(&mut self) {
        let store = self.store.take().unwrap();
        let reopened = match &self.directory {
            None => Store::over(store.engine().clone(), self.clock.clone()),
            Some(directory) => {
                drop(store);
                builder(&store_path(directory)).clock(self.clock.clone()).open()
            }
        };
        self.store = Some(reopened.unwrap());
    }

    /// Where a store on disk is.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.path().join("store"))
    }
}

impl Deref for TestStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.store.as_ref().unwrap()
    }
}

/// Asserts the kind of an error, and that its message names these things.
#[track_caller]
pub(crate) fn assert_error(error: impl Into<Error>, kind: ErrorKind, named: &[&str]) {
    let error = error.into();
    assert_eq!(error.kind(), kind, "{error:?}");
    for name in named {
        assert!(error.message().contains(name), "'{name}' is not named in: {error}");
    }
}

/// The error of something that must fail, whatever it would have given.
#[track_caller]
pub(crate) fn failure<T, E>(result: Result<T, E>) -> E {
    match result {
        Ok(_) => panic!("this should have failed"),
        Err(error) => error,
    }
}

/// All rows of a table in key order.
pub(crate) fn all_rows(store: &Store, table: &str) -> Vec<Row> {
    let options =
        tonnage::TableScanOptions { direction: tonnage::Direction::Forward, ..Default::default() };
    let rows = store.table(table).unwrap().scan(&options).unwrap().into_rows();
    order::in_key_order(store, table, rows.map(|row| row.unwrap().row).collect())
}

/// Deletes the stale entries of an index whose table has no writer, and returns their number. On a
/// cluster [`Index::clean`] leaves the young ones.
pub(crate) fn clean_all(store: &Store, index: &Index) -> u64 {
    match store.capability().shared {
        true => index.clean_older(Duration::ZERO).unwrap().removed,
        false => index.clean().unwrap(),
    }
}
