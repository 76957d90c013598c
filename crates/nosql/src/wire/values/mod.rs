//! Values of columns: from documents, and into documents.

mod decimal;
mod given;
mod json_document;
mod json_text;
mod timestamp;
mod told;

pub(super) use given::column_value;
pub(super) use told::{write_row, write_value};
