//! A batch of rows to be loaded.

use crate::header::NEVER_MS;
use crate::{Error, Result, Slices};

/// Keys and values of a load, side by side, each with its position in the stream it came from.
///
/// All columns have the same length, but for `expiries_ms`, which is empty when no row expires.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The whole key of each entry.
    pub keys: Slices,
    /// The value of each entry, without header.
    pub values: Slices,
    /// The place of each entry in its stream, from 0.
    pub positions: Vec<u64>,
    /// When each entry expires, in milliseconds since 1970, [`NEVER_MS`] for never; or nothing.
    pub expiries_ms: Vec<u64>,
}

impl Entries {
    /// No entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes finished columns. `expiries_ms` is empty when no row expires.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn from_parts(
        keys: Slices,
        values: Slices,
        positions: Vec<u64>,
        expiries_ms: Vec<u64>,
    ) -> Self {
        assert_eq!(keys.len(), values.len(), "each key has a value");
        assert_eq!(keys.len(), positions.len(), "each key has a position");
        assert!(
            expiries_ms.is_empty() || expiries_ms.len() == keys.len(),
            "all rows have an expiry, or none"
        );
        Self { keys, values, positions, expiries_ms }
    }

    /// Appends an entry. `position` is its position in its stream, counted from 0.
    pub fn push(&mut self, key: &[u8], value: &[u8], position: u64, expires_at_ms: u64) {
        if expires_at_ms != NEVER_MS && self.expiries_ms.is_empty() {
            self.expiries_ms.resize(self.len(), NEVER_MS);
        }
        if expires_at_ms != NEVER_MS || !self.expiries_ms.is_empty() {
            self.expiries_ms.push(expires_at_ms);
        }
        self.keys.push(key);
        self.values.push(value);
        self.positions.push(position);
    }

    /// Checks that all columns have the same length.
    ///
    /// # Errors
    /// `Invalid`, naming the lengths.
    pub fn check(&self) -> Result<()> {
        let (keys, values, positions, expiries) =
            (self.keys.len(), self.values.len(), self.positions.len(), self.expiries_ms.len());
        if values != keys || positions != keys || (expiries != 0 && expiries != keys) {
            return Err(Error::invalid(format!(
                "entries of {keys} keys, {values} values, {positions} positions and {expiries} expiries: give each key one of each"
            )));
        }
        Ok(())
    }

    /// How many entries there are.
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

    /// The key at `index`.
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        self.keys.get(index)
    }

    /// The value at `index`, without header.
    #[inline]
    pub fn value(&self, index: usize) -> &[u8] {
        self.values.get(index)
    }

    /// The position in its stream of the entry at `index`.
    #[inline]
    pub fn position(&self, index: usize) -> u64 {
        self.positions[index]
    }

    /// When the entry at `index` expires; [`NEVER_MS`] for never.
    #[inline]
    pub fn expires_at_ms(&self, index: usize) -> u64 {
        if self.expiries_ms.is_empty() { NEVER_MS } else { self.expiries_ms[index] }
    }

    /// Forgets all entries but keeps the memory.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
        self.positions.clear();
        self.expiries_ms.clear();
    }
}
