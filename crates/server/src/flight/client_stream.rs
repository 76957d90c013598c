//! The messages that a client sends, and how its stream ends.

use std::time::Duration;

use arrow_flight::FlightData;
use tonic::{Code, Status, Streaming};
use tonnage::{Error, Result};

use crate::drain::{DrainPhase, Phases};
use crate::listen::BodyEnd;

/// What came next.
#[derive(Debug)]
pub(crate) enum StreamEvent {
    /// A message.
    Message(Box<FlightData>),
    /// The client ended its stream.
    Ended,
    /// The client called it off, died, or was cut off.
    Torn(String),
}

/// The messages of a client.
pub(crate) struct ClientStream {
    streaming: Streaming<FlightData>,
    end: BodyEnd,
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
        Self { streaming, end, phases, idle_timeout }
    }

    /// The next message.
    ///
    /// # Errors
    /// `TimedOut` when the client sends nothing for too long, `Unavailable` when the server stops,
    /// `Exhausted` for a message that is too large.
    pub(crate) async fn next(&mut self) -> Result<StreamEvent> {
        let message = tokio::select! {
            message = tokio::time::timeout(self.idle_timeout, self.streaming.message()) => message,
            () = self.phases.wait_for(DrainPhase::Stopping) => {
                return Err(Error::unavailable("the server shuts down"));
            }
        };
        let Ok(message) = message else {
            return Err(Error::timed_out(format!(
                "the stream brought nothing for {:?} (idle_timeout)",
                self.idle_timeout
            )));
        };
        match message {
            Ok(Some(message)) => Ok(StreamEvent::Message(Box::new(message))),
            Ok(None) if self.end.is_clean() => Ok(StreamEvent::Ended),
            // tonic calls this an end too.
            Ok(None) => Ok(StreamEvent::Torn("the client called it off, or was cut off".into())),
            Err(status) => interrupted(&status),
        }
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
