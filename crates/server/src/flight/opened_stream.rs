//! A call whose client sends a stream. Its first message is read.

use arrow_flight::{FlightData, FlightDescriptor};

use super::client_stream::ClientStream;
use crate::budget::MemoryReservation;

/// A call with a stream of the client's.
pub(super) struct OpenedStream {
    pub(super) first: Box<FlightData>,
    pub(super) descriptor: FlightDescriptor,
    pub(super) wire: ClientStream,
    /// What the first message has of the memory, until the call has a place.
    pub(super) held: MemoryReservation,
}
