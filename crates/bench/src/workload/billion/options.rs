//! What `bench billion` is asked to do.

use std::collections::BTreeMap;

use tonnage::{Error, Result};

use crate::choice::choice;
use crate::workload::options::{bytes_or_default, check_counts, join};
use crate::workload::{KeyOrder, RunOptions};

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
    pub order: KeyOrder,
    /// In the overlap phase one of so many operations is a write.
    pub factor: u64,
    /// Memory that a bulk call may take; the system's own default when none.
    pub bulk_memory_bytes: Option<usize>,
}

choice! {
    /// What is measured.
    pub enum Phase {
        /// All records into an empty system.
        Put = "put",
        /// Each record once, in another order.
        Get = "get",
        /// New records go in while others are got.
        Overlap = "overlap",
    }
}

choice! {
    /// How records go in and out.
    pub enum Api {
        /// Bulk put and bulk get.
        Bulk = "bulk",
        /// A loop of single calls in each connection.
        Single = "single",
    }
}

impl Default for BillionOptions {
    fn default() -> Self {
        BillionOptions {
            run: RunOptions::default(),
            records: 10_000_000,
            value_bytes: 100,
            compressible: 0.5,
            connections: tonnage::cores(),
            phases: Phase::ALL.to_vec(),
            api: Api::Bulk,
            calls: 10,
            order: KeyOrder::Shuffled,
            factor: 10,
            bulk_memory_bytes: None,
        }
    }
}

impl BillionOptions {
    /// Bytes of keys and values that a system holds in the end.
    pub fn data_bytes(&self) -> u64 {
        (self.records + self.overlap_writes()).saturating_mul(16 + self.value_bytes as u64)
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

    /// The options as names and values.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        self.run.settings([
            ("bulk_memory_bytes", bytes_or_default(self.bulk_memory_bytes)),
            ("records", self.records.to_string()),
            ("key_bytes", "16".to_owned()),
            ("value_bytes", self.value_bytes.to_string()),
            ("compressible", self.compressible.to_string()),
            ("connections", self.connections.to_string()),
            ("phases", join(&self.phases, |phase| phase.name().to_owned())),
            ("api", self.api.name().to_owned()),
            ("calls", self.calls.to_string()),
            ("order", self.order.name().to_owned()),
            ("factor", self.factor.to_string()),
            ("data_bytes", self.data_bytes().to_string()),
        ])
    }
}
