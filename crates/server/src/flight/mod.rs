//! The Arrow Flight listener. `docs/flight.md` describes the wire.

mod actions;
mod backup;
mod bulk_get;
mod bulk_put;
mod calls;
mod check;
mod choice;
mod client_stream;
mod command;
mod consistency_choice;
mod decode;
mod delete_pairs;
mod encode;
mod expected_condition;
mod frame;
mod get;
mod health;
mod http_exchange;
mod ipc_messages;
mod key_spool;
mod known_versions;
mod lob;
mod lob_command;
mod multi_get;
mod one_row;
mod opened_stream;
mod outbox;
mod outcome;
mod pairs;
mod plain_bytes;
mod related;
mod report_backlog;
mod reports;
mod row_encoding;
mod row_sender;
mod scan;
mod service;
mod sql;
mod stamp_columns;
mod statistics;
mod stream_event;
mod table_read;
mod within;
mod within_command;
mod write;

use std::sync::Arc;

use arrow_flight::flight_service_server::FlightServiceServer;
use axum::{Router, middleware};
use tonic::service::Routes;

use crate::auth::authenticate;
use crate::browser_guard::guard_flight;
use crate::context::ServerContext;
use crate::counted_body;
use crate::metrics::ListenerKind;
use crate::request_id;
pub(crate) use actions::{answers_with_frames, run as run_action};
pub(crate) use backup::make as backup;
pub(crate) use check::check;
pub(crate) use choice::{DurabilityChoice, ExistingChoice};
pub(crate) use command::{BulkGetCommand, BulkPutCommand};
pub(crate) use decode::UNPACKED_BYTES_MAX;
pub(crate) use encode::schema_message;
pub(crate) use http_exchange::{ExchangeAnswer, exchange};
pub(crate) use multi_get::{TableAnswer, read_tables};
pub(crate) use outcome::outcome_json;
use service::FlightHandler;
pub(crate) use sql::{plain_batch, plain_schema};
pub(crate) use statistics::statistics;
pub(crate) use table_read::TableRead;
pub(crate) use within::WithinCall;
pub(crate) use within_command::WithinCommand;

/// The routes of the listener.
pub(crate) fn router(context: &Arc<ServerContext>) -> Router {
    let limit = context.config.message_bytes_max;
    // Answers are cut to 2 MiB, but for single rows that are larger.
    let service = FlightServiceServer::new(FlightHandler::new(context.clone()))
        .max_decoding_message_size(limit)
        .max_encoding_message_size(usize::MAX);
    let messages = (context.messages.clone(), ListenerKind::flight);
    let holding = middleware::from_fn_with_state(messages, counted_body::count_body);
    let gate =
        middleware::from_fn_with_state((context.clone(), ListenerKind::flight), authenticate);
    let guard = context.browser_guard(ListenerKind::flight);
    let guarding = middleware::from_fn_with_state(guard, guard_flight);
    let names = (context.request_ids.clone(), ListenerKind::flight);
    let naming = middleware::from_fn_with_state(names, request_id::assign);
    let health = health::router(context);
    let calls = Routes::new(service).into_axum_router().layer(holding).layer(gate);
    calls.merge(health).layer(guarding).layer(naming)
}
