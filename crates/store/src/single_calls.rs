//! Options of calls for single rows and pairs, and what comes back.

use std::time::Duration;

use tonnage_engine::{
    Acks, Capability, Consistency, Deadline, Durability, Error, Result, WriteOutcome,
};

use crate::levels::{check_acks, check_consistency};
use crate::row::Row;
use crate::terms::{WriteTerms, check_timeout, deadline_after};

/// How to write single rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// When the write is acknowledged.
    pub durability: Durability,
    /// How many copies must have it by then; as the store was opened without it.
    pub acks: Option<Acks>,
    /// How long the row lives: zero is for ever, and without it the table's own time to live holds.
    pub ttl: Option<Duration>,
    /// When the row expires, as [`StoredRow::expires_at_ms`] tells it: for a row that is written
    /// back with the life it had. Comes before `ttl`.
    pub expires_at_ms: Option<u64>,
    /// Whether a row that replaces another lives as long as that one would have; a new row lives as
    /// the other two say. For single rows and pairs.
    pub keep_ttl: bool,
    /// The longest that the write may wait for others; then it ends with `TimedOut`, which names
    /// what it waited for, and nothing of it is stored. Of many rows in one call those are left out
    /// that did not come in time.
    pub timeout: Option<Duration>,
}

impl WriteOptions {
    /// What the engine is to know; the time begins now.
    pub(crate) fn terms(&self) -> WriteTerms {
        let deadline = deadline_after(self.timeout);
        WriteTerms { durability: self.durability, acks: self.acks, deadline }
    }

    /// Refuses what contradicts itself.
    pub(crate) fn check(&self, capability: &Capability) -> Result<()> {
        check_timeout(self.timeout)?;
        if self.keep_ttl && self.expires_at_ms.is_some() {
            return Err(Error::invalid(
                "keep_ttl and expires_at_ms both say when the row expires: give one of them",
            ));
        }
        check_acks(self.acks, self.durability, capability)
    }

    /// The same where a row is not read before it is written.
    pub(crate) fn check_blind(&self, capability: &Capability) -> Result<()> {
        if self.keep_ttl {
            return Err(Error::invalid(
                "keep_ttl goes with writes of single rows and pairs: put them one by one, or give expires_at_ms",
            ));
        }
        self.check(capability)
    }
}

/// How to read a single row or pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    /// How fresh it must be; as the store was opened without it.
    pub consistency: Option<Consistency>,
    /// The longest that the read may take; then it ends with `TimedOut`. For a large object that is
    /// each wait for the store: of the call that opens it, and of each read of a chunk.
    pub timeout: Option<Duration>,
}

impl GetOptions {
    /// By when the read must be answered; the time begins now.
    pub(crate) fn checked_deadline(&self) -> Result<Deadline> {
        check_consistency(self.consistency)?;
        check_timeout(self.timeout)?;
        Ok(deadline_after(self.timeout))
    }
}

/// What became of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// It was carried out; rows put have this version.
    Stored {
        /// The version.
        version: u64,
    },
    /// Its condition did not hold, and nothing was carried out.
    ConditionFailed {
        /// The number of the operation whose condition did not hold, 0 for a single one.
        operation: usize,
        /// The version of the stored row, if there is one.
        current: Option<u64>,
    },
}

impl WriteResult {
    /// The version of what was written, if it was.
    pub fn version(self) -> Option<u64> {
        match self {
            WriteResult::Stored { version } => Some(version),
            WriteResult::ConditionFailed { .. } => None,
        }
    }

    /// Whether it was carried out.
    pub fn is_stored(self) -> bool {
        self.version().is_some()
    }
}

impl From<WriteOutcome> for WriteResult {
    fn from(outcome: WriteOutcome) -> Self {
        match outcome {
            WriteOutcome::Applied { version } => WriteResult::Stored { version },
            WriteOutcome::Refused { operation, current } => {
                WriteResult::ConditionFailed { operation, current }
            }
        }
    }
}

/// A row as it is stored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoredRow {
    /// The row.
    pub row: Row,
    /// Its version.
    pub version: u64,
    /// When it expires, in milliseconds since 1970; 0 for never.
    pub expires_at_ms: u64,
}

impl StoredRow {
    /// A row as another store returned it.
    pub fn new(row: Row, version: u64, expires_at_ms: u64) -> Self {
        Self { row, version, expires_at_ms }
    }
}
