//! What every kind of data offers, and how its batches are made.

use std::ops::Range;
use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, RecordBatch};
use tonnage::{Durability, Error, Result};

use super::picks::RecordShare;
use crate::system::{BulkDone, BulkOptions, Client, Feature, RowSource, System};

/// Records or keys of one batch of a source.
pub(super) const BATCH_ROWS: usize = 8_192;

/// A kind of data: records that are put, and keys that are got, each known by its place in the
/// order in which that is done.
pub(in crate::workload::bulk) trait Data: Sync {
    /// What a system must offer for it.
    fn feature(&self) -> Option<Feature>;

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

/// Places cut into one range for each stream.
pub(super) fn parts(places: Range<u64>, streams: usize) -> impl Iterator<Item = Range<u64>> {
    let (start, count, streams) = (places.start, places.end - places.start, streams as u64);
    let at = move |part: u64| {
        start + (u128::from(count) * u128::from(part) / u128::from(streams)) as u64
    };
    (0..streams).map(move |part| at(part)..at(part + 1))
}

/// Batches of numbers, one after another.
pub(super) struct Batches<I>(pub(super) I);

impl<I: Iterator<Item = u64>> Iterator for Batches<I> {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let batch: Vec<u64> = self.0.by_ref().take(BATCH_ROWS).collect();
        (!batch.is_empty()).then_some(batch)
    }
}

/// A source of record batches, each made of a batch of numbers.
struct Rows<I, F> {
    numbers: Batches<I>,
    shape: F,
}

impl<I, F> RowSource for Rows<I, F>
where
    I: Iterator<Item = u64> + Send,
    F: Fn(&[u64]) -> Result<RecordBatch> + Send,
{
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.numbers.next().map(|numbers| (self.shape)(&numbers)).transpose()
    }
}

/// A source of batches of rows.
pub(super) fn rows<I, F>(numbers: I, shape: F) -> Box<dyn RowSource>
where
    I: Iterator<Item = u64> + Send + 'static,
    F: Fn(&[u64]) -> Result<RecordBatch> + Send + 'static,
{
    Box::new(Rows { numbers: Batches(numbers), shape })
}

/// A batch of named columns.
pub(super) fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns)
        .map_err(|error| Error::internal(format!("a batch of rows: {error}")))
}

/// A column of what `of` makes of each number.
pub(super) fn column<A, T>(numbers: &[u64], of: impl Fn(u64) -> T) -> ArrayRef
where
    A: tonnage::arrow::array::Array + FromIterator<Option<T>> + 'static,
{
    Arc::new(numbers.iter().map(|number| Some(of(*number))).collect::<A>())
}
