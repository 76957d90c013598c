//! How a system is made: what the command line says of it.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use tonnage::{Durability, Error, Result};

use super::System;
use super::budget::{MEMTABLES, MemoryBudget};
use super::embedded::Embedded;
use super::raw::Raw;
use super::remote::Remote;
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
                     tonnage-memory, tonnage-remote and rocksdb"
                ))
            }),
        }
    }
}

/// A system that is not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SystemSpec {
    /// Which system.
    pub(crate) kind: SystemKind,
    /// Where its data goes: an empty directory. The memory engine leaves it alone.
    pub(crate) directory: PathBuf,
    /// Memory for its block cache and memtables together, enforced; its own default when none.
    pub(crate) memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub(crate) direct_io: bool,
    /// What an acknowledged single write of a YCSB record survives.
    pub(crate) durability: Durability,
}

impl SystemSpec {
    /// A system with its own defaults.
    pub(crate) fn new(kind: SystemKind, directory: impl Into<PathBuf>) -> Self {
        SystemSpec {
            kind,
            directory: directory.into(),
            memory_bytes: None,
            direct_io: false,
            durability: Durability::Write,
        }
    }

    /// Makes it, empty; a directory that holds something is refused.
    pub(crate) fn open(&self) -> Result<Box<dyn System>> {
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

    /// The set-up of a system on RocksDB as names and values for a report.
    pub(super) fn shown(
        &self,
        budget: MemoryBudget,
        compression: &str,
        background_threads: usize,
    ) -> Vec<(String, String)> {
        let durability = format!("{:?}", self.durability).to_lowercase();
        [
            ("cache_bytes", budget.cache_bytes.to_string()),
            ("memtable_bytes", format!("{MEMTABLES} x {}", budget.memtable_bytes)),
            ("direct_io", self.direct_io.to_string()),
            ("durability", durability),
            ("compression", compression.to_owned()),
            ("background_threads", background_threads.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
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
