//! A thread of the load phase.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use tonnage::Result;

use super::fields::Fields;
use super::names::RecordNames;
use crate::generate::mix;
use crate::system::{Client, Record};
use crate::workload::ycsb::CoreOptions;

/// Makes records by number, in buffers that are used again.
pub(in crate::workload::ycsb) struct Inserter {
    names: RecordNames,
    fields: Fields,
    random: SmallRng,
    key: String,
    record: Record,
}

impl Inserter {
    /// One for a thread; threads of different numbers make different values.
    pub(in crate::workload::ycsb) fn new(options: &CoreOptions, thread: usize) -> Self {
        Inserter {
            names: RecordNames::new(options),
            fields: Fields::new(options),
            random: SmallRng::seed_from_u64(mix(thread as u64)),
            key: String::new(),
            record: Record::default(),
        }
    }

    /// Makes the record of a number: its key and its fields.
    pub(in crate::workload::ycsb) fn make(&mut self, number: u64) -> (&str, &Record) {
        self.names.write(number, &mut self.key);
        self.fields.fill(&self.key, &mut self.record, &mut self.random);
        (&self.key, &self.record)
    }

    /// Inserts the record that was made last.
    pub(in crate::workload::ycsb) fn insert(&self, client: &mut dyn Client) -> Result<()> {
        client.insert(&self.key, &self.record)
    }
}
