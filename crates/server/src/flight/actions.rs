//! Actions: calls with one request and a short answer.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow_flight::Action;
use serde::Deserialize;
use serde_json::json;
use tonnage::{Error, KeySource, Result, TableRows};
use tonnage_sql::Answer;

use super::backup;
use super::check;
use super::command::{BulkGetCommand, BulkPutCommand, parse};
use super::delete_pairs;
use super::frame;
use super::get;
use super::lob;
use super::multi_get::{TableAnswer, read_tables};
use super::outcome::{changes_json, outcome_json};
use super::sql::{plain_batch, plain_schema};
use super::statistics::statistics;
use super::table_read::TableRead;
use super::write;
use crate::auth::Caller;
use crate::budget::bytes_of;
use crate::context::ServerContext;
use crate::error::kind_label;
use crate::fetch_all::fetch_allowed;
use crate::jobs::{counts_json, failures_json};
use crate::live_statement::StatementOrigin;
use crate::metrics::ListenerKind;
use crate::query::{STATEMENTS_MAX, SqlQuery, texts_of};
use crate::random::random_name;

/// Largest body of an action.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Rows that the answers of a multi-get or of a fetch-all may have in memory.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// All actions, with what they do.
pub(crate) const ACTIONS: [(&str, &str); 18] = [
    ("tonnage.Define", "Carry out definitions: CREATE TABLE, DROP TABLE, ALTER TABLE, indexes"),
    ("tonnage.MultiPut", "Put rows of many tables"),
    ("tonnage.MultiGet", "Get rows of many tables by their keys"),
    ("tonnage.FetchAll", "Carry out many statements"),
    ("tonnage.Write", "Put and delete rows of one shard key, or a pair, under conditions"),
    ("tonnage.Get", "Get the row of a primary key, with its version"),
    ("tonnage.GetPair", "Get the pair of a key, with its version"),
    ("tonnage.DeletePairs", "Delete the pairs at and below a key"),
    ("tonnage.Jobs", "List the loads that run, and those that ended lately"),
    ("tonnage.CancelJob", "Cancel a load"),
    ("tonnage.Sync", "Make everything acknowledged durable"),
    ("tonnage.Statistics", "Tell the state of the store"),
    ("tonnage.DeleteLob", "Delete a large object"),
    ("tonnage.Check", "Read everything that is stored, and verify it"),
    ("tonnage.Backup", "Back the store up into a directory of the server"),
    ("tonnage.ListBackups", "List the backups of a directory"),
    ("tonnage.VerifyBackups", "Read the files of backups, and compare their checksums"),
    ("tonnage.PruneBackups", "Remove all backups of a directory but the latest"),
];

/// The actions on single rows and pairs.
const SINGLE: [&str; 3] = ["tonnage.Get", "tonnage.GetPair", "tonnage.Write"];

