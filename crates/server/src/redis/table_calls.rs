//! `TN.SQL`, `TN.MGET` and `TN.MPUT`: what Redis clients do with tables.
//!
//! Replies are whole in memory before the first byte is sent, because their heads say how many rows
//! follow. So they are bounded.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use serde_json::{Map, Value as Json};
use tonnage::internal::json_text;
use tonnage::{Cancel, ColumnType, Error, Result, Value};
use tonnage_resp::{OutsideCall, ReplyWriter, store_error};
use tonnage_sql::{Answer, Parameters, Request, Rows};

use crate::auth::Caller;
use crate::context::ServerContext;
use crate::error::is_denied;
use crate::flight::{BulkPutCommand, outcome_json, plain_batch, plain_schema, read_tables};
use crate::http::{row_of, table_request};
use crate::jobs::{counts_json, failures_json};
use crate::live_statement::StatementOrigin;
use crate::metrics::ListenerKind;

/// The most bytes of a reply with rows.
const REPLY_BYTES_MAX: usize = 64 << 20;

/// A call as the list of statements shows it: without parameters and rows, which are data.
pub(super) fn origin_of(caller: Option<&Caller>, call: &OutsideCall) -> StatementOrigin {
    let words = call.words.iter().take(2).map(|word| String::from_utf8_lossy(word));
    StatementOrigin::new(caller.and_then(Caller::user), &words.collect::<Vec<_>>().join(" "))
}

/// Carries a call out, and writes its reply; with the error that it says, if it is one.
pub(super) async fn reply(
    context: &Arc<ServerContext>,
    caller: Option<Caller>,
    call: OutsideCall,
    cancel: Cancel,
) -> (Vec<u8>, Option<Error>) {
    let protocol = call.protocol;
    let answered = context.blocking(move |context| {
        let caller = caller.ok_or_else(|| Error::invalid("log in first"))?;
        carry_out(context, &caller, &call, &cancel)
    });
    match answered.await {
        Ok(reply) => (reply, None),
        Err(error) => {
            let mut reply = Vec::new();
            let words = match is_denied(&error) {
                true => format!("NOPERM {}", error.message()),
                false => store_error(&error),
            };
            ReplyWriter::new(&mut reply, protocol).error(&words);
            (reply, Some(error))
        }
    }
}

fn carry_out(
    context: &ServerContext,
    caller: &Caller,
    call: &OutsideCall,
    cancel: &Cancel,
) -> Result<Vec<u8>> {
    let words = call.words.iter().map(|word| text(word)).collect::<Result<Vec<_>>>()?;
    match words.as_slice() {
        ["tn.sql", statement, parameters @ ..] => {
            let cancel = cancel.clone();
            sql(context, caller, call, (statement, parameters), cancel)
        }
        ["tn.mget", table, keys @ ..] => multi_get(context, caller, call, table, keys),
        ["tn.mput", table, rows @ ..] => multi_put(context, caller, call, table, rows),
        _ => Err(Error::internal("a command that the listener does not know")),
    }
}

fn text(word: &[u8]) -> Result<&str> {
    std::str::from_utf8(word).map_err(|_| Error::invalid("an argument is not UTF-8: encode it so"))
}

fn sql(
    context: &ServerContext,
    caller: &Caller,
    call: &OutsideCall,
    (statement, parameters): (&str, &[&str]),
    cancel: Cancel,
) -> Result<Vec<u8>> {
    // A reply is one answer.
    let count = context.sql.script(Request::new(statement))?.len();
    if count > 1 {
        return Err(Error::invalid(format!("{count} statements in one call: send one a call")));
    }
    caller.check_statement(&context.sql, statement)?;
    let parameters = typed(context, statement, parameters)?;
    let request = Request::new(statement).parameters(parameters).cancel(&cancel);
    let mut reply = Vec::new();
    match context.sql.execute(request)? {
        Answer::Rows(rows) => return rows_reply(context, rows, call),
        Answer::Changed(changes) => {
            // Names and order stay as they are: clients read them.
            let mut writer = ReplyWriter::new(&mut reply, call.protocol);
            let counts = [
                ("inserted", changes.inserted),
                ("updated", changes.updated),
                ("deleted", changes.deleted),
                ("skipped", changes.skipped),
            ];
            writer.map(counts.len());
            for (name, count) in counts {
                writer.bulk(name.as_bytes());
                writer.integer(i64::try_from(count).unwrap_or(i64::MAX));
            }
        }
        Answer::Done(outcome) => {
            let told = outcome_json(&outcome).to_string();
            ReplyWriter::new(&mut reply, call.protocol).bulk(told.as_bytes());
        }
    }
    Ok(reply)
}

/// The values of parameters: each of the type that its position in the statement asks for.
fn typed(context: &ServerContext, statement: &str, texts: &[&str]) -> Result<Parameters> {
    if texts.is_empty() {
        return Ok(Parameters::default());
    }
    let fields = context.sql.describe(Request::new(statement))?.parameters;
    if fields.len() != texts.len() {
        return Err(Error::invalid(format!(
            "{} arguments for {} parameters: give one for each",
            texts.len(),
            fields.len()
        )));
    }
    let values = fields.iter().zip(texts).enumerate().map(|(index, (field, text))| {
        let value = match ColumnType::of_arrow(field) {
            Some(kind) => Value::parse(text, kind),
            None => Ok(Value::String((*text).to_owned())),
        };
        value.map_err(|error| error.at(format!("parameter {}", index + 1)))
    });
    Ok(Parameters::numbered(values.collect::<Result<Vec<_>>>()?))
}

