//! What comes next from a client, and how its stream ends.

use arrow_flight::FlightData;

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
