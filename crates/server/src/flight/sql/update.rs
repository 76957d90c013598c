//! Statements that change something, through DoPut, and rows bound to parameters.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow_flight::sql::{
    CommandPreparedStatementQuery, CommandPreparedStatementUpdate, CommandStatementUpdate,
    DoPutPreparedStatementResult, DoPutUpdateResult,
};
use prost::Message;
use tokio::runtime::Handle;
use tonnage::{Error, Result};
use tonnage_sql::{Answer, Request};

use super::statement::{no_transaction, start_unnamed};
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::flight::decode::FlightDecoder;
use crate::flight::opened_stream::OpenedStream;
use crate::flight::stream_event::StreamEvent;

/// Carries out a statement, and says how many rows it changed.
pub(super) async fn carry_out(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: CommandStatementUpdate,
) -> Result<Vec<u8>> {
    no_transaction(command.transaction_id.as_deref())?;
    let running = start_unnamed(context, caller, &command.query)?;
    let caller = caller.clone();
    let mut request = Request::new(command.query.as_str()).cancel(running.cancel());
    if let Some(timeout) = context.sessions.options(caller.session()).timeout {
        request = request.timeout(timeout);
    }
    let count = context.blocking(move |context| {
        caller.check_statement(&context.sql, &command.query)?;
        if context.sql.describe(command.query.as_str())?.reads_only {
            return Err(Error::invalid("the statement gives rows: ask for it as a query"));
        }
        changed_count(context.sql.execute(request)?)
    });
    let count = count.await.inspect_err(|error| running.note_failure(error))?;
    drop(running);
    Ok(update_result(count))
}

/// Carries out a prepared statement for each row that comes, or that is bound.
pub(super) async fn carry_out_prepared(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: CommandPreparedStatementUpdate,
    opened: OpenedStream,
) -> Result<Vec<u8>> {
    let handle = command.prepared_statement_handle;
    let statement = context.prepared.get(&handle, caller.user())?;
    // It belongs to the call and not to the thread: a client that disconnects drops it, which
    // cancels.
    let running = start_unnamed(context, caller, statement.prepared.text())?;
    let caller = caller.clone();
    let mut request = Request::default().cancel(running.cancel());
    if let Some(timeout) = context.sessions.options(caller.session()).timeout {
        request = request.timeout(timeout);
    }
    let count = context.blocking(move |context| {
        let prepared = &statement.prepared;
        caller.check_statement(&context.sql, prepared.text())?;
        let mut total = 0;
        // Some drivers send the rows with this call, others bind them before and send none.
        let came = batches(opened, |batch| {
            total += prepared.execute_batch(&batch, &request)?.total();
            Ok(())
        })?;
        if came {
            return Ok(total);
        }
        let bound = statement.bound();
        if bound.iter().any(|rows| rows.num_columns() > 0) {
            for batch in bound.iter() {
                total += prepared.execute_batch(batch, &request)?.total();
            }
            return Ok(total);
        }
        changed_count(prepared.execute_request(&request)?)
    });
    let count = count.await.inspect_err(|error| running.note_failure(error))?;
    drop(running);
    Ok(update_result(count))
}

/// Binds rows to the parameters of a prepared statement.
pub(super) async fn bind(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: CommandPreparedStatementQuery,
    opened: OpenedStream,
) -> Result<Vec<u8>> {
    let handle = command.prepared_statement_handle;
    let statement = context.prepared.get(&handle, caller.user())?;
    let bound = context.blocking(move |context| {
        let mut binding = context.prepared.binding();
        batches(opened, |batch| binding.push(batch))?;
        statement.bind(binding);
        Ok(())
    });
    bound.await?;
    let told = DoPutPreparedStatementResult { prepared_statement_handle: Some(handle) };
    Ok(told.encode_to_vec())
}

/// Takes the batches of parameters as they come, to the end of the stream. False when none came
/// that has columns.
fn batches(opened: OpenedStream, mut take: impl FnMut(RecordBatch) -> Result<()>) -> Result<bool> {
    let OpenedStream { first: mut message, mut wire, held, .. } = opened;
    // The call runs: its place bounds what further batches have in memory.
    drop(held);
    let mut decoder = FlightDecoder::default();
    let mut came = false;
    loop {
        if let Some(batch) = decoder.decode(&message)?
            && batch.num_columns() > 0
        {
            came = true;
            take(batch)?;
        }
        message = match Handle::current().block_on(wire.next())? {
            StreamEvent::Message(message) => message,
            StreamEvent::Ended => return Ok(came),
            StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
        };
    }
}

fn changed_count(answer: Answer) -> Result<u64> {
    match answer {
        Answer::Changed(changes) => Ok(changes.total()),
        Answer::Done(_) => Ok(0),
        Answer::Rows(rows) => {
            // RETURNING COUNT(*): one number.
            let batch = rows.into_batch()?;
            let count = batch.columns().first().and_then(|column| {
                let column = arrow::array::AsArray::as_primitive_opt::<arrow::datatypes::Int64Type>(
                    column.as_ref(),
                )?;
                column.iter().next().flatten()
            });
            Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
        }
    }
}

pub(super) fn update_result(count: u64) -> Vec<u8> {
    let record_count = i64::try_from(count).unwrap_or(i64::MAX);
    DoPutUpdateResult { record_count }.encode_to_vec()
}
