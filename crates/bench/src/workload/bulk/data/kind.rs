//! What every kind of data offers.

use std::ops::Range;

use tonnage::{Durability, Result};

use super::RecordShare;
use crate::system::{BulkDone, BulkOptions, Client, System};

/// Records or keys of one batch of a source.
pub(super) const BATCH_ROWS: usize = 8_192;

/// A kind of data: records that are put, and keys that are got, each known by its place in the
/// order in which that is done.
pub(in crate::workload::bulk) trait Data: Sync {
    /// Whether a system must have tables for it.
    fn needs_tables(&self) -> bool;

    /// Makes room for it.
    fn define(&self, system: &dyn System) -> Result<()>;

    /// Rows that a record is: its own and those of its children.
    fn rows_per_record(&self) -> u64;

    /// Puts a record.
    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()>;

    /// Tells whether a record that was put is there.
    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool>;

    /// Puts the records of these places that belong to a share of all, from some streams.
    fn bulk_put(
        &self,
        system: &dyn System,
        places: Range<u64>,
        share: RecordShare,
        streams: usize,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone>;

    /// How many keys there are to ask for.
    fn keys(&self) -> u64;

    /// Rows that a key finds.
    fn found(&self, key: u64) -> u64;

    /// Gets the rows of a key. Tells how many came.
    fn get_one(&self, client: &mut dyn Client, key: u64) -> Result<u64>;

    /// Gets the rows of the first keys.
    fn bulk_get(
        &self,
        system: &dyn System,
        keys: u64,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone>;
}
