//! Single key/value pairs: the body is the value. The key is the last segment of the path, or `key`
//! in the query, where it may have several components.

use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tonnage::{Error, Key, Result, WriteOptions};

use super::handler::{CallerExtension, ContextState, HandlerResult, parse_ttl};
use super::rows::{condition_of_delete, condition_of_put, delete_answer, put_answer, tag};
use crate::auth::{Caller, Right};

/// How long a pair lives.
const TTL_HEADER: &str = "tonnage-ttl";
/// When a pair expires, in milliseconds since 1970.
const EXPIRES_HEADER: &str = "tonnage-expires-at-ms";

fn ttl(headers: &HeaderMap) -> Result<Option<Duration>> {
    let Some(value) = headers.get(TTL_HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    parse_ttl(TTL_HEADER, text).map(Some)
}

/// A key of one component or more, as `/a/b/-/c`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairQuery {
    key: String,
}

impl PairQuery {
    fn key(&self) -> Result<Key> {
        self.key.parse().map_err(|error: Error| error.at("key"))
    }
}

/// Reads a pair whose key is the last segment of the path.
pub(super) async fn get(
    context: ContextState,
    caller: CallerExtension,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> HandlerResult<Response> {
    read_pair(context, caller, Key::of_major([key]), &headers).await
}

/// Reads a pair whose key is in the query.
pub(super) async fn get_by_query(
    context: ContextState,
    caller: CallerExtension,
    Query(query): Query<PairQuery>,
    headers: HeaderMap,
) -> HandlerResult<Response> {
    read_pair(context, caller, query.key()?, &headers).await
}

async fn read_pair(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    key: Key,
    headers: &HeaderMap,
) -> HandlerResult<Response> {
    check(&caller, Right::Read, &key)?;
    let found = context.blocking(move |context| context.store.kv().get(&key));
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

/// Writes a pair whose key is the last segment of the path.
pub(super) async fn put(
    context: ContextState,
    caller: CallerExtension,
    Path(key): Path<String>,
    headers: HeaderMap,
    value: Bytes,
) -> HandlerResult<Response> {
    write_pair(context, caller, Key::of_major([key]), &headers, value).await
}

/// Writes a pair whose key is in the query.
pub(super) async fn put_by_query(
    context: ContextState,
    caller: CallerExtension,
    Query(query): Query<PairQuery>,
    headers: HeaderMap,
    value: Bytes,
) -> HandlerResult<Response> {
    write_pair(context, caller, query.key()?, &headers, value).await
}

async fn write_pair(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    key: Key,
    headers: &HeaderMap,
    value: Bytes,
) -> HandlerResult<Response> {
    let condition = condition_of_put(headers)?;
    for right in Right::of_put(condition) {
        check(&caller, *right, &key)?;
    }
    let ttl = ttl(headers)?;
    let written = context.blocking(move |context| {
        let options = WriteOptions { ttl, ..context.write_options() };
        context.store.kv().put_if(&key, &value, condition, &options)
    });
    put_answer(written.await?)
}

/// Deletes a pair whose key is the last segment of the path.
pub(super) async fn delete(
    context: ContextState,
    caller: CallerExtension,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> HandlerResult<StatusCode> {
    delete_pair(context, caller, Key::of_major([key]), &headers).await
}

/// Deletes a pair whose key is in the query.
pub(super) async fn delete_by_query(
    context: ContextState,
    caller: CallerExtension,
    Query(query): Query<PairQuery>,
    headers: HeaderMap,
) -> HandlerResult<StatusCode> {
    delete_pair(context, caller, query.key()?, &headers).await
}

async fn delete_pair(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    key: Key,
    headers: &HeaderMap,
) -> HandlerResult<StatusCode> {
    let condition = condition_of_delete(headers)?;
    check(&caller, Right::Delete, &key)?;
    let deleted = context.blocking(move |context| {
        context.store.kv().delete_if(&key, condition, &context.write_options())
    });
    delete_answer(deleted.await?, headers, "no such pair")
}

/// Grants on pairs are on the first component of their keys.
fn check(caller: &Caller, right: Right, key: &Key) -> Result<()> {
    caller.check_pair(right, key.major().first().map_or(&[][..], Vec::as_slice))
}
