//! Statements as text: cut apart, and what kind each is.

mod call;
mod cursor;
mod draft;
mod fold;
mod kind;
mod mend;
mod path;
mod place;
mod script;

pub(crate) use call::call;
pub(crate) use cursor::Cursor;
pub use draft::{Draft, Mark, MarkKind, Open};
pub(crate) use kind::Kind;
pub(crate) use mend::NULLABLE;
pub(crate) use place::placed;
pub(crate) use script::{Piece, parse, pieces, single};
