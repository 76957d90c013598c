//! A look at rows before they are loaded: their columns, the first of them, and the records that are
//! none. Nothing is stored.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tonnage::{Cancel, Error, Result, Table};
use tonnage_files::{ColumnDefaults, ReadBatch, ReadOptions, RecordReader, Source, infer_schema};

use super::answer::{columns_json, row_text};
use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use super::spooled_body::SpooledBody;
use crate::auth::Right;
use crate::flight::UNPACKED_BYTES_MAX;

const ROWS_DEFAULT: usize = 50;
const ROWS_MAX: usize = 1_000;
/// The rows of the answer are held in memory.
const ROWS_BYTES_MAX: usize = 8 << 20;
const FAILURES_MAX: usize = 1_000;
/// So many records of text tell the types of their columns.
const SAMPLE_RECORDS: usize = 10_000;

/// What the query of the request may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PreviewQuery {
    table: Option<String>,
    rows: Option<usize>,
}

/// What was seen of the records.
#[derive(Debug, Default)]
struct Seen {
    rows: Vec<String>,
    bytes: usize,
    records: u64,
    rejected: u64,
    failures: Vec<Json>,
}

impl Seen {
    /// Counts the records of a batch, and keeps the first rows and failures.
    fn take(&mut self, read: &ReadBatch, rows_max: usize) -> Result<()> {
        self.records += read.records;
        self.rejected += read.rejected.len() as u64;
        for row in 0..read.batch.num_rows() {
            if self.rows.len() >= rows_max || self.bytes > ROWS_BYTES_MAX {
                break;
            }
            let text = row_text(&read.batch, row)?;
            self.bytes += text.len();
            self.rows.push(text);
        }
        let room = FAILURES_MAX.saturating_sub(self.failures.len());
        self.failures.extend(read.rejected.iter().take(room).map(|record| {
            json!({"record": record.record, "column": record.column, "reason": record.reason})
        }));
        Ok(())
    }
}

/// Says what a body holds, by itself or as rows of a table.
pub(super) async fn preview(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Query(query): Query<PreviewQuery>,
    headers: HeaderMap,
    body: Body,
) -> HandlerResult<Response> {
    context.check_open()?;
    let format = SpooledBody::format_of(&headers)?;
    let rows_max = query.rows.unwrap_or(ROWS_DEFAULT);
    if rows_max > ROWS_MAX {
        return Err(Error::invalid(format!("rows is {rows_max}: give 0 to {ROWS_MAX}")).into());
    }
    // Wrong requests are refused before the body is taken.
    match &query.table {
        Some(path) => {
            caller.check_table(Right::Insert, path)?;
            context.store.table(path)?;
        }
        None => caller.check_some_table(&[Right::Insert, Right::Define])?,
    }
    let body = SpooledBody::take(&context, &headers, body, format).await?;
    // It reads all of the body, so it ends with its client.
    let told = context.cancellable(move |context, cancel| {
        let table = query.table.as_deref().map(|path| context.store.table(path)).transpose()?;
        look(cancel, &body, table.as_ref(), rows_max)
    });
    Ok(json_body(&told.await?))
}

/// Reads the whole body. Blocks.
fn look(
    cancel: &Cancel,
    body: &SpooledBody,
    table: Option<&Table>,
    rows_max: usize,
) -> Result<String> {
    let source = Source::file(body.path());
    let mut options = ReadOptions {
        format: body.format,
        unpacked_bytes_max: UNPACKED_BYTES_MAX,
        ..ReadOptions::default()
    };
    options.schema = Some(match table {
        Some(table) => table.schema().arrow_schema(),
        // The types that `tonnage load --create` would give a new table.
        None => Arc::new(
            infer_schema(&source, &options, SAMPLE_RECORDS).map_err(|error| body.error(&error))?,
        ),
    });
    if let Some(table) = table {
        options.defaults = ColumnDefaults::new(table.schema().default_makers());
    }
    let reader = RecordReader::open(&source, &options).map_err(|error| body.error(&error))?;
    let (schema, format) = (reader.schema(), reader.format());
    let mut seen = Seen::default();
    for batch in reader {
        if cancel.is_cancelled() {
            return Err(Error::cancelled("the preview was cancelled"));
        }
        seen.take(&batch.map_err(|error| body.error(&error))?, rows_max)?;
    }
    // A load refuses a file with columns that the table lacks.
    let is_unknown =
        |name: &str| table.is_some_and(|table| table.schema().require_column(name).is_err());
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let unknown: Vec<&str> = names.filter(|name| is_unknown(name)).collect();
    Ok(format!(
        "{{\"format\":{},\"columns\":{},\"unknown\":{},\"rows\":[{}],\"records\":{},\"rejected\":{},\
         \"failures\":{}}}",
        Json::from(format.to_string()),
        columns_json(&schema),
        json!(unknown),
        seen.rows.join(","),
        seen.records,
        seen.rejected,
        Json::from(seen.failures)
    ))
}
