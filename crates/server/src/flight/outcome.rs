//! Results of statements, as JSON.

use serde_json::json;
use tonnage::Outcome;
use tonnage_sql::Changes;

/// What became of a definition.
pub(crate) fn outcome_json(outcome: &Outcome) -> serde_json::Value {
    match outcome {
        Outcome::Created { table, new } => json!({"created": {"table": table, "new": new}}),
        Outcome::Dropped { table, existed } => {
            json!({"dropped": {"table": table, "existed": existed}})
        }
        Outcome::Altered { table } => json!({"altered": {"table": table}}),
        Outcome::CreatedIndex { index, table, new } => {
            json!({"created_index": {"index": index, "table": table, "new": new}})
        }
        Outcome::DroppedIndex { index, table, existed } => {
            json!({"dropped_index": {"index": index, "table": table, "existed": existed}})
        }
        Outcome::Tables(tables) => json!({"tables": tables}),
        Outcome::Told(words) => json!({"told": words}),
        Outcome::Description(text) => json!({"description": text}),
    }
}

/// How many rows a statement changed.
pub(crate) fn changes_json(changes: &Changes) -> serde_json::Value {
    json!({
        "inserted": changes.inserted,
        "updated": changes.updated,
        "deleted": changes.deleted,
        "skipped": changes.skipped,
    })
}
