//! The behaviour suite and the model test, on a store in one directory and on one whose shards lie in
//! three.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tonnage_engine::conformance::Harness;
use tonnage_engine::{Clock, Engine};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common::settings;

mod one_directory {
    use tonnage_engine::conformance::model_test;

    use super::Stores;

    tonnage_engine::conformance_suite!(Stores::new(0));

    #[test]
    fn the_engine_agrees_with_the_memory_engine() {
        model_test(|| Stores::new(0), 64);
    }
}

mod three_directories {
    use tonnage_engine::conformance::model_test;

    use super::Stores;

    tonnage_engine::conformance_suite!(Stores::new(3));

    #[test]
    fn the_engine_agrees_with_the_memory_engine() {
        model_test(|| Stores::new(3), 32);
    }
}

/// A store, with data directories of its own or with none.
struct Stores {
    directory: TempDir,
    data_directories: usize,
}

impl Stores {
    fn new(data_directories: usize) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), data_directories }
    }

    fn open(&self, clock: Arc<dyn Clock>, data_directories: Vec<PathBuf>) -> Box<dyn Engine> {
        let settings = Settings { data_directories, ..settings() };
        let store = self.directory.path().join("store");
        Box::new(RocksEngine::open_with_clock(store, settings, clock).unwrap())
    }
}

impl Harness for Stores {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine> {
        let directories = (0..self.data_directories)
            .map(|number| self.directory.path().join(format!("disk-{number}")))
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
