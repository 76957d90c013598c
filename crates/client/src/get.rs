//! Get one row or one pair by its full key.

use prost::Message;
use serde_json::{Map, Value as Json, json};
use tonnage::{GetOptions, Key, Pair, Result, Row, StoredRow};
use tonnage_wire::{PairMessage, RowMessage};

use crate::bulk_get::consistency_of;
use crate::client::Client;
use crate::frame;

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
        header.insert("encoding".to_owned(), json!("protobuf"));
        // The values go out as they are: learning the table's columns would cost a second call.
        let body = frame::write_data(&Json::Object(header), &RowMessage::of(key).encode_to_vec())?;
        let answers = self.act("tonnage.Get", body)?;
        let Some(answer) = answers.first() else { return Ok(None) };
        let GetAnswer { data, version, expires_at_ms } = self.get_answer(answer)?;
        let row = RowMessage::read(data).map_err(|_| self.unreadable_answer())?;
        Ok(Some(StoredRow::new(row, version, expires_at_ms)))
    }

    /// The pair of a whole key.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn get_pair(&self, key: &Key) -> Result<Option<Pair>> {
        let key_message = PairMessage::of(key, b"").encode_to_vec();
        let body = frame::write_data(&json!({"encoding": "protobuf"}), &key_message)?;
        let answers = self.act("tonnage.GetPair", body)?;
        let Some(answer) = answers.first() else { return Ok(None) };
        let GetAnswer { data, version, expires_at_ms } = self.get_answer(answer)?;
        let (_, value) = PairMessage::read(data).map_err(|_| self.unreadable_answer())?;
        Ok(Some(Pair { key: key.clone(), value, version, expires_at_ms }))
    }

    fn get_answer<'a>(&self, answer: &'a [u8]) -> Result<GetAnswer<'a>> {
        let found = frame::split(answer).and_then(|(header, data)| {
            let version = header.get("version")?.as_u64()?;
            let expires_at_ms = header.get("expires_at_ms")?.as_u64()?;
            Some(GetAnswer { data, version, expires_at_ms })
        });
        found.ok_or_else(|| self.unreadable_answer())
    }
}

/// What a key stands for.
struct GetAnswer<'a> {
    data: &'a [u8],
    version: u64,
    expires_at_ms: u64,
}
