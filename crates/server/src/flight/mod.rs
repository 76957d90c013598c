//! The Arrow Flight door. `docs/flight.md` describes the wire.

mod actions;
mod bulk_get;
mod bulk_put;
mod command;
mod decode;
mod encode;
mod frame;
mod key_spool;
mod outbox;
mod pairs;
mod reports;
mod rows;
mod scan;
mod service;
mod wire;

use std::sync::Arc;

use arrow_flight::flight_service_server::FlightServiceServer;
use axum::Router;
use tonic::service::Routes;

use crate::context::Context;
pub(crate) use actions::outcome_json;
use service::Flight;

/// The routes of the door.
pub(crate) fn router(context: &Arc<Context>) -> Router {
    let limit = context.config.message_bytes_max;
    // What goes out is cut to 2 MiB, but for single rows that are larger.
    let service = FlightServiceServer::new(Flight::new(context.clone()))
        .max_decoding_message_size(limit)
        .max_encoding_message_size(usize::MAX);
    Routes::new(service).into_axum_router()
}
