//! The error of a statement that stops midway, with the rows that it has changed.

use tonnage::Error;

use crate::planner::Planner;
use crate::session::Changes;

/// The error of a statement that was stopped on its way, with what it has changed by then. In a
/// transaction that is taken back.
pub(super) fn with_partial_changes(planner: &Planner, error: Error, changes: Changes) -> Error {
    if planner.context.transaction.is_some() {
        return error;
    }
    let parts = [
        (changes.inserted, "inserted"),
        (changes.updated, "updated"),
        (changes.deleted, "deleted"),
    ];
    let told: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if told.is_empty() {
        return error;
    }
    let message = format!("{}; rows changed before that: {}", error.message(), told.join(", "));
    error.restated().with_message(message).with_source(error)
}
