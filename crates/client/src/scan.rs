//! All rows of a table.

use std::num::NonZeroUsize;

use arrow_flight::Ticket;
use serde::Serialize;
use serde_json::json;
use tonnage::{Error, Result};

use crate::client::Client;
use crate::rows::Rows;
use crate::sql::Answer;

/// What to scan.
#[derive(Clone, Debug, Serialize)]
pub struct ScanRequest {
    /// The path of the table.
    pub table: String,
    /// The columns wanted; all, unless they are given.
    pub columns: Option<Vec<String>>,
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
        Self { table: String::new(), columns: None, limit: None, part: 0, parts }
    }
}

impl Client {
    /// Reads the rows of a table, in whatever order is fastest.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn scan(&self, request: &ScanRequest) -> Result<Rows> {
        self.fetch(self.limits(), Ticket::new(json!({"scan": request}).to_string()))
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
