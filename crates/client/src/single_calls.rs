//! Single rows and pairs on the wire: one action each, in Protocol Buffers.

use bytes::Bytes;
use prost::Message;
use serde_json::{Map, Value as Json, json};
use tonnage::{
    Condition, Error, GetOptions, Key, Pair, Result, Row, RowOperation, StoredRow, WriteOptions,
    WriteResult,
};
use tonnage_wire::{CallAnswer, CallMessage, PairMessage, RowMessage};

use crate::call_stream::CallStream;
use crate::command::{condition_of, consistency_of, durability_of};
use crate::limits::CallLimits;
use crate::store::RemoteStore;
use crate::{failure, frame};

/// How often a call is sent anew after a stream that ended in good order.
const STREAMS_MAX: usize = 4;

/// What is to be done with a pair.
pub(crate) enum PairWrite<'a> {
    Put(&'a [u8]),
    Delete,
}

impl RemoteStore {
    /// Carries out operations on rows of one shard key, all or none, as
    /// [`tonnage::Store::atomic_write`] does.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. Whether the operations
    /// were carried out is not known then. `Unsupported` for options that do not go over the wire:
    /// `acks`, `expires_at_ms` and `keep_ttl`.
    pub fn atomic_write(
        &self,
        operations: &[RowOperation],
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        check(options)?;
        let mut body = Vec::new();
        for operation in operations {
            let (verb, table, row, condition) = match operation {
                RowOperation::Put { table, row, condition } => ("put", table, row, condition),
                RowOperation::Delete { table, key, condition } => ("delete", table, key, condition),
            };
            body.extend(row_frame(verb, table, row, *condition, options)?);
        }
        self.written(body)
    }

    /// Writes one row under a condition: `verb` is `put`, `delete` or `update`.
    pub(crate) fn write_row(
        &self,
        verb: &str,
        table: &str,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        check(options)?;
        self.written(row_frame(verb, table, row, condition, options)?)
    }

    /// Puts or deletes a pair under a condition.
    pub(crate) fn write_pair(
        &self,
        key: &Key,
        write: &PairWrite<'_>,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        check(options)?;
        self.written(pair_frame(key, write, condition, options)?)
    }

    fn written(&self, body: Vec<u8>) -> Result<WriteResult> {
        let answers = self.single_call("tonnage.Write", body)?;
        write_result_of(&answers).ok_or_else(|| self.unreadable_answer())
    }

    /// Carries out one action on a row or a pair, over a stream that is held for further ones.
    pub(crate) fn single_call(&self, action: &str, body: Vec<u8>) -> Result<Vec<Bytes>> {
        let Some(_place) = self.idle_streams().place() else {
            return Ok(self.act(action, body)?.into_iter().map(Bytes::from).collect());
        };
        let call = CallMessage { action: action.to_owned(), body: body.into() };
        let limits = self.limits();
        for _ in 0..STREAMS_MAX {
            let mut stream = match self.idle_streams().take() {
                Some(stream) => stream,
                None => self.open_stream(&limits)?,
            };
            let answered = async {
                stream.send(vec![call.clone()]).await?;
                stream.answer().await
            };
            // A stream that is not given back is called off, and its calls with it.
            if let Some(answer) = self.checked(self.wait(&limits, answered)?)? {
                self.idle_streams().give_back(stream);
                return self.results_of(answer);
            }
        }
        Err(Error::unavailable(format!("{}: it ends each stream of calls", self.server())))
    }

    /// The results of an answer, or the error that it says.
    pub(crate) fn results_of(&self, answer: CallAnswer) -> Result<Vec<Bytes>> {
        match answer.failure {
            None => Ok(answer.results),
            Some(told) => Err(failure::of_answer(self.server(), &told)),
        }
    }

    /// A stream for calls.
    pub(crate) fn open_stream(&self, limits: &CallLimits) -> Result<CallStream> {
        let opening = CallStream::open(self.flight(), |messages| self.request(messages));
        self.checked(self.wait(limits, opening)?)
    }

    /// The row of a whole primary key, if there is one.
    pub(crate) fn get_row(
        &self,
        table: &str,
        key: &Row,
        columns: Option<&[String]>,
        options: &GetOptions,
    ) -> Result<Option<StoredRow>> {
        let answers = self.single_call("tonnage.Get", key_frame(table, key, columns, options)?)?;
        row_in(&answers).ok_or_else(|| self.unreadable_answer())
    }

    /// The pair of a whole key, if there is one.
    pub(crate) fn get_pair(&self, key: &Key, options: &GetOptions) -> Result<Option<Pair>> {
        let answers = self.single_call("tonnage.GetPair", pair_key_frame(key, options)?)?;
        pair_in(&answers, key).ok_or_else(|| self.unreadable_answer())
    }
}

