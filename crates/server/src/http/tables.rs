//! Table definitions.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tonnage::Table;

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use crate::auth::{Caller, Right};
use crate::flight::outcome_json;

/// All tables.
pub(super) async fn list(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    let tables = context
        .blocking(move |context| {
            let tables = context.store.tables();
            let seen = tables.iter().filter(|table| caller.may_see(table.path()));
            seen.map(|table| table_json(table, &caller)).collect::<Result<Vec<_>, _>>()
        })
        .await?;
    Ok(json_body(&json!({ "tables": tables })))
}

fn table_json(table: &Table, caller: &Caller) -> tonnage::Result<serde_json::Value> {
    let schema = table.schema();
    let columns = schema.columns.iter().enumerate().map(|(index, column)| {
        json!({
            "name": column.name,
            "type": column.column_type.to_string(),
            "nullable": column.nullable,
            "key": schema.key_position(index),
        })
    });
    let allow =
        Right::ALL.into_iter().filter(|right| caller.rights().on_table(*right, table.path()));
    Ok(json!({
        "path": table.path(),
        "columns": columns.collect::<Vec<_>>(),
        "definition": schema.to_ddl(),
        "rows_estimate": table.rows_estimate()?,
        "allow": allow.collect::<Vec<_>>(),
    }))
}

/// Carries out definitions; the body is their text.
pub(super) async fn define(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    text: String,
) -> HandlerResult<Response> {
    let outcomes = context.blocking(move |context| {
        caller.check_definitions(&context.sql, &text)?;
        context.store.execute(&text)
    });
    let outcomes = outcomes.await?;
    let outcomes: Vec<_> = outcomes.iter().map(outcome_json).collect();
    Ok(json_body(&json!({ "outcomes": outcomes })))
}

/// One table.
pub(super) async fn describe(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
) -> HandlerResult<Response> {
    caller.check_description(&path)?;
    let table = context.blocking(move |context| table_json(&context.store.table(&path)?, &caller));
    Ok(json_body(&table.await?))
}

/// Drops a table.
pub(super) async fn drop(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
) -> HandlerResult<StatusCode> {
    caller.check_table(Right::Define, &path)?;
    context.blocking(move |context| context.store.catalog().drop_table(&path, false)).await?;
    Ok(StatusCode::NO_CONTENT)
}
