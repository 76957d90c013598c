//! Rows as the body of an answer, in the format that `Accept` asks for.
//!
//! A thread of the blocking pool reads and writes; a queue of a few pieces leads to the network.
//! An error behind the first piece cuts the body off, so that nobody takes a part for the whole.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonnage::{ColumnType, Error, Result, Value};
use tonnage_files::{Compression, Format, RecordWriter};

use crate::context::Context;
use crate::metrics::Listener;

const QUEUE_PIECES: usize = 4;
const PIECE_BYTES: usize = 256 << 10;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowsFormat {
    /// One object: `{"columns": [...], "rows": [[...]], "more": false}`.
    Json,
    Lines,
    Csv,
    Arrow,
    Parquet,
}

impl RowsFormat {
    /// The first format of `Accept` that there is; JSON where nothing is asked for.
    ///
    /// # Errors
    /// `Invalid` when none of those that are asked for is offered.
    pub(crate) fn wanted(headers: &HeaderMap) -> Result<RowsFormat> {
        let Some(accept) = headers.get(header::ACCEPT) else { return Ok(RowsFormat::Json) };
        let accept = accept.to_str().unwrap_or_default();
        let kinds = accept.split(',').map(|kind| kind.split(';').next().unwrap_or("").trim());
        kinds.clone().find_map(RowsFormat::of_kind).ok_or_else(|| {
            Error::invalid(format!(
                "Accept is `{accept}`: answers are application/json, application/x-ndjson, \
                 text/csv, application/vnd.apache.arrow.stream, application/vnd.apache.parquet"
            ))
        })
    }

    pub(crate) fn of_kind(kind: &str) -> Option<RowsFormat> {
        match kind.to_ascii_lowercase().as_str() {
            "*/*" | "application/*" | "application/json" | "" => Some(RowsFormat::Json),
            "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => {
                Some(RowsFormat::Lines)
            }
            "text/csv" | "text/*" => Some(RowsFormat::Csv),
            "application/vnd.apache.arrow.stream" => Some(RowsFormat::Arrow),
            "application/vnd.apache.parquet" => Some(RowsFormat::Parquet),
            _ => None,
        }
    }

    fn kind(self) -> &'static str {
        match self {
            RowsFormat::Json => "application/json",
            RowsFormat::Lines => "application/x-ndjson",
            RowsFormat::Csv => "text/csv; charset=utf-8; header=present",
            RowsFormat::Arrow => "application/vnd.apache.arrow.stream",
            RowsFormat::Parquet => "application/vnd.apache.parquet",
        }
    }
}

type Piece = std::result::Result<Bytes, io::Error>;

/// Pieces of a body on their way to the network.
pub(super) struct BodyWriter {
    context: Arc<Context>,
    queue: mpsc::Sender<Piece>,
    piece: Vec<u8>,
}

impl BodyWriter {
    /// Ends the body, or cuts it off where it could not be written to its end. Blocks.
    pub(super) fn end(self, written: Result<()>) {
        cut_off(&self.queue, written);
    }

    fn send(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.piece);
        if piece.is_empty() {
            return Ok(());
        }
        self.put(Ok(piece.into()))
    }

    fn put(&mut self, piece: Piece) -> io::Result<()> {
        let limit = self.context.config.reader_timeout;
        let put = Handle::current().block_on(tokio::time::timeout(limit, self.queue.send(piece)));
        match put {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")),
            Err(_) => {
                self.context.metrics.slow_readers.inc();
                Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing"))
            }
        }
    }
}

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

