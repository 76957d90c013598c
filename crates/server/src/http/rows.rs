//! Single rows. The ETag of a row is its version. Conditions of HTTP are those of the store:
//! `If-None-Match: *` puts a row only if there is none, `If-Match` only if it has that version.
//!
//! Rights are checked before a table is looked for: whether it exists is not everybody's to know.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use tonnage::internal::json_text;
use tonnage::{Condition, Error, Result, Row, Table, Value, WriteResult};

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use super::multi_table::row_of;
use crate::auth::Right;
use crate::error::Problem;
use crate::json_value::unrounded;

/// Reads the conditions of a put.
///
/// # Errors
/// `Invalid` for an ETag that no row has, or both headers.
pub(super) fn condition_of_put(headers: &HeaderMap) -> Result<Condition> {
    let text = |name| {
        headers.get(name).map(|value: &HeaderValue| {
            value.to_str().map(str::trim).map_err(|_| Error::invalid("an ETag is not text"))
        })
    };
    let wanted = text(header::IF_MATCH).transpose()?;
    let unwanted = text(header::IF_NONE_MATCH).transpose()?;
    match (wanted, unwanted) {
        (None, None) => Ok(Condition::Always),
        (Some("*"), None) => Ok(Condition::IfPresent),
        (Some(tag), None) => parse_tag(tag).map(Condition::IfVersion),
        (None, Some("*")) => Ok(Condition::IfAbsent),
        _ => Err(Error::invalid("give If-Match, or If-None-Match: *")),
    }
}

/// Reads the conditions of a deletion: without any there must be something to delete.
///
/// # Errors
/// As [`condition_of_put`].
pub(super) fn condition_of_delete(headers: &HeaderMap) -> Result<Condition> {
    match condition_of_put(headers)? {
        Condition::Always => Ok(Condition::IfPresent),
        Condition::IfAbsent => Err(Error::invalid("If-None-Match is for puts")),
        condition => Ok(condition),
    }
}

/// What a client hears of a put.
pub(super) fn put_answer(written: WriteResult) -> HandlerResult<Response> {
    match written.version() {
        Some(version) => {
            Ok((StatusCode::NO_CONTENT, [(header::ETAG, tag(version))]).into_response())
        }
        None => Err(condition_failed()),
    }
}

/// What a client hears of a deletion. Without a condition of its own nothing was found.
pub(super) fn delete_answer(
    written: WriteResult,
    headers: &HeaderMap,
    missing: &str,
) -> HandlerResult<StatusCode> {
    match (written.is_stored(), headers.contains_key(header::IF_MATCH)) {
        (true, _) => Ok(StatusCode::NO_CONTENT),
        (false, false) => Err(Error::not_found(missing).into()),
        (false, true) => Err(condition_failed()),
    }
}

fn parse_tag(tag: &str) -> Result<u64> {
    let version = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    version.and_then(|version| version.parse().ok()).ok_or_else(|| {
        Error::invalid(format!("`{tag}` is not an ETag of a row: give the one that a GET returned"))
    })
}

/// A version as an ETag.
pub(super) fn tag(version: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{version}\"")).unwrap_or(HeaderValue::from_static("\"0\""))
}

/// A condition that did not hold.
fn condition_failed() -> Problem {
    let error = Error::conflict("the condition does not hold: read again");
    Problem::new(StatusCode::PRECONDITION_FAILED, error)
}

/// The key of a row: `?column=value` for each column of the key.
fn key_of(table: &Table, given: &[(String, String)]) -> Result<Row> {
    let schema = table.schema();
    let mut key = Row::new();
    for (name, text) in given {
        let index = schema.require_column(name)?;
        if !schema.is_key(index) {
            return Err(Error::invalid(format!("`{name}` is not a column of the key")));
        }
        let column = &schema.columns[index];
        if key.get(&column.name).is_some() {
            return Err(Error::invalid(format!("`{name}` appears twice in the query")));
        }
        let held = Value::parse(text, column.column_type).map_err(|error| error.at(name))?;
        key.set(&column.name, unrounded(Value::String(text.clone()), held));
    }
    Ok(key)
}

