//! What `bench billion` is asked to do.

use std::time::Duration;

use tonnage::{Durability, Error, Result};

use crate::generate;
use crate::target::TargetKind;
use crate::workload::Place;

/// What `bench billion` is asked to do.
#[derive(Clone, Debug)]
pub struct BillionOptions {
    /// Which systems.
    pub targets: Vec<TargetKind>,
    /// Where their data goes.
    pub place: Place,
    /// Records that are put, and then got.
    pub records: u64,
    /// Bytes of a value; a key has 16.
    pub value_bytes: usize,
    /// How much of a value compresses away, from 0 to 1.
    pub compressible: f64,
    /// Threads with single calls; streams or requests in flight with bulk calls.
    pub connections: usize,
    /// What is measured. Records are put in any case.
    pub phases: Vec<Phase>,
    /// In bulk or one by one.
    pub api: Api,
    /// Bulk calls that the records are put with, one after the other.
    pub calls: usize,
    /// The order of the keys that are put.
    pub order: Order,
    /// In the overlap phase one of so many operations is a write.
    pub factor: u64,
    /// Memory for a target's cache and memtables, enforced; the target's own default when none.
    pub memory_bytes: Option<usize>,
    /// Memory that a bulk call may take; the target's own default when none.
    pub bulk_memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
    /// What an acknowledged call survives; the whole put ends with everything on the disk in any
    /// case.
    pub durability: Durability,
    /// How often everything is repeated, each time from an empty target.
    pub repeats: usize,
    /// The first of a get or overlap phase that counts only for its series.
    pub warm_up: Duration,
    /// When a get or overlap phase ends, done or not.
    pub seconds_max: Option<Duration>,
    /// The command line, for the report.
    pub command: String,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// All records into an empty target.
    Put,
    /// Each record once, in another order.
    Get,
    /// New records go in while others are got.
    Overlap,
}

/// How records go in and out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Bulk put and bulk get.
    Bulk,
    /// A loop of single calls in each connection.
    Single,
}

/// The order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As if drawn at random.
    Shuffled,
    /// Ascending within a stream.
    Ordered,
}

impl Default for BillionOptions {
    fn default() -> Self {
        BillionOptions {
            targets: vec![TargetKind::TonnageRocksDb, TargetKind::RocksDb],
            place: Place { label: "data".to_owned(), directory: ".".into() },
            records: 10_000_000,
            value_bytes: 100,
            compressible: 0.5,
            connections: tonnage::cores(),
            phases: vec![Phase::Put, Phase::Get, Phase::Overlap],
            api: Api::Bulk,
            calls: 10,
            order: Order::Shuffled,
            factor: 10,
            memory_bytes: None,
            bulk_memory_bytes: None,
            direct_io: false,
            durability: Durability::Write,
            repeats: 1,
            warm_up: Duration::ZERO,
            seconds_max: None,
            command: String::new(),
        }
    }
}

impl BillionOptions {
    /// Bytes of keys and values that a target holds in the end.
    pub fn data_bytes(&self) -> u64 {
        (self.records + self.overlap_writes()).saturating_mul(self.record_bytes())
    }

    pub(super) fn record_bytes(&self) -> u64 {
        16 + self.value_bytes as u64
    }

    /// New records of the overlap phase.
    pub(super) fn overlap_writes(&self) -> u64 {
        if self.phases.contains(&Phase::Overlap) {
            self.records.div_ceil(self.factor.max(1))
        } else {
            0
        }
    }

    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, with the remedy.
    pub fn check(&self) -> Result<()> {
        let problem = if self.records == 0 {
            "0 records: there must be one at least"
        } else if self.connections == 0 {
            "0 connections: there must be one at least"
        } else if self.calls == 0 {
            "0 calls: there must be one at least"
        } else if self.factor < 2 {
            "a factor below 2 leaves no reads in the overlap phase: give 2 or more"
        } else if self.phases.is_empty() || self.targets.is_empty() {
            "there is nothing to measure: name a phase and a target"
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem))
    }
}

impl Phase {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Put => "put",
            Phase::Get => "get",
            Phase::Overlap => "overlap",
        }
    }
}

impl Api {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Api::Bulk => "bulk",
            Api::Single => "single",
        }
    }
}

impl Order {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Order::Shuffled => "shuffled",
            Order::Ordered => "ordered",
        }
    }

    /// The key of a record.
    pub(super) fn key(self, row: u64, into: &mut [u8; 16]) {
        match self {
            Order::Shuffled => generate::pair_key(row, into),
            Order::Ordered => generate::ordered_key(row, into),
        }
    }
}
