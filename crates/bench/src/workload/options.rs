//! What every workload is told.

use std::collections::BTreeMap;
use std::time::Duration;

use tonnage::{Durability, Error, Result};

use super::DataDirectory;
use crate::choice::choice;
use crate::generate::{ordered_key, pair_key};
use crate::report::named;
use crate::system::SystemKind;

/// What every workload is told: which systems, where their data goes, how often and how long.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Which systems.
    pub systems: Vec<SystemKind>,
    /// Where their data goes. Only `matrix` takes more than one.
    pub directories: Vec<DataDirectory>,
    /// Memory for a system's cache and memtables, enforced; the system's own default when none.
    pub memory_bytes: Option<usize>,
    /// Whether data files bypass the operating system's cache.
    pub direct_io: bool,
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How often each thing is measured; the median counts.
    pub repeats: usize,
    /// What is done first counts only for the series.
    pub warm_up: Duration,
    /// When a measurement ends, done or not.
    pub seconds_max: Option<Duration>,
    /// The command line, for the report.
    pub command: String,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            systems: vec![SystemKind::TonnageRocksDb, SystemKind::RocksDb],
            directories: vec![DataDirectory { label: "data".to_owned(), path: ".".into() }],
            memory_bytes: None,
            direct_io: false,
            durability: Durability::Write,
            repeats: 1,
            warm_up: Duration::ZERO,
            seconds_max: None,
            command: String::new(),
        }
    }
}

impl RunOptions {
    /// Refuses options that measure nothing.
    pub(super) fn check(&self) -> Result<()> {
        let problem = if self.systems.is_empty() {
            "there is no target: name one, as tonnage-rocksdb"
        } else if self.directories.is_empty() {
            "there is no directory for the data: name one"
        } else if self.repeats == 0 {
            "0 repeats measure nothing: give 1 or more"
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem))
    }

    /// The options that every report names, and those of one workload.
    pub(super) fn settings<'n>(
        &self,
        own: impl IntoIterator<Item = (&'n str, String)>,
    ) -> BTreeMap<String, String> {
        let common = [
            ("memory_bytes", bytes_or_default(self.memory_bytes)),
            ("direct_io", self.direct_io.to_string()),
            ("durability", lower(self.durability)),
            ("repeats", self.repeats.to_string()),
        ];
        named(common.into_iter().chain(own))
    }
}

choice! {
    /// The order of keys.
    pub enum KeyOrder {
        /// As if drawn at random.
        Shuffled = "shuffled",
        /// Ascending.
        Ordered = "ordered",
    }
}

impl KeyOrder {
    /// The key of a pair.
    pub(super) fn key(self, row: u64, into: &mut [u8; 16]) {
        match self {
            KeyOrder::Shuffled => pair_key(row, into),
            KeyOrder::Ordered => ordered_key(row, into),
        }
    }
}

/// Names one after another, as a setting of a report.
pub(super) fn join<T>(all: &[T], name: impl Fn(&T) -> String) -> String {
    all.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A size as a setting of a report.
pub(super) fn bytes_or_default(bytes: Option<usize>) -> String {
    bytes.map_or("default".to_owned(), |bytes| bytes.to_string())
}

/// A choice as a setting of a report.
pub(super) fn lower(choice: impl std::fmt::Debug) -> String {
    format!("{choice:?}").to_lowercase()
}

/// Refuses the first count that is zero.
pub(super) fn check_counts<const N: usize>(counts: [(&str, u64); N]) -> Result<()> {
    match counts.into_iter().find(|(_, count)| *count == 0) {
        Some((name, _)) => Err(Error::invalid(format!("0 {name}: there must be one at least"))),
        None => Ok(()),
    }
}

#[cfg(test)]
impl RunOptions {
    /// For data in a directory of a test.
    pub(super) fn tiny(directory: &tempfile::TempDir, systems: &[SystemKind]) -> Self {
        RunOptions {
            systems: systems.to_vec(),
            directories: vec![DataDirectory {
                label: "test".to_owned(),
                path: directory.path().into(),
            }],
            memory_bytes: Some(32 << 20),
            ..RunOptions::default()
        }
    }
}
