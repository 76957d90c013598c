//! The protocol of the Oracle NoSQL Database SDKs over a [`Store`](tonnage::Store).
//!
//! There are no sockets here and nothing is asynchronous: the body of a request comes in, and the
//! body of its answer is returned.
//!
//! | module | what |
//! |---|---|
//! | [`nson`] | documents as the protocol writes them |
//! | `query` | the query language |
//! | `wire` | requests, what they do to the store, their answers |

pub mod nson;
mod query;
mod wire;

pub use wire::{
    AccessDecision, AccessRefusal, EverythingAllowed, Failure, FailureCode, NosqlAccess,
    NosqlAnswer, NosqlService, TableRight, early_failure, protocol_failure,
};
