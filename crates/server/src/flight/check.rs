//! Checks everything that is stored, and repairs what can be repaired.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tonnage::{Cancel, CheckOptions, CheckReport, Damage, ErrorKind, Index, Result};

use super::command::parse;
use crate::auth::Caller;
use crate::context::ServerContext;

/// How to check.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CheckCommand {
    /// Then finishes indexes, and removes what is not needed.
    repair: bool,
    timeout_ms: Option<u64>,
}

/// Checks the store. The check ends with its client, and when the server stops.
///
/// # Errors
/// What the caller may not do; `TimedOut`, `Cancelled`; what the store says.
pub(crate) async fn check(
    context: &Arc<ServerContext>,
    caller: &Caller,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let command: CheckCommand = match body.is_empty() {
        true => CheckCommand::default(),
        false => parse("the action's body", body)?,
    };
    match command.repair {
        true => caller.check_admin("repair")?,
        false => caller.check_operator("check")?,
    }
    context.cancellable(move |context, cancel| run(context, &command, cancel)).await
}

fn run(context: &ServerContext, command: &CheckCommand, cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
    let options = CheckOptions {
        timeout: command.timeout_ms.map(Duration::from_millis),
        cancel: cancel.clone(),
    };
    let report = context.store.check_with(&options)?;
    let mut told = report_json(&report);
    if command.repair {
        told["repaired"] = repair(context, &report)?;
    }
    Ok(vec![told.to_string().into_bytes()])
}

fn report_json(report: &CheckReport) -> Json {
    json!({
        "rows": report.rows,
        "pairs": report.pairs,
        "large_objects": report.large_objects,
        "orphan_chunks": report.orphan_chunks,
        "leftover_rows": report.leftover_rows,
        "stale_index_entries": report.stale_index_entries,
        "unfinished_indexes": report.unfinished_indexes,
        "verified": {"rows": report.verified.rows, "bytes": report.verified.bytes},
        "damages": damages_json(&report.damages),
        "damage_count": report.damage_count,
    })
}

/// Damaged places, each with what is wrong there.
pub(super) fn damages_json(damages: &[Damage]) -> Json {
    let damages = damages.iter();
    damages.map(|damage| json!({"place": damage.location, "what": damage.what})).collect()
}

/// Mends what a check has found, as `tonnage check --repair` does.
fn repair(context: &ServerContext, report: &CheckReport) -> Result<Json> {
    // Unfinished indexes are finished first: only an index that is ready can be cleaned.
    for statement in &report.unfinished_indexes {
        context.store.execute(statement)?;
    }
    let (mut entries, mut skipped) = (0, Vec::new());
    if report.stale_index_entries > 0 {
        for table in context.store.tables() {
            for index in table.indexes()?.iter().filter(|index| index.is_ready()) {
                match index.clean_older(Index::CLEANED_AGE) {
                    Err(error) if error.kind() == ErrorKind::Unsupported => {
                        // One index that cannot be cleaned must not keep the others from it.
                        skipped.push(error.message().to_owned());
                    }
                    cleaned => {
                        let cleaned = cleaned?;
                        entries += cleaned.removed;
                        if cleaned.young > 0 {
                            skipped.push(format!(
                                "index {} on {}: {} stale entries are too young to be told from those of rows on their way: repair again in an hour",
                                index.name(),
                                index.table_path(),
                                cleaned.young
                            ));
                        }
                    }
                }
            }
        }
    }
    let chunks = context.store.kv().clean_lobs()?.chunks;
    let indexes = &report.unfinished_indexes;
    Ok(json!({"indexes": indexes, "entries": entries, "chunks": chunks, "skipped": skipped}))
}
