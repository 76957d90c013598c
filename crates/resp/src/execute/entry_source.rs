//! Reads the members of the collection whose parts are being carried out.

use tonnage::{CollectionBatch, CollectionScan, Error, Result};

use crate::keyspace::Keyspace;
use crate::values::EntryName;

/// The bytes between a key and the names of its members, at most, with the ends of its parts.
const NAME_HEAD_BYTES: usize = 8 + EntryName::HEAD_BYTES;

/// Reads the members of one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntrySource<'k> {
    keyspace: &'k Keyspace,
    key: &'k [u8],
}

impl<'k> EntrySource<'k> {
    pub(crate) fn new(keyspace: &'k Keyspace, key: &'k [u8]) -> Self {
        Self { keyspace, key }
    }

    /// Whether a collection of so many bytes gives its members entries of their own.
    pub(crate) fn spreads(&self, bytes: usize) -> bool {
        self.keyspace.spreads(bytes)
    }

    /// Whether collections grow beyond one value at all.
    pub(crate) fn can_spread(&self) -> bool {
        self.keyspace.spreads(usize::MAX)
    }

    /// How long a member may be.
    pub(crate) fn member_bytes_max(&self) -> usize {
        let zeros = memchr::memchr_iter(0, self.key).count();
        let key_bytes = self.key.len() + zeros + NAME_HEAD_BYTES;
        self.keyspace.key_bytes_max.saturating_sub(key_bytes)
    }

    /// Looks up entries. Answers how many names were looked up: all, or as many as keep to the
    /// bytes.
    pub(crate) fn get_many<'n>(
        &self,
        names: impl IntoIterator<Item = &'n [u8]>,
        bytes_max: usize,
        found: &mut CollectionBatch,
    ) -> Result<usize> {
        let entries = self.keyspace.collections()?.ok_or_else(missing)?;
        entries.get_many(self.key, names, bytes_max, found)
    }

    /// Reads entries in their order, or against it.
    pub(crate) fn scan(
        &self,
        range: (&[u8], Option<&[u8]>),
        is_reverse: bool,
        rows: usize,
    ) -> Result<CollectionScan> {
        let entries = self.keyspace.collections()?.ok_or_else(missing)?;
        entries.scan(self.key, range, is_reverse, rows)
    }
}

/// A head came from another store.
fn missing() -> Error {
    Error::corruption(
        "the members of this key are not in this store: only its head was copied here; delete the \
         key, and store it anew",
    )
}
