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
    idle_timeout: Duration,
}

impl ClientStream {
    pub(crate) fn new(
        streaming: Streaming<FlightData>,
        end: BodyEnd,
        phases: Phases,
        idle_timeout: Duration,
    ) -> Self {
        let source = MessageSource::Grpc { streaming: Box::new(streaming), end };
        Self { source, phases, idle_timeout }
    }

    /// The messages of a body that is a stream of Arrow IPC.
    pub(super) fn of_body(
        body: Body,
        message_bytes_max: usize,
        phases: Phases,
        idle_timeout: Duration,
    ) -> Self {
        let source = MessageSource::Ipc(IpcMessages::new(body, message_bytes_max));
        Self { source, phases, idle_timeout }
    }

    /// The next message.
    ///
    /// # Errors
    /// `TimedOut` when the client sends nothing for too long, `Unavailable` when the server stops,
    /// `Exhausted` for a message that is too large.
    pub(crate) async fn next(&mut self) -> Result<StreamEvent> {
        let event = tokio::select! {
            event = tokio::time::timeout(self.idle_timeout, self.source.next()) => event,
            () = self.phases.wait_for(DrainPhase::Stopping) => {
                return Err(Error::unavailable("the server shuts down"));
            }
        };
        event.unwrap_or_else(|_| {
            Err(Error::timed_out(format!(
                "the stream brought nothing for {:?} (idle_timeout)",
                self.idle_timeout
            )))
        })
    }
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
