//! Versions of rows that a caller has already: a scan leaves those rows out.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use serde::Deserialize;
use tonnage::{Error, Result};

/// Ranges of versions, ends included: ascending, and none touches the next.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<(u64, u64)>")]
pub(crate) struct KnownVersions(Vec<(u64, u64)>);

impl From<Vec<(u64, u64)>> for KnownVersions {
    fn from(mut given: Vec<(u64, u64)>) -> Self {
        given.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::with_capacity(given.len());
        for (first, last) in given.into_iter().filter(|(first, last)| first <= last) {
            match ranges.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last)
                }
                _ => ranges.push((first, last)),
            }
        }
        Self(ranges)
    }
}

impl KnownVersions {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn contains(&self, version: u64) -> bool {
        let behind = self.0.partition_point(|(first, _)| *first <= version);
        behind > 0 && version <= self.0[behind - 1].1
    }

    /// The rows of a batch whose versions are none of these.
    ///
    /// # Errors
    /// `Internal` when Arrow cannot cut the batch.
    pub(crate) fn leave(&self, rows: RecordBatch, versions: &[u64]) -> Result<RecordBatch> {
        if self.is_empty() {
            return Ok(rows);
        }
        let are_new: BooleanArray =
            versions.iter().map(|version| Some(!self.contains(*version))).collect();
        if are_new.true_count() == rows.num_rows() {
            return Ok(rows);
        }
        filter_record_batch(&rows, &are_new)
            .map_err(|error| Error::internal(format!("rows without known versions: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::KnownVersions;

    #[test]
    fn a_version_is_known_where_a_range_holds_it() {
        let known = KnownVersions::from(vec![(20, 25), (1, 3), (4, 9), (30, 30), (7, 5)]);
        assert_eq!(known.0, [(1, 9), (20, 25), (30, 30)]);
        let found: Vec<u64> = (0..40).filter(|version| known.contains(*version)).collect();
        let expected: Vec<u64> = (1..=9).chain(20..=25).chain([30]).collect();
        assert_eq!(found, expected);
        assert!(KnownVersions::from(vec![(0, u64::MAX), (5, u64::MAX)]).contains(u64::MAX));
    }
}
