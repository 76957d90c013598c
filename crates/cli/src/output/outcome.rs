//! Answers that are no rows, in words.

use tonnage::Outcome;
use tonnage_sql::Changes;

use crate::values;

/// How many rows an answer has.
pub(crate) fn describe_count(count: u64) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{} rows", values::grouped(count)) }
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

/// What a definition did, or the list that it asked for.
pub(crate) fn describe_outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Created { table, new: true } => format!("created table {table}"),
        Outcome::Created { table, new: false } => format!("table {table} was there already"),
        Outcome::Dropped { table, existed: true } => format!("dropped table {table}"),
        Outcome::Dropped { table, existed: false } => format!("there was no table {table}"),
        Outcome::Altered { table } => format!("altered table {table}"),
        Outcome::CreatedIndex { index, table, new: true } => {
            format!("created index {index} on {table}")
        }
        Outcome::CreatedIndex { index, table, new: false } => {
            format!("index {index} on {table} was there already")
        }
        Outcome::DroppedIndex { index, table, existed: true } => {
            format!("dropped index {index} on {table}")
        }
        Outcome::DroppedIndex { index, table, existed: false } => {
            format!("there was no index {index} on {table}")
        }
        Outcome::Tables(tables) => tables.join("\n"),
        Outcome::Description(ddl) => format!("{ddl};"),
    }
}
