//! A call with a stream of the client's, whose first message is here.

use arrow_flight::{FlightData, FlightDescriptor};

use super::wire::Wire;
use crate::budget::Taken;

/// A call with a stream of the client's.
pub(super) struct Opened {
    pub(super) first: Box<FlightData>,
    pub(super) descriptor: FlightDescriptor,
    pub(super) wire: Wire,
    /// What the first message has of the memory, until the call has a place.
    pub(super) held: Taken,
}
