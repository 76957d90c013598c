//! Pairs and their keys as record batches.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, ListArray, ListBuilder, RecordBatch,
    UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use tonnage::{Error, Key, Pair, Result};

use crate::rows::Rows;

/// Pairs that came from a server, as [`tonnage::PairBatch`]. They lie in the memory that they came
/// in.
#[derive(Clone, Debug)]
pub struct RemotePairBatch {
    major: ListArray,
    minor: ListArray,
    values: BinaryArray,
    versions: UInt64Array,
    expiries_ms: UInt64Array,
}

impl RemotePairBatch {
    fn read(batch: &RecordBatch) -> Option<Self> {
        let column = |name: &str| batch.column_by_name(name);
        let list = |name: &str| {
            let list = column(name)?.as_list_opt::<i32>()?;
            list.values().as_binary_opt::<i32>()?;
            Some(list.clone())
        };
        let stamp = |name: &str| Some(column(name)?.as_primitive_opt::<UInt64Type>()?.clone());
        Some(Self {
            major: list("major")?,
            minor: list("minor")?,
            values: column("value")?.as_binary_opt::<i32>()?.clone(),
            versions: stamp("_version")?,
            expiries_ms: stamp("_expires_at_ms")?,
        })
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        let keys = [&self.major, &self.minor].map(|list| list.to_data());
        let bytes = keys.into_iter().chain([self.values.to_data()]);
        bytes.map(|data| data.get_slice_memory_size().unwrap_or(0)).sum()
    }

    /// The key of the pair at `index`.
    ///
    /// # Errors
    /// Never; the signature is that of [`tonnage::PairBatch::key`].
    pub fn key(&self, index: usize) -> Result<Key> {
        let components = |list: &ListArray| {
            let list = list.value(index);
            let list = list.as_binary::<i32>();
            (0..list.len()).map(|part| list.value(part).to_vec()).collect::<Vec<_>>()
        };
        Ok(Key::new(components(&self.major), components(&self.minor)))
    }

    /// The value of the pair at `index`; empty when only keys were asked for.
    pub fn value(&self, index: usize) -> &[u8] {
        self.values.value(index)
    }

    /// The version of the pair at `index`.
    pub fn version(&self, index: usize) -> u64 {
        self.versions.value(index)
    }

    /// When the pair at `index` expires, in milliseconds since 1970; 0 for never.
    pub fn expires_at_ms(&self, index: usize) -> u64 {
        self.expiries_ms.value(index)
    }

    /// The pair at `index`, copied out.
    ///
    /// # Errors
    /// Never; the signature is that of [`tonnage::PairBatch::pair`].
    pub fn pair(&self, index: usize) -> Result<Pair> {
        Ok(Pair {
            key: self.key(index)?,
            value: self.value(index).to_vec(),
            version: self.version(index),
            expires_at_ms: self.expires_at_ms(index),
        })
    }
}

/// Pairs from a server, as [`tonnage::BulkPairs`]: an iterator of batches, pulled.
#[derive(Debug)]
pub struct RemotePairs(pub(crate) Rows);

impl Iterator for RemotePairs {
    type Item = Result<RemotePairBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = |batch: RecordBatch| RemotePairBatch::read(&batch).ok_or_else(unreadable_pairs);
        Some(self.0.next()?.and_then(read))
    }
}

/// Pairs as a batch with the columns `major`, `minor` and `value`.
pub(crate) fn batch_of_pairs<'a>(
    pairs: impl Iterator<Item = (&'a Key, &'a [u8])> + Clone,
) -> Result<RecordBatch> {
    let [major, minor] = keys_of(pairs.clone().map(|(key, _)| key));
    let values: BinaryArray = pairs.map(|(_, value)| Some(value)).collect();
    batch_of([("major", major), ("minor", minor), ("value", Arc::new(values) as ArrayRef)])
}

/// Keys of pairs as a batch with the columns of [`key_schema`].
pub(crate) fn batch_of_keys(keys: &[Key]) -> Result<RecordBatch> {
    let [major, minor] = keys_of(keys.iter());
    RecordBatch::try_new(key_schema(), vec![major, minor])
        .map_err(|error| Error::internal(format!("keys as a batch: {error}")))
}

/// The columns of keys of pairs.
pub(crate) fn key_schema() -> SchemaRef {
    let components = DataType::List(Arc::new(Field::new("item", DataType::Binary, true)));
    let column = |name: &str| Field::new(name, components.clone(), true);
    Arc::new(Schema::new(vec![column("major"), column("minor")]))
}

fn keys_of<'a>(keys: impl Iterator<Item = &'a Key>) -> [ArrayRef; 2] {
    let (mut major, mut minor) =
        (ListBuilder::new(BinaryBuilder::new()), ListBuilder::new(BinaryBuilder::new()));
    for key in keys {
        for (list, components) in [(&mut major, key.major()), (&mut minor, key.minor())] {
            components.iter().for_each(|component| list.values().append_value(component));
            list.append(true);
        }
    }
    [Arc::new(major.finish()), Arc::new(minor.finish())]
}

fn batch_of<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns)
        .map_err(|error| Error::internal(format!("pairs as a batch: {error}")))
}

fn unreadable_pairs() -> Error {
    Error::internal("pairs came in columns of another version")
}
