//! Definitions, jobs, and what concerns the whole store.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tonnage::Table;

use super::{Answer, Shared};
use crate::flight::outcome_json;

/// All tables.
pub(super) async fn list(State(context): Shared) -> Answer<Response> {
    let tables = context
        .blocking(|context| context.store.tables().iter().map(view).collect::<Result<Vec<_>, _>>())
        .await?;
    Ok(super::json(&json!({ "tables": tables })))
}

fn view(table: &Table) -> tonnage::Result<serde_json::Value> {
    let schema = table.schema();
    let columns = schema.columns.iter().enumerate().map(|(index, column)| {
        json!({
            "name": column.name,
            "type": column.column_type.to_string(),
            "nullable": column.nullable,
            "key": schema.key_position(index),
        })
    });
    Ok(json!({
        "path": table.path(),
        "columns": columns.collect::<Vec<_>>(),
        "definition": schema.to_ddl(),
        "rows_estimate": table.rows_estimate()?,
    }))
}

/// Carries out definitions; the body is their text.
pub(super) async fn define(State(context): Shared, text: String) -> Answer<Response> {
    let outcomes = context.blocking(move |context| context.store.execute(&text)).await?;
    let outcomes: Vec<_> = outcomes.iter().map(outcome_json).collect();
    Ok(super::json(&json!({ "outcomes": outcomes })))
}

/// One table.
pub(super) async fn describe(State(context): Shared, Path(path): Path<String>) -> Answer<Response> {
    let table = context.blocking(move |context| view(&context.store.table(&path)?)).await?;
    Ok(super::json(&table))
}

/// Drops a table.
pub(super) async fn drop(State(context): Shared, Path(path): Path<String>) -> Answer<StatusCode> {
    context.blocking(move |context| context.store.catalog().drop_table(&path, false)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The loads that run, and those that ended lately.
pub(super) async fn jobs(State(context): Shared) -> Response {
    super::json(&json!({ "jobs": context.jobs.list() }))
}

/// Cancels a load.
pub(super) async fn cancel_job(
    State(context): Shared,
    Path(id): Path<String>,
) -> Answer<StatusCode> {
    context.jobs.cancel(&id)?;
    Ok(StatusCode::ACCEPTED)
}

/// Makes everything acknowledged durable.
pub(super) async fn sync(State(context): Shared) -> Answer<StatusCode> {
    context.blocking(|context| context.store.sync()).await?;
    Ok(StatusCode::NO_CONTENT)
}
