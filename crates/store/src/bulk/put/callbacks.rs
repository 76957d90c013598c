//! The callbacks of a bulk put, which report entries and streams while it runs.

use tonnage_engine::{NEVER_MS, Result, Rows, SpaceId};

use super::{Payload, StreamReport};
use crate::inner::Inner;
use crate::kv::Key;
use crate::row::Row;

/// Receives the entries that were not stored, and the streams that are complete. Called from the
/// threads of the load, several at a time. A callback that panics stops the load. One that waits
/// holds the load up, and must not wait for the load itself.
pub trait BulkPutCallbacks: Send + Sync {
    /// The key of an entry exists, and the stored row stays. When this returns an error, the entry
    /// counts as failed and [`BulkPutCallbacks::failed`] is called for it.
    ///
    /// It may use the store: read, write, and put in bulk, the entry into another table for
    /// example. Only an index cannot be created here, since that waits for this load.
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        let _ = entry;
        Ok(())
    }

    /// An entry could not be read, encoded or written. When this returns an error, the load stops
    /// with it.
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let _ = entry;
        Ok(())
    }

    /// All entries of a stream before a position are durable, or were reported as existing or
    /// failed. Comes after each flush, for the streams that brought something since the last one.
    fn durable(&self, stream: usize, position: u64) {
        let _ = (stream, position);
    }

    /// A stream was read to its end and all of its entries are durable, as far as was asked for.
    fn completed(&self, stream: &StreamReport) {
        let _ = stream;
    }
}

/// Callbacks that do nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoCallbacks;

impl BulkPutCallbacks for NoCallbacks {}

/// An entry whose key exists.
#[non_exhaustive]
pub struct ExistingEntry<'a> {
    /// The number of its stream.
    pub stream: usize,
    /// Its position in the stream, from 0.
    pub position: u64,
    pub(super) space: SpaceId,
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) store: &'a Inner,
}

impl ExistingEntry<'_> {
    /// The path of its table, and its key columns. For a key/value pair the path is empty and the
    /// row has the one column `key`.
    pub fn table_and_key(&self) -> Result<(String, Row)> {
        self.store.describe_key(self.space, self.key)
    }

    /// The whole row, with the columns that it would have been stored with; nothing for a key/value
    /// pair.
    ///
    /// # Errors
    /// `NotFound` when its table was dropped meanwhile.
    pub fn row(&self) -> Result<Option<Row>> {
        self.store.decode_entry(self.space, self.key, self.value)
    }

    /// The encoded key and the value of a pair; nothing for a row.
    pub fn pair(&self) -> Option<(&[u8], &[u8])> {
        (self.space == self.store.pairs).then_some((self.key, self.value))
    }
}

/// An entry that failed.
#[derive(Clone, Debug)]
pub struct FailedEntry<'a> {
    /// The number of its stream.
    pub stream: usize,
    /// The name of its stream.
    pub stream_name: &'a str,
    /// Its position in the stream, from 0.
    pub position: u64,
    /// The path of its table, when it is known; nothing for key/value pairs.
    pub table: Option<&'a str>,
    /// The column at fault, when it is known.
    pub column: Option<&'a str>,
    /// What is wrong with it.
    pub reason: &'a str,
    /// The whole entry, but for one that its source could not read, or whose key exists.
    pub entry: Option<Entry<'a>>,
}

/// An entry as its stream gave it.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    payload: &'a Payload,
    index: usize,
}

impl<'a> Entry<'a> {
    pub(super) fn new(payload: &'a Payload, index: usize) -> Self {
        Self { payload, index }
    }

    /// The path of its table; nothing for a key/value pair.
    pub fn table(&self) -> Option<&'a str> {
        match self.payload {
            Payload::Batch { table, .. } | Payload::Rows { table, .. } => Some(table),
            Payload::Pairs(_) => None,
        }
    }

    /// The row, with the columns and values that the stream gave; nothing for a key/value pair.
    ///
    /// # Errors
    /// `Invalid` when a column of a record batch is of a type that Tonnage does not know.
    pub fn row(&self) -> Result<Option<Row>> {
        match self.payload {
            Payload::Batch { rows, .. } => Row::from_batch(rows, self.index).map(Some),
            Payload::Rows { rows, .. } => Ok(Some(rows[self.index].clone())),
            Payload::Pairs(_) => Ok(None),
        }
    }

    /// The encoded key and the value of a pair; nothing for a row.
    pub fn pair(&self) -> Option<(&'a [u8], &'a [u8])> {
        match self.payload {
            Payload::Pairs(pairs) => {
                Some((pairs.keys.get(self.index), pairs.values.get(self.index)))
            }
            Payload::Batch { .. } | Payload::Rows { .. } => None,
        }
    }
}

impl std::fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("table", &self.table()).field("index", &self.index).finish()
    }
}

impl std::fmt::Debug for ExistingEntry<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExistingEntry")
            .field("stream", &self.stream)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// The path of the table that a key belongs to and its key columns; the pair's key for a
    /// key/value pair.
    pub(super) fn describe_key(&self, space: SpaceId, key: &[u8]) -> Result<(String, Row)> {
        if space == self.pairs {
            return Ok((String::new(), Row::new().with("key", Key::decode(key)?.to_string())));
        }
        let entry = self.owner_of(space, key)?;
        let mut rows = Rows::new();
        rows.push(key, &[], 0, NEVER_MS, 0);
        let batch = entry.codec.decode(&rows, None, Some(&entry.schema.key))?;
        Ok((entry.schema.path.clone(), Row::from_batch(&batch, 0)?))
    }
}