/// What became of a write; nothing for an answer of another version.
pub(crate) fn write_result_of(answers: &[Bytes]) -> Option<WriteResult> {
    let told: Json = serde_json::from_slice(answers.first()?).ok()?;
    Some(match told.get("stored")?.as_bool()? {
        true => WriteResult::Stored { version: told.get("version")?.as_u64()? },
        false => WriteResult::ConditionFailed {
            operation: usize::try_from(told.get("operation")?.as_u64()?).ok()?,
            current: told.get("version")?.as_u64(),
        },
    })
}

/// What a get found, which may be nothing; no answer at all for one of another version.
fn found_in<T>(
    answers: &[Bytes],
    read: impl FnOnce(&[u8], u64, u64) -> Option<T>,
) -> Option<Option<T>> {
    let Some(answer) = answers.first() else { return Some(None) };
    let (header, data) = frame::split(answer)?;
    let version = header.get("version")?.as_u64()?;
    read(data, version, header.get("expires_at_ms")?.as_u64()?).map(Some)
}

/// The row that a get found.
pub(crate) fn row_in(answers: &[Bytes]) -> Option<Option<StoredRow>> {
    found_in(answers, |data, version, expires_at_ms| {
        Some(StoredRow::new(RowMessage::read(data).ok()?, version, expires_at_ms))
    })
}

/// The pair of a key that a get found.
pub(crate) fn pair_in(answers: &[Bytes], key: &Key) -> Option<Option<Pair>> {
    found_in(answers, |data, version, expires_at_ms| {
        let (_, value) = PairMessage::read(data).ok()?;
        Some(Pair { key: key.clone(), value, version, expires_at_ms })
    })
}

/// The frame of a get of a row.
pub(crate) fn key_frame(
    table: &str,
    key: &Row,
    columns: Option<&[String]>,
    options: &GetOptions,
) -> Result<Vec<u8>> {
    let mut header = get_header(options);
    header.insert("table".to_owned(), json!(table));
    if let Some(columns) = columns {
        header.insert("columns".to_owned(), json!(columns));
    }
    frame::write_data(&Json::Object(header), &RowMessage::of(key).encode_to_vec())
}

/// The frame of a get of a pair.
pub(crate) fn pair_key_frame(key: &Key, options: &GetOptions) -> Result<Vec<u8>> {
    let header = Json::Object(get_header(options));
    frame::write_data(&header, &PairMessage::of(key, b"").encode_to_vec())
}

/// The frame of a write of a pair.
pub(crate) fn pair_frame(
    key: &Key,
    write: &PairWrite<'_>,
    condition: Condition,
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    let mut header = header_of(condition, options);
    let (verb, value): (_, &[u8]) = match write {
        PairWrite::Put(value) => ("put_pair", value),
        PairWrite::Delete => ("delete_pair", b""),
    };
    header.insert(verb.to_owned(), json!(true));
    frame::write_data(&Json::Object(header), &PairMessage::of(key, value).encode_to_vec())
}

/// The frame of an operation on a row.
pub(crate) fn row_frame(
    verb: &str,
    table: &str,
    row: &Row,
    condition: Condition,
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    let mut header = header_of(condition, options);
    header.insert(verb.to_owned(), json!(table));
    frame::write_data(&Json::Object(header), &RowMessage::of(row).encode_to_vec())
}

/// Refuses what the wire has no word for: it would be left out silently.
pub(crate) fn check(options: &WriteOptions) -> Result<()> {
    let WriteOptions { acks, expires_at_ms, keep_ttl, .. } = options;
    let given = [
        ("acks", acks.is_some()),
        ("expires_at_ms", expires_at_ms.is_some()),
        ("keep_ttl", *keep_ttl),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Error::unsupported(format!(
            "{name} is not offered through a server: leave it out, or give ttl"
        ))),
        None => Ok(()),
    }
}

fn header_of(condition: Condition, options: &WriteOptions) -> Map<String, Json> {
    let WriteOptions { durability, ttl, timeout, .. } = options;
    let mut header = Map::new();
    if let Some(condition) = condition_of(condition) {
        header.insert("if".to_owned(), condition);
    }
    header.insert("durability".to_owned(), json!(durability_of(*durability)));
    for (name, time) in [("ttl_ms", ttl), ("timeout_ms", timeout)] {
        if let Some(time) = time {
            header.insert(name.to_owned(), json!(time.as_millis() as u64));
        }
    }
    header.insert("encoding".to_owned(), json!("protobuf"));
    header
}

fn get_header(options: &GetOptions) -> Map<String, Json> {
    let mut header = Map::new();
    if let Some(consistency) = consistency_of(options.consistency.unwrap_or_default()) {
        header.insert("consistency".to_owned(), consistency);
    }
    if let Some(timeout) = options.timeout {
        header.insert("timeout_ms".to_owned(), json!(timeout.as_millis() as u64));
    }
    // The values go out as they are: learning the table's columns would cost a second call.
    header.insert("encoding".to_owned(), json!("protobuf"));
    header
}
