//! Batches of key/value pairs.

use tonnage_engine::{Result, Slices};

use super::Key;
use super::key::encode_parts;

/// Key/value pairs for a bulk put, in contiguous memory.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pub(crate) keys: Slices,
    pub(crate) values: Slices,
}

impl Pairs {
    /// No pairs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Room for `count` pairs with keys of `key_bytes` and values of `value_bytes` in all.
    pub fn with_capacity(count: usize, key_bytes: usize, value_bytes: usize) -> Self {
        Self {
            // Each component costs two bytes more than its length, and so does the end of the major
            // path.
            keys: Slices::with_capacity(count, key_bytes + 4 * count),
            values: Slices::with_capacity(count, value_bytes),
        }
    }

    /// Appends a pair.
    ///
    /// # Errors
    /// `Invalid` for a key without a major component.
    pub fn push(&mut self, key: &Key, value: &[u8]) -> Result<()> {
        self.keys.push_with(|buffer| key.encode(buffer))?;
        self.values.push(value);
        Ok(())
    }

    /// Appends a pair whose key is given as the bytes of its components: nothing is allocated.
    ///
    /// # Errors
    /// `Invalid` for a key without a major component.
    pub fn push_parts(&mut self, major: &[&[u8]], minor: &[&[u8]], value: &[u8]) -> Result<()> {
        self.keys.push_with(|buffer| {
            encode_parts(major.iter().copied(), minor.iter().copied(), buffer)
        })?;
        self.values.push(value);
        Ok(())
    }

    /// Appends a pair that was read, byte for byte.
    ///
    /// # Panics
    /// If the batch has no such pair.
    pub fn push_from(&mut self, batch: &PairBatch, index: usize) {
        self.keys.push(batch.rows.keys.get(index));
        self.values.push(batch.value(index));
    }

    /// Forgets all pairs but keeps the memory.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.keys.bytes() + self.values.bytes()
    }

    /// The key of the pair at `index`.
    ///
    /// # Errors
    /// `Corruption` when it cannot be read.
    pub fn key(&self, index: usize) -> Result<Key> {
        Key::decode(self.keys.get(index))
    }

    /// The value of the pair at `index`.
    pub fn value(&self, index: usize) -> &[u8] {
        self.values.get(index)
    }
}

/// A pair that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Its key.
    pub key: Key,
    /// Its value; empty when only keys were asked for.
    pub value: Vec<u8>,
    /// Its version.
    pub version: u64,
    /// When it expires, in milliseconds since 1970; 0 for never.
    pub expires_at_ms: u64,
}

/// Pairs that were read, in contiguous memory.
#[derive(Clone, Debug, Default)]
pub struct PairBatch {
    pub(crate) rows: tonnage_engine::Rows,
}

impl PairBatch {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bytes of all keys, as they are stored, and values.
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }

    /// The key of the pair at `index`, with the bytes of its components as they were given.
    ///
    /// # Errors
    /// `Corruption` when it cannot be read.
    pub fn key(&self, index: usize) -> Result<Key> {
        Key::decode(self.rows.keys.get(index))
    }

    /// The value of the pair at `index`; empty when only keys were asked for.
    pub fn value(&self, index: usize) -> &[u8] {
        self.rows.values.get(index)
    }

    /// The version of the pair at `index`.
    pub fn version(&self, index: usize) -> u64 {
        self.rows.versions[index]
    }

    /// The number of the key that asked for the pair at `index`, where keys were looked up.
    pub fn origin(&self, index: usize) -> usize {
        self.rows.origins[index] as usize
    }

    /// When the pair at `index` expires, in milliseconds since 1970; 0 for never.
    pub fn expires_at_ms(&self, index: usize) -> u64 {
        self.rows.expiries_ms[index]
    }

    /// The pair at `index`, copied out.
    ///
    /// # Errors
    /// `Corruption` when its key cannot be read.
    pub fn pair(&self, index: usize) -> Result<Pair> {
        Ok(Pair {
            key: self.key(index)?,
            value: self.value(index).to_vec(),
            version: self.version(index),
            expires_at_ms: self.expires_at_ms(index),
        })
    }
}
