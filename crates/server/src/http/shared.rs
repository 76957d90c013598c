//! What all handlers share.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::auth::Caller;
use crate::context::Context;
use crate::error::Problem;

pub(super) type Shared = State<Arc<Context>>;
pub(super) type Calling = Extension<Caller>;
pub(super) type Answer<T> = Result<T, Problem>;

/// JSON as a response.
pub(super) fn json(value: &serde_json::Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, value.to_string()).into_response()
}
