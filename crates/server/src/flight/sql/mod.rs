//! Flight SQL: what stock clients speak (JDBC, ADBC, and what stands on them).
//!
//! 1. GetFlightInfo describes a statement and gives a ticket. It carries nothing out.
//! 2. DoGet carries the statement out and streams its rows. A statement that changes something runs
//!    at the first fetch of its ticket only ([`crate::statements`]). GetFlightInfo gives no schema
//!    for it: so drivers fetch before they say that it was done.
//! 3. DoPut carries out changes, binds parameters, and takes tables in bulk ([`ingest`]).
//!
//! A client that goes away drops its call, and with it the `RunningStatement`, which cancels the
//! statement.

mod action;
mod calls;
mod info;
mod ingest;
mod message;
mod metadata;
mod names;
mod plain;
mod session;
mod statement;
mod types;
mod update;

pub(crate) use action::{ACTIONS, is_action, run as act};
pub(super) use calls::{get, info, put, schema};
pub(super) use message::command_of;
pub(crate) use plain::{plain_batch, plain_schema};
