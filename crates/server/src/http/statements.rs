//! Statements that run, and those of before: an operator sees all of them, others their own.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tonnage::Error;

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};

pub(super) async fn list(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    let (running, ended) = context.statements.list(&caller.job_scope());
    Ok(json_body(&json!({ "running": running, "ended": ended })))
}

/// Cancels a statement by its number.
pub(super) async fn cancel(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(id): Path<String>,
) -> HandlerResult<StatusCode> {
    caller.note("cancel", &format!("statement {id}"))?;
    match context.statements.cancel_listed(&id, &caller.job_scope()) {
        true => Ok(StatusCode::ACCEPTED),
        false => Err(Error::not_found(format!("no statement `{id}` runs")).into()),
    }
}
