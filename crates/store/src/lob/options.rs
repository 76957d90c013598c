//! Options and information of large objects.

use std::time::Duration;

use tonnage_engine::{Condition, Deadline, Durability, Error, Result};

use crate::terms::{check_timeout, deadline_after};

/// How large chunks may be.
const CHUNK_BYTES: std::ops::RangeInclusive<usize> = 1..=64 << 20;

/// How to write a large object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobOptions {
    /// How many bytes a chunk has (1 byte to 64 MiB), and a reader or a writer holds in memory.
    /// What is appended keeps to the chunks that are there. Default: 1 MiB.
    pub chunk_bytes: usize,
    /// When the object counts as stored.
    pub durability: Durability,
    /// What must hold of the object that is there when this one is finished.
    pub condition: Condition,
    /// The longest that each call of the writer may wait for the store; then it ends with
    /// `TimedOut`. What was stored before stays, for a repeated call or for
    /// [`KeyValue::resume_lob`](crate::KeyValue::resume_lob).
    pub timeout: Option<Duration>,
}

impl LobOptions {
    /// By when the call that begins now must be answered.
    pub(super) fn deadline(&self) -> Deadline {
        deadline_after(self.timeout)
    }
}

impl Default for LobOptions {
    fn default() -> Self {
        let (durability, condition) = (Durability::default(), Condition::default());
        Self { chunk_bytes: 1 << 20, durability, condition, timeout: None }
    }
}

/// What is known of a large object without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LobInfo {
    /// How many bytes it has.
    pub bytes: u64,
    /// Its version, greater than that of any object before it under the key.
    pub version: u64,
}

impl LobInfo {
    /// What another source, such as a server, says about a large object.
    pub fn new(bytes: u64, version: u64) -> Self {
        Self { bytes, version }
    }
}

/// Refuses options that cannot be.
pub(super) fn check_options(options: &LobOptions) -> Result<()> {
    check_timeout(options.timeout)?;
    if CHUNK_BYTES.contains(&options.chunk_bytes) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "chunks of {} bytes: give 1 byte to {} MiB",
        options.chunk_bytes,
        CHUNK_BYTES.end() >> 20
    )))
}
