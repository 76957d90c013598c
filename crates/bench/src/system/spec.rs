//! How a system is made: what the command line says of it.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use tonnage::{Durability, Error, Result};

use super::System;
use super::embedded::Embedded;
use super::raw::Raw;
use super::remote::Remote;

/// Which system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemKind {
    /// Tonnage embedded, on RocksDB.
    TonnageRocksDb,
    /// Tonnage embedded, on the memory engine.
    TonnageMemory,
    /// Tonnage on RocksDB behind a server on loopback, in this process, through its client.
    TonnageRemote,
    /// RocksDB by itself: the yardstick.
    RocksDb,
}

impl SystemKind {
    /// All of them.
    pub const ALL: [SystemKind; 4] = [
        SystemKind::TonnageRocksDb,
        SystemKind::TonnageMemory,
        SystemKind::TonnageRemote,
        SystemKind::RocksDb,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            SystemKind::TonnageRocksDb => "tonnage-rocksdb",
            SystemKind::TonnageMemory => "tonnage-memory",
            SystemKind::TonnageRemote => "tonnage-remote",
            SystemKind::RocksDb => "rocksdb",
        }
    }
}

impl FromStr for SystemKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "tonnage" => Ok(SystemKind::TonnageRocksDb),
            _ => SystemKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
                Error::invalid(format!(
                    "no target is called {text}: there are tonnage-rocksdb (or tonnage), tonnage-memory, tonnage-remote and rocksdb"
                ))
            }),
        }
    }
}

/// A system that is not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemSpec {
    /// Which system.
    pub kind: SystemKind,
    /// Where its data goes: an empty directory. The memory engine leaves it alone.
    pub directory: PathBuf,
    /// Memory for its block cache and memtables together, enforced; its own default when none.
    pub memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
    /// What an acknowledged single write of a YCSB record survives.
    pub durability: Durability,
}

impl SystemSpec {
    /// A system with its own defaults.
    pub fn new(kind: SystemKind, directory: impl Into<PathBuf>) -> Self {
        SystemSpec {
            kind,
            directory: directory.into(),
            memory_bytes: None,
            direct_io: false,
            durability: Durability::Write,
        }
    }

    /// Makes it, empty.
    ///
    /// # Errors
    /// `Invalid` when the directory holds something.
    pub fn open(&self) -> Result<Box<dyn System>> {
        if self.kind != SystemKind::TonnageMemory {
            self.claim_directory()?;
        }
        Ok(match self.kind {
            SystemKind::TonnageRocksDb | SystemKind::TonnageMemory => {
                Box::new(Embedded::open(self)?)
            }
            SystemKind::TonnageRemote => Box::new(Remote::open(self)?),
            SystemKind::RocksDb => Box::new(Raw::open(self)?),
        })
    }

    /// Makes the directory, or sees that it is empty.
    fn claim_directory(&self) -> Result<()> {
        let shown = self.directory.display();
        let unusable = |error| {
            Error::unavailable(format!("{shown} cannot be used: {error}")).with_source(error)
        };
        fs::create_dir_all(&self.directory).map_err(unusable)?;
        if fs::read_dir(&self.directory).map_err(unusable)?.next().is_some() {
            return Err(Error::invalid(format!(
                "{shown} is not empty: a benchmark wants a directory of its own"
            )));
        }
        Ok(())
    }
}
