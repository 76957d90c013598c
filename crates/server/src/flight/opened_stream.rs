//! A call whose client sends a stream. Its first message is read.

use arrow_flight::{FlightData, FlightDescriptor};

use super::client_stream::ClientStream;
use crate::counted_body::CallMemory;

/// A call with a stream of the client's.
pub(super) struct OpenedStream {
    pub(super) first: Box<FlightData>,
    pub(super) descriptor: FlightDescriptor,
    pub(super) wire: ClientStream,
    /// Dropped once the call has a place.
    pub(super) held: MessageMemory,
}

/// What the messages of a call that has no place yet have of the memory. Dropping it gives that
/// back, and the answer of the call does not: an upload is answered while it waits for its place.
/// Further messages take none: the place bounds them.
pub(super) struct MessageMemory(CallMemory);

impl MessageMemory {
    pub(super) fn new(memory: CallMemory) -> Self {
        memory.keep();
        Self(memory)
    }

    /// Gives it back, and counts what comes from now on.
    pub(super) fn restart(&self) {
        self.0.restart();
    }
}

impl Drop for MessageMemory {
    fn drop(&mut self) {
        self.0.release();
    }
}
