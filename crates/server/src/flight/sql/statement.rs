//! Statements that give rows.

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

use super::message::not_here;
use super::plain::{plain_batch, plain_schema};
use crate::auth::Caller;
use crate::context::Context;
use crate::flight::outcome::{changes_json, outcome_json};
use crate::flight::rows::rows;
use crate::prepared::{Bound, PreparedStatement};
use crate::random::random_name;
use crate::statements::{Fetched, Pending, Running, What};

/// What a ticket holds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Handle {
    /// Under which the statement runs, and is cancelled.
    pub(super) id: String,
    #[serde(flatten)]
    what: Fetch,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Fetch {
    /// A statement that reads: it runs each time that it is fetched.
    Sql(String),
    /// A prepared statement that reads.
    Prepared(String),
    /// A statement that changes something and waits for its one run.
    Once(bool),
}

/// A statement that was asked for.
pub(super) struct Asked {
    pub(super) handle: Handle,
    /// Its columns, for one that reads.
    pub(super) rows: Option<SchemaRef>,
}

/// Messages with rows.
pub(super) type Rows = BoxStream<'static, std::result::Result<FlightData, Status>>;

/// Batches under a schema.
type Opened = (SchemaRef, Box<dyn Iterator<Item = Result<RecordBatch>>>);

/// The columns of a statement's answer; that of a change is a count.
pub(super) async fn schema(
    context: &Arc<Context>,
    caller: &Caller,
    command: Command,
) -> Result<SchemaRef> {
    let described = describe(context, caller, &command).await?;
    Ok(described.rows.unwrap_or_else(count_schema))
}

/// Describes a statement, and says how its answer is fetched.
pub(super) async fn ask(
    context: &Arc<Context>,
    caller: &Caller,
    command: Command,
) -> Result<Asked> {
    let described = describe(context, caller, &command).await?;
    if described.reads_only {
        let what = match command {
            Command::CommandStatementQuery(command) => Fetch::Sql(command.query),
            Command::CommandPreparedStatementQuery(command) => {
                Fetch::Prepared(handle_text(&command.prepared_statement_handle)?)
            }
            other => return Err(not_here(&other, "GetFlightInfo")),
        };
        // A read keeps nothing more at the server: its client may never come for the answer.
        let handle = Handle { id: random_name()?, what };
        return Ok(Asked { handle, rows: described.rows });
    }
    let (what, bound) = match command {
        Command::CommandStatementQuery(command) => (What::Text(command.query), Bound::default()),
        Command::CommandPreparedStatementQuery(command) => {
            let handle = handle_text(&command.prepared_statement_handle)?;
            let statement = context.prepared.get(handle.as_bytes(), caller.user())?;
            // What is bound now is kept along: a later bind must not change what was asked for.
            (What::Prepared(handle), statement.bound())
        }
        other => return Err(not_here(&other, "GetFlightInfo")),
    };
    let owner = caller.user().map(str::to_owned);
    let id = context.statements.keep(Pending { what, bound, owner })?;
    Ok(Asked { handle: Handle { id, what: Fetch::Once(true) }, rows: None })
}

struct Described {
    rows: Option<SchemaRef>,
    reads_only: bool,
}

async fn describe(context: &Arc<Context>, caller: &Caller, command: &Command) -> Result<Described> {
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
        other => return Err(not_here(other, "GetFlightInfo")),
    };
    let rows = described.rows.as_ref().map(plain_schema);
    Ok(Described { rows, reads_only: described.reads_only })
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
pub(super) fn fresh(context: &Arc<Context>) -> Result<Running> {
    Ok(context.statements.start(random_name()?))
}

/// Carries out the statement of a ticket and streams its rows.
pub(super) async fn fetch(context: &Arc<Context>, caller: &Caller, handle: Handle) -> Result<Rows> {
    let running = context.statements.start(handle.id.clone());
    let caller = caller.clone();
    let timeout = context.sessions.options(caller.session()).timeout;
    stream(context, running, move |context, cancel| {
        let mut request = Request::default().cancel(cancel);
        if let Some(timeout) = timeout {
            request = request.timeout(timeout);
        }
        match handle.what {
            Fetch::Sql(text) => {
                caller.check_statement(&context.sql, &text)?;
                // What changes something has another ticket.
                if !context.sql.describe(text.as_str())?.reads_only {
                    return Err(Error::invalid("the ticket is not one that the server gave"));
                }
                opened(context.sql.execute(request.text(text))?)
            }
            Fetch::Prepared(handle) => {
                let statement = context.prepared.get(handle.as_bytes(), caller.user())?;
                caller.check_statement(&context.sql, statement.prepared.text())?;
                each_bound(&statement, statement.bound(), &request)
            }
            Fetch::Once(_) => once(context, &caller, &handle.id, &request),
        }
    })
    .await
}

