//! Statements as text: cut apart, and what kind each is.

mod call;
mod casts;
mod cursor;
mod dialect;
mod error_location;
mod file_name;
mod fold;
mod functions;
mod json_path;
mod kind;
mod lexer;
mod names;
mod path;
mod question;
mod rewrite;
mod script;
mod shorthand;
mod similar;
mod unknown;
mod windows;
mod with;

pub(crate) use call::call;
pub(crate) use casts::{as_double, double, signed};
pub(crate) use cursor::Cursor;
pub(crate) use error_location::with_location;
pub(crate) use file_name::FileName;
pub(crate) use kind::Kind;
pub use lexer::{SqlToken, SqlTokenKind, SqlTokens, Unclosed};
pub(crate) use path::{CATALOG, SCHEMA, without_catalog};
pub(crate) use rewrite::NULLABLE;
pub(crate) use script::{Piece, missing, parse, pieces, single};
pub(crate) use unknown::unknown;
