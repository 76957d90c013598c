//! Large objects: write and read them in pieces.

use std::io::{self, Read};
use std::sync::Arc;

use arrow::array::{Array, AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::{FlightData, FlightDescriptor, PutResult, Ticket};
use futures::StreamExt;
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonnage::internal::{copy_lob, put_each};
use tonnage::{
    Cancel, Durability, Error, ErrorKind, GetOptions, Key, LobInfo, LobOptions, LobSource,
    LobsReport, Result, WriteOptions,
};

use crate::command::{condition_of, consistency_of, durability_of};
use crate::kv::RemoteKeyValue;
use crate::limits::CallLimits;
use crate::rows::Rows;
use crate::single_calls;
use crate::store::RemoteStore;

/// Bytes of one message.
const PIECE_BYTES: usize = 1 << 20;
/// Messages that wait for the network.
const QUEUE_MESSAGES: usize = 2;
/// Where the schema of an object tells length and version.
const METADATA: &str = "tonnage.lob";

/// Where a writer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LobWriteMode {
    Put,
    Append,
    Resume,
}

/// Writes a large object on a server, as [`tonnage::LobWriter`] does in a store. The object is
/// there when [`RemoteLobWriter::finish`] returns, and not at all before. A writer that is dropped,
/// or loses its connection, leaves what the server has stored, for [`RemoteKeyValue::resume_lob`].
#[derive(Debug)]
pub struct RemoteLobWriter {
    client: RemoteStore,
    limits: CallLimits,
    /// Nothing once the server has refused more.
    queue: Option<mpsc::Sender<RecordBatch>>,
    end: Option<tokio::sync::oneshot::Sender<FlightData>>,
    answers: Streaming<PutResult>,
    schema: Arc<Schema>,
    piece: Vec<u8>,
    position: u64,
    brought: u64,
}

impl RemoteLobWriter {
    /// How many bytes of the object come before what is written next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes some bytes.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let taken = bytes.len().min(PIECE_BYTES - self.piece.len());
            self.piece.extend_from_slice(&bytes[..taken]);
            self.position += taken as u64;
            bytes = &bytes[taken..];
            if self.piece.len() == PIECE_BYTES {
                self.send_piece()?;
            }
        }
        Ok(())
    }

    fn send_piece(&mut self) -> Result<()> {
        let bytes = BinaryArray::from_vec(vec![self.piece.as_slice()]);
        let batch = RecordBatch::try_new(self.schema.clone(), vec![Arc::new(bytes)])
            .map_err(|error| Error::internal(format!("a piece of a large object: {error}")))?;
        self.brought += self.piece.len() as u64;
        self.piece.clear();
        let sent = match &self.queue {
            Some(queue) => self.client.wait(&self.limits, queue.send(batch))?.is_ok(),
            None => false,
        };
        match sent {
            true => Ok(()),
            false => Err(self.refusal()),
        }
    }

    /// Makes the object what was written.
    ///
    /// # Errors
    /// `Conflict` when the condition of the options does not hold, or another writer has begun on
    /// the key. `Unavailable` when the connection was lost: the object may or may not be stored.
    pub fn finish(mut self) -> Result<LobInfo> {
        if !self.piece.is_empty() {
            self.send_piece()?;
        }
        let end = json!({"end": {"bytes": self.brought}}).to_string();
        if let Some(sender) = self.end.take() {
            let _ = sender.send(FlightData::new().with_app_metadata(end));
        }
        self.queue = None;
        let told = self.answer()?.ok_or_else(|| self.unheard())?;
        let info = told.get("stored").and_then(info_of);
        info.ok_or_else(|| self.client.unreadable_answer())
    }

    /// What the server says next; nothing at its end.
    fn answer(&mut self) -> Result<Option<Json>> {
        let next = self.client.wait(&self.limits, self.answers.message())?;
        let answer = self.client.checked(next)?;
        answer
            .map(|answer| serde_json::from_slice(&answer.app_metadata))
            .transpose()
            .map_err(|_| self.client.unreadable_answer())
    }

    /// Why the server takes no more.
    fn refusal(&mut self) -> Error {
        self.queue = None;
        match self.answer() {
            Err(error) => error,
            Ok(_) => self.unheard(),
        }
    }

    fn unheard(&self) -> Error {
        let server = self.client.server();
        Error::unavailable(format!("{server}: the large object was never called stored"))
    }
}

