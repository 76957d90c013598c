//! What is wrong with the text of a statement.

use super::place::Place;
use crate::wire::Failure;

/// How many bytes a statement may have.
pub(super) const STATEMENT_BYTES_MAX: usize = 1 << 20;

/// How deep expressions may lie in each other.
pub(super) const DEPTH_MAX: usize = 48;

#[cold]
pub(super) fn unexpected(place: Place, found: &str, expected: &str) -> Failure {
    Failure::argument(format!(
        "Error: {place} mismatched input '{found}' expecting {expected}, at line {}:{}",
        place.line, place.column
    ))
}

#[cold]
pub(super) fn unclosed(place: Place, what: &str) -> Failure {
    Failure::argument(format!("Error: {place} the {what} that begins here does not end"))
}

#[cold]
pub(super) fn too_deep(place: Place) -> Failure {
    Failure::argument(format!(
        "Error: {place} expressions lie more than {DEPTH_MAX} deep in each other"
    ))
}

#[cold]
pub(super) fn too_long(bytes: usize) -> Failure {
    Failure::argument(format!(
        "Error: the statement has {bytes} bytes, and at most {STATEMENT_BYTES_MAX} are read: bind \
         values to variables"
    ))
}
