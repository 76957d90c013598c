//! The wire: commands are read from bytes, replies are written to bytes.

mod command_reader;
mod double;
mod glob;
mod inline;
mod limits;
mod number;
mod reply;

pub use command_reader::{ArgumentSpan, CommandReader, ProtocolError, ReadStep};
pub(crate) use double::{parse_double, parse_nearest_double, write_double};
pub use glob::glob_matches;
pub use limits::ClientLimits;
pub use number::{Decimal, parse_integer};
pub use reply::{Protocol, ReplyWriter};
pub(crate) use reply::{REDIS_VERSION, digits_of};
