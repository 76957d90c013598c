//! Health and metrics.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use tonnage::Error;

use super::handler::{CallerExtension, ContextState, HandlerResult};
use crate::drain::DrainPhase;

/// The process turns.
pub(super) async fn live() -> &'static str {
    "live\n"
}

/// The server takes calls.
pub(super) async fn ready(State(context): ContextState) -> HandlerResult<&'static str> {
    match context.phases.current() {
        DrainPhase::Running => Ok("ready\n"),
        _ => Err(Error::unavailable("the server shuts down").into()),
    }
}

/// All metrics, as Prometheus reads them.
pub(super) async fn metrics(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    caller.check_operator("read metrics of")?;
    // A store that does not answer must not hide the other numbers.
    let statistics = context.blocking(|context| context.store.statistics()).await.ok();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let (statements, columns) = (context.statements.count(), context.sql.column_cache());
    for (call, calls) in context.redis.iter().flat_map(|keyspace| keyspace.calls()) {
        context.metrics.set_redis_calls(call, calls);
    }
    if let Some(keyspace) = &context.redis {
        context.metrics.set_redis_exchange(keyspace.exchange());
    }
    let text = context.metrics.text(statistics.as_ref(), statements, columns);
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
