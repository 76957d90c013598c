//! Which record stands at which place of a put, and which key at which place of a get.

use std::ops::Range;

use crate::generate::{Permutation, mix};
use crate::workload::KeyOrder;
use crate::workload::bulk::BulkBenchOptions;

/// So many of a hundred places, as if thrown by dice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordShare {
    percent: u8,
    seed: u64,
}

impl RecordShare {
    /// Every place.
    pub(crate) const ALL: RecordShare = RecordShare { percent: 100, seed: 0 };

    /// The places whose record is there before a put.
    pub(crate) fn existing(options: &BulkBenchOptions) -> Self {
        RecordShare { percent: options.existing_percent, seed: 0xE815 }
    }

    /// Whether a place is among them.
    pub(crate) fn holds(self, place: u64) -> bool {
        mix(place ^ mix(self.seed)) % 100 < u64::from(self.percent)
    }
}

/// The order of records and keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picks {
    order: KeyOrder,
    put: Permutation,
    get: Permutation,
    missing: RecordShare,
}

impl Picks {
    /// For so many keys.
    pub(super) fn new(options: &BulkBenchOptions, keys: u64) -> Self {
        Picks {
            order: options.order,
            put: Permutation::new(options.records, 1),
            get: Permutation::new(keys, 2),
            missing: RecordShare { percent: options.missing_percent, seed: 0x0A1D },
        }
    }

    fn at(&self, order: &Permutation, place: u64) -> u64 {
        if self.order == KeyOrder::Ordered { place } else { order.at(place) }
    }

    /// The number of the record that is put at a place.
    pub(super) fn put(&self, place: u64) -> u64 {
        self.at(&self.put, place)
    }

    /// The numbers of the records that are put at places of a share.
    pub(super) fn puts(
        self,
        places: Range<u64>,
        share: RecordShare,
    ) -> impl Iterator<Item = u64> + Send {
        places.filter(move |place| share.holds(*place)).map(move |place| self.put(place))
    }

    /// The number that is asked for at a place, and whether a key next to it is meant that was
    /// never put.
    pub(super) fn get(&self, place: u64) -> (u64, bool) {
        (self.at(&self.get, place), self.missing.holds(place))
    }

    /// How many keys there are.
    pub(super) fn keys(&self) -> u64 {
        self.get.len()
    }
}