/// Rows as maps of their columns, with their number in front.
struct RowsReply<'c> {
    call: &'c OutsideCall,
    body: Vec<u8>,
    rows: usize,
}

impl<'c> RowsReply<'c> {
    fn new(call: &'c OutsideCall) -> Self {
        Self { call, body: Vec::new(), rows: 0 }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// `Exhausted` when there are too many.
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            let mut writer = ReplyWriter::new(&mut self.body, self.call.protocol);
            writer.map(batch.num_columns());
            for (column, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
                writer.bulk(field.name().as_bytes());
                // Arrow takes the NULL of a column without a type for a text.
                if *column.data_type() == DataType::Null || column.is_null(row) {
                    writer.null();
                    continue;
                }
                match Value::from_array(column.as_ref(), field, row) {
                    Ok(value) => write_value(&value, &mut writer),
                    // Of types that the store does not have: as Arrow shows them.
                    Err(_) => {
                        let shown = arrow::util::display::array_value_to_string(column, row);
                        let shown = shown.map_err(|error| Error::internal(error.to_string()))?;
                        writer.bulk(shown.as_bytes());
                    }
                }
            }
            if self.body.len() > REPLY_BYTES_MAX {
                return Err(Error::exhausted(format!(
                    "the reply has more than {REPLY_BYTES_MAX} bytes: ask for fewer rows, or use a \
                     client of Arrow Flight"
                )));
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    fn finish(self, context: &ServerContext) -> Vec<u8> {
        context.metrics.rows_out(ListenerKind::redis, self.rows as u64);
        let mut reply = Vec::with_capacity(self.body.len() + 16);
        ReplyWriter::new(&mut reply, self.call.protocol).array(self.rows);
        reply.extend_from_slice(&self.body);
        reply
    }
}

fn write_value(value: &Value, writer: &mut ReplyWriter<'_>) {
    match value {
        Value::Null => writer.null(),
        Value::Boolean(truth) => writer.boolean(*truth),
        Value::Integer(number) => writer.integer((*number).into()),
        Value::Long(number) => writer.integer(*number),
        Value::Float(number) => writer.double((*number).into()),
        Value::Double(number) => writer.double(*number),
        Value::String(text) | Value::Json(text) => writer.bulk(text.as_bytes()),
        Value::Binary(bytes) => writer.bulk(bytes),
        // Decimals keep their digits, and times are as SQL writes them.
        other => writer.bulk(other.to_string().as_bytes()),
    }
}

fn rows_reply(context: &ServerContext, rows: Rows, call: &OutsideCall) -> Result<Vec<u8>> {
    let schema: Arc<Schema> = plain_schema(rows.schema());
    let mut reply = RowsReply::new(call);
    for batch in rows {
        reply.add(&plain_batch(batch?, &schema)?)?;
    }
    Ok(reply.finish(context))
}

/// Rows by their keys. A key is a JSON list of the values of leading key columns, or the text of the
/// first one alone.
fn multi_get(
    context: &ServerContext,
    caller: &Caller,
    call: &OutsideCall,
    table: &str,
    keys: &[&str],
) -> Result<Vec<u8>> {
    let keys = keys.iter().enumerate().map(|(index, key)| match key.starts_with('[') {
        true => serde_json::from_str(key)
            .map_err(|error| Error::invalid(format!("key {}: {error}", index + 1))),
        false => Ok(Json::String((*key).to_owned())),
    });
    let request = Map::from_iter([
        ("table".to_owned(), Json::String(table.to_owned())),
        ("keys".to_owned(), Json::Array(keys.collect::<Result<Vec<_>>>()?)),
    ]);
    let request = table_request(context, caller, request)?;
    let mut reply = RowsReply::new(call);
    for answer in read_tables(context, vec![Ok(request)], REPLY_BYTES_MAX) {
        answer?.batches.iter().try_for_each(|batch| reply.add(batch))?;
    }
    Ok(reply.finish(context))
}

/// Puts rows, each an object of JSON. One that is wrong keeps all of them out.
fn multi_put(
    context: &ServerContext,
    caller: &Caller,
    call: &OutsideCall,
    table: &str,
    rows: &[&str],
) -> Result<Vec<u8>> {
    // Rights come before the look: whether a table exists is not for everyone to know.
    let options = BulkPutCommand::default().options()?;
    caller.check_put(table, options.on_existing)?;
    let table = context.store.table(table)?;
    let rows = rows.iter().enumerate().map(|(index, row)| {
        let members = json_text::all_members(row)?;
        row_of(members, table.schema()).map_err(|error| error.at(format!("row {}", index + 1)))
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let put = context.store.multi_put(vec![(table.path().to_owned(), rows)], &options)?;
    context.metrics.rows_in(ListenerKind::redis, put.report.total.read);
    let counts = counts_json(&put.report.total);
    let failures = failures_json(&put, 0);
    let mut reply = Vec::new();
    let mut writer = ReplyWriter::new(&mut reply, call.protocol);
    let counts = counts.as_object().into_iter().flatten();
    // How many bytes came says nothing of rows that are written as JSON.
    let counts: Vec<_> = counts.filter(|(name, _)| *name != "bytes").collect();
    writer.map(counts.len() + 1);
    for (name, count) in counts {
        writer.bulk(name.as_bytes());
        writer.integer(count.as_i64().unwrap_or(i64::MAX));
    }
    writer.bulk(b"failures");
    let failures = failures.as_array().map_or(&[][..], Vec::as_slice);
    writer.array(failures.len());
    failures.iter().for_each(|failure| writer.bulk(failure.to_string().as_bytes()));
    Ok(reply)
}
