//! Get one row or one pair by its full key.

use arrow::array::{Array, AsArray};
use serde_json::{Map, Value as Json, json};
use tonnage::{GetOptions, Key, Pair, Result, Row, StoredRow};

use crate::bulk_get::consistency_of;
use crate::client::Client;
use crate::frame::AnswerFrame;
use crate::pairs::batch_of_pairs;
use crate::{frame, row_batch};

impl Client {
    /// The row of a whole primary key, if there is one, with its version.
    ///
    /// # Errors
    /// `Invalid` for a key that is not whole; what else the server says, and `Unavailable` when it
    /// cannot be reached.
    pub fn get(&self, table: &str, key: &Row) -> Result<Option<StoredRow>> {
        self.get_with(table, key, None, &GetOptions::default())
    }

    /// The same, told which columns are wanted, how fresh the row must be, and by when the server
    /// must have it.
    ///
    /// # Errors
    /// As [`Client::get`]; `TimedOut`.
    pub fn get_with(
        &self,
        table: &str,
        key: &Row,
        columns: Option<&[String]>,
        options: &GetOptions,
    ) -> Result<Option<StoredRow>> {
        let mut header = Map::new();
        header.insert("table".to_owned(), json!(table));
        if let Some(columns) = columns {
            header.insert("columns".to_owned(), json!(columns));
        }
        if let Some(consistency) = consistency_of(options.consistency.unwrap_or_default()) {
            header.insert("consistency".to_owned(), consistency);
        }
        if let Some(timeout) = options.timeout {
            header.insert("timeout_ms".to_owned(), json!(timeout.as_millis() as u64));
        }
        // The values go out as they are: learning the table's columns would cost a second call.
        let values = key.iter().map(|(name, value)| (name.to_owned(), value));
        let batch = row_batch::batch_of_values(values)?;
        let body = frame::write(&Json::Object(header), &batch)?;
        let Some(GetAnswer { frame, version, expires_at_ms }) =
            self.get_answer("tonnage.Get", body)?
        else {
            return Ok(None);
        };
        let batches = frame.rows.map(|(_, batches)| batches).unwrap_or_default();
        // Where there is no row the server sends no frame at all, so a frame without one is broken.
        let row = batches.first().filter(|batch| batch.num_rows() == 1);
        let row = row.ok_or_else(|| self.unreadable_answer())?;
        Ok(Some(StoredRow::new(Row::from_batch(row, 0)?, version, expires_at_ms)))
    }

    /// The pair of a whole key.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn get_pair(&self, key: &Key) -> Result<Option<Pair>> {
        let batch = batch_of_pairs([(key, b"".as_slice())].into_iter())?;
        let body = frame::write(&json!({}), &batch)?;
        let Some(GetAnswer { frame, version, expires_at_ms }) =
            self.get_answer("tonnage.GetPair", body)?
        else {
            return Ok(None);
        };
        let value = frame.rows.and_then(|(_, batches)| {
            let value = batches.first()?.column(0).as_binary_opt::<i32>()?.clone();
            (!value.is_empty()).then(|| value.value(0).to_vec())
        });
        let value = value.ok_or_else(|| self.unreadable_answer())?;
        Ok(Some(Pair { key: key.clone(), value, version, expires_at_ms }))
    }

    fn get_answer(&self, action: &str, body: Vec<u8>) -> Result<Option<GetAnswer>> {
        let answers = self.act(action, body)?;
        let Some(answer) = answers.first() else { return Ok(None) };
        let found = frame::read(answer).and_then(|frame| {
            let version = frame.header.get("version")?.as_u64()?;
            let expires_at_ms = frame.header.get("expires_at_ms")?.as_u64()?;
            Some(GetAnswer { frame, version, expires_at_ms })
        });
        found.map(Some).ok_or_else(|| self.unreadable_answer())
    }
}

/// What a key stands for.
struct GetAnswer {
    frame: AnswerFrame,
    version: u64,
    expires_at_ms: u64,
}
