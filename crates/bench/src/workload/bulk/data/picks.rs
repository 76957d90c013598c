//! Which record stands at which place of a put, and which key at which place of a get.

use crate::generate::{Permutation, mix};
use crate::workload::bulk::{BulkBenchOptions, KeyOrder};

/// So many of a hundred places, as if thrown by dice.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload::bulk) struct RecordShare {
    percent: u8,
    seed: u64,
}

impl RecordShare {
    /// Every place.
    pub(in crate::workload::bulk) const ALL: RecordShare = RecordShare { percent: 100, seed: 0 };

    /// The places whose record is there before a put.
    pub(in crate::workload::bulk) fn existing(options: &BulkBenchOptions) -> Self {
        RecordShare { percent: options.existing_percent, seed: 0xE815 }
    }

    /// The places whose key is not there when it is got.
    fn missing(options: &BulkBenchOptions) -> Self {
        RecordShare { percent: options.missing_percent, seed: 0x0A1D }
    }

    /// Whether a place is among them.
    pub(in crate::workload::bulk) fn holds(self, place: u64) -> bool {
        mix(place ^ mix(self.seed)) % 100 < u64::from(self.percent)
    }
}

/// What is asked for at a place of a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload::bulk) struct Pick {
    pub(in crate::workload::bulk) number: u64,
    /// Whether a key next to it is asked for that was never put.
    pub(in crate::workload::bulk) is_missing: bool,
}

/// The order of records and keys.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload::bulk) struct Picks {
    order: KeyOrder,
    put: Permutation,
    get: Permutation,
    missing: RecordShare,
}

impl Picks {
    /// For so many records and so many keys.
    pub(in crate::workload::bulk) fn new(options: &BulkBenchOptions, keys: u64) -> Self {
        Picks {
            order: options.order,
            put: Permutation::new(options.records, 1),
            get: Permutation::new(keys, 2),
            missing: RecordShare::missing(options),
        }
    }

    /// The number of the record that is put at a place.
    pub(in crate::workload::bulk) fn put(&self, place: u64) -> u64 {
        if self.order == KeyOrder::Ordered { place } else { self.put.at(place) }
    }

    /// What is asked for at a place.
    pub(in crate::workload::bulk) fn get(&self, place: u64) -> Pick {
        let number = if self.order == KeyOrder::Ordered { place } else { self.get.at(place) };
        Pick { number, is_missing: self.missing.holds(place) }
    }

    /// How many keys there are.
    pub(in crate::workload::bulk) fn keys(&self) -> u64 {
        self.get.len()
    }
}
