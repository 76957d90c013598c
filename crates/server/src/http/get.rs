//! Bulk get over HTTP: keys or regions in the body, rows out in the format that `Accept` asks for.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value as Json};
use tonnage::{BulkKey, Error, KeySource, Result, TableSchema, Value};

use super::answer::write_rows;
use super::handler::{CallerExtension, ContextState, HandlerResult, invalid_body, parse_json};
use super::rows_format::RowsFormat;
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::flight::{BulkGetCommand, TableRead, WithinCall, WithinCommand};
use crate::json_value::key_value_of;
use crate::unique_members::UniqueMembers;

/// Reads the rows of keys, or those of regions.
pub(super) async fn get(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    headers: HeaderMap,
    body: String,
) -> HandlerResult<Response> {
    let format = RowsFormat::of_accept(&headers)?;
    let UniqueMembers(members) = parse_json(&body)?;
    if members.contains_key("within") {
        return within(&context, &caller, members, path, format).await;
    }
    let (keys, command) = command_of(members, &path)?;
    command.check(&caller)?;
    let response = context.blocking_with_answer(move |context, answer| {
        let read = TableRead::new(&context.store, &path, &command)?;
        let schema = read.schema().clone();
        check_format(format, &command)?;
        let rows = read.rows(keys_of(keys, read.table_schema())?)?;
        write_rows(context, answer, format, &schema, rows, None)
    });
    Ok(response.await?)
}

/// The rows of regions: the members of such a call over Flight.
async fn within(
    context: &Arc<ServerContext>,
    caller: &Caller,
    mut members: Map<String, Json>,
    path: String,
    format: RowsFormat,
) -> HandlerResult<Response> {
    if members.contains_key("keys") || members.contains_key("table") {
        let wrong = "the path names the table, and `within` is in the place of `keys`: leave out `table` and `keys`";
        return Err(Error::invalid(wrong).into());
    }
    members.insert("table".to_owned(), path.into());
    let command: WithinCommand =
        serde_json::from_value(Json::Object(members)).map_err(invalid_body)?;
    command.check(caller)?;
    let response = context.blocking_with_answer(move |context, answer| {
        let call = WithinCall::new(context, &command)?;
        let schema = call.schema().clone();
        write_rows(context, answer, format, &schema, call.rows(), None)
    });
    Ok(response.await?)
}

/// The keys, and what is asked of them, out of the members of a request.
pub(super) fn command_of(
    mut members: Map<String, Json>,
    path: &str,
) -> Result<(Vec<Json>, BulkGetCommand)> {
    let keys = match members.remove("keys") {
        Some(Json::Array(keys)) => keys,
        _ => return Err(Error::invalid("the body has no list `keys`")),
    };
    if members.contains_key("table") || members.contains_key("pairs") {
        return Err(Error::invalid("the path names the table: leave out `table` and `pairs`"));
    }
    members.insert("table".to_owned(), path.into());
    let command = serde_json::from_value(Json::Object(members)).map_err(invalid_body)?;
    Ok((keys, command))
}

/// Refuses a format that holds no structs for rows of several tables, which come as such.
fn check_format(format: RowsFormat, command: &BulkGetCommand) -> Result<()> {
    match format {
        RowsFormat::Csv if !command.relatives.is_empty() => Err(Error::invalid(
            "CSV holds rows of one table, but `relatives` asks for several: accept another format",
        )),
        _ => Ok(()),
    }
}

/// Keys as lists of the values of leading key columns, or as objects that name these.
pub(super) fn keys_of(keys: Vec<Json>, table: &TableSchema) -> Result<KeySource> {
    let keys = keys.iter().enumerate().map(|(number, key)| {
        key_of(key, table).map(BulkKey::Values).map_err(|error| error.at(format!("key {number}")))
    });
    Ok(KeySource::keys(keys.collect::<Result<Vec<_>>>()?))
}

fn key_of(key: &Json, table: &TableSchema) -> Result<Vec<Value>> {
    let columns: Vec<_> = table.key_columns().collect();
    // No key column holds a list or JSON, so these can only mean the columns of a key.
    match key {
        Json::Array(values) if values.len() <= columns.len() => {
            values.iter().zip(columns).map(|(value, column)| key_value_of(value, column)).collect()
        }
        Json::Array(values) => Err(Error::invalid(format!(
            "it has {} values, the key of {} has {}",
            values.len(),
            table.path,
            columns.len()
        ))),
        Json::Object(members) => {
            // Columns are taken from the first on: a gap or a strange name leaves members over.
            let given = columns.iter().map_while(|column| {
                let named = members.iter().find(|(name, _)| column.is_named(name));
                named.map(|(_, value)| key_value_of(value, column))
            });
            let values = given.collect::<Result<Vec<_>>>()?;
            match values.len() == members.len() {
                true => Ok(values),
                false => Err(Error::invalid(format!(
                    "{key}: give leading key columns of {}, and no others",
                    table.path
                ))),
            }
        }
        single => Ok(vec![key_value_of(single, columns.first().ok_or_else(no_key_columns)?)?]),
    }
}

fn no_key_columns() -> Error {
    Error::internal("a table without a key")
}
