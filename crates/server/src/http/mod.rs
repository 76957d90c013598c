//! The HTTP door.

mod answer;
mod bulk;
mod health;
mod pairs;
mod rows;
mod shared;
mod sql;
mod tables;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, extract::DefaultBodyLimit};
use tonnage::Error;

use self::shared::Shared;
use crate::auth::guard;
use crate::context::Context;
use crate::error::Problem;
use crate::metrics::Door;

/// The routes of the door.
pub(crate) fn router(context: &Arc<Context>) -> Router {
    let calls = Router::new()
        .route("/v1/tables", get(tables::list).post(tables::define))
        .route("/v1/tables/{path}", get(tables::describe).delete(tables::drop))
        .route("/v1/tables/{path}/rows", post(bulk::put).layer(DefaultBodyLimit::disable()))
        .route("/v1/sql", post(sql::sql))
        .route("/v1/fetch-all", post(sql::fetch_all))
        .route("/v1/tables/{path}/row", get(rows::get).put(rows::put).delete(rows::delete))
        .route("/v1/pairs/{key}", get(pairs::get).put(pairs::put).delete(pairs::delete))
        .route("/v1/jobs", get(tables::jobs))
        .route("/v1/jobs/{id}", axum::routing::delete(tables::cancel_job))
        .route("/v1/admin/sync", post(tables::sync))
        .route_layer(middleware::from_fn_with_state(context.clone(), count))
        .route("/metrics", get(health::metrics))
        .route_layer(middleware::from_fn_with_state((context.clone(), Door::http), guard));
    Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .merge(calls)
        .fallback(nothing_here)
        .layer(DefaultBodyLimit::max(context.config.body_bytes_max))
        .with_state(context.clone())
}

async fn nothing_here(request: Request) -> Problem {
    Error::not_found(format!("nothing is at {}", request.uri().path())).into()
}

async fn count(State(context): Shared, request: Request, next: Next) -> Response {
    let started = Instant::now();
    // Routes are few and known: each is a label.
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let call = match path {
        "/v1/tables" | "/v1/tables/{path}" => "tables",
        "/v1/tables/{path}/row" => "row",
        "/v1/tables/{path}/rows" => "rows",
        "/v1/sql" => "sql",
        "/v1/fetch-all" => "fetch_all",
        "/v1/pairs/{key}" => "pairs",
        "/v1/jobs" | "/v1/jobs/{id}" => "jobs",
        _ => "admin",
    };
    let response = next.run(request).await;
    let outcome = match response.status() {
        status if status.is_success() || status == StatusCode::NOT_MODIFIED => "ok",
        status if status.is_client_error() => "refused",
        _ => "failed",
    };
    context.metrics.answered(Door::http, call, outcome, started.elapsed());
    response
}
