//! Bulk load of the body of a request: CSV, JSON lines, Parquet or Arrow.
//!
//! The load begins once the whole body is there, so a body that is cut off loads nothing.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tonnage::internal::sync::lock;
use tonnage::{
    BulkPutCallbacks, BulkPutReport, EntryBatch, Error, FailedEntry, Result, UnreadEntry,
};
use tonnage_files::{ColumnDefaults, ReadBatch, ReadOptions, RecordReader, Source};
use tracing::Span;

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body, parse_ttl};
use super::spooled_body::SpooledBody;
use crate::context::ServerContext;
use crate::error::Problem;
use crate::flight::{BulkPutCommand, DurabilityChoice, ExistingChoice, UNPACKED_BYTES_MAX};
use crate::jobs::{JobRequest, StreamOrigin, StreamOutcome, counts_json};
use crate::metrics::ListenerKind;

/// What the query of the request may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BulkQuery {
    on_existing: Option<ExistingChoice>,
    durability: Option<DurabilityChoice>,
    errors_max: Option<String>,
    ttl: Option<String>,
    /// How many records the body has, if that is known: then the list of jobs says when it ends.
    expected_rows: Option<u64>,
}

/// Failures that are reported one by one.
const FAILURES_MAX: usize = 1_000;

/// Keeps what failed.
#[derive(Default)]
struct FailureList(Mutex<Vec<Json>>);

impl BulkPutCallbacks for FailureList {
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let FailedEntry { position, column, reason, .. } = entry;
        let mut failures = lock(&self.0);
        if failures.len() < FAILURES_MAX {
            failures.push(json!({"record": position, "column": column, "reason": reason}));
        }
        Ok(())
    }
}

impl FailureList {
    fn take(&self) -> Vec<Json> {
        std::mem::take(&mut lock(&self.0))
    }
}

/// Puts the rows of a body into a table.
pub(super) async fn put(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    Query(query): Query<BulkQuery>,
    headers: HeaderMap,
    body: Body,
) -> HandlerResult<Response> {
    context.check_open()?;
    let format = SpooledBody::format_of(&headers)?;
    let command = BulkPutCommand {
        table: Some(path.clone()),
        on_existing: query.on_existing,
        durability: query.durability,
        errors_max: query.errors_max,
        ttl: query.ttl,
        expected_rows: query.expected_rows,
        ..BulkPutCommand::default()
    };
    // Wrong options are reported before the body is taken.
    command.check(&caller)?;
    command.ttl.as_deref().map(|text| parse_ttl("ttl", text)).transpose()?;
    context.store.table(&path)?;
    let body = SpooledBody::take(&context, &headers, body, format).await?;
    // Whether its client waits or not: a load that has begun is carried out.
    let (loading, span) = (context.clone(), Span::current());
    let user = caller.user().map(str::to_owned);
    let report = tokio::task::spawn_blocking(move || {
        span.in_scope(|| load(&loading, &command, &path, user, &body))
    });
    let report = report.await;
    let report = report.map_err(|_| Error::internal("the load panicked: see the log"))??;
    Ok(json_body(&Json::Object(report)))
}

fn load(
    context: &ServerContext,
    command: &BulkPutCommand,
    path: &str,
    user: Option<String>,
    body: &SpooledBody,
) -> HandlerResult<Map<String, Json>> {
    let table = context.store.table(path)?;
    let options = ReadOptions {
        format: body.format,
        schema: Some(table.schema().arrow_schema()),
        defaults: ColumnDefaults::new(table.schema().default_makers()),
        unpacked_bytes_max: UNPACKED_BYTES_MAX,
        ..ReadOptions::default()
    };
    let reader = RecordReader::open(&Source::file(body.path()), &options)
        .map_err(|error| body.error(&error))?;
    // A column that the table lacks would be lost without a word.
    for field in reader.schema().fields() {
        table.schema().require_column(field.name())?;
    }
    let failures = Arc::new(FailureList::default());
    let request = JobRequest { name: None, user: None, terms: command.terms(), shares: false };
    let membership =
        context.jobs.join(&context.store, request, command.options()?, failures.clone())?;
    let origin = StreamOrigin {
        user,
        table: Some(table.path().to_owned()),
        expected_rows: command.expected_rows,
    };
    let stream = membership.begin_stream(path, origin);
    let mut rejected = 0;
    let push = || {
        for batch in reader {
            let batch = batch.map_err(|error| body.error(&error))?;
            rejected += batch.rejected.len() as u64;
            let rows = batch.batch.num_rows() as u64;
            membership.load.push(stream, entries(table.path(), batch, command.ttl()?))?;
            context.metrics.rows_in(ListenerKind::http, rows);
        }
        Ok(())
    };
    let pushed: Result<()> = push();
    let leaving = if pushed.is_ok() { StreamOutcome::Completed } else { StreamOutcome::Stopped };
    context.metrics.count_stream(leaving.label());
    let ended = context.jobs.leave(membership, stream, leaving);
    let ended = ended.ok_or_else(|| Error::internal("a load of one stream has others"))?;
    let (report, stopped) = match ended.result {
        Ok(report) => (report, None),
        Err(stopped) => (*stopped.report, Some(stopped.error)),
    };
    let report = report_json(&report, rejected, failures.take());
    match pushed.err().or(stopped) {
        None => Ok(report),
        // What was stored until then is reported, too.
        Some(error) => Err(Problem::from(error).with(report)),
    }
}

/// The rows of a batch at the positions of their records, and the records that are not rows: the
/// load counts both, so that `errors_max` holds for both.
fn entries(path: &str, read: ReadBatch, ttl: Option<Duration>) -> EntryBatch {
    let places = (0..read.batch.num_rows()).filter_map(|row| read.record(row)).collect();
    let unread = read.rejected.iter().map(|record| UnreadEntry {
        position: record.record,
        column: record.column.clone(),
        reason: record.reason.clone(),
    });
    let unread = unread.collect();
    let mut entries = EntryBatch::rows(Arc::<str>::from(path), read.batch);
    entries.positions = Some(places);
    entries.unread = unread;
    entries.ttl = ttl;
    entries
}

fn report_json(report: &BulkPutReport, rejected: u64, failures: Vec<Json>) -> Map<String, Json> {
    let members = [
        ("counts", counts_json(&report.total)),
        ("rejected", json!(rejected)),
        ("failures", json!(failures)),
        ("seconds", json!(report.seconds)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
