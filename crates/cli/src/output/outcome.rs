//! Describes the results of statements that return no rows.

use tonnage_sql::Changes;

use crate::values;

/// How many rows an answer has.
pub(crate) fn describe_count(count: u64) -> String {
    values::counted(count, "row", "rows")
}

/// How many rows a statement changed.
pub(crate) fn describe_changes(changes: &Changes) -> String {
    let parts = [
        (changes.inserted, "inserted"),
        (changes.updated, "updated"),
        (changes.deleted, "deleted"),
        (changes.skipped, "left out, their keys exist"),
    ];
    let described: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if described.is_empty() {
        "no rows changed".to_owned()
    } else {
        format!("rows: {}", described.join(", "))
    }
}
