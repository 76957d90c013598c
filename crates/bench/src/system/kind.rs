//! The systems that a benchmark makes itself.

use std::str::FromStr;

use tonnage::{Error, Result};

use crate::choice::choice;

choice! {
    /// Which system.
    pub enum SystemKind {
        /// Tonnage embedded, on RocksDB.
        TonnageRocksDb = "tonnage-rocksdb",
        /// Tonnage embedded, on the memory engine.
        TonnageMemory = "tonnage-memory",
        /// Tonnage on RocksDB behind a server on loopback, in this process, through its client.
        TonnageRemote = "tonnage-remote",
        /// RocksDB by itself: the yardstick.
        RocksDb = "rocksdb",
    }
}

impl FromStr for SystemKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "tonnage" => Ok(SystemKind::TonnageRocksDb),
            _ => SystemKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
                Error::invalid(format!(
                    "no target is called {text}: there are tonnage-rocksdb (or tonnage), \
                     tonnage-memory, tonnage-remote, rocksdb, grpc://HOST:PORT and redis://HOST:PORT"
                ))
            }),
        }
    }
}
