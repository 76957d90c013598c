//! Statements that return rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_flight::FlightData;
use arrow_flight::sql::Command;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tonic::Status;
use tonnage::{Cancel, Error, Result};
use tonnage_sql::{Answer, Parameters, Request};

use super::message::wrong_call;
use super::plain::{plain_batch, plain_schema};
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::flight::outcome::{changes_json, outcome_json};
use crate::flight::row_sender::row_channel;
use crate::live_statement::StatementOrigin;
use crate::prepared::{BoundRows, OwnedStatement};
use crate::random::random_name;
use crate::statements::{FetchedStatement, PendingStatement, RunningStatement, StatementSource};

/// What a ticket holds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct StatementTicket {
    /// Under which the statement runs, and is cancelled.
    pub(super) id: String,
    #[serde(flatten)]
    what: TicketKind,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum TicketKind {
    /// A statement that reads: it runs each time that it is fetched.
    Sql(String),
    /// A prepared statement that reads.
    Prepared(String),
    /// A statement that changes something and waits for its one run.
    Once(bool),
}

/// A statement that was asked for.
pub(super) struct StatementInfo {
    pub(super) handle: StatementTicket,
    /// Its columns, for one that reads.
    pub(super) rows: Option<SchemaRef>,
}

/// Messages with rows.
pub(super) type FlightDataStream = BoxStream<'static, std::result::Result<FlightData, Status>>;

/// Batches under a schema.
type StatementRows = (SchemaRef, Box<dyn Iterator<Item = Result<RecordBatch>>>);

/// The columns of a statement's answer; that of a change is a count.
pub(super) async fn schema(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: Command,
) -> Result<SchemaRef> {
    let described = describe(context, caller, &command).await?;
    Ok(described.rows.unwrap_or_else(count_schema))
}

/// Describes a statement, and says how its answer is fetched.
pub(super) async fn prepare_fetch(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: Command,
) -> Result<StatementInfo> {
    let described = describe(context, caller, &command).await?;
    if described.reads_only {
        let what = match command {
            Command::CommandStatementQuery(command) => TicketKind::Sql(command.query),
            Command::CommandPreparedStatementQuery(command) => {
                TicketKind::Prepared(handle_text(&command.prepared_statement_handle)?)
            }
            other => return Err(wrong_call(&other, "GetFlightInfo")),
        };
        // A read keeps nothing more at the server: its client may never come for the answer.
        let handle = StatementTicket { id: random_name()?, what };
        return Ok(StatementInfo { handle, rows: described.rows });
    }
    let (what, bound) = match command {
        Command::CommandStatementQuery(command) => {
            (StatementSource::Text(command.query), BoundRows::default())
        }
        Command::CommandPreparedStatementQuery(command) => {
            let handle = handle_text(&command.prepared_statement_handle)?;
            let statement = context.prepared.get(handle.as_bytes(), caller.user())?;
            // What is bound now is kept along: a later bind must not change what was asked for.
            (StatementSource::Prepared(handle), statement.bound())
        }
        other => return Err(wrong_call(&other, "GetFlightInfo")),
    };
    let owner = caller.user().map(str::to_owned);
    let id = context.statements.keep(PendingStatement { what, bound, owner })?;
    Ok(StatementInfo { handle: StatementTicket { id, what: TicketKind::Once(true) }, rows: None })
}

struct StatementDescription {
    rows: Option<SchemaRef>,
    reads_only: bool,
}

async fn describe(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: &Command,
) -> Result<StatementDescription> {
    let described = match command {
        Command::CommandStatementQuery(command) => {
            no_transaction(command.transaction_id.as_deref())?;
            let (text, caller) = (command.query.clone(), caller.clone());
            context
                .blocking(move |context| {
                    // Rights come first: a description names columns, which not everybody may know.
                    caller.check_statement(&context.sql, &text)?;
                    context.sql.describe(text)
                })
                .await?
        }
        Command::CommandPreparedStatementQuery(command) => {
            let handle = &command.prepared_statement_handle;
            let statement = context.prepared.get(handle, caller.user())?;
            let caller = caller.clone();
            context
                .blocking(move |context| {
                    caller.check_statement(&context.sql, statement.prepared.text())?;
                    let bound = statement.bound();
                    // Types of columns may depend on those of parameters, which any row tells.
                    let first = bound.iter().find(|rows| rows.num_rows() > 0);
                    let parameters = first.map(|rows| Parameters::of_row(rows, 0)).transpose()?;
                    statement.prepared.describe(&parameters.unwrap_or_default())
                })
                .await?
        }
        other => return Err(wrong_call(other, "GetFlightInfo")),
    };
    let rows = described.rows.as_ref().map(plain_schema);
    Ok(StatementDescription { rows, reads_only: described.reads_only })
}

