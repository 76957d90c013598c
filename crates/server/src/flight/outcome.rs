//! Results of statements, as JSON.

use serde_json::json;
use tonnage::DdlOutcome;
use tonnage_sql::Changes;

/// What became of a definition.
pub(crate) fn outcome_json(outcome: &DdlOutcome) -> serde_json::Value {
    match outcome {
        DdlOutcome::Created { table, new } => json!({"created": {"table": table, "new": new}}),
        DdlOutcome::Dropped { table, existed } => {
            json!({"dropped": {"table": table, "existed": existed}})
        }
        DdlOutcome::Altered { table } => json!({"altered": {"table": table}}),
        DdlOutcome::CreatedIndex { index, table, new } => {
            json!({"created_index": {"index": index, "table": table, "new": new}})
        }
        DdlOutcome::DroppedIndex { index, table, existed } => {
            json!({"dropped_index": {"index": index, "table": table, "existed": existed}})
        }
        DdlOutcome::Tables(tables) => json!({"tables": tables}),
        DdlOutcome::Message(words) => json!({"told": words}),
        DdlOutcome::Description(text) => json!({"description": text}),
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