/// Whether the answers of an action are frames. Those of others are JSON.
pub(crate) fn answers_with_frames(action: &str) -> bool {
    matches!(action, "tonnage.MultiGet" | "tonnage.FetchAll" | "tonnage.Get" | "tonnage.GetPair")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobName {
    job: String,
}

/// Carries an action out. Each answer is the body of one result.
///
/// # Errors
/// `Unsupported` for an action that there is not; what is wrong with its body; what the store says.
pub(crate) async fn run(
    context: &Arc<ServerContext>,
    caller: &Caller,
    action: Action,
) -> Result<Vec<Vec<u8>>> {
    if action.body.len() > BODY_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the body has {} bytes, {BODY_BYTES_MAX} are the most: use a bulk call",
            action.body.len()
        )));
    }
    let body = action.body;
    let caller = caller.clone();
    // Each action is also in `ACTIONS`, which clients list, and in docs/flight.md.
    match action.r#type.as_str() {
        "tonnage.Define" => context.blocking(move |context| define(context, &caller, &body)).await,
        "tonnage.MultiPut" => {
            context.blocking(move |context| multi_put(context, &caller, &body)).await
        }
        "tonnage.MultiGet" => {
            context.blocking(move |context| multi_get(context, &caller, &body)).await
        }
        name if SINGLE.contains(&name) => {
            let name = name.to_owned();
            context.blocking(move |context| run_single(context, &caller, &name, &body)).await
        }
        "tonnage.DeletePairs" => {
            context.blocking(move |context| delete_pairs::delete(context, &caller, &body)).await
        }
        "tonnage.FetchAll" => fetch_all(context, caller, &body).await,
        "tonnage.Sync" => {
            caller.check_operator("sync")?;
            context.blocking(|context| context.store.sync()).await?;
            Ok(Vec::new())
        }
        "tonnage.Statistics" => {
            caller.check_operator("read statistics of")?;
            context.blocking(statistics).await
        }
        "tonnage.DeleteLob" => {
            context.blocking(move |context| lob::delete(context, &caller, &body)).await
        }
        // A check or a backup may take hours: it ends with its client, and when the server stops.
        "tonnage.Check" => check::check(context, &caller, &body).await,
        "tonnage.Backup" => backup::make(context, &caller, &body).await,
        "tonnage.ListBackups" => backup::list(context, &caller, &body).await,
        "tonnage.VerifyBackups" => backup::verify(context, &caller, &body).await,
        "tonnage.PruneBackups" => backup::prune(context, &caller, &body).await,
        "tonnage.Jobs" => {
            let jobs = context.jobs.list(&caller.job_scope());
            Ok(jobs.iter().map(|job| job.to_string().into_bytes()).collect())
        }
        "tonnage.CancelJob" => {
            let JobName { job } = parse("the action's body", &body)?;
            let scope = caller.job_scope();
            context.jobs.of_id(&job, &scope)?;
            caller.note("cancel", &format!("job {job}"))?;
            context.jobs.cancel(&job, &scope)?;
            Ok(Vec::new())
        }
        other => Err(Error::unsupported(format!(
            "there is no action `{other}`: ListActions tells which there are"
        ))),
    }
}

/// Carries out an action on a single row or pair.
///
/// # Errors
/// As [`run`]; `Unsupported` for an action on more.
pub(super) fn run_single(
    context: &ServerContext,
    caller: &Caller,
    action: &str,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    match action {
        "tonnage.Get" => get::get(context, caller, body),
        "tonnage.GetPair" => get::get_pair(context, caller, body),
        "tonnage.Write" => write::write(context, caller, body),
        other => Err(Error::unsupported(format!(
            "`{other}` does not go with other calls over one stream: it takes {}; use DoAction",
            SINGLE.join(", ")
        ))),
    }
}

fn define(context: &ServerContext, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Error::invalid(format!("definitions are UTF-8: {error}")))?;
    caller.check_definitions(&context.sql, text)?;
    let outcomes = context.store.execute(text)?;
    Ok(outcomes.iter().map(|outcome| outcome_json(outcome).to_string().into_bytes()).collect())
}

/// The header of the first frame of a multi-put: what holds for all of them.
fn multi_put(context: &ServerContext, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut requests = Vec::new();
    let mut options = None;
    for frame in frame::read(body)? {
        let at = |error: Error| error.at(format!("frame {}", requests.len()));
        let command: BulkPutCommand = parse("its header", &frame.header).map_err(at)?;
        let table = command.table.clone();
        let table = table.ok_or_else(|| at(Error::invalid("its header names no table")))?;
        let put = options.get_or_insert(command.options().map_err(at)?);
        caller.check_put(&table, put.on_existing)?;
        requests.push((table, TableRows::Batches(frame.batches)));
    }
    let put = context.store.multi_put(requests, &options.unwrap_or_default())?;
    context.metrics.rows_in(ListenerKind::flight, put.report.total.read);
    let answers = put.report.streams.iter().map(|stream| {
        let answer = json!({
            "index": stream.stream,
            "ok": counts_json(&stream.counts),
            "failures": failures_json(&put, stream.stream),
        });
        answer.to_string().into_bytes()
    });
    Ok(answers.collect())
}

