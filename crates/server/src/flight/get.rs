//! Gets one row or one pair by its full key.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::Schema;
use serde::Deserialize;
use serde_json::json;
use tonnage::{ColumnType, Error, GetOptions, Result, StoredRow, TableSchema, Value};

use super::command::parse;
use super::consistency_choice::ConsistencyChoice;
use super::frame::{self, RequestFrame};
use super::one_row::{key_of, only_row, row_of};
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
}

/// The row of a whole primary key: a frame with it, or no answer.
pub(super) fn get(context: &ServerContext, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let frame = only_frame(body)?;
    let header: GetHeader = parse("its header", &frame.header)?;
    // Rights come before the look: whether a table exists is not everybody's to know.
    caller.check_table(Right::Read, &header.table)?;
    let table = context.store.table(&header.table)?;
    let options = GetOptions {
        consistency: Some(header.consistency.into()),
        timeout: header.timeout_ms.map(Duration::from_millis),
    };
    let columns = column_indexes(table.schema(), header.columns.as_deref())?;
    let Some(found) = table.get_with(&row_of(only_row(&frame)?)?, &options)? else {
        return Ok(Vec::new());
    };
    context.metrics.rows_out(ListenerKind::flight, 1);
    row_answer(found.version, found.expires_at_ms, batch_of(table.schema(), &columns, &found)?)
}

/// The pair of a whole key: a frame with its value, or no answer.
pub(super) fn get_pair(
    context: &ServerContext,
    caller: &Caller,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let key = key_of(&only_frame(body)?)?;
    caller.check_pair(Right::Read, key.major().first().map_or(&[], Vec::as_slice))?;
    let Some(pair) = context.store.kv().get(&key)? else { return Ok(Vec::new()) };
    let value = Value::Binary(pair.value).to_array(ColumnType::Binary, 1)?;
    let value = RecordBatch::try_from_iter([("value", value)])
        .map_err(|error| Error::internal(format!("a pair cannot be told: {error}")))?;
    row_answer(pair.version, pair.expires_at_ms, value)
}

fn only_frame(body: &[u8]) -> Result<RequestFrame> {
    let mut frames = frame::read(body)?;
    match (frames.pop(), frames.is_empty()) {
        (Some(frame), true) => Ok(frame),
        _ => Err(Error::invalid("give one frame, with one key; use a bulk get for more")),
    }
}

fn row_answer(version: u64, expires_at_ms: u64, row: RecordBatch) -> Result<Vec<Vec<u8>>> {
    let header = json!({"version": version, "expires_at_ms": expires_at_ms});
    Ok(vec![frame::write(header.to_string().as_bytes(), &[row])?])
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
