//! SQL statements over HTTP.

use std::sync::Arc;

use arrow::array::RecordBatch;
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;
use tonnage::{Error, Result};
use tonnage_sql::{Answer, Changes, Request, Rows, Sql};

use super::answer::{columns_json, row_text, write_rows};
use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use super::multi_table::problem;
use super::rows_format::RowsFormat;
use crate::budget::bytes_of;
use crate::context::{AnswerSender, ServerContext};
use crate::fetch_all::fetch_allowed;
use crate::flight::{outcome_json, plain_batch, plain_schema};
use crate::live_statement::StatementOrigin;
use crate::metrics::ListenerKind;
use crate::query::{STATEMENTS_MAX, SqlQuery, texts_of};
use crate::random::random_name;
use crate::statements::RunningStatement;

/// Rows that the answers of a fetch-all may have in memory.
const ANSWERS_BYTES_MAX: usize = 64 << 20;

/// Carries out a statement.
pub(super) async fn sql(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    headers: HeaderMap,
    body: String,
) -> HandlerResult<Response> {
    let format = RowsFormat::of_accept(&headers)?;
    let query = SqlQuery::parse(&body)?;
    let origin = StatementOrigin::new(caller.user(), &query.sql);
    let running = context.statements.start(random_name()?, origin);
    let cancel = running.cancel().clone();
    let response = context.blocking_with_answer(move |context, answer| {
        refuse_several(&context.sql, &query.sql)?;
        caller.check_statement(&context.sql, &query.sql)?;
        match context.sql.execute(query.request()?.cancel(&cancel))? {
            Answer::Rows(rows) => write(context, rows, format, query.limit, answer),
            other => {
                answer.send(json_body(&done_json(&other)));
                Ok(())
            }
        }
    });
    let response = response.await.inspect_err(|error| running.note_failure(error));
    Ok(keep_running(response?, running))
}

/// Refuses several statements: an answer is that of one, and an error of another would be lost.
fn refuse_several(sql: &Sql, text: &str) -> Result<()> {
    let count = sql.script(Request::new(text))?.len();
    if count > 1 {
        return Err(Error::invalid(format!(
            "{count} statements in one request: give one, or give each as an item of a list to \
             POST /v1/fetch-all"
        )));
    }
    Ok(())
}

/// Keeps a statement running as long as its answer is read, and no longer.
fn keep_running(response: Response, running: RunningStatement) -> Response {
    // What is there as a whole needs no statement.
    if http_body::Body::size_hint(response.body()).exact().is_some() {
        return response;
    }
    let running = Arc::new(running);
    response.map(|body| {
        let body = http_body_util::BodyExt::map_frame(body, move |frame| {
            let _held = &running;
            frame
        });
        axum::body::Body::new(body)
    })
}

fn write(
    context: &Arc<ServerContext>,
    rows: Rows,
    format: RowsFormat,
    limit: Option<u64>,
    answer: &mut AnswerSender<Response>,
) -> Result<()> {
    let schema = plain_schema(rows.schema());
    let rows = rows.map(|batch| plain_batch(batch?, &schema));
    write_rows(context, answer, format, &schema, rows, limit)
}

fn done_json(answer: &Answer) -> serde_json::Value {
    match answer {
        Answer::Changed(changes) => changes_json(changes),
        Answer::Done(outcome) => outcome_json(outcome),
        Answer::Rows(_) => serde_json::Value::Null,
    }
}

/// How many rows were changed, and how.
pub(crate) fn changes_json(changes: &Changes) -> serde_json::Value {
    json!({
        "changed": changes.total(),
        "inserted": changes.inserted,
        "updated": changes.updated,
        "deleted": changes.deleted,
        "skipped": changes.skipped,
    })
}

/// Carries out many statements in one call: each has an answer or a problem of its own.
pub(super) async fn fetch_all(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    body: String,
) -> HandlerResult<Response> {
    let queries = SqlQuery::parse_all(&body)?;
    if queries.len() > STATEMENTS_MAX {
        return Err(Error::invalid(format!(
            "{} statements, {STATEMENTS_MAX} are the most",
            queries.len()
        ))
        .into());
    }
    let origin = StatementOrigin::new(caller.user(), &texts_of(&queries));
    let running = context.statements.start(random_name()?, origin);
    let cancel = running.cancel().clone();
    let answers = context.blocking(move |context| {
        let answers = fetch_allowed(context, &caller, &queries, &cancel)?;
        // The answer is one text in memory, so all of them share one limit.
        let mut bytes = 0;
        let answers = answers.into_iter().zip(&queries).map(|(answer, query)| {
            let told =
                answer.and_then(|answer| answer_json(context, answer, query.limit, &mut bytes));
            told.unwrap_or_else(|error| problem(&error))
        });
        Ok(answers.collect::<Vec<_>>().join(","))
    });
    // `running` cancels when it is dropped: with the answers there, or the client gone.
    let answers = answers.await?;
    drop(running);
    Ok(json_body(&format!("[{answers}]")))
}

/// The answer to one statement, as JSON; `bytes` counts what all of them hold.
fn answer_json(
    context: &ServerContext,
    answer: Answer,
    limit: Option<u64>,
    bytes: &mut usize,
) -> Result<String> {
    let rows = match answer {
        Answer::Rows(rows) => rows,
        other => return Ok(done_json(&other).to_string()),
    };
    let schema = rows.schema().clone();
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut told = Vec::new();
    let mut more = false;
    for batch in rows {
        let batch: RecordBatch = batch?;
        let taken = batch.slice(0, batch.num_rows().min(limit - told.len()));
        // What is sent is measured, not the whole batch, which may reach far beyond the limit.
        *bytes += bytes_of(&taken);
        if *bytes > ANSWERS_BYTES_MAX {
            return Err(Error::exhausted(format!(
                "the answers have more than {ANSWERS_BYTES_MAX} bytes: give a limit, ask for less \
                 at once, or at /v1/sql"
            )));
        }
        context.metrics.rows_out(ListenerKind::http, taken.num_rows() as u64);
        for row in 0..taken.num_rows() {
            told.push(row_text(&taken, row)?);
        }
        // Where the limit is the end of a batch, only the next one says whether there is more.
        more = taken.num_rows() < batch.num_rows();
        if more {
            break;
        }
    }
    let (columns, rows) = (columns_json(&schema), told.join(","));
    Ok(format!("{{\"columns\":{columns},\"rows\":[{rows}],\"more\":{more}}}"))
}
