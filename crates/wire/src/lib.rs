//! Messages that a server and its clients share: single rows and pairs, and calls that are sent
//! one after another, in Protocol Buffers.
//!
//! A single row costs less in this form than as an Arrow stream, whose schema alone is as long as
//! the row. `docs/flight.md` has the messages for other languages.

mod call;
mod pair;
mod row;
mod value;

pub use call::{AnswersMessage, CallAnswer, CallFailure, CallMessage, CallsMessage};
pub use pair::PairMessage;
pub use row::RowMessage;
