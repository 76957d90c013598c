//! What is put and got. All of it follows from the numbers of records, so that nothing is kept for
//! each.

pub(super) mod pairs;
pub(super) mod tables;

use tonnage::{Durability, Result};

use super::BulkBenchOptions;
use crate::generate::{Permutation, mix};
use crate::system::{Client, GetKeys, PutInput};
use crate::workload::KeyOrder;
use crate::workload::loops::split;

/// A kind of data: records that are put, and keys that are got, each known by its place in the
/// order in which that is done.
pub(super) trait Data: Sync {
    /// The tables that a system must have for it.
    fn definitions(&self) -> &[&'static str];

    /// Rows that a record is: its own and those of its children.
    fn rows_per_record(&self) -> u64;

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()>;

    /// Tells whether a record that was put is there.
    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool>;

    /// The first records, of these the ones that belong to a share: an input for each table.
    fn put_inputs(&self, count: u64, share: RecordShare) -> Vec<PutInput>;

    /// How many keys there are to ask for.
    fn keys(&self) -> u64;

    fn found(&self, key: u64) -> u64;

    /// Gets the rows of a key. Tells how many came.
    fn get_one(&self, client: &mut dyn Client, key: u64) -> Result<u64>;

    /// The first keys.
    fn get_keys(&self, count: u64) -> GetKeys;
}

/// So many of a hundred places, as if thrown by dice.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordShare {
    percent: u8,
    seed: u64,
}

impl RecordShare {
    pub(super) const ALL: RecordShare = RecordShare { percent: 100, seed: 0 };

    /// The places whose record is there before a put.
    pub(super) fn existing(options: &BulkBenchOptions) -> Self {
        RecordShare { percent: options.existing_percent, seed: 0xE815 }
    }

    pub(super) fn holds(self, place: u64) -> bool {
        mix(place ^ mix(self.seed)) % 100 < u64::from(self.percent)
    }
}

/// The order of records and keys.
#[derive(Clone, Copy, Debug)]
struct Picks {
    order: KeyOrder,
    streams: usize,
    put: Permutation,
    get: Permutation,
    missing: RecordShare,
}

impl Picks {
    fn new(options: &BulkBenchOptions, keys: u64) -> Self {
        Picks {
            order: options.order,
            streams: options.streams,
            put: Permutation::new(options.records, 1),
            get: Permutation::new(keys, 2),
            missing: RecordShare { percent: options.missing_percent, seed: 0x0A1D },
        }
    }

    fn at(&self, order: &Permutation, place: u64) -> u64 {
        if self.order == KeyOrder::Ordered { place } else { order.at(place) }
    }

    /// The number of the record that is put at a place.
    fn put(&self, place: u64) -> u64 {
        self.at(&self.put, place)
    }

    /// The numbers of the records that are put at places of a share, stream by stream.
    fn puts(
        self,
        count: u64,
        share: RecordShare,
    ) -> impl Iterator<Item = impl Iterator<Item = u64> + Send + 'static> {
        let held = move |place: &u64| share.holds(*place);
        split(0..count, self.streams)
            .map(move |places| places.filter(held).map(move |place| self.put(place)))
    }

    /// The number that is asked for at a place, and whether a key next to it is meant that was
    /// never put.
    fn get(&self, place: u64) -> (u64, bool) {
        (self.at(&self.get, place), self.missing.holds(place))
    }
}
