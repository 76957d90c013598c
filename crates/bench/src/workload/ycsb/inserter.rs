//! Records of the load phase, and their keys.

use std::fmt::Write;
use std::ops::Range;

use rand::SeedableRng;
use rand::rngs::SmallRng;
use tonnage::Result;

use super::fields::FieldValues;
use super::{CoreOptions, InsertOrder};
use crate::generate::{mix, ycsb_hash};
use crate::measure::StopFlag;
use crate::system::{BatchSink, BatchSource, Client, Record};

/// Writes the key of a record's number: `user`, then the number or its hash, with zeros before it.
pub(super) fn write_key(core: &CoreOptions, number: u64, into: &mut String) {
    let number = match core.insert_order {
        InsertOrder::Hashed => ycsb_hash(number),
        InsertOrder::Ordered => number,
    };
    into.clear();
    // Writing to a string does not fail.
    let _ = write!(into, "user{number:0digits$}", digits = core.zero_padding);
}

/// Makes records by number, in buffers that are used again.
pub(crate) struct Inserter {
    core: CoreOptions,
    fields: FieldValues,
    random: SmallRng,
    key: String,
    record: Record,
}

impl Inserter {
    /// One for a thread; threads of different numbers make different values.
    pub(crate) fn new(core: &CoreOptions, thread: usize) -> Self {
        Inserter {
            core: core.clone(),
            fields: FieldValues::new(core),
            random: SmallRng::seed_from_u64(mix(thread as u64)),
            key: String::new(),
            record: Record::default(),
        }
    }

    /// Makes the record of a number: its key and its fields.
    pub(crate) fn make(&mut self, number: u64) -> (&str, &Record) {
        write_key(&self.core, number, &mut self.key);
        self.fields.fill(&self.key, None, &mut self.record, &mut self.random);
        (&self.key, &self.record)
    }

    /// Inserts the record that was made last.
    pub(crate) fn insert(&self, client: &mut dyn Client) -> Result<()> {
        client.insert(&self.key, &mut self.record.iter())
    }
}

/// Records of a range of numbers, some thousand at a time, for a bulk put.
pub(crate) struct CoreSource {
    inserter: Inserter,
    numbers: Range<u64>,
    stop: StopFlag,
}

impl CoreSource {
    const BATCH: usize = 4096;

    /// It ends early once it is stopped.
    pub(crate) fn new(inserter: Inserter, numbers: Range<u64>, stop: StopFlag) -> Self {
        CoreSource { inserter, numbers, stop }
    }
}

impl BatchSource<Record> for CoreSource {
    fn next_batch(&mut self, sink: &mut BatchSink<'_, Record>) -> Result<bool> {
        if self.numbers.is_empty() || self.stop.is_cancelled() {
            return Ok(false);
        }
        for number in self.numbers.by_ref().take(Self::BATCH) {
            let (key, record) = self.inserter.make(number);
            sink(key.as_bytes(), record)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case(InsertOrder::Hashed, 1, 0, "user6284781860667377211")]
    #[case(InsertOrder::Ordered, 1, 5, "user5")]
    #[case(InsertOrder::Ordered, 8, 5, "user00000005")]
    #[case(InsertOrder::Ordered, 2, 12345, "user12345")]
    fn a_key_is_the_number_with_zeros_before_it_or_its_hash(
        #[case] insert_order: InsertOrder,
        #[case] zero_padding: usize,
        #[case] number: u64,
        #[case] expected: &str,
    ) {
        let core = CoreOptions { insert_order, zero_padding, ..CoreOptions::default() };
        let mut key = "before".to_owned();
        write_key(&core, number, &mut key);
        assert_eq!(key, expected);
    }
}
