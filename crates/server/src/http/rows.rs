//! Single rows. The version of a row is its ETag, and the conditions of HTTP are those of the
//! store: `If-None-Match: *` puts a row where there is none, `If-Match` one of that version.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value as Json};
use tonnage::{Error, ErrorKind, Result, Row, Table, Value, WriteOptions, WriteResult};

use super::shared::{Answer, Calling, Shared, json as json_body};
use crate::auth::Right;
use crate::error::Problem;
use crate::json_value::value_of;

/// What a write is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Anything,
    Nothing,
    Something,
    Version(u64),
}

impl Expected {
    /// Reads the conditions of a request.
    ///
    /// # Errors
    /// `Invalid` for an ETag that no row has, or both headers.
    pub(super) fn of(headers: &HeaderMap) -> Result<Expected> {
        let text = |name| {
            headers.get(name).map(|value: &HeaderValue| {
                value.to_str().map(str::trim).map_err(|_| Error::invalid("an ETag is no text"))
            })
        };
        let wanted = text(header::IF_MATCH).transpose()?;
        let unwanted = text(header::IF_NONE_MATCH).transpose()?;
        match (wanted, unwanted) {
            (None, None) => Ok(Expected::Anything),
            (Some("*"), None) => Ok(Expected::Something),
            (Some(tag), None) => parse_tag(tag).map(Expected::Version),
            (None, Some("*")) => Ok(Expected::Nothing),
            _ => Err(Error::invalid("give If-Match, or If-None-Match: *")),
        }
    }
}

impl Expected {
    /// What a put under this condition does.
    pub(super) fn rights(self) -> &'static [Right] {
        match self {
            Expected::Anything => &[Right::Insert, Right::Update],
            Expected::Nothing => &[Right::Insert],
            Expected::Something | Expected::Version(_) => &[Right::Update],
        }
    }
}

fn parse_tag(tag: &str) -> Result<u64> {
    let version = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    version.and_then(|version| version.parse().ok()).ok_or_else(|| {
        Error::invalid(format!("`{tag}` is no ETag of a row: give the one that a GET told"))
    })
}

/// A version as an ETag.
pub(super) fn tag(version: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{version}\"")).unwrap_or(HeaderValue::from_static("\"0\""))
}

/// A condition that did not hold.
pub(super) fn condition_failed() -> Problem {
    let error = Error::conflict("the condition does not hold: read again");
    Problem::new(StatusCode::PRECONDITION_FAILED, error)
}

/// The key of a row: `?column=value` for each column of the key.
fn key_of(table: &Table, given: &HashMap<String, String>) -> Result<Row> {
    let schema = table.schema();
    let mut key = Row::new();
    for (name, text) in given {
        let index = schema.require_column(name)?;
        if !schema.is_key(index) {
            return Err(Error::invalid(format!("`{name}` is no column of the key")));
        }
        let column = &schema.columns[index];
        let value = Value::parse(text, column.column_type).map_err(|error| error.at(name))?;
        key.set(&column.name, value);
    }
    Ok(key)
}

/// Reads a row.
pub(super) async fn get(
    State(context): Shared,
    Extension(caller): Calling,
    Path(path): Path<String>,
    Query(key): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Answer<Response> {
    let row = context.blocking(move |context| {
        let table = context.store.table(&path)?;
        caller.check_table(Right::Read, table.path())?;
        let key = key_of(&table, &key)?;
        table.get(&key)?.ok_or_else(|| Error::not_found(format!("no such row in {path}")))
    });
    let row = row.await?;
    let tag = tag(row.version);
    if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let members: Map<String, Json> =
        row.row.iter().map(|(name, value)| (name.to_owned(), value.to_json())).collect();
    let mut response = json_body(&Json::Object(members));
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

/// Writes a row; the body is a JSON object of its columns, those of the key may stand in the query.
pub(super) async fn put(
    State(context): Shared,
    Extension(caller): Calling,
    Path(path): Path<String>,
    Query(key): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: String,
) -> Answer<Response> {
    let expected = Expected::of(&headers)?;
    let written = context.blocking(move |context| {
        let table = context.store.table(&path)?;
        for right in expected.rights() {
            caller.check_table(*right, table.path())?;
        }
        let mut row = key_of(&table, &key)?;
        let members: Map<String, Json> = serde_json::from_str(&body)
            .map_err(|error| Error::invalid(format!("the body is no JSON object: {error}")))?;
        for (name, value) in members {
            let column = &table.schema().columns[table.schema().require_column(&name)?];
            row.set(&column.name, value_of(&value, column)?);
        }
        let options = WriteOptions::default();
        match expected {
            Expected::Anything => {
                table.put(&row, &options).map(|version| WriteResult::Stored { version })
            }
            Expected::Nothing => table.put_if_absent(&row, &options),
            Expected::Something => table.put_if_present(&row, &options),
            Expected::Version(version) => table.put_if_version(&row, version, &options),
        }
    });
    match written.await?.version() {
        Some(version) => {
            Ok((StatusCode::NO_CONTENT, [(header::ETAG, tag(version))]).into_response())
        }
        None => Err(condition_failed()),
    }
}

/// Deletes a row.
pub(super) async fn delete(
    State(context): Shared,
    Extension(caller): Calling,
    Path(path): Path<String>,
    Query(key): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Answer<StatusCode> {
    let expected = Expected::of(&headers)?;
    let deleted = context.blocking(move |context| {
        let table = context.store.table(&path)?;
        caller.check_table(Right::Delete, table.path())?;
        let key = key_of(&table, &key)?;
        let options = WriteOptions::default();
        match expected {
            Expected::Version(version) => {
                table.delete_if_version(&key, version, &options).map(WriteResult::is_stored)
            }
            Expected::Anything | Expected::Something => table.delete(&key, &options),
            Expected::Nothing => Err(Error::new(ErrorKind::Invalid, "If-None-Match is for puts")),
        }
    });
    match (deleted.await?, expected) {
        (true, _) => Ok(StatusCode::NO_CONTENT),
        (false, Expected::Anything) => Err(Error::not_found("no such row").into()),
        (false, _) => Err(condition_failed()),
    }
}
