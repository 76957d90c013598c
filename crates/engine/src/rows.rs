//! A batch of rows that a read returns.

use crate::Slices;

/// Rows that a read or a scan found.
///
/// `origins` holds, for each row, the index of the key or range that asked for it: what the caller
/// needs to tell rows of different requests apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The whole key of each row.
    pub keys: Slices,
    /// The value of each row without header; empty slices when only keys were asked for.
    pub values: Slices,
    /// The version of each row.
    pub versions: Vec<u64>,
    /// When each row expires, in milliseconds since 1970; 0 for never.
    pub expiries_ms: Vec<u64>,
    /// The index of the key or range that each row answers.
    pub origins: Vec<u32>,
}

impl Rows {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many rows there are.
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

    /// Memory in use, for callers that keep to a budget.
    pub fn memory_bytes(&self) -> usize {
        let stamps = self.versions.capacity() + self.expiries_ms.capacity();
        self.keys.memory_bytes()
            + self.values.memory_bytes()
            + stamps * size_of::<u64>()
            + self.origins.capacity() * size_of::<u32>()
    }

    /// Appends a row.
    #[inline]
    pub fn push(
        &mut self,
        key: &[u8],
        value: &[u8],
        version: u64,
        expires_at_ms: u64,
        origin: u32,
    ) {
        self.keys.push(key);
        self.values.push(value);
        self.versions.push(version);
        self.expiries_ms.push(expires_at_ms);
        self.origins.push(origin);
    }

    /// Forgets all rows but keeps the memory.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
        self.versions.clear();
        self.expiries_ms.clear();
        self.origins.clear();
    }
}
