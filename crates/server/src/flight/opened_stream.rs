//! A call whose client sends a stream. Its first message is read.

use arrow_flight::{FlightData, FlightDescriptor};

use super::client_stream::ClientStream;
use crate::budget::MemoryReservation;
use crate::counted_body::CallMemory;

/// A call with a stream of the client's.
pub(super) struct OpenedStream {
    pub(super) first: Box<FlightData>,
    pub(super) descriptor: FlightDescriptor,
    pub(super) wire: ClientStream,
    /// Dropped once the call has a place.
    pub(super) held: MessageMemory,
}

/// What the messages of a call that has no place yet have of the memory. Dropping it gives that back.
/// Further messages take none: the place bounds them.
pub(super) struct MessageMemory {
    /// Of the first message, though the call may have been answered.
    _first: MemoryReservation,
    /// Of all messages, until the call is answered.
    all: Option<CallMemory>,
}

impl MessageMemory {
    pub(super) fn new(first: MemoryReservation, all: Option<CallMemory>) -> Self {
        Self { _first: first, all }
    }
}

impl Drop for MessageMemory {
    fn drop(&mut self) {
        if let Some(all) = &self.all {
            all.release();
        }
    }
}
