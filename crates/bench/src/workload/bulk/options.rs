//! What `bench bulk` is asked to do.

use std::collections::BTreeMap;

use tonnage::{Durability, Error, Result};

use crate::choice::choice;
use crate::workload::options::{bytes_or_default, check_counts};
use crate::workload::{KeyOrder, RunOptions};

/// What `bench bulk` is asked to do.
#[derive(Clone, Debug)]
pub struct BulkBenchOptions {
    /// What every workload is told.
    pub run: RunOptions,
    /// What is put and got.
    pub data: Vec<DataKind>,
    /// Records that a bulk put puts.
    pub records: u64,
    /// Bytes of a pair's value, and of a picture.
    pub value_bytes: usize,
    /// How much of a value compresses away, from 0 to 1.
    pub compressible: f64,
    /// Streams of a bulk put.
    pub streams: usize,
    /// Threads of the loop that runs on several; it runs on one, too.
    pub threads: usize,
    /// Of 100 records that are put, so many are there before.
    pub existing_percent: u8,
    /// Whether a bulk put leaves these alone and counts them, as Tonnage does by default; else it
    /// overwrites them, as a loop does. Raw RocksDB must look every key up to leave any alone.
    pub keep_existing: bool,
    /// Of 100 keys that are got, so many are not there.
    pub missing_percent: u8,
    /// The order of records that are put, and of keys that are got.
    pub order: KeyOrder,
    /// What rows are got by.
    pub keys: KeyPart,
    /// Whether phones have pictures in a child table, which go in and out with them.
    pub children: bool,
    /// Keys that a bulk get asks for, if there are so many.
    pub gets: u64,
    /// Operations of a loop, if there are so many records or keys.
    pub singles: u64,
    /// Operations of a loop of which each waits for the disk.
    pub singles_fsync: u64,
    /// Requests in flight that bulk gets are measured with one after another; none leaves the sweep
    /// out.
    pub parallelism: Vec<usize>,
    /// Durabilities that puts are measured with. The first one is that of the verdict.
    pub durabilities: Vec<Durability>,
    /// Memory that a bulk put may take, by the system's own default when none.
    pub bulk_memory_bytes: Option<usize>,
}

choice! {
    /// What is put and got.
    pub enum DataKind {
        /// Keys of 16 bytes and values.
        Pairs = "pairs",
        /// Rows of 8 columns: where a ship was when; a hundred of each ship.
        Positions = "positions",
        /// Phones by maker, price and number, a hundred of each maker, with or without pictures.
        Phones = "phones",
    }
}

choice! {
    /// What rows are got by.
    pub enum KeyPart {
        /// The whole key of each.
        Whole = "whole",
        /// The first column of the key, which a hundred rows share. Pairs are got by whole keys all
        /// the same.
        Partial = "partial",
    }
}

impl Default for BulkBenchOptions {
    fn default() -> Self {
        let cores = tonnage::cores();
        BulkBenchOptions {
            run: RunOptions::default(),
            data: DataKind::ALL.to_vec(),
            records: 1_000_000,
            value_bytes: 100,
            compressible: 0.5,
            streams: cores,
            threads: cores,
            existing_percent: 0,
            keep_existing: false,
            missing_percent: 0,
            order: KeyOrder::Shuffled,
            keys: KeyPart::Whole,
            children: false,
            gets: 500_000,
            singles: 200_000,
            singles_fsync: 2_000,
            parallelism: vec![1, 2, 4, 8],
            durabilities: vec![Durability::Write, Durability::None, Durability::Fsync],
            bulk_memory_bytes: None,
        }
    }
}

impl BulkBenchOptions {
    /// About how many bytes a system holds in the end.
    pub fn data_bytes(&self) -> u64 {
        let row_bytes = |data: &DataKind| match data {
            DataKind::Pairs => 16 + self.value_bytes as u64,
            DataKind::Positions => 70,
            DataKind::Phones if self.children => 60 + 2 * (40 + self.value_bytes as u64),
            DataKind::Phones => 60,
        };
        self.records.saturating_mul(self.data.iter().map(row_bytes).max().unwrap_or(0))
    }

    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, with the remedy.
    pub fn check(&self) -> Result<()> {
        self.run.check()?;
        check_counts([
            ("records", self.records),
            ("gets", self.gets),
            ("singles", self.singles),
            ("singles with fsync", self.singles_fsync),
            ("streams", self.streams as u64),
            ("threads", self.threads as u64),
            ("kinds of data", self.data.len() as u64),
            ("durabilities", self.durabilities.len() as u64),
        ])?;
        if self.existing_percent > 100 || self.missing_percent > 100 {
            return Err(Error::invalid("a share is over 100 %: give one from 0 to 100"));
        }
        if self.parallelism.contains(&0) {
            return Err(Error::invalid("0 requests in flight never end: give 1 or more"));
        }
        Ok(())
    }

    /// The options as names and values.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        self.run.settings([
            ("records", self.records.to_string()),
            ("value_bytes", self.value_bytes.to_string()),
            ("compressible", self.compressible.to_string()),
            ("streams", self.streams.to_string()),
            ("existing_percent", self.existing_percent.to_string()),
            ("keep_existing", self.keep_existing.to_string()),
            ("missing_percent", self.missing_percent.to_string()),
            ("order", self.order.name().to_owned()),
            ("keys", self.keys.name().to_owned()),
            ("children", self.children.to_string()),
            ("gets", self.gets.to_string()),
            ("singles", self.singles.to_string()),
            ("singles_fsync", self.singles_fsync.to_string()),
            ("bulk_memory_bytes", bytes_or_default(self.bulk_memory_bytes)),
        ])
    }
}
