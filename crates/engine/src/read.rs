//! Options of lookups that read some of their keys at a time.

use std::ops::Range;

use crate::{Deadline, Projection};

/// What of many keys one [`read_some`](crate::Engine::read_some) takes, and how much it may bring.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// What of each row is wanted.
    pub projection: Projection,
    /// The keys to look up, by their numbers.
    pub keys: Range<usize>,
    /// The bytes of keys and values at which the read ends: the row that would go beyond them is
    /// left for the next read. A single larger row still comes.
    pub bytes_max: usize,
    /// By when the read must be answered.
    pub deadline: Deadline,
}

impl ReadOptions {
    /// Whether a row of so many bytes is one too many for rows that hold `held_bytes` already.
    #[inline]
    pub fn is_full(&self, held_bytes: usize, row_bytes: usize) -> bool {
        held_bytes > 0 && held_bytes.saturating_add(row_bytes) > self.bytes_max
    }
}
