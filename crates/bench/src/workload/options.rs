//! What every workload is told.

use std::fmt::Display;
use std::time::Duration;

use tonnage::{Durability, Error, Result};
use tonnage_client::ClientOptions;

use crate::choice::{choice, options};
use crate::generate::{ordered_key, pair_key};
use crate::measure::DataDirectory;
use crate::system::{SystemKind, Target};

options! {
    /// The options of every workload: which systems, where their data is, how often and how long.
    pub struct RunOptions {
        /// Which systems.
        systems: Vec<Target> = vec![SystemKind::TonnageRocksDb.into(), SystemKind::RocksDb.into()],
        /// The directory of their data. Only `matrix` takes more than one.
        directories: Vec<DataDirectory> = vec![DataDirectory::new("data", ".")],
        /// Memory for a system's cache and memtables, enforced; the system's own default when none.
        memory_bytes: Option<usize> = None => "memory_bytes" or_default,
        /// Whether data files bypass the operating system's cache.
        direct_io: bool = false => "direct_io",
        /// What an acknowledged write survives.
        durability: Durability = Durability::Write => "durability" lower,
        /// Connections to a server, shared by the threads; one when none is given. With Redis each
        /// thread has its own.
        connections: Option<usize> = None => "connections" or_default,
        /// Who calls a server that runs already, and how it is reached.
        client: ClientOptions = ClientOptions::default(),
        /// How often each thing is measured; the median counts.
        repeats: usize = 1 => "repeats",
        /// What is done first counts only for the series.
        warm_up: Duration = Duration::ZERO,
        /// When a measurement ends, done or not.
        seconds_max: Option<Duration> = None,
        /// The command line, for the report.
        command: String = String::new(),
    }
}

impl RunOptions {
    /// Refuses options that measure nothing.
    pub(super) fn check(&self) -> Result<()> {
        let problem = if self.systems.is_empty() {
            "there is no target: name one, as tonnage-rocksdb"
        } else if self.directories.is_empty() {
            "there is no directory for the data: name one"
        } else if self.connections == Some(0) {
            "0 connections reach no server: give 1 or more"
        } else if self.repeats == 0 {
            "0 repeats measure nothing: give 1 or more"
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem))
    }
}

choice! {
    /// The order of keys.
    pub enum KeyOrder {
        /// As if drawn at random.
        Shuffled = "shuffled",
        /// Ascending within a stream.
        Ordered = "ordered",
    }
}

impl KeyOrder {
    pub(super) fn key(self, row: u64) -> [u8; 16] {
        match self {
            KeyOrder::Shuffled => pair_key(row),
            KeyOrder::Ordered => ordered_key(row),
        }
    }
}

/// Names one after another, as a setting of a report.
pub(super) fn joined(all: &[impl Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What may be left to the system, as a setting of a report.
pub(super) fn or_default(given: &Option<usize>) -> String {
    given.map_or("default".to_owned(), |given| given.to_string())
}

/// A time as a setting of a report.
pub(super) fn seconds(time: &Duration) -> String {
    time.as_secs_f64().to_string()
}

/// A durability as a setting or a label of a report.
pub(super) fn lower(durability: &Durability) -> String {
    format!("{durability:?}").to_lowercase()
}

/// Refuses the first count that is zero.
pub(super) fn check_counts<const N: usize>(counts: [(&str, u64); N]) -> Result<()> {
    match counts.into_iter().find(|(_, count)| *count == 0) {
        Some((name, _)) => Err(Error::invalid(format!("0 {name}: there must be one at least"))),
        None => Ok(()),
    }
}
