//! What `bench billion` is asked to do.

use tonnage::{Error, Result};

use crate::choice::{choice, options};
use crate::workload::options::{check_counts, joined, or_default};
use crate::workload::{KeyOrder, RunOptions};

options! {
    /// What `bench billion` is asked to do.
    pub struct BillionOptions {
        /// The options of every workload.
        run: RunOptions = RunOptions::default(),
        /// Records that are put, and then got.
        records: u64 = 10_000_000 => "records",
        /// Bytes of a value; a key has 16.
        value_bytes: usize = 100 => "value_bytes",
        /// How much of a value compresses away, from 0 to 1.
        compressible: f64 = 0.5 => "compressible",
        /// Threads with single calls; streams or requests in flight with bulk calls.
        connections: usize = tonnage::cores() => "connections",
        /// What is measured. Records are put in any case.
        phases: Vec<Phase> = Phase::ALL.to_vec() => "phases" joined,
        /// In bulk or one by one.
        api: Api = Api::Bulk => "api",
        /// Bulk calls that the records are put with, one after the other.
        calls: usize = 10 => "calls",
        /// The order of the keys that are put.
        order: KeyOrder = KeyOrder::Shuffled => "order",
        /// In the overlap phase one of so many operations is a write.
        factor: u64 = 10 => "factor",
        /// Memory that a bulk call may take; the system's own default when none.
        bulk_memory_bytes: Option<usize> = None => "bulk_memory_bytes" or_default,
    }
}

choice! {
    /// What is measured.
    pub enum Phase {
        /// All records into an empty store.
        Put = "put",
        /// Each record once, in another order.
        Get = "get",
        /// New records in, others out, at the same time.
        Overlap = "overlap",
    }
}

choice! {
    /// How records go in and out.
    pub enum Api {
        /// Bulk put and bulk get.
        Bulk = "bulk",
        /// One call for each record.
        Single = "single",
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
}
