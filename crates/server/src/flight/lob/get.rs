//! Reads a large object, in pieces of about a mebibyte.

use std::collections::HashMap;
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

use arrow::array::{BinaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_flight::FlightData;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::json;
use tonic::Status;
use tonnage::{Error, LobReader, Result};

use crate::context::ServerContext;
use crate::flight::lob_command::GetLobCommand;
use crate::flight::row_sender::{RowSender, row_channel};

/// What one message holds at most.
const PIECE_BYTES: usize = 1 << 20;

/// Where the schema tells length and version.
const METADATA: &str = "tonnage.lob";

type LobStream = BoxStream<'static, std::result::Result<FlightData, Status>>;

/// The bytes of a large object.
///
/// # Errors
/// `NotFound` when there is none; `Conflict` when it is not of the version wanted; `Invalid` for an
/// offset after its end.
pub(crate) async fn get(context: &Arc<ServerContext>, command: GetLobCommand) -> Result<LobStream> {
    let limit = command.limit.unwrap_or(u64::MAX);
    let reader = context.blocking(move |context| open(context, &command)).await?;
    let schema = schema_of(&reader);
    let place = context.calls.acquire().await?;
    let (mut sender, stream) = row_channel(context, &schema)?;
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let sent = send(reader, limit, &schema, &mut sender);
        sender.end(sent);
    });
    Ok(stream.boxed())
}

fn open(context: &ServerContext, command: &GetLobCommand) -> Result<LobReader> {
    let key = command.key()?;
    let reader = context.store.kv().get_lob_with(&key, &command.options())?;
    let mut reader =
        reader.ok_or_else(|| Error::not_found(format!("{key}: there is no such large object")))?;
    let info = reader.info();
    command.check_version(info.version)?;
    if command.offset > info.bytes {
        return Err(Error::invalid(format!(
            "{key}: offset {} is after its end: it has {} bytes",
            command.offset, info.bytes
        )));
    }
    reader
        .seek(SeekFrom::Start(command.offset))
        .map_err(|error| Error::internal(format!("{key}: offset {}: {error}", command.offset)))?;
    Ok(reader)
}

fn schema_of(reader: &LobReader) -> SchemaRef {
    let info = reader.info();
    let told = json!({"bytes": info.bytes, "version": info.version}).to_string();
    let metadata = HashMap::from([(METADATA.to_owned(), told)]);
    let field = Field::new("bytes", DataType::Binary, false);
    Arc::new(Schema::new_with_metadata(vec![field], metadata))
}

/// Sends the bytes. Blocks.
fn send(
    mut reader: LobReader,
    mut left: u64,
    schema: &SchemaRef,
    sender: &mut RowSender,
) -> Result<()> {
    let mut buffer = vec![0; PIECE_BYTES];
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let count = read(&mut reader, &mut buffer[..wanted])?;
        left -= count as u64;
        if count == 0 || !sender.send(&piece(&buffer[..count], schema)?)? {
            break;
        }
    }
    Ok(())
}

/// Fills the buffer, unless the object ends.
fn read(reader: &mut LobReader, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read_some(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

fn piece(bytes: &[u8], schema: &SchemaRef) -> Result<RecordBatch> {
    let bytes = BinaryArray::from_vec(vec![bytes]);
    RecordBatch::try_new(schema.clone(), vec![Arc::new(bytes)])
        .map_err(|error| Error::internal(format!("a piece of a large object: {error}")))
}
