//! The options of a bulk get.

use std::time::Duration;

use tonnage_engine::{Consistency, Direction, Error, Projection, Result, cores};

use crate::bulk::get::ResumeToken;
use crate::cancel::Cancel;
use crate::codec::FieldRange;
use crate::levels::check_consistency;

/// How to get in bulk. The defaults are good without tuning.
#[derive(Clone, Debug)]
pub struct BulkGetOptions {
    /// How many requests to the engine are under way at a time (1 to 1,024). Default: the number of
    /// cores.
    pub max_concurrent_requests: Option<usize>,
    /// About how many rows one batch holds (1 to 1,048,576).
    pub batch_rows_max: usize,
    /// About how many bytes of keys and values one batch holds (1 KiB to 256 MiB).
    pub batch_bytes_max: usize,
    /// The order of rows: `Unordered` is fastest; with `Forward` and `Reverse` the keys are
    /// answered in the order given, and the rows of each partial key come in ascending or
    /// descending key order.
    pub direction: Direction,
    /// The columns wanted; all without it. Names match whatever their case.
    pub columns: Option<Vec<String>>,
    /// A range on the first key column that the given keys leave open. All keys then have the same
    /// number of columns.
    pub range: Option<FieldRange>,
    /// Ancestor and child tables whose rows come along, by path.
    pub relatives: Vec<String>,
    /// At most this many rows for each given key, in the direction asked for; rows of relatives do
    /// not count.
    pub limit_per_key: Option<u64>,
    /// Only key columns are read and returned.
    pub keys_only: bool,
    /// How fresh the rows must be; as the store was opened without it.
    pub consistency: Option<Consistency>,
    /// Memory for keys that wait to be looked up (64 KiB to 1 TiB); what is read comes on top. The
    /// more keys are looked up together, the less each costs: where millions are asked for, a large
    /// part of all that is stored, more memory is worth while.
    pub memory_bytes_max: usize,
    /// At most this many rows in all. It cannot be combined with relatives; [`BulkGet::position`]
    /// says how to resume after them.
    ///
    /// [`BulkGet::position`]: crate::BulkGet::position
    pub limit: Option<u64>,
    /// Whether each row says which key it answers, in [`TableBatch::origins`]. A key that is asked
    /// for twice is then answered twice.
    ///
    /// [`TableBatch::origins`]: crate::TableBatch::origins
    pub origins: bool,
    /// Resumes after this position of an earlier read of the same keys in the same order. It needs
    /// a direction, and excludes `limit_per_key`.
    pub start_after: Option<ResumeToken>,
    /// The longest that the read may take, from the call to its last row; then it ends with
    /// `TimedOut`, whatever its source of keys does.
    pub timeout: Option<Duration>,
    /// Ends the read from another thread. It stays cancelled: give options that are used again a
    /// fresh one.
    pub cancel: Cancel,
}

/// Four million keys of twenty bytes.
pub(crate) const KEY_MEMORY_BYTES: usize = 256 << 20;

impl Default for BulkGetOptions {
    fn default() -> Self {
        Self {
            max_concurrent_requests: None,
            batch_rows_max: 8_192,
            batch_bytes_max: 4 << 20,
            direction: Direction::Unordered,
            columns: None,
            range: None,
            relatives: Vec::new(),
            limit_per_key: None,
            keys_only: false,
            consistency: None,
            memory_bytes_max: KEY_MEMORY_BYTES,
            limit: None,
            origins: false,
            start_after: None,
            timeout: None,
            cancel: Cancel::default(),
        }
    }
}

impl BulkGetOptions {
    /// What of each row is read.
    pub(super) fn projection(&self) -> Projection {
        if self.keys_only { Projection::KeysOnly } else { Projection::KeysAndValues }
    }

    /// Refuses settings out of their range, each by name and with its limits.
    pub(crate) fn check(&self) -> Result<()> {
        within("max_concurrent_requests", self.workers(), 1, 1_024)?;
        within("batch_rows_max", self.batch_rows_max, 1, 1 << 20)?;
        within("batch_bytes_max", self.batch_bytes_max, 1 << 10, 256 << 20)?;
        within("memory_bytes_max", self.memory_bytes_max, 64 << 10, 1 << 40)?;
        if self.limit_per_key == Some(0) {
            return Err(Error::invalid("limit_per_key is 0: ask for at least one row a key"));
        }
        if self.limit == Some(0) {
            return Err(Error::invalid("limit is 0: ask for at least one row"));
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::invalid("timeout is 0: give a longer one, or none"));
        }
        // A limit cuts a chunk of one table only: with relatives it could part a family.
        if self.limit.is_some() && !self.relatives.is_empty() {
            return Err(Error::invalid(
                "limit cannot be given with relatives: give limit_per_key, or scan the table",
            ));
        }
        if self.start_after.is_some() && self.limit_per_key.is_some() {
            return Err(Error::invalid(
                "start_after cannot be given with limit_per_key, whose count would begin anew",
            ));
        }
        check_consistency(self.consistency)
    }

    pub(crate) fn workers(&self) -> usize {
        self.max_concurrent_requests.unwrap_or_else(cores)
    }
}

fn within(name: &str, value: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(format!("{name} is {value}: it must be between {least} and {most}")))
}
