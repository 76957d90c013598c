//! Rows of many tables in one call. Each request of a multi-get has an answer or a problem of its
//! own. A multi-put whose body has a fault stores nothing.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json, json};
use tonnage::internal::json_text;
use tonnage::{Error, KeySource, Result, Row, TableSchema};

use super::answer::{columns_json, row_text};
use super::get::{command_of, keys_of};
use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body, parse_json};
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::error::kind_label;
use crate::flight::{
    BulkPutCommand, DurabilityChoice, ExistingChoice, TableAnswer, TableRead, read_tables,
};
use crate::jobs::{counts_json, failures_json};
use crate::json_value::exact_value_of_text;
use crate::metrics::ListenerKind;
use crate::unique_members::UniqueMembers;

/// Rows that one answer of a multi-get may have in memory.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Requests that one call has.
const REQUESTS_MAX: usize = 10_000;

/// The rows of one table, and what is to be done with rows that exist.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MultiPutBody {
    on_existing: Option<ExistingChoice>,
    durability: Option<DurabilityChoice>,
    puts: Vec<TablePut>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TablePut {
    table: String,
    #[expect(dead_code, reason = "rows are taken from the text, which keeps digits")]
    rows: Vec<HashMap<String, IgnoredAny>>,
}

/// The members of a row, each as it is written.
pub(crate) type RowText<'a> = Vec<(String, &'a str)>;

/// The rows of each put as they are written: numbers in documents keep their digits.
fn rows_of(body: &str) -> Result<Vec<Vec<RowText<'_>>>> {
    let rows = list(body, "puts")?.into_iter().map(|put| {
        let rows = list(put, "rows")?;
        rows.into_iter().map(json_text::all_members).collect()
    });
    rows.collect()
}

/// The items of the list that an object has under a name.
fn list<'a>(object: &'a str, name: &str) -> Result<Vec<&'a str>> {
    let found = json_text::members(object)?.into_iter().find(|(known, _)| known == name);
    json_text::items(found.map_or("[]", |(_, list)| list))
}

fn check_count(requests: usize) -> Result<()> {
    if requests > REQUESTS_MAX {
        return Err(Error::invalid(format!("{requests} requests, {REQUESTS_MAX} are the most")));
    }
    Ok(())
}

/// Reads the rows of keys of many tables.
pub(super) async fn multi_get(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    body: String,
) -> HandlerResult<Response> {
    let requests: Vec<UniqueMembers> = parse_json(&body)?;
    check_count(requests.len())?;
    let answers = context.blocking(move |context| {
        let requests = requests.into_iter();
        let requests =
            requests.map(|UniqueMembers(request)| table_request(context, &caller, request));
        let answers = read_tables(context, requests.collect(), ANSWER_BYTES_MAX).into_iter();
        let answers = answers.map(|answer| {
            let told = answer.and_then(|answer| answer_text(context, &answer));
            told.unwrap_or_else(|error| problem(&error))
        });
        Ok(answers.collect::<Vec<_>>().join(","))
    });
    Ok(json_body(&format!("[{}]", answers.await?)))
}

/// What one of many answers says of an error.
pub(super) fn problem(error: &Error) -> String {
    json!({"problem": {"title": kind_label(error), "detail": error.message()}}).to_string()
}

/// What one request asks for, and its keys.
pub(crate) fn table_request(
    context: &ServerContext,
    caller: &Caller,
    mut request: Map<String, Json>,
) -> Result<(TableRead, KeySource)> {
    let Some(Json::String(path)) = request.remove("table") else {
        return Err(Error::invalid("the request has no text `table`"));
    };
    let (keys, command) = command_of(request, &path)?;
    // Before the table is looked for, so that a refusal does not tell whether it exists.
    command.check(caller)?;
    if !command.relatives.is_empty() {
        return Err(Error::unsupported(format!(
            "a multi-get gives rows of one table a request: ask for relatives at /v1/tables/{path}/get"
        )));
    }
    let read = TableRead::new(&context.store, &path, &command)?;
    let keys = keys_of(keys, read.table_schema())?;
    Ok((read, keys))
}

/// The answer to one request, as JSON.
fn answer_text(context: &ServerContext, answer: &TableAnswer) -> Result<String> {
    let mut rows = Vec::new();
    for batch in &answer.batches {
        context.metrics.rows_out(ListenerKind::http, batch.num_rows() as u64);
        for row in 0..batch.num_rows() {
            rows.push(row_text(batch, row)?);
        }
    }
    let columns = columns_json(&answer.schema);
    Ok(format!("{{\"columns\":{columns},\"rows\":[{}]}}", rows.join(",")))
}

/// Stores rows of many tables.
pub(super) async fn multi_put(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    body: String,
) -> HandlerResult<Response> {
    let MultiPutBody { on_existing, durability, puts } = parse_json(&body)?;
    check_count(puts.len())?;
    let answers = context.blocking(move |context| {
        let command = BulkPutCommand { on_existing, durability, ..BulkPutCommand::default() };
        let options = command.options()?;
        let mut requests = Vec::with_capacity(puts.len());
        for (number, (TablePut { table, .. }, rows)) in
            puts.into_iter().zip(rows_of(&body)?).enumerate()
        {
            let at = |error: Error| error.at(format!("put {number}"));
            // Rights come before the look: whether a table exists is not everybody's to know.
            caller.check_put(&table, options.on_existing)?;
            let table = context.store.table(&table).map_err(at)?;
            let rows = rows.into_iter().enumerate().map(|(row, members)| {
                row_of(members, table.schema()).map_err(|error| at(error.at(format!("row {row}"))))
            });
            requests.push((table.path().to_owned(), rows.collect::<Result<Vec<_>>>()?));
        }
        // All rows are read by now: a body with a fault in it stores nothing.
        let put = context.store.multi_put(requests, &options)?;
        context.metrics.rows_in(ListenerKind::http, put.report.total.read);
        let answers = put.report.streams.iter().map(|stream| {
            let mut answer = counts_json(&stream.counts);
            answer["failures"] = failures_json(&put, stream.stream);
            answer
        });
        Ok(Json::from(answers.collect::<Vec<_>>()))
    });
    Ok(json_body(&answers.await?))
}

/// A row out of its members, each as it is written. A repeated column would lose one of its values.
pub(crate) fn row_of(members: RowText<'_>, table: &TableSchema) -> Result<Row> {
    let mut row = Row::with_capacity(members.len());
    for (name, value) in members {
        let place = table.require_column(&name)?;
        let column = &table.columns[place];
        if row.get(&column.name).is_some() {
            return Err(Error::invalid(format!("column {} appears twice", column.name)));
        }
        // What the column would round stays as it was given, and the store rejects the row.
        row.set(&column.name, exact_value_of_text(value, column)?);
    }
    Ok(row)
}
