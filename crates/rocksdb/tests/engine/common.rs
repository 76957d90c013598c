//! What the tests of this crate share.

use std::path::Path;

use tonnage_engine::{Engine, Ranges, Result, Rows, ScanOptions, SpaceId};
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

/// Opens a store with these settings.
pub(crate) fn open(root: &Path) -> Result<RocksEngine> {
    RocksEngine::open(root, settings())
}

/// How many rows a space has, by a scan of all of it.
pub(crate) fn row_count(engine: &RocksEngine, space: SpaceId) -> usize {
    let mut scanner = engine.scan(space, Ranges::whole_space(), ScanOptions::default()).unwrap();
    let (mut rows, mut count) = (Rows::new(), 0);
    while scanner.next_batch(&mut rows).unwrap() {
        count += rows.len();
    }
    count
}
