//! The calls of Flight that stream, for clients of HTTP that have no gRPC. Requests and answers are
//! as over Flight; only the framing differs.

use std::sync::Arc;

use arrow_flight::{FlightData, FlightDescriptor};
use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use tonic::Status;
use tonnage::{Error, Result};

use super::client_stream::ClientStream;
use super::command::{FlightCommand, parse};
use super::lob;
use super::opened_stream::{MessageMemory, OpenedStream};
use super::service::FlightHandler;
use super::stream_event::StreamEvent;
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::counted_body::counted;

/// What a client hears.
pub(crate) enum ExchangeAnswer {
    /// Messages of JSON.
    Messages(BoxStream<'static, std::result::Result<Bytes, Status>>),
    /// Rows, after their schema.
    Rows(BoxStream<'static, std::result::Result<FlightData, Status>>),
}

/// Carries out a command. What the client sends is the body, a stream of Arrow IPC; scans and reads
/// of large objects take none.
///
/// # Errors
/// What is wrong with the command, what the caller may not do, and what the store says before the
/// first answer.
pub(crate) async fn exchange(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: &str,
    body: Body,
) -> Result<ExchangeAnswer> {
    context.check_open()?;
    let handler = FlightHandler::new(context.clone());
    match parse("the command", command.as_bytes())? {
        // What these two hear comes while they still send, as lines of JSON.
        FlightCommand::BulkPut(command) => {
            let messages = handler.put(caller, command, open(context, body).await?)?.messages();
            let texts =
                messages.map(|message| message.map(|message| message.to_json().to_string().into()));
            Ok(ExchangeAnswer::Messages(texts.boxed()))
        }
        FlightCommand::PutLob(command) => {
            let told = lob::put(context, caller, command, open(context, body).await?)?;
            let texts = told.map(|message| message.map(|message| message.app_metadata));
            Ok(ExchangeAnswer::Messages(texts.boxed()))
        }
        // Rights come before the body is read: who may not read need not send keys.
        FlightCommand::BulkGet(command) => {
            command.check(caller)?;
            handler.get(command, open(context, body).await?).await.map(ExchangeAnswer::Rows)
        }
        FlightCommand::BulkGetWithin(command) => {
            handler.within(caller, command).await.map(ExchangeAnswer::Rows)
        }
        FlightCommand::Scan(command) => {
            handler.scan(caller, command).await.map(ExchangeAnswer::Rows)
        }
        FlightCommand::GetLob(command) => {
            command.check(caller)?;
            lob::get(context, command).await.map(ExchangeAnswer::Rows)
        }
        FlightCommand::Calls {} => Err(Error::unsupported(
            "calls over one stream are of Flight alone: use /v1/actions for each call",
        )),
    }
}

/// Reads the first message of a body.
async fn open(context: &Arc<ServerContext>, body: Body) -> Result<OpenedStream> {
    // The layer of HTTP counts no bodies that stream. Until the call has its place, this counts as
    // the first message of a call over Flight does.
    let (body, memory) = counted(body, &context.messages);
    let held = MessageMemory::new(memory.clone());
    let config = &context.config;
    let phases = context.phases.clone();
    let mut wire =
        ClientStream::of_body(body, config.message_bytes_max, phases, config.idle_timeout);
    let first = wire.next().await;
    if let Some(refusal) = memory.take_refusal() {
        return Err(refusal);
    }
    let first = match first? {
        StreamEvent::Message(message) => message,
        StreamEvent::Ended => return Err(Error::invalid("the body is empty: send Arrow IPC")),
        StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
    };
    Ok(OpenedStream { first, descriptor: FlightDescriptor::default(), wire, held })
}
