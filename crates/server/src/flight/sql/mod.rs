//! Flight SQL, the protocol of stock clients: JDBC, ADBC, and what builds on them.
//!
//! 1. GetFlightInfo describes a statement and returns a ticket. It executes nothing.
//! 2. DoGet executes the statement and streams its rows. A statement that changes something runs
//!    only at the first fetch of its ticket ([`crate::statements`]). GetFlightInfo returns no
//!    schema for it, so that drivers fetch before they report success.
//! 3. DoPut executes changes, binds parameters, and ingests tables in bulk ([`ingest`]).
//!
//! A client that disconnects drops its call, and with it the `RunningStatement`, which cancels the
//! statement.

mod action;
mod calls;
mod info;
mod ingest;
mod message;
mod metadata;
mod names;
mod parameter_types;
mod plain;
mod session;
mod statement;
mod types;
mod update;

pub(crate) use action::{ACTIONS, is_action, run as act};
pub(super) use calls::{get, info, put, schema};
pub(super) use message::command_of;
pub(crate) use plain::{plain_batch, plain_schema};