/// Opens the body of an answer: the writer is for a thread that may block.
pub(super) fn body(context: &Arc<Context>, kind: &'static str) -> (BodyWriter, Response) {
    let (queue, pieces) = mpsc::channel(QUEUE_PIECES);
    let writer = BodyWriter { context: context.clone(), queue, piece: Vec::new() };
    let body = Body::from_stream(ReceiverStream::new(pieces));
    (writer, ([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Opens the body of rows in a format.
pub(super) fn rows_body(context: &Arc<Context>, format: RowsFormat) -> (BodyWriter, Response) {
    body(context, format.kind())
}

/// Writes rows to the end, or cuts the body off. Blocks.
pub(super) fn write_rows(
    mut body: BodyWriter,
    format: RowsFormat,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
) {
    let context = body.context.clone();
    let queue = body.queue.clone();
    let counted = batches.inspect(|batch| {
        if let Ok(batch) = batch {
            context.metrics.rows_out(Listener::http, batch.num_rows() as u64);
        }
    });
    let written = match format {
        RowsFormat::Json => write_json(&mut body, schema, counted, limit),
        other => write_records(body, other, schema, counted, limit),
    };
    cut_off(&queue, written);
}

/// Cuts a body off that could not be written to its end.
fn cut_off(queue: &mpsc::Sender<Piece>, written: Result<()>) {
    if let Err(error) = written {
        // The client may be gone.
        let cut = Err(io::Error::other(error.message().to_owned()));
        let _ = Handle::current().block_on(queue.send(cut));
    }
}

fn broken(error: &io::Error) -> Error {
    Error::cancelled(error.to_string())
}

/// The batches up to a limit of rows; whether there were more is told at the end.
fn limited(
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

fn write_records(
    body: BodyWriter,
    format: RowsFormat,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
) -> Result<()> {
    let format = match format {
        RowsFormat::Csv => Format::Csv,
        RowsFormat::Arrow => Format::ArrowStream,
        RowsFormat::Parquet => Format::Parquet,
        RowsFormat::Json | RowsFormat::Lines => Format::JsonLines,
    };
    let mut writer = RecordWriter::new(format, body, schema.clone(), Compression::None)?;
    limited(batches, limit, |batch| writer.write(batch))?;
    writer.finish()?.flush().map_err(|error| broken(&error))
}

fn write_json(
    body: &mut BodyWriter,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    limit: Option<u64>,
) -> Result<()> {
    let failed = |error: io::Error| broken(&error);
    write!(body, "{{\"columns\":{},\"rows\":[", columns_json(schema)).map_err(failed)?;
    let mut is_first = true;
    let more = limited(batches, limit, |batch| {
        for row in 0..batch.num_rows() {
            if !is_first {
                body.write_all(b",").map_err(failed)?;
            }
            is_first = false;
            write!(body, "{}", row_json(batch, row)?).map_err(failed)?;
        }
        Ok(())
    })?;
    writeln!(body, "],\"more\":{more}}}").map_err(failed)?;
    body.flush().map_err(failed)
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

/// The cells of a row: numbers and truths as JSON has them, everything else as its text.
pub(super) fn row_json(batch: &RecordBatch, row: usize) -> Result<serde_json::Value> {
    let schema = batch.schema_ref();
    let cells = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        if *column.data_type() == DataType::Null {
            return Ok(serde_json::Value::Null);
        }
        match Value::from_array(column.as_ref(), field, row) {
            Ok(value) => Ok(value.to_json()),
            // Lists and structures are told as Arrow shows them.
            Err(_) => arrow::util::display::array_value_to_string(column, row)
                .map(serde_json::Value::from)
                .map_err(|error| Error::internal(error.to_string())),
        }
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(accept: &str) -> Result<RowsFormat> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        RowsFormat::wanted(&headers)
    }

    #[test]
    fn the_first_format_that_there_is_is_taken() {
        assert_eq!(RowsFormat::wanted(&HeaderMap::new()).unwrap(), RowsFormat::Json);
        assert_eq!(wanted("text/html, text/csv;q=0.5").unwrap(), RowsFormat::Csv);
        assert_eq!(wanted("application/x-ndjson").unwrap(), RowsFormat::Lines);
        assert_eq!(wanted("*/*").unwrap(), RowsFormat::Json);
        assert!(wanted("image/png").unwrap_err().message().contains("image/png"));
    }
}
