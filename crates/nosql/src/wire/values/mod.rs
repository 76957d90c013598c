//! Values of columns: from documents, and into documents.

mod decimal;
mod given;
mod json_document;
mod json_text;
mod timestamp;
mod told;

pub(crate) use decimal::{decimal_digits_text, decimal_text};
pub(crate) use given::column_value;
pub(super) use json_text::json_object;
pub(crate) use timestamp::{parse_nanoseconds, shown_nanoseconds};
pub(super) use told::{write_row, write_value};
