//! Writes a large object. Its bytes come in pieces. It becomes visible once the client said that
//! these were all.
//!
//! 1. The client names the key. It receives `ready` with the position at which its bytes go: 0,
//!    unless it appends or resumes.
//! 2. Each message brings bytes, which go to the writer at once. Where the writer waits for the
//!    store, nothing is read, and HTTP/2's window closes.
//! 3. The end marker says how many bytes came. Then the object becomes visible, and the client
//!    receives `stored`. Any other end leaves a draft, which a writer can resume.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow_flight::{FlightData, PutResult};
use futures::Stream;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonnage::{Error, LobWriter, Result};
use tracing::{Instrument, Span};

use crate::auth::Caller;
use crate::context::ServerContext;
use crate::error::status;
use crate::flight::client_stream::ClientStream;
use crate::flight::command::parse;
use crate::flight::decode::FlightDecoder;
use crate::flight::lob_command::{PutLobCommand, PutLobMode};
use crate::flight::opened_stream::OpenedStream;
use crate::flight::plain_bytes::plain_bytes;
use crate::flight::stream_event::StreamEvent;
use crate::metrics::ListenerKind;

/// `ready`, and `stored` or an error: the sender never waits for a client that does not read.
const ANSWERS_MAX: usize = 2;

type LobAnswer = std::result::Result<PutResult, Status>;

/// What a client may say beside bytes, or instead of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LobMetadata {
    /// These were all.
    end: Option<BytesEndMarker>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BytesEndMarker {
    bytes: u64,
}

/// Begins to write a large object. What becomes of it comes as messages.
///
/// # Errors
/// What the caller may not do, and a key that is none.
pub(crate) fn put(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: PutLobCommand,
    opened: OpenedStream,
) -> Result<impl Stream<Item = LobAnswer> + use<>> {
    command.check(caller)?;
    let (answers, told) = mpsc::channel(ANSWERS_MAX);
    let context = context.clone();
    // A task of its own: what a client takes of the answers does not hold up what it sends.
    let writing = async move {
        let OpenedStream { first, wire, held, .. } = opened;
        let place = match context.streams.acquire().await {
            Ok(place) => place,
            Err(error) => return send_error(&answers, &error),
        };
        // From now on the place bounds what the upload has in memory.
        drop(held);
        let span = Span::current();
        let failed = answers.clone();
        let thread = tokio::task::spawn_blocking(move || {
            let _place = place;
            let _inside = span.enter();
            if let Err(error) = write(&context, &command, first, wire, &answers) {
                send_error(&answers, &error);
            }
        });
        // A thread that panics drops its sender: the call would end as if all were well.
        if thread.await.is_err() {
            send_error(&failed, &Error::internal("the stream's thread panicked: see the log"));
        }
    };
    tokio::spawn(writing.in_current_span());
    Ok(ReceiverStream::new(told))
}

fn send_message(answers: &mpsc::Sender<LobAnswer>, message: &Json) {
    let told = PutResult { app_metadata: message.to_string().into() };
    // A client that is gone need not hear it.
    let _ = answers.try_send(Ok(told));
}

fn send_error(answers: &mpsc::Sender<LobAnswer>, error: &Error) {
    let _ = answers.try_send(Err(status(error)));
}

/// Writes what comes, until the end marker. Blocks.
fn write(
    context: &ServerContext,
    command: &PutLobCommand,
    mut first: Box<FlightData>,
    mut wire: ClientStream,
    answers: &mpsc::Sender<LobAnswer>,
) -> Result<()> {
    let mut writer = writer(context, command)?;
    send_message(answers, &json!({"ready": {"position": writer.position()}}));
    let mut decoder = FlightDecoder::default();
    let mut brought = 0;
    loop {
        if let Some(batch) = decoder.decode(&first)? {
            brought += append(&mut writer, &batch)?;
        }
        let said: LobMetadata = match first.app_metadata.is_empty() {
            true => LobMetadata::default(),
            false => parse("the metadata of a message", &first.app_metadata)?,
        };
        // The marker may come with the last bytes, so these are counted before.
        if let Some(end) = said.end {
            check_end(&end, brought)?;
            break;
        }
        first = match Handle::current().block_on(wire.next())? {
            StreamEvent::Message(message) => message,
            StreamEvent::Ended => return Err(unmarked()),
            StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
        };
    }
    // Only a marked end gets here. All others drop the writer, whose draft can be resumed.
    let info = writer.finish()?;
    context.metrics.rows_in(ListenerKind::flight, 1);
    send_message(answers, &json!({"stored": {"bytes": info.bytes, "version": info.version}}));
    Ok(())
}

fn writer(context: &ServerContext, command: &PutLobCommand) -> Result<LobWriter> {
    let (kv, key, options) = (context.store.kv(), command.key()?, command.options());
    match command.mode {
        PutLobMode::Put => kv.put_lob(&key, &options),
        PutLobMode::Append => kv.append_lob(&key, &options),
        PutLobMode::Resume => kv.resume_lob(&key, &options)?.ok_or_else(|| {
            Error::not_found(format!("{key}: no writer of a large object was cut short there"))
        }),
    }
}

/// Appends the bytes of a batch, and says how many there were.
fn append(writer: &mut LobWriter, batch: &RecordBatch) -> Result<u64> {
    let pieces = batch
        .column_by_name("bytes")
        .ok_or_else(|| Error::invalid("the bytes of a large object come in a column `bytes`"))?;
    let pieces = plain_bytes(pieces, &DataType::Binary);
    let pieces = pieces.map_err(|error| error.at("column `bytes`"))?;
    let pieces = pieces.as_binary::<i32>();
    if pieces.null_count() > 0 {
        return Err(Error::invalid("a piece of the large object is NULL"));
    }
    for piece in pieces.iter().flatten() {
        writer.append(piece)?;
    }
    Ok(pieces.iter().flatten().map(|piece| piece.len() as u64).sum())
}

fn check_end(end: &BytesEndMarker, brought: u64) -> Result<()> {
    match end.bytes == brought {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "the end marker says {} bytes, but {brought} came: the object is not stored, resume it",
            end.bytes
        ))),
    }
}

fn unmarked() -> Error {
    Error::invalid(
        "the stream ended without its end marker, {\"end\": {\"bytes\": N}}: the object is not \
         stored, resume it",
    )
}
