//! Loads: an operator sees all of them, others their own.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use crate::job_rejects::Reject;

/// The loads that run, and those that ended lately.
pub(super) async fn list(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    Ok(json_body(&json!({ "jobs": context.jobs.list(&caller.job_scope()) })))
}

/// A load, as the list tells it.
pub(super) async fn get(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(id): Path<String>,
) -> HandlerResult<Response> {
    Ok(json_body(&context.jobs.of_id(&id, &caller.job_scope())?))
}

/// Cancels a load.
pub(super) async fn cancel(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(id): Path<String>,
) -> HandlerResult<StatusCode> {
    let scope = caller.job_scope();
    context.jobs.of_id(&id, &scope)?;
    caller.note("cancel", &format!("job {id}"))?;
    context.jobs.cancel(&id, &scope)?;
    Ok(StatusCode::ACCEPTED)
}

/// How rejects are written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RejectsFormat {
    #[default]
    Json,
    Csv,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RejectsQuery {
    format: RejectsFormat,
}

/// The first records that a load could not store.
pub(super) async fn rejects(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(id): Path<String>,
    Query(query): Query<RejectsQuery>,
) -> HandlerResult<Response> {
    let rejects = context.jobs.rejects(&id, &caller.job_scope())?;
    match query.format {
        RejectsFormat::Json => {
            let rejects: Vec<Json> = rejects.iter().map(Reject::to_json).collect();
            Ok(json_body(&json!({ "rejects": rejects })))
        }
        RejectsFormat::Csv => {
            let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
            Ok((kind, csv_of(&rejects)).into_response())
        }
    }
}

fn csv_of(rejects: &[Reject]) -> String {
    let columns = Reject::COLUMNS.map(str::to_owned);
    let lines = std::iter::once(columns).chain(rejects.iter().map(Reject::cells));
    let mut text = String::new();
    for cells in lines {
        let cells = cells.map(|cell| quoted(&cell));
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A cell of CSV, in quotes where it needs them.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
