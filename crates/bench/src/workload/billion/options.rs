//! What `bench billion` is asked to do.

use tonnage::{Error, Result};

use crate::generate;
use crate::workload::RunOptions;
use crate::workload::options::check_counts;

/// What `bench billion` is asked to do.
#[derive(Clone, Debug)]
pub struct BillionOptions {
    /// What every workload is told.
    pub run: RunOptions,
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
    /// Memory that a bulk call may take; the system's own default when none.
    pub bulk_memory_bytes: Option<usize>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// All records into an empty system.
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
            run: RunOptions::default(),
            records: 10_000_000,
            value_bytes: 100,
            compressible: 0.5,
            connections: tonnage::cores(),
            phases: vec![Phase::Put, Phase::Get, Phase::Overlap],
            api: Api::Bulk,
            calls: 10,
            order: Order::Shuffled,
            factor: 10,
            bulk_memory_bytes: None,
        }
    }
}

impl BillionOptions {
    /// Bytes of keys and values that a system holds in the end.
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
        self.run.check()?;
        check_counts([
            ("records", self.records),
            ("connections", self.connections as u64),
            ("calls", self.calls as u64),
            ("phases", self.phases.len() as u64),
        ])?;
        if self.factor < 2 {
            return Err(Error::invalid(
                "a factor below 2 leaves no reads in the overlap phase: give 2 or more",
            ));
        }
        Ok(())
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