/// Reads a large object from a server. Its bytes are pulled, a piece at a time.
#[derive(Debug)]
pub struct RemoteLobReader {
    info: LobInfo,
    pieces: Rows,
    piece: Option<(BinaryArray, usize)>,
}

impl RemoteLobReader {
    /// The length and the version of the object.
    pub fn info(&self) -> LobInfo {
        self.info
    }

    /// Reads what comes next; 0 bytes at the end.
    ///
    /// # Errors
    /// `Conflict` when the object was replaced or deleted meanwhile; what else the server says, and
    /// `Unavailable` when it cannot be reached.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            if let Some((piece, taken)) = &mut self.piece {
                let left = &piece.value(0)[*taken..];
                let count = left.len().min(buffer.len());
                buffer[..count].copy_from_slice(&left[..count]);
                *taken += count;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
            }
            let Some(batch) = self.pieces.next().transpose()? else { return Ok(0) };
            let piece = batch.column(0).as_binary_opt::<i32>().filter(|piece| piece.len() == 1);
            let strange = || Error::internal("a large object came in pieces of another version");
            self.piece = Some((piece.ok_or_else(strange)?.clone(), 0));
        }
    }
}

impl Read for RemoteLobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_some(buffer).map_err(io::Error::other)
    }
}

impl RemoteKeyValue {
    /// Opens a writer of a large object, as [`tonnage::KeyValue::put_lob`] does.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn put_lob(&self, key: &Key, options: &LobOptions) -> Result<RemoteLobWriter> {
        self.write_lob(key, options, LobWriteMode::Put)
    }

    /// Opens a writer that appends to a large object, or makes it where there is none.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put_lob`].
    pub fn append_lob(&self, key: &Key, options: &LobOptions) -> Result<RemoteLobWriter> {
        self.write_lob(key, options, LobWriteMode::Append)
    }

    /// Resumes a writer that was cut short; nothing when there is none.
    /// [`RemoteLobWriter::position`] is the number of bytes that the server has: write what follows
    /// them.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put_lob`].
    pub fn resume_lob(&self, key: &Key, options: &LobOptions) -> Result<Option<RemoteLobWriter>> {
        match self.write_lob(key, options, LobWriteMode::Resume) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn write_lob(
        &self,
        key: &Key,
        options: &LobOptions,
        mode: LobWriteMode,
    ) -> Result<RemoteLobWriter> {
        let store = &self.store;
        let limits = store.limits();
        let descriptor = FlightDescriptor::new_cmd(command_of(key, options, mode).to_string());
        let schema = Arc::new(Schema::new(vec![Field::new("bytes", DataType::Binary, false)]));
        let (queue, pieces) = mpsc::channel(QUEUE_MESSAGES);
        let (end, ended) = tokio::sync::oneshot::channel::<FlightData>();
        let messages = FlightDataEncoderBuilder::new()
            .with_schema(schema.clone())
            .with_flight_descriptor(Some(descriptor))
            .build(ReceiverStream::new(pieces).map(Ok))
            .filter_map(|message| std::future::ready(message.ok()));
        // Where no marker comes, the stream ends without it, and the server keeps a draft.
        let marker = futures::stream::once(ended).filter_map(|end| std::future::ready(end.ok()));
        let (mut flight, request) = (store.flight(), store.request(messages.chain(marker)));
        let begun = async move { flight.do_put(request).await };
        let answers = store.checked(store.wait(&limits, begun)?)?.into_inner();
        let mut writer = RemoteLobWriter {
            client: store.clone(),
            limits,
            queue: Some(queue),
            end: Some(end),
            answers,
            schema,
            piece: Vec::new(),
            position: 0,
            brought: 0,
        };
        // `ready` comes before any bytes: where `append` and `resume` begin only the server knows.
        let told = writer.answer()?.ok_or_else(|| writer.unheard())?;
        let ready = told.get("ready").and_then(|ready| ready.get("position")?.as_u64());
        writer.position = ready.ok_or_else(|| self.store.unreadable_answer())?;
        Ok(writer)
    }

    /// Opens a reader of a large object; nothing when there is none.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn get_lob(&self, key: &Key) -> Result<Option<RemoteLobReader>> {
        self.get_lob_with(key, &GetOptions::default())
    }

    /// The same with a consistency.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::get_lob`].
    pub fn get_lob_with(&self, key: &Key, options: &GetOptions) -> Result<Option<RemoteLobReader>> {
        self.get_lob_part(key, 0, None, options)
    }

    /// The same from a position on, and no more than so many bytes, with a consistency.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::get_lob`]; `Invalid` for a position after the end.
    pub fn get_lob_part(
        &self,
        key: &Key,
        offset: u64,
        limit: Option<u64>,
        options: &GetOptions,
    ) -> Result<Option<RemoteLobReader>> {
        let mut command = Map::new();
        // JSON has no bytes: as text a key escapes those that are not UTF-8.
        command.insert("key".to_owned(), json!(key.to_string()));
        command.insert("offset".to_owned(), json!(offset));
        command.insert("limit".to_owned(), json!(limit));
        if let Some(consistency) = consistency_of(options.consistency.unwrap_or_default()) {
            command.insert("consistency".to_owned(), consistency);
        }
        if let Some(timeout) = options.timeout {
            command.insert("timeout_ms".to_owned(), json!(timeout.as_millis() as u64));
        }
        let ticket = Ticket::new(json!({"get_lob": command}).to_string());
        let pieces = match self.store.fetch(self.store.limits(), ticket) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            pieces => pieces?,
        };
        // Length and version come with the schema: they are known before the first piece is.
        let told = pieces.schema().metadata().get(METADATA);
        let info = told.and_then(|told| info_of(&serde_json::from_str(told).ok()?));
        let info = info.ok_or_else(|| self.store.unreadable_answer())?;
        Ok(Some(RemoteLobReader { info, pieces, piece: None }))
    }

    /// The length and the version of a large object; nothing when there is none.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::get_lob`].
    pub fn lob_info(&self, key: &Key) -> Result<Option<LobInfo>> {
        let reader = self.get_lob_part(key, 0, Some(0), &GetOptions::default())?;
        Ok(reader.map(|reader| reader.info()))
    }

    /// Deletes a large object. Returns whether there was one.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn delete_lob(&self, key: &Key, durability: Durability) -> Result<bool> {
        self.delete_lob_with(key, &WriteOptions { durability, ..WriteOptions::default() })
    }

    /// The same with a timeout.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::delete_lob`].
    pub fn delete_lob_with(&self, key: &Key, options: &WriteOptions) -> Result<bool> {
        single_calls::check(options)?;
        let mut command = json!({
            "key": key.to_string(),
            "durability": durability_of(options.durability),
        });
        if let Some(timeout) = options.timeout {
            command["timeout_ms"] = json!(timeout.as_millis() as u64);
        }
        let answers = self.store.act("tonnage.DeleteLob", command.to_string().into_bytes())?;
        let told = answers.first().and_then(|told| serde_json::from_slice::<Json>(told).ok());
        told.and_then(|told| told.get("deleted")?.as_bool())
            .ok_or_else(|| self.store.unreadable_answer())
    }

    /// Stores many large objects, several at a time, as [`tonnage::KeyValue::put_lobs`] does.
    ///
    /// # Errors
    /// `Invalid` for no threads; what the source of objects says; `Cancelled`. Objects that are
    /// stored by then stay.
    pub fn put_lobs<I>(
        &self,
        objects: I,
        options: &LobOptions,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<LobsReport>
    where
        I: IntoIterator<Item = Result<LobSource>>,
        I::IntoIter: Send,
    {
        if threads == 0 {
            return Err(Error::invalid("large objects are stored by at least one thread"));
        }
        put_each(objects, threads, cancel, |key, bytes| {
            let mut writer = self.put_lob(key, options)?;
            copy_lob(key, bytes, cancel, |some| writer.append(some))?;
            writer.finish().map(|info| info.bytes)
        })
    }
}

fn command_of(key: &Key, options: &LobOptions, mode: LobWriteMode) -> Json {
    let mut command = Map::new();
    let mut set = |name: &str, value: Json| command.insert(name.to_owned(), value);
    set("key", json!(key.to_string()));
    set(
        "mode",
        json!(match mode {
            LobWriteMode::Put => "put",
            LobWriteMode::Append => "append",
            LobWriteMode::Resume => "resume",
        }),
    );
    set("chunk_bytes", json!(options.chunk_bytes));
    set("durability", json!(durability_of(options.durability)));
    if let Some(condition) = condition_of(options.condition) {
        set("if", condition);
    }
    if let Some(timeout) = options.timeout {
        set("timeout_ms", json!(timeout.as_millis() as u64));
    }
    json!({"put_lob": command})
}

fn info_of(told: &Json) -> Option<LobInfo> {
    Some(LobInfo::new(told.get("bytes")?.as_u64()?, told.get("version")?.as_u64()?))
}
