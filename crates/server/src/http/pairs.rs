//! Single key/value pairs: the body is the value, the last segment of the path the key.

use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tonnage::{Error, Key, Result, WriteOptions};

use super::handler::{CallerExtension, ContextState, HandlerResult, parse_ttl};
use super::rows::{condition_of_delete, condition_of_put, delete_answer, put_answer, tag};
use crate::auth::Right;

/// How long a pair lives.
const TTL_HEADER: &str = "tonnage-ttl";
/// When a pair expires, in milliseconds since 1970.
const EXPIRES_HEADER: &str = "tonnage-expires-at-ms";

fn ttl(headers: &HeaderMap) -> Result<Option<Duration>> {
    let Some(value) = headers.get(TTL_HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    parse_ttl(TTL_HEADER, text).map(Some)
}

/// Reads a pair.
pub(super) async fn get(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> HandlerResult<Response> {
    caller.check_pair(Right::Read, key.as_bytes())?;
    let found = context.blocking(move |context| context.store.kv().get(&Key::of_major([key])));
    let pair = found.await?.ok_or_else(|| Error::not_found("no such pair"))?;
    let tag = tag(pair.version);
    if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let kind = HeaderValue::from_static("application/octet-stream");
    let mut response =
        ([(header::CONTENT_TYPE, kind), (header::ETAG, tag)], pair.value).into_response();
    if pair.expires_at_ms != 0 {
        response.headers_mut().insert(EXPIRES_HEADER, pair.expires_at_ms.into());
    }
    Ok(response)
}

/// Writes a pair.
pub(super) async fn put(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(key): Path<String>,
    headers: HeaderMap,
    value: Bytes,
) -> HandlerResult<Response> {
    let condition = condition_of_put(&headers)?;
    for right in Right::of_put(condition) {
        caller.check_pair(*right, key.as_bytes())?;
    }
    let ttl = ttl(&headers)?;
    let written = context.blocking(move |context| {
        let options = WriteOptions { ttl, ..context.write_options() };
        context.store.kv().put_if(&Key::of_major([key]), &value, condition, &options)
    });
    put_answer(written.await?)
}

/// Deletes a pair.
pub(super) async fn delete(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> HandlerResult<StatusCode> {
    let condition = condition_of_delete(&headers)?;
    caller.check_pair(Right::Delete, key.as_bytes())?;
    let deleted = context.blocking(move |context| {
        context.store.kv().delete_if(&Key::of_major([key]), condition, &context.write_options())
    });
    delete_answer(deleted.await?, &headers, "no such pair")
}
