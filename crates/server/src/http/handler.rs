//! Types and helpers that all handlers share.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use tonnage::{Error, Result};

use crate::auth::Caller;
use crate::config::parse_time;
use crate::context::ServerContext;
use crate::error::Problem;
use crate::json_error::json_error;

pub(super) type ContextState = State<Arc<ServerContext>>;
pub(super) type CallerExtension = Extension<Caller>;
pub(super) type HandlerResult<T> = std::result::Result<T, Problem>;

/// Reads JSON, or says what is wrong with it.
pub(super) fn parse_json<T: serde::de::DeserializeOwned>(body: &str) -> Result<T> {
    serde_json::from_str(body).map_err(invalid_body)
}

/// What is said of a body that is not what it should be.
pub(super) fn invalid_body(error: serde_json::Error) -> Error {
    Error::invalid(format!("the body is not as docs/http.md says: {}", json_error(&error)))
}

/// Reads a time to live. The store takes 0 for ever, which is not what a client means by it.
pub(super) fn parse_ttl(name: &str, text: &str) -> Result<Duration> {
    match parse_time(text) {
        Some(Duration::ZERO) => Err(Error::invalid(format!(
            "{name} is `{text}`: give a time of more than 0, or leave it out"
        ))),
        Some(ttl) => Ok(ttl),
        None => Err(Error::invalid(format!("{name} is `{text}`: give a time, such as 30s or 7d"))),
    }
}

/// JSON as a response: a tree, or its text.
pub(super) fn json(value: &impl Display) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, value.to_string()).into_response()
}

/// Says that nothing is at a path.
pub(super) async fn not_found(request: Request) -> Problem {
    let path = request.uri().path();
    Error::not_found(format!("nothing is at {path}: /v1/openapi.json tells what there is")).into()
}