/// Reads a row.
pub(super) async fn get(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    Query(key): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> HandlerResult<Response> {
    let row = context.blocking(move |context| {
        caller.check_table(Right::Read, &path)?;
        let table = context.store.table(&path)?;
        let key = key_of(&table, &key)?;
        table.get(&key)?.ok_or_else(|| Error::not_found(format!("no such row in {path}")))
    });
    let row = row.await?;
    let tag = tag(row.version);
    if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let members = row.row.iter();
    let members =
        members.map(|(name, value)| format!("{}:{}", Json::from(name), value.to_json_text()));
    let mut response = json_body(&format!("{{{}}}", members.collect::<Vec<_>>().join(",")));
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

/// Writes a row; the body is a JSON object of its columns, those of the key may stand in the query.
pub(super) async fn put(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    Query(key): Query<Vec<(String, String)>>,
    headers: HeaderMap,
    body: String,
) -> HandlerResult<Response> {
    let condition = condition_of_put(&headers)?;
    let written = context.blocking(move |context| {
        for right in Right::of_put(condition) {
            caller.check_table(*right, &path)?;
        }
        let table = context.store.table(&path)?;
        let mut row = key_of(&table, &key)?;
        for (name, value) in row_of(members_of(&body)?, table.schema())?.iter() {
            refuse_another_key(&row, name, value)?;
            row.set(name, value.clone());
        }
        table.put_if(&row, condition, &context.write_options())
    });
    put_answer(written.await?)
}

/// Changes some columns of a row; the others stay as they are, and so does its expiry.
pub(super) async fn patch(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    Query(key): Query<Vec<(String, String)>>,
    headers: HeaderMap,
    body: String,
) -> HandlerResult<Response> {
    let condition = condition_of_put(&headers)?;
    if condition == Condition::IfAbsent {
        return Err(
            Error::invalid("PATCH changes a row that is there: leave out If-None-Match").into()
        );
    }
    // A row that is missing is an answer of its own below.
    let condition = match condition {
        Condition::Always => Condition::IfPresent,
        condition => condition,
    };
    let written = context.blocking(move |context| {
        caller.check_table(Right::Update, &path)?;
        let table = context.store.table(&path)?;
        // The key of the query and the columns of the body are one row of changes.
        let mut row = key_of(&table, &key)?;
        let changes = row_of(members_of(&body)?, table.schema())?;
        refuse_key(&table, &changes)?;
        changes.iter().for_each(|(name, value)| row.set(name, value.clone()));
        match table.update_if(&row, condition, &context.write_options())? {
            WriteResult::ConditionFailed { current: None, .. } => {
                Err(Error::not_found(format!("no such row in {path}")))
            }
            written => Ok(written),
        }
    });
    put_answer(written.await?)
}

/// What the query names is what is written.
fn refuse_another_key(key: &Row, name: &str, value: &Value) -> Result<()> {
    match key.get(name) {
        Some(wanted) if wanted != value => Err(Error::invalid(format!(
            "`{name}` is {wanted} in the query and {value} in the body: give one of them"
        ))),
        _ => Ok(()),
    }
}

/// The key is in the query.
fn refuse_key(table: &Table, changes: &Row) -> Result<()> {
    match table.schema().key_columns().find(|column| changes.get(&column.name).is_some()) {
        None => Ok(()),
        Some(column) => Err(Error::invalid(format!(
            "`{}` is of the key, which is in the query: leave it out of the body",
            column.name
        ))),
    }
}

fn members_of(body: &str) -> Result<Vec<(String, &str)>> {
    let is_object = serde_json::from_str::<HashMap<String, IgnoredAny>>(body);
    is_object.map_err(|error| Error::invalid(format!("the body is not a JSON object: {error}")))?;
    json_text::all_members(body)
}

/// Deletes a row.
pub(super) async fn delete(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    Query(key): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> HandlerResult<StatusCode> {
    let condition = condition_of_delete(&headers)?;
    let deleted = context.blocking(move |context| {
        caller.check_table(Right::Delete, &path)?;
        let table = context.store.table(&path)?;
        let key = key_of(&table, &key)?;
        table.delete_if(&key, condition, &context.write_options())
    });
    delete_answer(deleted.await?, &headers, "no such row")
}