/// Refuses statements of a transaction.
pub(super) fn no_transaction(id: Option<&[u8]>) -> Result<()> {
    match id {
        Some(id) if !id.is_empty() => Err(Error::unsupported(
            "there are no transactions: leave the statement's transaction out (autocommit)",
        )),
        _ => Ok(()),
    }
}

fn handle_text(handle: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(handle);
    text.map(str::to_owned)
        .map_err(|_| Error::not_found("there is no such prepared statement: prepare it again"))
}

/// A statement that runs under a name of its own.
pub(super) fn start_unnamed(
    context: &Arc<ServerContext>,
    caller: &Caller,
    text: &str,
) -> Result<RunningStatement> {
    Ok(context.statements.start(random_name()?, StatementOrigin::new(caller.user(), text)))
}

/// The text of the statement of a ticket, for those who look at what runs. Empty where it is unknown:
/// then the fetch fails.
fn text_of_ticket(context: &ServerContext, caller: &Caller, ticket: &StatementTicket) -> String {
    let of_prepared = |handle: &str| {
        let statement = context.prepared.get(handle.as_bytes(), caller.user());
        statement.map(|statement| statement.prepared.text().to_owned()).unwrap_or_default()
    };
    match &ticket.what {
        TicketKind::Sql(text) => text.clone(),
        TicketKind::Prepared(handle) => of_prepared(handle),
        TicketKind::Once(_) => match context.statements.waiting_text(&ticket.id, caller.user()) {
            Some(StatementSource::Text(text)) => text,
            Some(StatementSource::Prepared(handle)) => of_prepared(&handle),
            None => String::new(),
        },
    }
}

/// Carries out the statement of a ticket and streams its rows.
pub(super) async fn fetch(
    context: &Arc<ServerContext>,
    caller: &Caller,
    handle: StatementTicket,
) -> Result<FlightDataStream> {
    let text = text_of_ticket(context, caller, &handle);
    let origin = StatementOrigin::new(caller.user(), &text);
    let running = context.statements.start(handle.id.clone(), origin);
    let caller = caller.clone();
    let timeout = context.sessions.options(caller.session()).timeout;
    stream(context, running, move |context, cancel| {
        let mut request = Request::default().cancel(cancel);
        if let Some(timeout) = timeout {
            request = request.timeout(timeout);
        }
        // A ticket holds plain JSON, which anybody can write: rights are checked here whatever came
        // before.
        match handle.what {
            TicketKind::Sql(text) => {
                caller.check_statement(&context.sql, &text)?;
                // What changes something has another ticket.
                if !context.sql.describe(text.as_str())?.reads_only {
                    return Err(Error::invalid("the ticket is not one that the server gave"));
                }
                rows_of_answer(context.sql.execute(request.text(text))?)
            }
            TicketKind::Prepared(handle) => {
                let statement = context.prepared.get(handle.as_bytes(), caller.user())?;
                caller.check_statement(&context.sql, statement.prepared.text())?;
                each_bound(&statement, statement.bound(), &request)
            }
            TicketKind::Once(_) => fetch_once(context, &caller, &handle.id, &request),
        }
    })
    .await
}

fn fetch_once(
    context: &ServerContext,
    caller: &Caller,
    id: &str,
    request: &Request,
) -> Result<StatementRows> {
    let pending = match context.statements.fetch(id, caller.user())? {
        FetchedStatement::Again(batch) => return Ok(single_batch(batch)),
        FetchedStatement::First(pending) => pending,
    };
    let outcome = carry_out(context, caller, pending, request);
    context.statements.finish(id, &outcome);
    outcome.map(single_batch)
}

fn carry_out(
    context: &ServerContext,
    caller: &Caller,
    pending: PendingStatement,
    request: &Request,
) -> Result<RecordBatch> {
    match pending.what {
        StatementSource::Text(text) => {
            // Checked again: rights may have been taken away since the statement was asked for.
            caller.check_statement(&context.sql, &text)?;
            outcome_batch(context.sql.execute(request.clone().text(text))?)
        }
        StatementSource::Prepared(handle) => {
            let statement = context.prepared.get(handle.as_bytes(), caller.user())?;
            caller.check_statement(&context.sql, statement.prepared.text())?;
            let is_bound = pending.bound.iter().any(|rows| rows.num_columns() > 0);
            if !is_bound {
                return outcome_batch(statement.prepared.execute_request(request)?);
            }
            let mut rows = pending.bound.iter().filter(|rows| rows.num_rows() > 0);
            // A single row may give rows itself, as RETURNING does; many of them give a count.
            if let (Some(only), None) = (rows.next(), rows.next())
                && only.num_rows() == 1
            {
                let request = request.clone().parameters(Parameters::of_row(only, 0)?);
                return outcome_batch(statement.prepared.execute_request(&request)?);
            }
            let mut total = 0;
            for batch in pending.bound.iter() {
                total += statement.prepared.execute_batch(batch, request)?.total();
            }
            count_batch(total)
        }
    }
}

