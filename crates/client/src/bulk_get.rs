//! Bulk get: keys go out, rows come in, both at a time.

use std::sync::PoisonError;

use arrow::array::RecordBatch;
use arrow_flight::FlightDescriptor;
use arrow_flight::decode::FlightDataDecoder;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use futures::{StreamExt, TryStreamExt};
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonnage::{Depth, Direction, Error, FieldRange, Result, Row};

use crate::client::Client;
use crate::row_batch;
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
    /// How deep below the keys of pairs to look.
    pub depth: Depth,
}

impl BulkGetRequest {
    /// All rows of the keys of a table.
    pub fn of(table: impl Into<String>) -> Self {
        Self { table: Some(table.into()), ..Self::default() }
    }

    fn command(&self) -> Json {
        let mut command = Map::new();
        match &self.table {
            Some(table) => command.insert("table".to_owned(), json!(table)),
            None => command.insert("pairs".to_owned(), json!(true)),
        };
        let direction = match self.direction {
            Direction::Unordered => "unordered",
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        };
        command.insert("direction".to_owned(), json!(direction));
        command.insert("keys_only".to_owned(), json!(self.keys_only));
        command.insert("versions".to_owned(), json!(self.versions));
        if self.table.is_none() {
            let depth = match self.depth {
                Depth::ParentOnly => "parent_only",
                Depth::ChildrenOnly => "children_only",
                Depth::DescendantsOnly => "descendants_only",
                Depth::ParentAndChildren => "parent_and_children",
                Depth::ParentAndDescendants => "parent_and_descendants",
            };
            command.insert("depth".to_owned(), json!(depth));
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
        json!({"bulk_get": command})
    }
}

fn range_of(range: &FieldRange) -> Json {
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
        let limits = self.limits();
        let mut keys = keys.into_iter();
        let first = keys.next().unwrap_or_else(|| Err(Error::invalid("there are no keys")))?;
        let schema = first.schema();
        let descriptor = FlightDescriptor::new_cmd(request.command().to_string());
        let (sender, receiver) = mpsc::channel(QUEUE_BATCHES);
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
        let stream = self.answered(self.wait(&limits, begun)?)?.into_inner();
        let decoder = FlightDataDecoder::new(stream.map_err(FlightError::from));
        Rows::open(self.clone(), limits, decoder, source)
    }

    /// The row of a whole key, if there is one.
    ///
    /// # Errors
    /// As [`Client::bulk_get`].
    pub fn get(&self, table: &str, key: &Row) -> Result<Option<Row>> {
        let entry = self.describe(table)?;
        if let Some(missing) =
            entry.schema.key_columns().find(|column| key.get(&column.name).is_none())
        {
            return Err(Error::invalid(format!(
                "the key of {table} is not whole: {} is missing (bulk_get takes partial keys)",
                missing.name
            )));
        }
        let keys = row_batch::batch_of(&entry.schema, std::slice::from_ref(key))?;
        let mut rows = self.bulk_get([Ok(keys)], &BulkGetRequest::of(table))?;
        rows.next().transpose()?.map(|batch| Row::from_batch(&batch, 0)).transpose()
    }
}

fn note(failure: &SourceFailure, error: Error) {
    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}
