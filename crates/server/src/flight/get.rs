//! Gets one row or one pair by its full key.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::Schema;
use prost::Message;
use serde::Deserialize;
use serde_json::json;
use tonnage::{ColumnType, Error, GetOptions, Result, StoredRow, TableSchema, Value};
use tonnage_wire::{PairMessage, RowMessage};

use super::command::parse;
use super::consistency_choice::ConsistencyChoice;
use super::frame::{self, RawFrame};
use super::row_encoding::RowEncoding;
use crate::auth::{Caller, Right};
use crate::context::ServerContext;
use crate::metrics::ListenerKind;

/// Which row to get.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GetHeader {
    table: String,
    /// The columns wanted; all, unless they are given.
    #[serde(default)]
    columns: Option<Vec<String>>,
    #[serde(default)]
    consistency: ConsistencyChoice,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    encoding: RowEncoding,
}

/// The form of a pair's key in requests, and of its value in answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GetPairHeader {
    encoding: RowEncoding,
    consistency: Option<ConsistencyChoice>,
    timeout_ms: Option<u64>,
}

/// The row of a whole primary key: a frame with it, or no answer.
pub(super) fn get(context: &ServerContext, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let frame = only_frame(body)?;
    let header: GetHeader = parse("its header", frame.header)?;
    // Rights come before the look: whether a table exists is not everybody's to know.
    caller.check_table(Right::Read, &header.table)?;
    let table = context.store.table(&header.table)?;
    let options = GetOptions {
        consistency: Some(header.consistency.into()),
        timeout: header.timeout_ms.map(Duration::from_millis),
    };
    let columns = column_indexes(table.schema(), header.columns.as_deref())?;
    let Some(found) = table.get_with(&header.encoding.row(frame)?, &options)? else {
        return Ok(Vec::new());
    };
    context.metrics.rows_out(ListenerKind::flight, 1);
    let answer = answer_header(found.version, found.expires_at_ms);
    let answer = match header.encoding {
        RowEncoding::Arrow => frame::write(&answer, &[batch_of(table.schema(), &columns, &found)?]),
        RowEncoding::Protobuf => {
            let names = columns.iter().map(|place| table.schema().columns[*place].name.as_str());
            let cells = names.map(|name| (name, found.row.get(name).unwrap_or(&Value::Null)));
            frame::write_data(&answer, &RowMessage::of_cells(cells).encode_to_vec())
        }
    };
    Ok(vec![answer?])
}

/// The pair of a whole key: a frame with its value, or no answer.
pub(super) fn get_pair(
    context: &ServerContext,
    caller: &Caller,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let frame = only_frame(body)?;
    let header: GetPairHeader = match frame.header.is_empty() {
        true => GetPairHeader::default(),
        false => parse("its header", frame.header)?,
    };
    let key = header.encoding.key(frame)?;
    caller.check_pair(Right::Read, key.major().first().map_or(&[], Vec::as_slice))?;
    let options = GetOptions {
        consistency: header.consistency.map(Into::into),
        timeout: header.timeout_ms.map(Duration::from_millis),
    };
    let Some(pair) = context.store.kv().get_with(&key, &options)? else { return Ok(Vec::new()) };
    let answer = answer_header(pair.version, pair.expires_at_ms);
    if header.encoding == RowEncoding::Protobuf {
        let pair = PairMessage::of(&key, &pair.value).encode_to_vec();
        return Ok(vec![frame::write_data(&answer, &pair)?]);
    }
    let value = Value::Binary(pair.value).to_array(ColumnType::Binary, 1)?;
    let value = RecordBatch::try_from_iter([("value", value)])
        .map_err(|error| Error::internal(format!("a pair cannot be encoded: {error}")))?;
    Ok(vec![frame::write(&answer, &[value])?])
}

fn only_frame(body: &[u8]) -> Result<RawFrame<'_>> {
    let mut frames = frame::split(body)?;
    match (frames.pop(), frames.is_empty()) {
        (Some(frame), true) => Ok(frame),
        _ => Err(Error::invalid("give one frame, with one key; use a bulk get for more")),
    }
}

fn answer_header(version: u64, expires_at_ms: u64) -> Vec<u8> {
    json!({"version": version, "expires_at_ms": expires_at_ms}).to_string().into_bytes()
}

/// The numbers of the columns wanted.
fn column_indexes(schema: &TableSchema, wanted: Option<&[String]>) -> Result<Vec<usize>> {
    match wanted {
        None => Ok((0..schema.columns.len()).collect()),
        Some([]) => Err(Error::invalid("`columns` is empty: name some, or leave it out")),
        Some(names) => names.iter().map(|name| schema.require_column(name)).collect(),
    }
}

fn batch_of(schema: &TableSchema, columns: &[usize], found: &StoredRow) -> Result<RecordBatch> {
    let columns = columns.iter().map(|place| &schema.columns[*place]);
    let cells = columns.clone().map(|column| {
        let value = found.row.get(&column.name).unwrap_or(&Value::Null);
        value.to_array(column.column_type, 1)
    });
    let cells = cells.collect::<Result<Vec<ArrayRef>>>()?;
    let fields = columns.map(|column| column.to_arrow()).collect::<Vec<_>>();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), cells)
        .map_err(|error| Error::internal(format!("a row cannot be told: {error}")))
}
