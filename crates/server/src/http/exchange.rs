//! Streams over HTTP: a bulk put, a bulk get, a scan, and large objects.
//!
//! The body of the request is a stream of Arrow IPC, which is taken message by message. What the
//! client hears streams as well, while it still sends: lines of JSON, or Arrow IPC.

use std::convert::Infallible;
use std::io;

use arrow::datatypes::Schema;
use arrow_flight::FlightData;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, BytesMut};
use futures::{Stream, StreamExt, stream};
use serde::Deserialize;
use tonic::Status;

use super::handler::{CallerExtension, ContextState, HandlerResult};
use crate::error::status_json;
use crate::flight::{ExchangeAnswer, exchange as carry_out, schema_message};

/// What leads the description of a message, with its length; a length of 0 ends a stream.
const MARK: u32 = u32::MAX;
/// Descriptions are padded, so that the buffers after them are aligned.
const ALIGNMENT: usize = 8;
/// The metadata of the schema that tells why rows end early.
const ERROR_METADATA: &str = "tonnage.error";

/// What the query of the request says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeQuery {
    /// A command as over Flight, in JSON.
    command: String,
}

/// Carries out a call that streams.
pub(super) async fn exchange(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Query(query): Query<ExchangeQuery>,
    body: Body,
) -> HandlerResult<Response> {
    Ok(match carry_out(&context, &caller, &query.command, body).await? {
        ExchangeAnswer::Messages(messages) => {
            let lines = messages.map(|message| Ok::<_, Infallible>(line(message)));
            ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines))
                .into_response()
        }
        ExchangeAnswer::Rows(rows) => {
            let kind = [(header::CONTENT_TYPE, "application/vnd.apache.arrow.stream")];
            (kind, Body::from_stream(pieces(rows))).into_response()
        }
    })
}

/// A message on a line. An error is the last line.
fn line(message: std::result::Result<Bytes, Status>) -> Bytes {
    let text = match message {
        Ok(text) => text,
        Err(status) => status_json(&status).to_string().into(),
    };
    let mut line = BytesMut::from(text);
    line.put_u8(b'\n');
    line.freeze()
}

/// Rows as a stream of Arrow IPC. Rows that end early end with a second schema, whose metadata says
/// why: readers of Arrow refuse it, and do not take a part for the whole. A body that is cut off
/// would tell less.
fn pieces(
    rows: impl Stream<Item = std::result::Result<FlightData, Status>>,
) -> impl Stream<Item = io::Result<Bytes>> {
    let messages = rows.map(|message| match message {
        Ok(message) => (message, false),
        Err(status) => (error_message(&status), true),
    });
    // The end of a good stream is said; an error is the last that is sent.
    let end = stream::once(async { None });
    let told = messages.map(Some).chain(end).scan(false, |failed, message| {
        let piece = match message {
            _ if *failed => None,
            None => Some([end_of_stream(), Bytes::new()]),
            Some((message, is_error)) => {
                *failed = is_error;
                Some([description(&message.data_header), message.data_body])
            }
        };
        std::future::ready(piece)
    });
    told.flat_map(|pieces| stream::iter(pieces.into_iter().map(Ok)))
}

fn error_message(status: &Status) -> FlightData {
    let told = status_json(status)["error"].to_string();
    let metadata = [(ERROR_METADATA.to_owned(), told)].into();
    schema_message(&Schema::new_with_metadata(Vec::<arrow::datatypes::Field>::new(), metadata))
}

fn description(bytes: &[u8]) -> Bytes {
    let padded = bytes.len().next_multiple_of(ALIGNMENT);
    let mut piece = BytesMut::with_capacity(8 + padded);
    piece.put_u32_le(MARK);
    // A description is that of a schema or of at most 8,192 rows.
    piece.put_u32_le(u32::try_from(padded).unwrap_or(u32::MAX));
    piece.put_slice(bytes);
    piece.put_bytes(0, padded - bytes.len());
    piece.freeze()
}

fn end_of_stream() -> Bytes {
    let mut piece = BytesMut::with_capacity(8);
    piece.put_u32_le(MARK);
    piece.put_u32_le(0);
    piece.freeze()
}
