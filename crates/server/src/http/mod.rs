//! The HTTP listener.

mod actions;
mod admin;
mod answer;
mod bulk;
mod console;
mod events;
mod exchange;
mod get;
mod handler;
mod health;
mod jobs;
mod login;
mod me;
mod multi_table;
mod openapi;
mod pair_list;
mod pairs;
mod preview;
mod rows;
mod rows_format;
mod security;
mod spooled_body;
mod sql;
mod statements;
mod table_scan;
mod tables;

pub(crate) use multi_table::{row_of, table_request};

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Router, extract::DefaultBodyLimit};
use tonnage::Error;

use self::handler::ContextState;
use crate::auth::authenticate;
use crate::browser_guard::guard_http;
use crate::context::ServerContext;
use crate::counted_body;
use crate::error::{PROBLEM_TYPE, Problem};
use crate::metrics::ListenerKind;
use crate::request_id;

/// More is not kept of what the framework says of a request that it refuses.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// The routes of the listener.
pub(crate) fn router(context: &Arc<ServerContext>) -> Router {
    let calls = Router::new()
        .route("/v1/tables", get(tables::list).post(tables::define))
        .route("/v1/tables/{path}", get(tables::describe).delete(tables::drop))
        .route("/v1/me", get(me::me))
        .route("/v1/sql", post(sql::sql))
        .route("/v1/fetch-all", post(sql::fetch_all))
        .route("/v1/multi-get", post(multi_table::multi_get))
        .route("/v1/multi-put", post(multi_table::multi_put))
        .route(
            "/v1/tables/{path}/row",
            get(rows::get).put(rows::put).patch(rows::patch).delete(rows::delete),
        )
        .route("/v1/tables/{path}/scan", get(table_scan::scan))
        .route("/v1/pairs", get(pair_list::list))
        .route("/v1/pairs/{key}", get(pairs::get).put(pairs::put).delete(pairs::delete))
        .route(
            "/v1/pair",
            get(pairs::get_by_query).put(pairs::put_by_query).delete(pairs::delete_by_query),
        )
        .route("/v1/statements", get(statements::list))
        .route("/v1/statements/{id}", delete(statements::cancel))
        .route("/v1/jobs", get(jobs::list))
        .route("/v1/jobs/{id}", get(jobs::get).delete(jobs::cancel))
        .route("/v1/jobs/{id}/rejects", get(jobs::rejects))
        .route("/v1/jobs/{id}/events", get(events::of_job))
        .route("/v1/events", get(events::of_server))
        .route("/v1/tables/{path}/get", post(get::get))
        .route("/v1/actions/{action}", post(actions::act))
        .route("/v1/statistics", get(admin::statistics))
        .route("/v1/users", get(security::users))
        .route("/v1/audit", get(security::audit))
        .route("/v1/admin/sync", post(admin::sync))
        .route("/v1/admin/reload", post(admin::reload))
        .route("/v1/admin/check", post(admin::check))
        .route("/v1/admin/backup", post(admin::backup))
        .route_layer(middleware::from_fn_with_state(
            (context.bodies.clone(), ListenerKind::http),
            counted_body::count_body,
        ))
        // These continue as they come: the one to the disk, the other message by message.
        .route("/v1/exchange", post(exchange::exchange).layer(DefaultBodyLimit::disable()))
        .route("/v1/tables/{path}/rows", post(bulk::put).layer(DefaultBodyLimit::disable()))
        .route("/v1/preview", post(preview::preview).layer(DefaultBodyLimit::disable()))
        .route_layer(middleware::from_fn_with_state(context.clone(), count))
        // After `count` and before `authenticate`: it wants a login, but is no call that metrics
        // count.
        .route("/metrics", get(health::metrics))
        .route_layer(middleware::from_fn_with_state(
            (context.clone(), ListenerKind::http),
            authenticate,
        ));
    let page = Router::new()
        .route("/", get(console::front))
        .route("/console", get(console::front))
        .route("/console/", get(console::page))
        .route("/console/{file}", get(console::file));
    let page = if context.config.console { page } else { Router::new() };
    Router::new()
        // No user is logged in yet.
        .route("/v1/login", post(login::login))
        .route("/v1/logout", post(login::logout))
        .merge(page)
        .route("/v1/openapi.json", get(openapi::description))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .merge(calls)
        .fallback(handler::not_found)
        .layer(DefaultBodyLimit::max(context.config.body_bytes_max))
        .layer(middleware::from_fn_with_state(context.clone(), as_problem))
        // Before all else, on every path: what a browser sends for another page does nothing.
        .layer(middleware::from_fn_with_state(
            context.browser_guard(ListenerKind::http),
            guard_http,
        ))
        // The last layer is the outermost: refused logins and unknown paths have their ids, too.
        .layer(middleware::from_fn_with_state(
            (context.request_ids.clone(), ListenerKind::http),
            request_id::assign,
        ))
        .with_state(context.clone())
}

/// What was refused before a handler saw it, for its path, query or body, is a problem like others.
async fn as_problem(State(context): ContextState, request: Request, next: Next) -> Response {
    let call = format!("{} {}", request.method(), request.uri().path());
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE);
    if !response.status().is_client_error() || kind.is_some_and(|kind| kind == PROBLEM_TYPE) {
        return response;
    }
    let (head, body) = response.into_parts();
    let why = axum::body::to_bytes(body, REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let why = match why.is_empty() {
        _ if head.status == StatusCode::PAYLOAD_TOO_LARGE => format!(
            "the body has more than {} bytes: send it in parts, or raise body_bytes_max",
            context.config.body_bytes_max
        )
        .into(),
        true => head.status.canonical_reason().unwrap_or("refused").to_ascii_lowercase().into(),
        false => String::from_utf8_lossy(&why),
    };
    let mut problem =
        Problem::new(head.status, Error::invalid(format!("{call}: {why}"))).into_response();
    // Which methods there are.
    if let Some(allowed) = head.headers.get(header::ALLOW) {
        problem.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    problem
}

async fn count(State(context): ContextState, request: Request, next: Next) -> Response {
    let started = Instant::now();
    // Routes are few and known: each is a label.
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let call = match path {
        "/v1/tables" | "/v1/tables/{path}" => "tables",
        "/v1/actions/{action}" => "actions",
        "/v1/exchange" => "exchange",
        "/v1/tables/{path}/get" => "get",
        "/v1/tables/{path}/row" => "row",
        "/v1/tables/{path}/rows" => "rows",
        "/v1/preview" => "preview",
        "/v1/tables/{path}/scan" => "scan",
        "/v1/sql" => "sql",
        "/v1/multi-get" => "multi_get",
        "/v1/multi-put" => "multi_put",
        "/v1/fetch-all" => "fetch_all",
        "/v1/pairs" | "/v1/pairs/{key}" | "/v1/pair" => "pairs",
        "/v1/jobs" | "/v1/jobs/{id}" | "/v1/jobs/{id}/rejects" => "jobs",
        "/v1/jobs/{id}/events" | "/v1/events" => "events",
        "/v1/statements" | "/v1/statements/{id}" => "statements",
        _ => "admin",
    };
    // A call that streams is counted when its answer begins, not when it ends.
    let response = next.run(request).await;
    let outcome = match response.status() {
        status if status.is_success() || status == StatusCode::NOT_MODIFIED => "ok",
        status if status.is_client_error() => "refused",
        _ => "failed",
    };
    context.metrics.count_call(ListenerKind::http, call, outcome, started.elapsed());
    response
}
