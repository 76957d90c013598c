//! Pairs as they come, out of a store of this process or from a server.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use tonnage::{BulkPairs, Error, Key, PairBatch, Result};
use tonnage_client::{Rows, key_of_row};

use crate::exit::{CliResult, Failure};

/// Pairs as they come.
pub(crate) struct FetchedPairs(Box<dyn Iterator<Item = CliResult<FetchedPairBatch>>>);

/// Pairs of one batch.
pub(crate) enum FetchedPairBatch {
    Store(PairBatch),
    Server(RecordBatch),
}

impl FetchedPairs {
    pub(crate) fn of_store(pairs: BulkPairs) -> Self {
        Self(Box::new(pairs.map(|batch| Ok(FetchedPairBatch::Store(batch?)))))
    }

    /// What breaks off while they come was done in part.
    pub(crate) fn of_server(rows: Rows) -> Self {
        let batches =
            rows.map(|batch| batch.map(FetchedPairBatch::Server).map_err(Failure::stopped));
        Self(Box::new(batches))
    }
}

impl Iterator for FetchedPairs {
    type Item = CliResult<FetchedPairBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl FetchedPairBatch {
    pub(crate) fn len(&self) -> usize {
        match self {
            FetchedPairBatch::Store(batch) => batch.len(),
            FetchedPairBatch::Server(batch) => batch.num_rows(),
        }
    }

    pub(crate) fn key(&self, index: usize) -> Result<Key> {
        match self {
            FetchedPairBatch::Store(batch) => batch.key(index),
            FetchedPairBatch::Server(batch) => key_of_row(batch, index),
        }
    }

    pub(crate) fn version(&self, index: usize) -> Result<u64> {
        match self {
            FetchedPairBatch::Store(batch) => Ok(batch.version(index)),
            FetchedPairBatch::Server(batch) => {
                let versions = column(batch, "_version")?.as_primitive_opt::<UInt64Type>();
                Ok(versions.ok_or_else(strange)?.value(index))
            }
        }
    }

    pub(crate) fn value(&self, index: usize) -> Result<&[u8]> {
        match self {
            FetchedPairBatch::Store(batch) => Ok(batch.value(index)),
            FetchedPairBatch::Server(batch) => {
                let values = column(batch, "value")?.as_binary_opt::<i32>();
                Ok(values.ok_or_else(strange)?.value(index))
            }
        }
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array> {
    batch.column_by_name(name).map(AsRef::as_ref).ok_or_else(strange)
}

fn strange() -> Error {
    Error::internal("pairs came in columns of another version")
}
