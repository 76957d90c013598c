//! A call with a stream of the client's, whose first message is here.

use arrow_flight::{FlightData, FlightDescriptor};

use super::wire::Wire;

/// A call with a stream of the client's.
pub(super) struct Opened {
    pub(super) first: Box<FlightData>,
    pub(super) descriptor: FlightDescriptor,
    pub(super) wire: Wire,
}