/// What a change says of itself, as rows.
fn outcome_batch(answer: Answer) -> Result<RecordBatch> {
    match answer {
        Answer::Rows(rows) => {
            let schema = plain_schema(rows.schema());
            plain_batch(rows.into_batch()?, &schema)
        }
        Answer::Changed(changes) => {
            with_metadata(count_batch(changes.total())?, "tonnage.changes", &changes_json(&changes))
        }
        Answer::Done(done) => with_metadata(count_batch(0)?, "tonnage.done", &outcome_json(&done)),
    }
}

/// A count with what else there is to tell, in its schema's metadata.
fn with_metadata(count: RecordBatch, name: &str, what: &serde_json::Value) -> Result<RecordBatch> {
    let metadata = [(name.to_owned(), what.to_string())].into();
    let schema = count.schema_ref().as_ref().clone().with_metadata(metadata);
    count
        .with_schema(Arc::new(schema))
        .map_err(|error| Error::internal(format!("a count cannot be told: {error}")))
}

fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("count", DataType::Int64, false)]))
}

fn count_batch(count: u64) -> Result<RecordBatch> {
    let count: ArrayRef =
        Arc::new(Int64Array::from(vec![i64::try_from(count).unwrap_or(i64::MAX)]));
    RecordBatch::try_new(count_schema(), vec![count])
        .map_err(|error| Error::internal(format!("a count cannot be told: {error}")))
}

fn single_batch(batch: RecordBatch) -> StatementRows {
    (batch.schema(), Box::new(std::iter::once(Ok(batch))))
}

fn rows_of_answer(answer: Answer) -> Result<StatementRows> {
    let rows = match answer {
        Answer::Rows(rows) => rows,
        other => return outcome_batch(other).map(single_batch),
    };
    Ok((rows.schema().clone(), Box::new(rows)))
}

/// The rows of a prepared statement for each row that is bound, one after another.
fn each_bound(
    statement: &Arc<OwnedStatement>,
    bound: BoundRows,
    request: &Request,
) -> Result<StatementRows> {
    // Positions are kept for later, not rows: the batches stay shared, and nothing is copied.
    let places: Vec<(usize, usize)> = bound
        .iter()
        .enumerate()
        .filter(|(_, rows)| rows.num_columns() > 0)
        .flat_map(|(batch, rows)| (0..rows.num_rows()).map(move |row| (batch, row)))
        .collect();
    let [(batch, row), rest @ ..] = places.as_slice() else {
        return rows_of_answer(statement.prepared.execute_request(request)?);
    };
    let carried_out = {
        let (statement, request) = (statement.clone(), request.clone());
        move |rows: &RecordBatch, row: usize| {
            let request = request.clone().parameters(Parameters::of_row(rows, row)?);
            rows_of_answer(statement.prepared.execute_request(&request)?)
        }
    };
    // The first is carried out now: its columns are those of the whole answer. The others wait
    // until they are read, so that one answer at a time is in memory.
    let (schema, first) = carried_out(&bound[*batch], *row)?;
    let rest = rest.to_vec();
    let later =
        rest.into_iter().flat_map(move |(batch, row)| match carried_out(&bound[batch], row) {
            Ok((_, rows)) => rows,
            Err(error) => Box::new(std::iter::once(Err(error))) as _,
        });
    Ok((schema, Box::new(first.chain(later))))
}

/// Carries out what gives rows on a thread that may block, and streams them once their columns are
/// known. Where the client disconnects, `running` is dropped, and the statement ends.
pub(super) async fn stream<F>(
    context: &Arc<ServerContext>,
    running: RunningStatement,
    open: F,
) -> Result<FlightDataStream>
where
    F: FnOnce(&ServerContext, &Cancel) -> Result<StatementRows> + Send + 'static,
{
    let cancel = running.cancel().clone();
    let rows = context.blocking_with_answer(move |context, answer| {
        let (schema, batches) = open(context, &cancel)?;
        // The stream begins with this schema, so each batch is brought into it by `plain_batch`.
        let schema = plain_schema(&schema);
        let (mut sender, stream) = row_channel(context, &schema)?;
        // From here on an error can only end the rows: the call has had its answer.
        if !answer.send(stream.boxed()) {
            return Ok(());
        }
        let send_all = || -> Result<()> {
            for batch in batches {
                if !sender.send(&plain_batch(batch?, &schema)?)? {
                    break;
                }
            }
            Ok(())
        };
        let sent = send_all();
        sender.end(sent);
        Ok(())
    });
    let rows = rows.await.inspect_err(|error| running.note_failure(error))?;
    Ok(rows
        .map(move |message| {
            let _held = &running;
            message
        })
        .boxed())
}
