//! What `bench bulk` is asked to do.

use tonnage::{Durability, Error, Result};

use crate::choice::{choice, options};
use crate::workload::options::{check_counts, or_default};
use crate::workload::{KeyOrder, RunOptions};

options! {
    /// What `bench bulk` is asked to do.
    pub struct BulkBenchOptions {
        /// The options of every workload.
        run: RunOptions = RunOptions::default(),
        /// What is put and got.
        data: Vec<DataKind> = DataKind::ALL.to_vec(),
        /// Records that a bulk put puts.
        records: u64 = 1_000_000 => "records",
        /// Bytes of a pair's value, and of a picture.
        value_bytes: usize = 100 => "value_bytes",
        /// How much of a value compresses away, from 0 to 1.
        compressible: f64 = 0.5 => "compressible",
        /// Streams of a bulk put.
        streams: usize = tonnage::cores() => "streams",
        /// Threads of the loop that runs on several; it runs on one, too.
        threads: usize = tonnage::cores(),
        /// Of 100 records that are put, so many are there before.
        existing_percent: u8 = 0 => "existing_percent",
        /// Whether a bulk put leaves these alone and counts them, as Tonnage does by default; else
        /// it overwrites them, as a loop does. Raw RocksDB must look every key up to leave any
        /// alone.
        keep_existing: bool = false => "keep_existing",
        /// Of 100 keys that are got, so many are not there.
        missing_percent: u8 = 0 => "missing_percent",
        /// The order of records that are put, and of keys that are got.
        order: KeyOrder = KeyOrder::Shuffled => "order",
        /// What rows are got by.
        keys: KeyPart = KeyPart::Whole => "keys",
        /// Whether phones have pictures in a child table, which go in and out with them.
        children: bool = false => "children",
        /// Keys that a bulk get asks for, if there are so many.
        gets: u64 = 500_000 => "gets",
        /// Operations of a loop, if there are so many records or keys.
        singles: u64 = 200_000 => "singles",
        /// Operations of a loop of which each waits for the disk.
        singles_fsync: u64 = 2_000 => "singles_fsync",
        /// Requests in flight that bulk gets are measured with one after another; none leaves the
        /// sweep out.
        parallelism: Vec<usize> = vec![1, 2, 4, 8],
        /// Durabilities that puts are measured with. The first one is that of the verdict.
        durabilities: Vec<Durability> =
            vec![Durability::Write, Durability::None, Durability::Fsync],
        /// Memory that a bulk put may take, by the system's own default when none.
        bulk_memory_bytes: Option<usize> = None => "bulk_memory_bytes" or_default,
    }
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
        /// The whole key of each row.
        Whole = "whole",
        /// The first column of the key, which a hundred rows share. Pairs are got by whole keys all
        /// the same.
        Partial = "partial",
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
}
