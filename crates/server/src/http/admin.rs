//! Maintenance of the whole store, for administrators and operators.

use axum::Extension;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tonnage::Error;

use super::handler::{CallerExtension, ContextState, HandlerResult};
use crate::flight::{backup as make_backup, check as check_store, statistics as tell_statistics};
use crate::reload::reload as reload_files;

/// Tells how much the store holds, and each of its places by itself.
pub(super) async fn statistics(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    caller.check_operator("read statistics of")?;
    single_answer(context.blocking(tell_statistics).await?)
}

/// Makes everything acknowledged durable.
pub(super) async fn sync(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<StatusCode> {
    caller.check_operator("sync")?;
    context.blocking(|context| context.store.sync()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads users and certificates again.
pub(super) async fn reload(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<StatusCode> {
    caller.check_admin("reload")?;
    context.blocking(reload_files).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads everything that is stored, and repairs it if the body says so.
pub(super) async fn check(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    body: String,
) -> HandlerResult<Response> {
    single_answer(check_store(&context, &caller, body.as_bytes()).await?)
}

/// Backs the store up into a directory of the server.
pub(super) async fn backup(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    body: String,
) -> HandlerResult<Response> {
    single_answer(make_backup(&context, &caller, body.as_bytes()).await?)
}

/// The one answer of an action, which is JSON.
fn single_answer(answers: Vec<Vec<u8>>) -> HandlerResult<Response> {
    let answer = answers.into_iter().next().ok_or_else(|| Error::internal("no answer"))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], answer).into_response())
}
