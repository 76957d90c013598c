//! The rows: cars, generated once and kept, so that no measurement includes their generation.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use tonnage::{EntryStream, record_batch_stream};

pub(crate) const TABLE: &str = "CREATE TABLE cars (plate LONG, colour INTEGER, year INTEGER, note STRING, PRIMARY KEY (plate))";
/// Indexes that are created one after another: a load with two of them has the first two.
pub(crate) const INDEXES: [&str; 3] = [
    "CREATE INDEX by_colour ON cars (colour)",
    "CREATE INDEX by_year ON cars (year, colour)",
    "CREATE INDEX by_note ON cars (note)",
];
/// One colour is 1 % of the rows.
const COLOURS: u64 = 100;
const BATCH_ROWS: usize = 65_536;
/// Streams of a load.
const STREAMS: usize = 2;

/// All rows, in batches.
pub(crate) struct Cars {
    pub(crate) count: u64,
    batches: Vec<RecordBatch>,
}

impl Cars {
    pub(crate) fn new(count: u64) -> Self {
        let firsts = (0..count).step_by(BATCH_ROWS);
        Self {
            count,
            batches: firsts
                .map(|first| batch(first..count.min(first + BATCH_ROWS as u64)))
                .collect(),
        }
    }

    /// The streams of one load: no two bring the same row.
    pub(crate) fn streams(&self) -> Vec<Box<dyn EntryStream>> {
        let shares = (0..STREAMS).map(|stream| {
            self.batches.iter().skip(stream).step_by(STREAMS).cloned().collect::<Vec<_>>()
        });
        shares.map(|share| record_batch_stream("cars", "cars", share.into_iter().map(Ok))).collect()
    }
}

/// A bijection that looks random.
pub(crate) fn mix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

fn batch(rows: std::ops::Range<u64>) -> RecordBatch {
    let plates: ArrayRef =
        Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| mix(row) as i64)));
    let colours: ArrayRef = Arc::new(Int32Array::from_iter_values(
        rows.clone().map(|row| (mix(row ^ 7) % COLOURS) as i32),
    ));
    let years: ArrayRef =
        Arc::new(Int32Array::from_iter_values(rows.clone().map(|row| (mix(row ^ 9) % 50) as i32)));
    let notes: ArrayRef = Arc::new(StringArray::from_iter_values(
        rows.map(|row| format!("the note of car number {row}")),
    ));
    RecordBatch::try_from_iter([
        ("plate", plates),
        ("colour", colours),
        ("year", years),
        ("note", notes),
    ])
    .expect("columns of one length")
}
