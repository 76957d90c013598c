//! Statements as text: cut apart, and what kind each is.

mod call;
mod casts;
mod cursor;
mod draft;
mod fold;
mod functions;
mod json_path;
mod kind;
mod mend;
mod names;
mod path;
mod place;
mod script;
mod similar;
mod windows;

pub(crate) use call::call;
pub(crate) use casts::{as_double, double, signed};
pub(crate) use cursor::Cursor;
pub use draft::{Draft, Mark, MarkKind, Open};
pub(crate) use kind::{Kind, unknown};
pub(crate) use mend::NULLABLE;
pub(crate) use place::placed;
pub(crate) use script::{Piece, parse, pieces, single};
