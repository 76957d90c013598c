//! GetFlightInfo, DoGet and DoPut for the commands of Flight SQL.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow_flight::sql::{Command, ProstMessageExt, TicketStatementQuery};
use arrow_flight::{FlightDescriptor, FlightEndpoint, FlightInfo, PutResult, Ticket};
use futures::StreamExt;
use futures::stream::BoxStream;
use prost::Message;
use tonic::Status;
use tonnage::{Error, Result};

use super::message::wrong_call;
use super::statement::{FlightDataStream, StatementTicket};
use super::{ingest, metadata, statement, update};
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::flight::command::parse;
use crate::flight::opened_stream::OpenedStream;

/// The columns of a command's answer.
///
/// # Errors
/// What carrying it out would say of its text.
pub(in crate::flight) async fn schema(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: Command,
) -> Result<SchemaRef> {
    if metadata::is_metadata(&command) {
        return metadata::schema(&command);
    }
    statement::schema(context, caller, command).await
}

/// What there is to know of a command: its columns, and a ticket to its answer.
///
/// # Errors
/// What carrying it out would say of its text.
pub(in crate::flight) async fn info(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: Command,
    descriptor: FlightDescriptor,
) -> Result<FlightInfo> {
    if metadata::is_metadata(&command) {
        let schema = metadata::schema(&command)?;
        return flight_info(Some(&schema), descriptor, command.into_any().encode_to_vec());
    }
    let asked = statement::prepare_fetch(context, caller, command).await?;
    let handle = serde_json::to_vec(&asked.handle)
        .map_err(|error| Error::internal(format!("a ticket cannot be written: {error}")))?;
    let ticket = TicketStatementQuery { statement_handle: handle.into() };
    flight_info(asked.rows.as_deref(), descriptor, ticket.as_any().encode_to_vec())
}

fn flight_info(
    schema: Option<&Schema>,
    descriptor: FlightDescriptor,
    ticket: Vec<u8>,
) -> Result<FlightInfo> {
    let endpoint = FlightEndpoint::new().with_ticket(Ticket::new(ticket));
    let info = FlightInfo::new()
        .with_descriptor(descriptor)
        .with_endpoint(endpoint)
        .with_total_records(-1)
        .with_total_bytes(-1);
    match schema {
        None => Ok(info),
        Some(schema) => info
            .try_with_schema(schema)
            .map_err(|error| Error::internal(format!("the schema cannot be written: {error}"))),
    }
}

/// The rows of a ticket.
///
/// # Errors
/// What the statement says before its first row.
pub(in crate::flight) async fn get(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: Command,
) -> Result<FlightDataStream> {
    if metadata::is_metadata(&command) {
        let caller = caller.clone();
        // Reading definitions may block, so metadata takes the path of statements, under a name of
        // its own.
        return statement::stream(
            context,
            statement::start_unnamed(context, &caller, "")?,
            move |context, _| {
                let batch = metadata::answer(context, command, |table| caller.may_see(table))?;
                Ok((batch.schema(), Box::new(std::iter::once(Ok(batch))) as _))
            },
        )
        .await;
    }
    match command {
        Command::TicketStatementQuery(ticket) => {
            let handle: StatementTicket = parse("the ticket", &ticket.statement_handle)?;
            statement::fetch(context, caller, handle).await
        }
        // A client may skip GetFlightInfo: its command is then prepared and fetched in one call.
        Command::CommandPreparedStatementQuery(_) | Command::CommandStatementQuery(_) => {
            let handle = statement::prepare_fetch(context, caller, command).await?.handle;
            statement::fetch(context, caller, handle).await
        }
        other => Err(wrong_call(&other, "DoGet")),
    }
}

/// Takes what a client puts; each message of the answer is of the protocol.
///
/// # Errors
/// What the statement or the load says.
pub(in crate::flight) async fn put(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: Command,
    opened: OpenedStream,
) -> Result<BoxStream<'static, std::result::Result<PutResult, Status>>> {
    let told = match command {
        Command::CommandStatementUpdate(command) => {
            update::carry_out(context, caller, command).await?
        }
        Command::CommandPreparedStatementUpdate(command) => {
            update::carry_out_prepared(context, caller, command, opened).await?
        }
        Command::CommandPreparedStatementQuery(command) => {
            update::bind(context, caller, command, opened).await?
        }
        Command::CommandStatementIngest(command) => {
            ingest::ingest(context, caller, command, opened).await?
        }
        other => return Err(wrong_call(&other, "DoPut")),
    };
    let result = PutResult { app_metadata: told.into() };
    Ok(futures::stream::iter([Ok(result)]).boxed())
}
