//! Options and results of writes and scans.

use std::time::Duration;

use tonnage_engine::{
    Acks, Capability, Consistency, Deadline, Direction, Durability, Error, Result, WriteOutcome,
};

use crate::bulk::get::{BulkGetOptions, ResumeToken};
use crate::cancel::Cancel;
use crate::codec::FieldRange;
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

/// How to delete the rows of a partial key.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// A range of the first key column that the key leaves open.
    pub range: Option<FieldRange>,
    /// Tables whose rows go along, by path: child tables with all rows below those deleted, and
    /// ancestors with the rows above them.
    pub relatives: Vec<String>,
    /// At most this many rows of the table itself in one call. Rows of relatives go with theirs, and
    /// are not counted. The answer tells where to go on.
    pub limit: Option<u64>,
    /// Goes on behind this place of an earlier call with the same key; see [`Deleted::rest`].
    pub start_after: Option<ResumeToken>,
    /// When the deletion is acknowledged.
    pub durability: Durability,
    /// How many copies must have it by then; as the store was opened without it.
    pub acks: Option<Acks>,
    /// The longest that the deletion may take; then it ends with `TimedOut`. The batches that went
    /// before stay deleted, and the same call deletes the rest.
    pub timeout: Option<Duration>,
}

/// What a deletion with a limit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deleted {
    /// How many rows went, those of relatives among them.
    pub rows: u64,
    /// Where to go on when the limit was reached: rows behind it may be left.
    pub rest: Option<ResumeToken>,
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
    /// A row as another store told it.
    pub fn new(row: Row, version: u64, expires_at_ms: u64) -> Self {
        Self { row, version, expires_at_ms }
    }
}

/// How to scan a table.
#[derive(Clone, Debug)]
pub struct TableScanOptions {
    /// The order of rows. Ascending and descending hold for the whole table as long as the store
    /// has one data directory, and under each shard key always.
    pub direction: Direction,
    /// The columns wanted; all without it.
    pub columns: Option<Vec<String>>,
    /// Ancestor and child tables whose rows come along, by path.
    pub relatives: Vec<String>,
    /// Only key columns are read and returned.
    pub keys_only: bool,
    /// At most this many rows in all.
    pub limit: Option<u64>,
    /// At most this many rows under each shard key: descending and 1 is the latest of each.
    pub limit_per_shard_key: Option<u64>,
    /// About how many rows one batch holds.
    pub batch_rows_max: usize,
    /// How many parts of the table are read at a time (1 to 1,024). Default: the number of cores.
    pub max_concurrent_requests: Option<usize>,
    /// A range of the first key column, across shard keys. It needs an engine that keeps all rows
    /// in one order: a store with one data directory.
    pub range: Option<FieldRange>,
    /// Goes on behind this place of an earlier scan in the same direction; see
    /// [`BulkGet::position`]. It needs an engine that keeps all rows in one order, and goes without
    /// `limit_per_shard_key`.
    ///
    /// [`BulkGet::position`]: crate::BulkGet::position
    pub start_after: Option<ResumeToken>,
    /// The longest that the scan may take, from the call to its last row; then it ends with
    /// `TimedOut`.
    pub timeout: Option<Duration>,
    /// Ends the scan from another thread.
    pub cancel: Cancel,
    /// How fresh the rows must be; as the store was opened without it.
    pub consistency: Option<Consistency>,
}

impl Default for TableScanOptions {
    fn default() -> Self {
        Self {
            direction: Direction::Unordered,
            columns: None,
            relatives: Vec::new(),
            keys_only: false,
            limit: None,
            limit_per_shard_key: None,
            batch_rows_max: 8_192,
            max_concurrent_requests: None,
            range: None,
            start_after: None,
            timeout: None,
            cancel: Cancel::default(),
            consistency: None,
        }
    }
}

impl TableScanOptions {
    /// What a scan has in common with a bulk get.
    pub(crate) fn as_bulk_get(&self) -> BulkGetOptions {
        BulkGetOptions {
            direction: self.direction,
            columns: self.columns.clone(),
            relatives: self.relatives.clone(),
            keys_only: self.keys_only,
            limit_per_key: self.limit,
            batch_rows_max: self.batch_rows_max,
            max_concurrent_requests: self.max_concurrent_requests,
            timeout: self.timeout,
            cancel: self.cancel.clone(),
            consistency: self.consistency,
            ..BulkGetOptions::default()
        }
    }

    /// Refuses limits that let nothing through.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, limit) in
            [("limit", self.limit), ("limit_per_shard_key", self.limit_per_shard_key)]
        {
            if limit == Some(0) {
                return Err(Error::invalid(format!("{name} is 0: ask for at least one row")));
            }
        }
        if self.start_after.is_some() && self.limit_per_shard_key.is_some() {
            return Err(Error::invalid(
                "start_after goes without limit_per_shard_key, whose count would begin anew",
            ));
        }
        Ok(())
    }
}