fn multi_get(context: &ServerContext, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let requests = frame::read(body)?.into_iter();
    let requests = requests.map(|request| table_request(context, caller, request)).collect();
    let answers = read_tables(context, requests, ANSWER_BYTES_MAX).into_iter().enumerate();
    let frames = answers.map(|(index, answer)| {
        let header = json!({"index": index, "ok": {}}).to_string();
        let told = answer.and_then(|TableAnswer { schema, mut batches }| {
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            context.metrics.rows_out(ListenerKind::flight, rows as u64);
            if batches.is_empty() {
                // Without a batch the frame would have no schema, and the answer no columns.
                batches.push(RecordBatch::new_empty(schema));
            }
            frame::write(header.as_bytes(), &batches)
        });
        told.or_else(|error| frame::write(error_header(index, &error).to_string().as_bytes(), &[]))
    });
    frames.collect()
}

/// What one request of a multi-get asks for, and its keys.
fn table_request(
    context: &ServerContext,
    caller: &Caller,
    request: frame::RequestFrame,
) -> Result<(TableRead, KeySource)> {
    let command: BulkGetCommand = parse("its header", &request.header)?;
    command.check(caller)?;
    let path = command.table.as_deref();
    let path = path.ok_or_else(|| Error::invalid("its header names no table"))?;
    let read = TableRead::new(&context.store, path, &command)?;
    Ok((read, KeySource::from(request.batches)))
}

/// Statements in, a frame with its rows or its error out for each.
async fn fetch_all(
    context: &Arc<ServerContext>,
    caller: Caller,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let body =
        std::str::from_utf8(body).map_err(|_| Error::invalid("the action's body is not UTF-8"))?;
    let queries = SqlQuery::parse_all(body)?;
    if queries.len() > STATEMENTS_MAX {
        let count = queries.len();
        return Err(Error::invalid(format!("{count} statements, {STATEMENTS_MAX} are the most")));
    }
    // Dropped with the call where the client disconnects.
    let origin = StatementOrigin::new(caller.user(), &texts_of(&queries));
    let running = context.statements.start(random_name()?, origin);
    let cancel = running.cancel().clone();
    let answers = context.blocking(move |context| {
        let answers = fetch_allowed(context, &caller, &queries, &cancel)?.into_iter().enumerate();
        let mut bytes = 0;
        answers.map(|(index, answer)| answer_frame(context, index, answer, &mut bytes)).collect()
    });
    let answers = answers.await;
    drop(running);
    answers
}

/// The frame of one answer; `bytes` counts what all of them hold.
fn answer_frame(
    context: &ServerContext,
    index: usize,
    answer: Result<Answer>,
    bytes: &mut usize,
) -> Result<Vec<u8>> {
    let told = answer.and_then(|answer| match answer {
        Answer::Rows(rows) => {
            let schema = plain_schema(rows.schema());
            let batches = rows.map(|batch| {
                let batch = plain_batch(batch?, &schema)?;
                // All answers wait in memory for the last one, so they share one limit.
                *bytes += bytes_of(&batch);
                match *bytes > ANSWER_BYTES_MAX {
                    true => Err(Error::exhausted(format!(
                        "the answers have more than {ANSWER_BYTES_MAX} bytes: ask for less at once, \
                         or for one statement alone"
                    ))),
                    false => Ok(batch),
                }
            });
            let mut batches = batches.collect::<Result<Vec<_>>>()?;
            if batches.is_empty() {
                // Without a batch the frame would have no schema, and the answer no columns.
                batches.push(RecordBatch::new_empty(schema));
            }
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            context.metrics.rows_out(ListenerKind::flight, rows as u64);
            frame::write(json!({"index": index, "ok": {}}).to_string().as_bytes(), &batches)
        }
        Answer::Changed(changes) => {
            let mut ok = changes_json(&changes);
            ok["changed"] = json!(changes.total());
            let header = json!({"index": index, "ok": ok});
            frame::write(header.to_string().as_bytes(), &[])
        }
        Answer::Done(outcome) => {
            let header = json!({"index": index, "ok": outcome_json(&outcome)});
            frame::write(header.to_string().as_bytes(), &[])
        }
    });
    // One statement's error is its own answer: those of the others stay.
    told.or_else(|error| frame::write(error_header(index, &error).to_string().as_bytes(), &[]))
}

fn error_header(index: usize, error: &Error) -> serde_json::Value {
    json!({"index": index, "error": {"kind": kind_label(error), "message": error.message()}})
}
