//! Documents split into members and items, as they are written.

use datafusion::common::Result;
use tonnage::internal::json_text;
pub(super) use tonnage::internal::json_text::JsonKind as Kind;

use crate::errors::into_datafusion;

/// The document in a text that may be none.
pub(super) fn checked(text: &str) -> Result<&str> {
    json_text::checked(text).map_err(into_datafusion)
}

/// The members of an object, in their order; of a name that comes twice the last one.
pub(super) fn members(text: &str) -> Result<Vec<(String, &str)>> {
    json_text::members(text).map_err(into_datafusion)
}

/// All members of an object, in their order.
pub(super) fn all_members(text: &str) -> Result<Vec<(String, &str)>> {
    json_text::all_members(text).map_err(into_datafusion)
}

/// The items of an array.
pub(super) fn items(text: &str) -> Result<Vec<&str>> {
    json_text::items(text).map_err(into_datafusion)
}

/// The text that a document of one is.
pub(super) fn string(text: &str) -> Result<String> {
    json_text::string(text).map_err(into_datafusion)
}
