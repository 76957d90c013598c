//! Requests, what they do to the store, and their answers.
//!
//! A request is a document with a head and a payload; [`NosqlService`] carries it out. Failures
//! have the codes and, where clients look at them, the words of the protocol.

mod access;
mod call;
mod ddl;
mod definitions;
mod expiry;
mod failure;
mod field;
mod given_row;
mod multi_delete;
mod op_code;
mod row_version;
mod rows;
mod service;
mod system;
mod tables;
mod values;
mod write_multiple;
mod write_request;

pub use access::{AccessDecision, AccessRefusal, EverythingAllowed, NosqlAccess, TableRight};
pub use failure::{Failure, FailureCode};
pub use service::{NosqlAnswer, NosqlService, early_failure, protocol_failure};
