//! Errors of DataFusion, Arrow and the parser as errors of Tonnage, in words that say what to do.

mod debug_texts;
mod error;
mod missing_column;
mod missing_function;
mod missing_member;
mod nearest;
mod rewordings;
mod type_words;

pub(crate) use error::{from_datafusion, from_parser, into_datafusion, invalid_at, located};
pub(crate) use missing_column::{ambiguous, as_typed};
pub(crate) use missing_function::missing_function;
pub(crate) use missing_member::MissingMember;
pub(crate) use type_words::in_sql;
