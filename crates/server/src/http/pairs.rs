//! Single key/value pairs: the body is the value, the last segment of the path the key.

use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tonnage::{Error, Key, Result, WriteOptions, WriteResult};

use super::rows::{Expected, condition_failed, tag};
use super::shared::{Answer, Calling, Shared};
use crate::auth::Right;
use crate::config::parse_time;

/// How long a pair lives.
const TTL_HEADER: &str = "tonnage-ttl";
/// When a pair expires, in milliseconds since 1970.
const EXPIRES_HEADER: &str = "tonnage-expires-at-ms";

fn ttl(headers: &HeaderMap) -> Result<Option<Duration>> {
    let Some(value) = headers.get(TTL_HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    parse_time(text).map(Some).ok_or_else(|| {
        Error::invalid(format!("{TTL_HEADER} is `{text}`: give a time, such as 30s or 7d"))
    })
}

/// Reads a pair.
pub(super) async fn get(
    State(context): Shared,
    Extension(caller): Calling,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Answer<Response> {
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
    State(context): Shared,
    Extension(caller): Calling,
    Path(key): Path<String>,
    headers: HeaderMap,
    value: Bytes,
) -> Answer<Response> {
    let expected = Expected::of(&headers)?;
    for right in expected.rights() {
        caller.check_pair(*right, key.as_bytes())?;
    }
    let options = WriteOptions { ttl: ttl(&headers)?, ..WriteOptions::default() };
    let written = context.blocking(move |context| {
        let (kv, key) = (context.store.kv(), Key::of_major([key]));
        match expected {
            Expected::Anything => {
                kv.put(&key, &value, &options).map(|version| WriteResult::Stored { version })
            }
            Expected::Nothing => kv.put_if_absent(&key, &value, &options),
            Expected::Something => kv.put_if_present(&key, &value, &options),
            Expected::Version(version) => kv.put_if_version(&key, &value, version, &options),
        }
    });
    match written.await?.version() {
        Some(version) => {
            Ok((StatusCode::NO_CONTENT, [(header::ETAG, tag(version))]).into_response())
        }
        None => Err(condition_failed()),
    }
}

/// Deletes a pair.
pub(super) async fn delete(
    State(context): Shared,
    Extension(caller): Calling,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Answer<StatusCode> {
    let expected = Expected::of(&headers)?;
    caller.check_pair(Right::Delete, key.as_bytes())?;
    let deleted = context.blocking(move |context| {
        let (kv, key) = (context.store.kv(), Key::of_major([key]));
        let options = WriteOptions::default();
        match expected {
            Expected::Version(version) => {
                kv.delete_if_version(&key, version, &options).map(WriteResult::is_stored)
            }
            Expected::Anything | Expected::Something => kv.delete(&key, &options),
            Expected::Nothing => Err(Error::invalid("If-None-Match is for puts")),
        }
    });
    match (deleted.await?, expected) {
        (true, _) => Ok(StatusCode::NO_CONTENT),
        (false, Expected::Anything) => Err(Error::not_found("no such pair").into()),
        (false, _) => Err(condition_failed()),
    }
}
