//! The listener for the SDKs of Oracle NoSQL Database.
//!
//! Requests are documents over HTTP, all to one path ([`data`]). `tonnage-nosql` reads them,
//! carries them out and answers them; here are who asks, how much, and for how long. Users log in
//! by another path ([`security`]).

mod access;
mod data;
mod security;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{any, get};
use tonnage::SystemClock;
use tonnage_nosql::NosqlService;

use self::data::NosqlState;
use crate::browser_guard::guard_http;
use crate::context::ServerContext;
use crate::metrics::ListenerKind;
use crate::request_id;

/// The routes of the listener.
pub(crate) fn router(context: &Arc<ServerContext>) -> Router {
    let service = NosqlService::new(context.store.clone(), Arc::new(SystemClock));
    let state = NosqlState { context: context.clone(), service: Arc::new(service) };
    Router::new()
        .route("/V2/nosql/data", any(data::data))
        .route("/V2/nosql/security/login", get(security::login))
        .route("/V2/nosql/security/renew", get(security::renew))
        .route("/V2/nosql/security/logout", get(security::logout))
        .fallback(|| async { StatusCode::BAD_REQUEST })
        // Bodies are held against their limit as they are read: the answer is a document, too.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            context.browser_guard(ListenerKind::nosql),
            guard_http,
        ))
        .layer(middleware::from_fn_with_state(
            (context.request_ids.clone(), ListenerKind::nosql),
            request_id::assign,
        ))
        .with_state(state)
}
