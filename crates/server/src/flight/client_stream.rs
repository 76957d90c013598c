//! The messages that a client sends, over gRPC or as the body of a request.

use std::time::Duration;

use arrow_flight::FlightData;
use axum::body::Body;
use tonic::{Code, Status, Streaming};
use tonnage::{Error, Result};

use super::ipc_messages::IpcMessages;
use super::stream_event::StreamEvent;
use crate::drain::{DrainPhase, Phases};
use crate::listen::BodyEnd;

/// Where the messages come from.
enum MessageSource {
    Grpc { streaming: Box<Streaming<FlightData>>, end: BodyEnd },
    Ipc(IpcMessages),
}

impl MessageSource {
    async fn next(&mut self) -> Result<StreamEvent> {
        let (streaming, end) = match self {
            MessageSource::Grpc { streaming, end } => (streaming, end),
            MessageSource::Ipc(messages) => return messages.next().await,
        };
        match streaming.message().await {
            Ok(Some(message)) => Ok(StreamEvent::Message(Box::new(message))),
            Ok(None) if end.is_clean() => Ok(StreamEvent::Ended),
            // tonic calls this an end too.
            Ok(None) => Ok(StreamEvent::Torn("the client called it off, or was cut off".into())),
            Err(status) => interrupted(&status),
        }
    }
}

/// The messages of a client.
pub(crate) struct ClientStream {
    source: MessageSource,
    phases: Phases,
    /// None for a stream that is held like a connection.
    idle_timeout: Option<Duration>,
}

impl ClientStream {
    pub(crate) fn new(
        streaming: Streaming<FlightData>,
        end: BodyEnd,
        phases: Phases,
        idle_timeout: Duration,
    ) -> Self {
        let source = MessageSource::Grpc { streaming: Box::new(streaming), end };
        Self { source, phases, idle_timeout: Some(idle_timeout) }
    }

    /// The messages of a body that is a stream of Arrow IPC.
    pub(super) fn of_body(
        body: Body,
        message_bytes_max: usize,
        phases: Phases,
        idle_timeout: Duration,
    ) -> Self {
        let source = MessageSource::Ipc(IpcMessages::new(body, message_bytes_max));
        Self { source, phases, idle_timeout: Some(idle_timeout) }
    }

    /// The same without a limit of the time between messages.
    pub(crate) fn held(self) -> Self {
        Self { idle_timeout: None, ..self }
    }

    /// The next message.
    ///
    /// # Errors
    /// `TimedOut` when the client sends nothing for too long, `Unavailable` when the server stops,
    /// `Exhausted` for a message that is too large.
    pub(crate) async fn next(&mut self) -> Result<StreamEvent> {
        let Self { source, phases, idle_timeout } = self;
        let idle_timeout = *idle_timeout;
        let next = async {
            match idle_timeout {
                None => source.next().await,
                Some(time) => {
                    let next = tokio::time::timeout(time, source.next()).await;
                    next.unwrap_or_else(|_| Err(brought_nothing(time)))
                }
            }
        };
        tokio::select! {
            event = next => event,
            () = phases.wait_for(DrainPhase::Stopping) => {
                Err(Error::unavailable("the server shuts down"))
            }
        }
    }
}

fn brought_nothing(time: Duration) -> Error {
    Error::timed_out(format!("the stream brought nothing for {time:?} (idle_timeout)"))
}

fn interrupted(status: &Status) -> Result<StreamEvent> {
    if status.code() == Code::OutOfRange {
        return Err(Error::exhausted(format!(
            "{}: send smaller batches, write_table(table, max_chunksize=65536) for instance, or \
             raise message_bytes_max",
            status.message()
        )));
    }
    Ok(StreamEvent::Torn(status.message().to_owned()))
}
