//! Writes rows as the body of a response, in the format that `Accept` asks for.
//!
//! A thread of the blocking pool reads and writes. A queue of four pieces leads to the network.
//!
//! 1. The response begins with its first piece of 256 KiB, or with its end. An error before that is
//!    the response, with its status.
//! 2. A body ends where its writer says so. Any other end cuts it off, so that no client takes a
//!    part for the whole: an error after the first piece, a client that takes nothing for too long,
//!    a panic.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonnage::{ColumnType, Error, Result, Value};
use tonnage_files::{Compression, Format, RecordWriter};

use super::rows_format::RowsFormat;
use crate::context::{AnswerSender, ServerContext};
use crate::metrics::ListenerKind;

const QUEUE_PIECES: usize = 4;
const PIECE_BYTES: usize = 256 << 10;

/// Pieces of a body on their way to the network. Dropping the writer cuts the body off.
pub(super) struct BodyWriter<'a> {
    context: Arc<ServerContext>,
    /// The answer that the body is of, until it begins.
    unopened: Option<(&'a mut AnswerSender<Response>, Response)>,
    queue: mpsc::Sender<Bytes>,
    piece: Vec<u8>,
    is_whole: Arc<AtomicBool>,
}

impl BodyWriter<'_> {
    /// Ends the body. Blocks.
    ///
    /// # Errors
    /// What keeps its last piece from its client.
    pub(super) fn end(mut self) -> Result<()> {
        self.send().map_err(|error| write_error(&error))?;
        self.is_whole.store(true, Ordering::Release);
        Ok(())
    }

    fn send(&mut self) -> io::Result<()> {
        if let Some((answer, response)) = self.unopened.take()
            && !answer.send(response)
        {
            return Err(client_gone());
        }
        let piece = std::mem::take(&mut self.piece);
        if piece.is_empty() {
            return Ok(());
        }
        let limit = self.context.config.reader_timeout;
        let put = self.queue.send(piece.into());
        let put = Handle::current().block_on(tokio::time::timeout(limit, put));
        match put {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(client_gone()),
            Err(_) => {
                self.context.metrics.slow_readers.inc();
                Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing"))
            }
        }
    }
}

fn client_gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")
}

impl Write for BodyWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.send()?;
        }
        Ok(bytes.len())
    }

    /// Pieces go when they are full, and at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The body of an answer: the writer is for a thread that may block.
pub(super) fn body<'a>(
    context: &Arc<ServerContext>,
    answer: &'a mut AnswerSender<Response>,
    kind: &'static str,
) -> BodyWriter<'a> {
    let (queue, pieces) = mpsc::channel(QUEUE_PIECES);
    let is_whole = Arc::new(AtomicBool::new(false));
    let whole = is_whole.clone();
    let end = futures::stream::once(async move {
        let is_cut_off = !whole.load(Ordering::Acquire);
        is_cut_off.then(|| Err(io::Error::other("the answer was cut off")))
    });
    let end = end.filter_map(std::future::ready);
    let body = Body::from_stream(ReceiverStream::new(pieces).map(Ok).chain(end));
    let response = ([(header::CONTENT_TYPE, kind)], body).into_response();
    BodyWriter {
        context: context.clone(),
        unopened: Some((answer, response)),
        queue,
        piece: Vec::new(),
        is_whole,
    }
}

/// Answers with rows. Blocks until they are written to the end, or cuts the body off.
///
/// # Errors
/// What ended it early, which is the answer if none began before.
pub(super) fn write_rows(
    context: &Arc<ServerContext>,
    answer: &mut AnswerSender<Response>,
    format: RowsFormat,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
) -> Result<()> {
    let body = body(context, answer, format.media_type());
    let counted = batches.inspect(|batch| {
        if let Ok(batch) = batch {
            context.metrics.rows_out(ListenerKind::http, batch.num_rows() as u64);
        }
    });
    let written = match format {
        RowsFormat::Json => write_json(body, schema, counted, limit),
        other => write_records(body, other, schema, counted, limit),
    };
    written.and_then(BodyWriter::end)
}

