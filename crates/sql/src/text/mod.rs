//! Statements as text: cut apart, and what kind each is.

mod cursor;
mod fold;
mod kind;
mod script;

pub(crate) use cursor::Cursor;
pub(crate) use kind::Kind;
pub(crate) use script::{Piece, parse, pieces, single};
