//! How to scan a table.

use std::time::Duration;

use tonnage_engine::{Consistency, Direction, Error, Result};

use super::{BulkGetOptions, ResumeToken};
use crate::cancel::Cancel;
use crate::codec::FieldRange;

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
    /// Resumes after this position of an earlier scan in the same direction; see
    /// [`BulkGet::position`]. It needs an engine that keeps all rows in one order, and excludes
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
                "start_after cannot be given with limit_per_shard_key, whose count would begin anew",
            ));
        }
        Ok(())
    }
}
