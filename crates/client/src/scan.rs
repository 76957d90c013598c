//! Scan all rows of a table, or all pairs.

use std::num::NonZeroUsize;

use arrow_flight::Ticket;
use serde_json::{Value as Json, json};
use tonnage::{Direction, Error, FieldRange, Result};

use crate::bulk_get::{direction_of, range_of};
use crate::client::Client;
use crate::rows::Rows;
use crate::sql::Answer;

/// What to scan.
#[derive(Clone, Debug)]
pub struct ScanRequest {
    /// The path of the table.
    pub table: String,
    /// The columns wanted; all, unless they are given.
    pub columns: Option<Vec<String>>,
    /// The order of rows; whatever is fastest, unless it is given.
    pub direction: Direction,
    /// A range of the first key column.
    pub range: Option<FieldRange>,
    /// Columns of the key only.
    pub keys_only: bool,
    /// At most this many rows under each shard key.
    pub limit_per_shard_key: Option<u64>,
    /// At most this many rows.
    pub limit: Option<u64>,
    /// Which of `parts` parts to read, from 0.
    pub part: usize,
    /// Into how many parts the table is cut. A scan with a limit has one.
    pub parts: NonZeroUsize,
}

impl Default for ScanRequest {
    fn default() -> Self {
        let parts = NonZeroUsize::MIN;
        Self {
            table: String::new(),
            columns: None,
            direction: Direction::default(),
            range: None,
            keys_only: false,
            limit_per_shard_key: None,
            limit: None,
            part: 0,
            parts,
        }
    }
}

impl ScanRequest {
    fn command(&self) -> Json {
        json!({"scan": {
            "table": self.table,
            "columns": self.columns,
            "direction": direction_of(self.direction),
            "range": self.range.as_ref().map(range_of),
            "keys_only": self.keys_only,
            "limit_per_shard_key": self.limit_per_shard_key,
            "limit": self.limit,
            "part": self.part,
            "parts": self.parts,
        }})
    }
}

/// Which pairs to scan, and how.
#[derive(Clone, Debug, Default)]
pub struct PairScanRequest {
    /// The order of pairs.
    pub direction: Direction,
    /// Keys only; values are empty.
    pub keys_only: bool,
    /// At most this many pairs.
    pub limit: Option<u64>,
}

impl Client {
    /// Reads the rows of a table.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn scan(&self, request: &ScanRequest) -> Result<Rows> {
        self.fetch(self.limits(), Ticket::new(request.command().to_string()))
    }

    /// Reads all pairs: their keys as the lists `major` and `minor`, `value`, `_version` and
    /// `_expires_at_ms`.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn scan_pairs(&self, request: &PairScanRequest) -> Result<Rows> {
        let command = json!({"scan": {
            "pairs": true,
            "direction": direction_of(request.direction),
            "keys_only": request.keys_only,
            "limit": request.limit,
            "versions": true,
        }});
        self.fetch(self.limits(), Ticket::new(command.to_string()))
    }

    /// Counts all pairs: their keys come, and are counted here.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn count_pairs(&self) -> Result<u64> {
        let request = PairScanRequest { keys_only: true, ..PairScanRequest::default() };
        let mut keys = self.scan_pairs(&request)?;
        keys.try_fold(0, |count, batch| Ok(count + batch?.num_rows() as u64))
    }

    /// Counts the rows of a table.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn count(&self, table: &str) -> Result<u64> {
        let names = table.split('.').map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
        let text = format!("SELECT count(*) FROM {}", names.collect::<Vec<_>>().join("."));
        let Answer::Rows(rows) = self.sql(&text)? else {
            return Err(Error::internal(format!("{}: a count without rows", self.server())));
        };
        let mut total = 0;
        for batch in rows {
            let batch = batch?;
            let field = batch.schema_ref().field(0).clone();
            match tonnage::Value::from_array(batch.column(0).as_ref(), &field, 0)? {
                tonnage::Value::Long(count) => total += u64::try_from(count).unwrap_or_default(),
                other => {
                    return Err(Error::internal(format!("a count that is {other:?}")));
                }
            }
        }
        Ok(total)
    }
}
