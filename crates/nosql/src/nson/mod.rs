//! NSON: documents as the protocol writes them.
//!
//! A value is a byte that tells its kind, and what the kind needs. Arrays and maps begin with how
//! many bytes and how many elements they have, so that a reader may pass over them.
//!
//! Reading takes no memory: [`read_document`] checks all bytes once, and [`NsonView`]s then look at
//! them where they lie.

mod cursor;
mod fault;
mod kind;
mod packed;
mod reader;
mod view;
mod writer;

pub use fault::{DEPTH_MAX, NsonFault};
pub use reader::{read_document, read_packed_text};
pub use view::{NsonFields, NsonItems, NsonView};
pub use writer::{NsonMark, NsonWriter};
