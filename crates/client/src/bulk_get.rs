//! Bulk get: one thread sends keys while rows come back.

use arrow::array::RecordBatch;
use arrow_flight::FlightDescriptor;
use arrow_flight::decode::FlightDataDecoder;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use futures::{StreamExt, TryStreamExt};
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonnage::internal::sync::lock;
use tonnage::{Consistency, Depth, Direction, Error, FieldRange, KeyRange, Result};

use crate::client::Client;
use crate::rows::{Rows, SourceFailure};

/// Batches of keys that wait for the network.
const QUEUE_BATCHES: usize = 4;

/// What to get for the keys.
#[derive(Clone, Debug, Default)]
pub struct BulkGetRequest {
    /// The path of the table; nothing for key/value pairs.
    pub table: Option<String>,
    /// The order of rows.
    pub direction: Direction,
    /// At most this many rows for each key.
    pub limit_per_key: Option<u64>,
    /// The columns wanted; all, unless they are given.
    pub columns: Option<Vec<String>>,
    /// A range of the first key column that the keys leave open.
    pub range: Option<FieldRange>,
    /// Columns of the key only.
    pub keys_only: bool,
    /// Whether `_version` and `_expires_at_ms` come along.
    pub versions: bool,
    /// Ancestor and child tables whose rows come along, for [`Client::bulk_get_related`].
    pub relatives: Vec<String>,
    /// At most this many rows in all.
    pub limit: Option<u64>,
    /// Whether `_key` comes along: the number of the key that a row answers, from 0.
    pub origins: bool,
    /// How fresh the rows must be.
    pub consistency: Consistency,
    /// How deep below the keys of pairs to look.
    pub depth: Depth,
    /// A range of the minor component right below the keys of pairs.
    pub components: Option<KeyRange>,
}

impl BulkGetRequest {
    /// All rows of the keys of a table.
    pub fn of(table: impl Into<String>) -> Self {
        Self { table: Some(table.into()), ..Self::default() }
    }

    fn command(&self) -> Result<Json> {
        let mut command = Map::new();
        // One of the two must be there: the server refuses a command with neither or with both.
        match &self.table {
            Some(table) => command.insert("table".to_owned(), json!(table)),
            None => command.insert("pairs".to_owned(), json!(true)),
        };
        command.insert("direction".to_owned(), json!(direction_of(self.direction)));
        command.insert("keys_only".to_owned(), json!(self.keys_only));
        command.insert("versions".to_owned(), json!(self.versions));
        // The server refuses members that it does not know. So most are sent only where they
        // matter: an older server then still takes the command.
        if self.table.is_none() {
            command.insert("depth".to_owned(), json!(depth_of(self.depth)));
        }
        if let Some(components) = &self.components {
            command.insert("components".to_owned(), components_of(components)?);
        }
        if !self.relatives.is_empty() {
            command.insert("relatives".to_owned(), json!(self.relatives));
        }
        if self.origins {
            command.insert("origins".to_owned(), json!(true));
        }
        if let Some(limit) = self.limit {
            command.insert("limit".to_owned(), json!(limit));
        }
        if let Some(consistency) = consistency_of(self.consistency) {
            command.insert("consistency".to_owned(), consistency);
        }
        if let Some(limit) = self.limit_per_key {
            command.insert("limit_per_key".to_owned(), json!(limit));
        }
        if let Some(columns) = &self.columns {
            command.insert("columns".to_owned(), json!(columns));
        }
        if let Some(range) = &self.range {
            command.insert("range".to_owned(), range_of(range));
        }
        Ok(json!({"bulk_get": command}))
    }
}

/// How fresh rows must be, as the server reads it; nothing for the latest.
pub(crate) fn consistency_of(consistency: Consistency) -> Option<Json> {
    match consistency {
        Consistency::None => Some(json!("none")),
        Consistency::Time(lag) => Some(json!({"time_ms": lag.as_millis() as u64})),
        Consistency::Version(version) => Some(json!({"version": version})),
        Consistency::Absolute => None,
    }
}

pub(crate) fn direction_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Unordered => "unordered",
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
    }
}

