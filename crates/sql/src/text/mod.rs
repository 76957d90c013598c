//! Statements as text: cut apart, and what kind each is.

mod call;
mod cursor;
mod fold;
mod kind;
mod mend;
mod script;

pub(crate) use call::call;
pub(crate) use cursor::Cursor;
pub(crate) use kind::Kind;
pub(crate) use mend::NULLABLE;
pub(crate) use script::{Piece, parse, pieces, single};
