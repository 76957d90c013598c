//! Single rows and pairs: conditional writes, and the pair of a whole key.

use std::time::Duration;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use serde::Deserialize;
use serde_json::json;
use tonnage::{Condition, Error, Key, Result, Row, RowOperation, Value, WriteOptions, WriteResult};

use super::command::{DurabilityChoice, parse};
use super::frame::{self, Frame};
use super::pairs::{self, KeyForm};
use crate::auth::{Caller, Right};
use crate::context::Context;

/// What a frame does. Those of the first frame hold for all of them: `durability` and `ttl_ms`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Header {
    /// The table that a row is put into.
    put: Option<String>,
    /// The table that a row is deleted from.
    delete: Option<String>,
    put_pair: bool,
    delete_pair: bool,
    #[serde(rename = "if")]
    condition: Option<Expected>,
    durability: Option<DurabilityChoice>,
    ttl_ms: Option<u64>,
}

/// What a write is to find.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Absent,
    Present,
    Version(u64),
}

impl Header {
    fn condition(&self) -> Condition {
        match self.condition {
            None => Condition::Always,
            Some(Expected::Absent) => Condition::IfAbsent,
            Some(Expected::Present) => Condition::IfPresent,
            Some(Expected::Version(version)) => Condition::IfVersion(version),
        }
    }

    fn options(&self) -> WriteOptions {
        let defaults = WriteOptions::default();
        WriteOptions {
            durability: self.durability.map_or(defaults.durability, Into::into),
            ttl: self.ttl_ms.map(Duration::from_millis),
            ..defaults
        }
    }

    /// What the write does to what is there.
    fn rights(&self) -> &'static [Right] {
        match (self.delete_pair || self.delete.is_some(), &self.condition) {
            (true, _) => &[Right::Delete],
            (false, None) => &[Right::Insert, Right::Update],
            (false, Some(Expected::Absent)) => &[Right::Insert],
            (false, Some(_)) => &[Right::Update],
        }
    }
}

/// Carries out the operations of the frames, all or none.
pub(super) fn write(context: &Context, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let frames = frame::read(body)?;
    let mut headers = Vec::with_capacity(frames.len());
    for (number, frame) in frames.iter().enumerate() {
        let header: Header = parse("its header", &frame.header)
            .map_err(|error| error.at(format!("frame {number}")))?;
        headers.push(header);
    }
    let first = headers.first().ok_or_else(|| Error::invalid("there is no operation"))?;
    let options = first.options();
    let result = match (headers.as_slice(), frames.as_slice()) {
        ([header], [frame]) if header.put_pair || header.delete_pair => {
            write_pair(context, caller, header, frame, &options)?
        }
        _ => {
            let operations = headers.iter().zip(&frames).enumerate();
            let operations = operations.map(|(number, (header, frame))| {
                operation(context, caller, header, frame)
                    .map_err(|error| error.at(format!("frame {number}")))
            });
            context.store.atomic_write(&operations.collect::<Result<Vec<_>>>()?, &options)?
        }
    };
    let answer = match result {
        WriteResult::Stored { version } => json!({"stored": true, "version": version}),
        WriteResult::ConditionFailed { operation, current } => {
            json!({"stored": false, "operation": operation, "version": current})
        }
    };
    Ok(vec![answer.to_string().into_bytes()])
}

fn operation(
    context: &Context,
    caller: &Caller,
    header: &Header,
    frame: &Frame,
) -> Result<RowOperation> {
    let (path, is_put) = match (&header.put, &header.delete) {
        (Some(table), None) => (table, true),
        (None, Some(table)) => (table, false),
        _ => return Err(Error::invalid("give either `put` or `delete`, with the path of a table")),
    };
    let table = context.store.table(path)?;
    for right in header.rights() {
        caller.check_table(*right, table.path())?;
    }
    let row = row_of(only_row(frame)?)?;
    let operation = match is_put {
        true => RowOperation::put(table.path(), row),
        false => RowOperation::delete(table.path(), row),
    };
    Ok(operation.when(header.condition()))
}

fn write_pair(
    context: &Context,
    caller: &Caller,
    header: &Header,
    frame: &Frame,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let batch = only_row(frame)?;
    let key = key_of(frame)?;
    for right in header.rights() {
        caller.check_pair(*right, key.major().first().map_or(&[], Vec::as_slice))?;
    }
    let kv = context.store.kv();
    if header.delete_pair {
        return match header.condition() {
            Condition::IfVersion(version) => kv.delete_if_version(&key, version, options),
            Condition::IfAbsent => Err(Error::invalid("`absent` is for puts")),
            Condition::Always | Condition::IfPresent => {
                kv.delete(&key, options).map(|was_there| match was_there {
                    true => WriteResult::Stored { version: 0 },
                    false => WriteResult::ConditionFailed { operation: 0, current: None },
                })
            }
        };
    }
    let value = pairs::values(batch)?;
    let value = match value.as_binary::<i32>() {
        values if values.is_null(0) => return Err(Error::invalid("the value is NULL")),
        values => values.value(0),
    };
    match header.condition() {
        Condition::Always => {
            kv.put(&key, value, options).map(|version| WriteResult::Stored { version })
        }
        Condition::IfAbsent => kv.put_if_absent(&key, value, options),
        Condition::IfPresent => kv.put_if_present(&key, value, options),
        Condition::IfVersion(version) => kv.put_if_version(&key, value, version, options),
    }
}

/// The pair of a whole key: a frame with its value, or no answer.
pub(super) fn get_pair(context: &Context, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let frames = frame::read(body)?;
    let [frame] = frames.as_slice() else { return Err(Error::invalid("give one frame")) };
    let key = key_of(frame)?;
    caller.check_pair(Right::Read, key.major().first().map_or(&[], Vec::as_slice))?;
    let Some(pair) = context.store.kv().get(&key)? else { return Ok(Vec::new()) };
    let header = json!({"version": pair.version, "expires_at_ms": pair.expires_at_ms});
    let value = Value::Binary(pair.value).to_array(tonnage::ColumnType::Binary, 1)?;
    let value = RecordBatch::try_from_iter([("value", value)])
        .map_err(|error| Error::internal(format!("a pair cannot be told: {error}")))?;
    Ok(vec![frame::write(header.to_string().as_bytes(), &[value])?])
}

/// A row. A column of NULLs alone need not tell its type.
fn row_of(batch: &RecordBatch) -> Result<Row> {
    let cells = batch.columns().iter().zip(batch.schema_ref().fields()).map(|(array, field)| {
        let value = match array.data_type() {
            DataType::Null => Value::Null,
            _ => Value::from_array(array.as_ref(), field, 0)?,
        };
        Ok((field.name().clone(), value))
    });
    cells.collect()
}

fn only_row(frame: &Frame) -> Result<&RecordBatch> {
    match frame.batches.as_slice() {
        [batch] if batch.num_rows() == 1 => Ok(batch),
        _ => Err(Error::invalid("each operation has one row: give more frames, or put in bulk")),
    }
}

fn key_of(frame: &Frame) -> Result<Key> {
    let batch = only_row(frame)?;
    KeyForm::of(batch.schema_ref())?;
    pairs::keys(batch)?.key(0)
}
