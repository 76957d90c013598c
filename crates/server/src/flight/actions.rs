//! Actions: calls of one request that answer at once.

use std::sync::Arc;

use arrow_flight::Action;
use serde::Deserialize;
use serde_json::json;
use tonnage::{Error, KeySource, Outcome, Result, TableRows};

use super::command::{BulkGetCommand, BulkPutCommand, parse};
use super::frame;
use crate::context::Context;
use crate::metrics::Door;

/// Largest body of an action.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Rows that one answer of a multi-get may have in memory.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// All actions, with what they do.
pub(crate) const ACTIONS: [(&str, &str); 7] = [
    ("tonnage.Define", "Carry out definitions: CREATE TABLE, DROP TABLE, ALTER TABLE, indexes"),
    ("tonnage.MultiPut", "Put rows of many tables"),
    ("tonnage.MultiGet", "Get rows of many tables by their keys"),
    ("tonnage.Jobs", "List the loads that run, and those that ended lately"),
    ("tonnage.CancelJob", "Cancel a load"),
    ("tonnage.Sync", "Make everything acknowledged durable"),
    ("tonnage.Statistics", "Tell the state of the store"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobName {
    job: String,
}

/// Carries an action out. Each answer is the body of one result.
///
/// # Errors
/// `Unsupported` for an action that there is not; what is wrong with its body; what the store says.
pub(crate) async fn run(context: &Arc<Context>, action: Action) -> Result<Vec<Vec<u8>>> {
    if action.body.len() > BODY_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the body has {} bytes, {BODY_BYTES_MAX} are the most: use a bulk call",
            action.body.len()
        )));
    }
    let body = action.body;
    match action.r#type.as_str() {
        "tonnage.Define" => context.blocking(move |context| define(context, &body)).await,
        "tonnage.MultiPut" => context.blocking(move |context| multi_put(context, &body)).await,
        "tonnage.MultiGet" => context.blocking(move |context| multi_get(context, &body)).await,
        "tonnage.Sync" => {
            context.blocking(|context| context.store.sync()).await?;
            Ok(Vec::new())
        }
        "tonnage.Statistics" => context.blocking(statistics).await,
        "tonnage.Jobs" => {
            Ok(context.jobs.list().iter().map(|job| job.to_string().into_bytes()).collect())
        }
        "tonnage.CancelJob" => {
            let JobName { job } = parse("the action's body", &body)?;
            context.jobs.cancel(&job)?;
            Ok(Vec::new())
        }
        other => Err(Error::unsupported(format!(
            "there is no action `{other}`: ListActions tells which there are"
        ))),
    }
}

fn define(context: &Context, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Error::invalid(format!("definitions are UTF-8: {error}")))?;
    let outcomes = context.store.execute(text)?;
    Ok(outcomes.iter().map(|outcome| outcome_json(outcome).to_string().into_bytes()).collect())
}

/// What became of a definition.
pub(crate) fn outcome_json(outcome: &Outcome) -> serde_json::Value {
    match outcome {
        Outcome::Created { table, new } => json!({"created": {"table": table, "new": new}}),
        Outcome::Dropped { table, existed } => {
            json!({"dropped": {"table": table, "existed": existed}})
        }
        Outcome::Altered { table } => json!({"altered": {"table": table}}),
        Outcome::CreatedIndex { index, table, new } => {
            json!({"created_index": {"index": index, "table": table, "new": new}})
        }
        Outcome::DroppedIndex { index, table, existed } => {
            json!({"dropped_index": {"index": index, "table": table, "existed": existed}})
        }
        Outcome::Tables(tables) => json!({"tables": tables}),
        Outcome::Description(text) => json!({"description": text}),
    }
}

fn statistics(context: &Context) -> Result<Vec<Vec<u8>>> {
    let statistics = context.store.statistics()?;
    let told = json!({
        "rows_estimate": statistics.rows_estimate(),
        "disk_bytes": statistics.disk_bytes(),
        "compaction_pending_bytes": statistics.compaction_pending_bytes(),
        "loads": context.jobs.loads_taken(),
    });
    Ok(vec![told.to_string().into_bytes()])
}

/// The header of the first frame of a multi-put: what holds for all of them.
fn multi_put(context: &Context, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut requests = Vec::new();
    let mut options = None;
    for frame in frame::read(body)? {
        let at = |error: Error| error.at(format!("frame {}", requests.len()));
        let command: BulkPutCommand = parse("its header", &frame.header).map_err(at)?;
        let table = command.table.clone();
        let table = table.ok_or_else(|| at(Error::invalid("its header names no table")))?;
        if options.is_none() {
            options = Some(command.options().map_err(at)?);
        }
        requests.push((table, TableRows::Batches(frame.batches)));
    }
    let put = context.store.multi_put(requests, &options.unwrap_or_default())?;
    context.metrics.rows_in(Door::flight, put.report.total.read);
    let answers = put.report.streams.iter().map(|stream| {
        let failures = put.failures.iter().filter(|failure| failure.request == stream.stream);
        let failures = failures.map(|failure| {
            json!({"row": failure.row, "column": failure.column, "reason": failure.reason})
        });
        let answer = json!({
            "index": stream.stream,
            "ok": crate::jobs::counts_json(&stream.counts),
            "failures": failures.collect::<Vec<_>>(),
        });
        answer.to_string().into_bytes()
    });
    Ok(answers.collect())
}

fn multi_get(context: &Context, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut answers = Vec::new();
    let mut bytes = 0;
    for (index, request) in frame::read(body)?.into_iter().enumerate() {
        let answer = get_one(context, request).and_then(|batches| {
            bytes += batches.iter().map(|batch| batch.get_array_memory_size()).sum::<usize>();
            if bytes > ANSWER_BYTES_MAX {
                return Err(Error::exhausted(format!(
                    "the answers have more than {ANSWER_BYTES_MAX} bytes: use a bulk get"
                )));
            }
            let header = json!({"index": index, "ok": {}});
            frame::write(header.to_string().as_bytes(), &batches)
        });
        answers.push(answer.or_else(|error| {
            let header = json!({
                "index": index,
                "error": {"kind": error.kind().label(), "message": error.message()},
            });
            frame::write(header.to_string().as_bytes(), &[])
        })?);
    }
    Ok(answers)
}

fn get_one(context: &Context, request: frame::Frame) -> Result<Vec<arrow::array::RecordBatch>> {
    let command: BulkGetCommand = parse("its header", &request.header)?;
    let path = command.table.as_deref();
    let table =
        context.store.table(path.ok_or_else(|| Error::invalid("its header names no table"))?)?;
    let options = command.options(table.schema())?;
    let mut batches = Vec::new();
    let mut bytes = 0;
    for batch in table.bulk_get(KeySource::from(request.batches), &options)? {
        let rows = batch?.rows;
        bytes += rows.get_array_memory_size();
        if bytes > ANSWER_BYTES_MAX {
            return Err(Error::exhausted(format!(
                "the answer has more than {ANSWER_BYTES_MAX} bytes: use a bulk get"
            )));
        }
        context.metrics.rows_out(Door::flight, rows.num_rows() as u64);
        batches.push(rows);
    }
    Ok(batches)
}
