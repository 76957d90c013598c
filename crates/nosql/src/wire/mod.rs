//! Requests, what they do to the store, and their answers.
//!
//! A request is a document with a head and a payload; [`NosqlService`] carries it out. Failures
//! have the codes and, where clients look at them, the words of the protocol.

mod access;
mod call;
mod collection;
mod ddl;
mod definitions;
mod expiry;
mod failure;
mod field;
mod given_row;
mod multi_delete;
mod namespaces;
mod op_code;
mod query;
mod row_version;
mod rows;
mod service;
mod system;
mod table_names;
mod tables;
mod values;
mod write_multiple;
mod write_request;
mod write_time;

pub use access::{AccessDecision, AccessRefusal, EverythingAllowed, NosqlAccess, TableRight};
pub(crate) use call::Call;
pub(crate) use collection::{RowField, check_document, is_shown, row_field};
pub(crate) use expiry::{default_expiry_ms, ttl_expiry_ms};
pub(crate) use failure::Outcome;
pub use failure::{Failure, FailureCode};
pub(crate) use row_version::version_bytes;
pub use service::{NosqlAnswer, NosqlService, early_failure, protocol_failure};
pub(crate) use values::column_value;
pub(crate) use values::{decimal_digits_text, decimal_text, parse_nanoseconds, shown_nanoseconds};
