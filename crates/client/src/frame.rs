//! Frames of an action with many parts: `u32 length, JSON | u32 length, Arrow IPC stream`, lengths
//! little-endian, repeated.

use std::io::Cursor;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use serde_json::Value as Json;
use tonnage::{Error, ErrorKind, Result};

use crate::failure::of_label;

/// A frame that came: its header, and its rows if it has any.
pub(crate) struct AnswerFrame {
    pub(crate) header: Json,
    pub(crate) rows: Option<(SchemaRef, Vec<RecordBatch>)>,
}

impl AnswerFrame {
    /// The error that it tells in place of an answer.
    pub(crate) fn error(&self) -> Option<Error> {
        let error = self.header.get("error")?;
        let text = |name: &str| error.get(name).and_then(Json::as_str).unwrap_or_default();
        let kind = of_label(text("kind")).unwrap_or(ErrorKind::Internal);
        Some(Error::new(kind, text("message")))
    }
}

/// Writes a frame with batches of the same columns.
///
/// # Errors
/// `Exhausted` for more than 4 GiB, `Internal` for what Arrow cannot write.
pub(crate) fn write(header: &Json, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    if let Some(first) = batches.first() {
        StreamWriter::try_new(&mut data, first.schema_ref())
            .and_then(|mut writer| {
                batches.iter().try_for_each(|batch| writer.write(batch))?;
                writer.finish()
            })
            .map_err(|error| Error::invalid(format!("rows cannot be sent together: {error}")))?;
    }
    write_data(header, &data)
}

/// Writes a frame whose data is not Arrow.
///
/// # Errors
/// `Exhausted` for more than 4 GiB.
pub(crate) fn write_data(header: &Json, data: &[u8]) -> Result<Vec<u8>> {
    let header = header.to_string();
    let mut frame = Vec::with_capacity(8 + header.len() + data.len());
    for part in [header.as_bytes(), data] {
        let length = u32::try_from(part.len())
            .map_err(|_| Error::exhausted("a row has more than 4 GiB: put less at once"))?;
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(part);
    }
    Ok(frame)
}

/// The header and the data of the frame that an answer is.
pub(crate) fn split(mut answer: &[u8]) -> Option<(Json, &[u8])> {
    let header = serde_json::from_slice(take(&mut answer)?).ok()?;
    Some((header, take(&mut answer)?))
}

/// Reads the frame that an answer is.
pub(crate) fn read(answer: &[u8]) -> Option<AnswerFrame> {
    let (header, data) = split(answer)?;
    if data.is_empty() {
        return Some(AnswerFrame { header, rows: None });
    }
    let reader = StreamReader::try_new(Cursor::new(data), None).ok()?;
    let schema = reader.schema();
    let batches = reader.collect::<std::result::Result<Vec<_>, _>>().ok()?;
    Some(AnswerFrame { header, rows: Some((schema, batches)) })
}

fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some(part)
}