fn write_error(error: &io::Error) -> Error {
    Error::cancelled(error.to_string())
}

/// The batches up to a limit of rows; the end says whether there were more.
fn each_within_limit(
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
    mut take: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<bool> {
    let mut left = limit.unwrap_or(u64::MAX);
    for batch in batches {
        let batch = batch?;
        let rows = batch.num_rows() as u64;
        if rows > left {
            take(&batch.slice(0, usize::try_from(left).unwrap_or(usize::MAX)))?;
            return Ok(true);
        }
        left -= rows;
        take(&batch)?;
    }
    Ok(false)
}

fn write_records<'a>(
    body: BodyWriter<'a>,
    format: RowsFormat,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
) -> Result<BodyWriter<'a>> {
    let format = match format {
        RowsFormat::Csv => Format::Csv,
        RowsFormat::Arrow => Format::ArrowStream,
        RowsFormat::Parquet => Format::Parquet,
        RowsFormat::Json | RowsFormat::Lines => Format::JsonLines,
    };
    let writer = RecordWriter::new(format, body, schema.clone(), Compression::None)?;
    // As `write_json` has them.
    let mut writer = writer.long_numbers_as_text();
    each_within_limit(batches, limit, |batch| writer.write(batch))?;
    writer.finish()
}

fn write_json<'a>(
    mut body: BodyWriter<'a>,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
) -> Result<BodyWriter<'a>> {
    let failed = |error: io::Error| write_error(&error);
    write!(body, "{{\"columns\":{},\"rows\":[", columns_json(schema)).map_err(failed)?;
    let mut is_first = true;
    let more = each_within_limit(batches, limit, |batch| {
        for row in 0..batch.num_rows() {
            if !is_first {
                body.write_all(b",").map_err(failed)?;
            }
            is_first = false;
            body.write_all(row_text(batch, row)?.as_bytes()).map_err(failed)?;
        }
        Ok(())
    })?;
    writeln!(body, "],\"more\":{more}}}").map_err(failed)?;
    Ok(body)
}

/// Names and types of columns.
pub(super) fn columns_json(schema: &SchemaRef) -> serde_json::Value {
    let columns = schema.fields().iter().map(|field| {
        let kind = match (field.data_type(), ColumnType::of_arrow(field)) {
            (_, Some(kind)) => kind.to_string(),
            (DataType::Null, _) => "NULL".to_owned(),
            (other, None) => other.to_string(),
        };
        json!({"name": field.name(), "type": kind})
    });
    columns.collect()
}

/// The cells of a row as a list of JSON: numbers and truths as JSON has them, documents as they
/// were written, everything else as its text.
pub(super) fn row_text(batch: &RecordBatch, row: usize) -> Result<String> {
    let schema = batch.schema_ref();
    let cells = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        // Of all types, those too that the store does not have: Arrow shows their NULL as no text.
        if *column.data_type() == DataType::Null || column.is_null(row) {
            return Ok("null".to_owned());
        }
        match Value::from_array(column.as_ref(), field, row) {
            Ok(value) => Ok(value.to_json_text()),
            // Lists and structures are shown as Arrow shows them.
            Err(_) => arrow::util::display::array_value_to_string(column, row)
                .map(|text| serde_json::Value::from(text).to_string())
                .map_err(|error| Error::internal(error.to_string())),
        }
    });
    Ok(format!("[{}]", cells.collect::<Result<Vec<_>>>()?.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_of_a_type_that_no_column_has_is_null() {
        use arrow::array::{Array, DurationSecondArray};
        let spans = DurationSecondArray::from(vec![Some(5), None]);
        let field = arrow::datatypes::Field::new("span", spans.data_type().clone(), true);
        let schema = std::sync::Arc::new(arrow::datatypes::Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![std::sync::Arc::new(spans)]).unwrap();
        assert_ne!(row_text(&batch, 0).unwrap(), "[null]");
        assert_eq!(row_text(&batch, 1).unwrap(), "[null]");
    }
}