fn once(context: &Context, caller: &Caller, id: &str, request: &Request) -> Result<Opened> {
    let pending = match context.statements.fetch(id, caller.user())? {
        Fetched::Again(batch) => return Ok(of_batch(batch)),
        Fetched::First(pending) => pending,
    };
    let outcome = carry_out(context, caller, pending, request);
    context.statements.finish(id, &outcome);
    outcome.map(of_batch)
}

fn carry_out(
    context: &Context,
    caller: &Caller,
    pending: Pending,
    request: &Request,
) -> Result<RecordBatch> {
    match pending.what {
        What::Text(text) => {
            // Checked again: rights may have been taken away since the statement was asked for.
            caller.check_statement(&context.sql, &text)?;
            outcome(context.sql.execute(request.clone().text(text))?)
        }
        What::Prepared(handle) => {
            let statement = context.prepared.get(handle.as_bytes(), caller.user())?;
            caller.check_statement(&context.sql, statement.prepared.text())?;
            let is_bound = pending.bound.iter().any(|rows| rows.num_columns() > 0);
            if !is_bound {
                return outcome(statement.prepared.execute_request(request)?);
            }
            let mut rows = pending.bound.iter().filter(|rows| rows.num_rows() > 0);
            // A single row may give rows itself, as RETURNING does; many of them give a count.
            if let (Some(only), None) = (rows.next(), rows.next())
                && only.num_rows() == 1
            {
                let request = request.clone().parameters(Parameters::of_row(only, 0)?);
                return outcome(statement.prepared.execute_request(&request)?);
            }
            let mut total = 0;
            for batch in pending.bound.iter() {
                total += statement.prepared.execute_batch(batch, request)?.total();
            }
            counted(total)
        }
    }
}

/// What a change says of itself, as rows.
fn outcome(answer: Answer) -> Result<RecordBatch> {
    match answer {
        Answer::Rows(rows) => {
            let schema = plain_schema(rows.schema());
            plain_batch(rows.into_batch()?, &schema)
        }
        Answer::Changed(changes) => {
            told(counted(changes.total())?, "tonnage.changes", &changes_json(&changes))
        }
        Answer::Done(done) => told(counted(0)?, "tonnage.done", &outcome_json(&done)),
    }
}

/// A count with what else there is to tell, in its schema's metadata.
fn told(count: RecordBatch, name: &str, what: &serde_json::Value) -> Result<RecordBatch> {
    let metadata = [(name.to_owned(), what.to_string())].into();
    let schema = count.schema_ref().as_ref().clone().with_metadata(metadata);
    count
        .with_schema(Arc::new(schema))
        .map_err(|error| Error::internal(format!("a count cannot be told: {error}")))
}

fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("count", DataType::Int64, false)]))
}

fn counted(count: u64) -> Result<RecordBatch> {
    let count: ArrayRef =
        Arc::new(Int64Array::from(vec![i64::try_from(count).unwrap_or(i64::MAX)]));
    RecordBatch::try_new(count_schema(), vec![count])
        .map_err(|error| Error::internal(format!("a count cannot be told: {error}")))
}

fn of_batch(batch: RecordBatch) -> Opened {
    (batch.schema(), Box::new(std::iter::once(Ok(batch))))
}

fn opened(answer: Answer) -> Result<Opened> {
    let rows = match answer {
        Answer::Rows(rows) => rows,
        other => return outcome(other).map(of_batch),
    };
    Ok((rows.schema().clone(), Box::new(rows)))
}

/// The rows of a prepared statement for each row that is bound, one after another.
fn each_bound(
    statement: &Arc<PreparedStatement>,
    bound: Bound,
    request: &Request,
) -> Result<Opened> {
    let places: Vec<(usize, usize)> = bound
        .iter()
        .enumerate()
        .filter(|(_, rows)| rows.num_columns() > 0)
        .flat_map(|(batch, rows)| (0..rows.num_rows()).map(move |row| (batch, row)))
        .collect();
    let [(batch, row), rest @ ..] = places.as_slice() else {
        return opened(statement.prepared.execute_request(request)?);
    };
    let carried_out = {
        let (statement, request) = (statement.clone(), request.clone());
        move |rows: &RecordBatch, row: usize| {
            let request = request.clone().parameters(Parameters::of_row(rows, row)?);
            opened(statement.prepared.execute_request(&request)?)
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
/// known. Where the client goes away, `running` is dropped, and the statement ends.
pub(super) async fn stream<F>(context: &Arc<Context>, running: Running, open: F) -> Result<Rows>
where
    F: FnOnce(&Context, &Cancel) -> Result<Opened> + Send + 'static,
{
    let cancel = running.cancel().clone();
    let rows = context.answering(move |context, answer| {
        let (schema, batches) = open(context, &cancel)?;
        let schema = plain_schema(&schema);
        let (mut sender, stream) = rows(context, &schema)?;
        // From here on an error can only end the rows: the call has had its answer.
        if !answer.tell(stream.boxed()) {
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
    let rows = rows.await?;
    Ok(rows
        .map(move |message| {
            let _held = &running;
            message
        })
        .boxed())
}
