//! Records and keys for bulk calls: made as they are asked for, so that nothing is kept for each of
//! a billion.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tonnage::Result;

use super::options::Order;
use super::pace::{Lockstep, PaceSide};
use super::stop::StopFlag;
use crate::generate::{Permutation, Values};
use crate::system::{KeySource, PairSource};

/// Entries that a source gives at a time.
const BATCH: u64 = 4_096;

/// What the sources of one call share.
#[derive(Clone, Default)]
pub(super) struct SharedCounts {
    pub(super) stop: StopFlag,
    /// Entries given so far: what the call must account for.
    pub(super) given: Arc<AtomicU64>,
    pub(super) pace: Option<Arc<Lockstep>>,
}

impl SharedCounts {
    /// Takes the next batch off a range. Nothing when it is empty, or when the time is over.
    fn next(&self, rows: &mut Range<u64>, side: PaceSide) -> Option<Range<u64>> {
        let batch = rows.start..rows.end.min(rows.start + BATCH);
        if batch.is_empty() || self.stop.is_set() {
            return None;
        }
        if let Some(pace) = &self.pace {
            pace.take(side, batch.end - batch.start);
        }
        rows.start = batch.end;
        Some(batch)
    }
}

/// Records of a range of rows.
pub(super) struct PairRange {
    pub(super) rows: Range<u64>,
    pub(super) order: Order,
    pub(super) values: Arc<Values>,
    pub(super) shared: SharedCounts,
}

impl PairSource for PairRange {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<bool> {
        let Some(batch) = self.shared.next(&mut self.rows, PaceSide::Puts) else {
            return Ok(false);
        };
        let mut key = [0; 16];
        self.shared.given.fetch_add(batch.end - batch.start, Relaxed);
        for row in batch {
            self.order.key(row, &mut key);
            sink(&key, self.values.of(row))?;
        }
        Ok(true)
    }
}

/// Keys of all rows in an order of their own.
pub(super) struct ShuffledKeys {
    pub(super) places: Range<u64>,
    pub(super) rows: Permutation,
    /// One place of so many is passed over: the overlap phase writes there.
    pub(super) skip_each: Option<u64>,
    pub(super) order: Order,
    pub(super) shared: SharedCounts,
}

impl KeySource for ShuffledKeys {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let Some(batch) = self.shared.next(&mut self.places, PaceSide::Gets) else {
            return Ok(false);
        };
        let mut key = [0; 16];
        let skip_each = self.skip_each;
        let mut given = 0;
        for place in batch.filter(|place| skip_each.is_none_or(|each| place % each != 0)) {
            self.order.key(self.rows.at(place), &mut key);
            sink(&key)?;
            given += 1;
        }
        self.shared.given.fetch_add(given, Relaxed);
        Ok(true)
    }

    fn batches_left(&self) -> Option<usize> {
        usize::try_from((self.places.end - self.places.start).div_ceil(BATCH)).ok()
    }
}

/// Splits a range into parts that differ by one at most.
pub(super) fn split(rows: Range<u64>, parts: usize) -> impl Iterator<Item = Range<u64>> {
    let (count, parts) = (rows.end - rows.start, parts as u64);
    let bound = move |part: u64| {
        rows.start + (u128::from(count) * u128::from(part) / u128::from(parts)) as u64
    };
    (0..parts).map(move |part| bound(part)..bound(part + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_range_lie_end_to_end() {
        assert_eq!(split(10..20, 3).collect::<Vec<_>>(), [10..13, 13..16, 16..20]);
        assert_eq!(split(0..1, 2).collect::<Vec<_>>(), [0..0, 0..1]);
    }
}
