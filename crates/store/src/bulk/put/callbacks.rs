//! What a bulk put tells its caller while it runs.

use tonnage_engine::{Result, SpaceId};

use super::StreamReport;
use crate::row::Row;
use crate::store::Inner;

/// Is told of entries that were not stored, and of streams that are complete. Called from the threads of the load, several
/// at a time. A callback that panics stops the load.
pub trait BulkPutCallbacks: Send + Sync {
    /// The key of an entry exists, and the stored row stays. When this returns an error, the entry counts as failed and
    /// [`BulkPutCallbacks::failed`] is called for it.
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        let _ = entry;
        Ok(())
    }

    /// An entry could not be read, encoded or written. When this returns an error, the load stops with it.
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let _ = entry;
        Ok(())
    }

    /// A stream was read to its end and all of its entries are durable, as far as was asked for.
    fn completed(&self, stream: &StreamReport) {
        let _ = stream;
    }
}

/// Callbacks that do nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCallbacks;

impl BulkPutCallbacks for NoCallbacks {}

/// An entry whose key exists.
pub struct ExistingEntry<'a> {
    /// The number of its stream.
    pub stream: usize,
    /// Its place in the stream, from 0.
    pub position: u64,
    pub(super) space: SpaceId,
    pub(super) key: &'a [u8],
    pub(super) store: &'a Inner,
}

impl ExistingEntry<'_> {
    /// The path of its table, and its key columns. For a key/value pair the path is empty and the row has the one column
    /// `key`.
    pub fn table_and_key(&self) -> Result<(String, Row)> {
        self.store.describe_key(self.space, self.key)
    }
}

/// An entry that failed.
#[derive(Clone, Debug)]
pub struct FailedEntry<'a> {
    /// The number of its stream.
    pub stream: usize,
    /// The name of its stream.
    pub stream_name: &'a str,
    /// Its place in the stream, from 0.
    pub position: u64,
    /// The column at fault, when it is known.
    pub column: Option<&'a str>,
    /// What is wrong with it.
    pub reason: &'a str,
}
