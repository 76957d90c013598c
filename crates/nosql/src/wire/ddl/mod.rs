//! Definitions: read and written in the dialect of the protocol.

mod lexer;
mod schema_json;
mod table_text;
mod translation;
mod type_text;

pub(super) use schema_json::schema_json;
pub(super) use table_text::table_text;
pub(super) use translation::{first_word, translate, with_document_paths};