pub(crate) fn depth_of(depth: Depth) -> &'static str {
    match depth {
        Depth::ParentOnly => "parent_only",
        Depth::ChildrenOnly => "children_only",
        Depth::DescendantsOnly => "descendants_only",
        Depth::ParentAndChildren => "parent_and_children",
        Depth::ParentAndDescendants => "parent_and_descendants",
    }
}

/// A range of components, which are text on the wire.
pub(crate) fn components_of(range: &KeyRange) -> Result<Json> {
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|error| {
            Error::unsupported("a range of components that are no text, through a server")
                .with_source(error)
        })
    };
    let mut told = Map::new();
    for (name, end) in [("from", &range.start), ("to", &range.end)] {
        if let Some((end, is_inclusive)) = end {
            told.insert(name.to_owned(), json!(text(end)?));
            told.insert(format!("{name}_exclusive"), json!(!is_inclusive));
        }
    }
    told.insert("prefix".to_owned(), json!(text(&range.prefix)?));
    Ok(Json::Object(told))
}

pub(crate) fn range_of(range: &FieldRange) -> Json {
    let mut told = Map::new();
    told.insert("column".to_owned(), json!(range.column));
    for (name, end) in [("from", &range.low), ("to", &range.high)] {
        if let Some((value, is_inclusive)) = end {
            told.insert(name.to_owned(), value.to_json());
            told.insert(format!("{name}_inclusive"), json!(is_inclusive));
        }
    }
    Json::Object(told)
}

impl Client {
    /// Reads the rows of keys, which come as batches of leading key columns, by name; NULL leaves a
    /// column open. Keys are drawn by a thread of their own while rows come.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. A source that fails fails
    /// the rows, whatever came before.
    pub fn bulk_get<K>(&self, keys: K, request: &BulkGetRequest) -> Result<Rows>
    where
        K: IntoIterator<Item = Result<RecordBatch>>,
        K::IntoIter: Send + 'static,
    {
        match request.relatives.is_empty() {
            true => self.exchange_keys(keys, request),
            false => Err(Error::invalid(
                "rows of several tables have no columns in common: call bulk_get_related",
            )),
        }
    }

    pub(crate) fn exchange_keys<K>(&self, keys: K, request: &BulkGetRequest) -> Result<Rows>
    where
        K: IntoIterator<Item = Result<RecordBatch>>,
        K::IntoIter: Send + 'static,
    {
        let limits = self.limits();
        let mut keys = keys.into_iter();
        // The first batch is drawn before the call begins, since its schema leads the stream of
        // keys.
        let first = keys.next().unwrap_or_else(|| Err(Error::invalid("there are no keys")))?;
        let schema = first.schema();
        let descriptor = FlightDescriptor::new_cmd(request.command()?.to_string());
        let (sender, receiver) = mpsc::channel(QUEUE_BATCHES);
        // Keys end in good order even where their source fails: only what is noted here fails the
        // rows.
        let source = SourceFailure::default();
        let (failed, failed_encoding) = (source.clone(), source.clone());
        std::thread::Builder::new()
            .name("tonnage-keys".to_owned())
            .spawn(move || {
                for batch in std::iter::once(Ok(first)).chain(keys) {
                    let sent = match batch {
                        Ok(batch) => sender.blocking_send(Ok(batch)),
                        Err(error) => return note(&failed, error),
                    };
                    // Nobody wants further keys.
                    if sent.is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| Error::unavailable(format!("no thread for keys: {error}")))?;
        let messages = FlightDataEncoderBuilder::new()
            .with_schema(schema)
            .with_flight_descriptor(Some(descriptor))
            .build(ReceiverStream::new(receiver))
            .filter_map(move |message| {
                let sent = message.map_err(|error| {
                    note(&failed_encoding, Error::invalid(format!("keys cannot be sent: {error}")));
                });
                std::future::ready(sent.ok())
            });
        let (mut flight, exchange) = (self.flight(), self.request(messages));
        let begun = async move { flight.do_exchange(exchange).await };
        let stream = self.checked(self.wait(&limits, begun)?)?.into_inner();
        let decoder = FlightDataDecoder::new(stream.map_err(FlightError::from));
        Rows::open(self.clone(), limits, decoder, source)
    }
}

fn note(failure: &SourceFailure, error: Error) {
    lock(failure).get_or_insert(error);
}
