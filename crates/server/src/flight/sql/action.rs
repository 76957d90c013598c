//! The actions of Flight SQL, and those of Flight for statements and sessions.

use std::sync::Arc;

use arrow_flight::sql::{
    ActionCancelQueryRequest, ActionCancelQueryResult, ActionClosePreparedStatementRequest,
    ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult, Any, Command,
    ProstMessageExt,
};
use arrow_flight::{
    Action, CancelFlightInfoRequest, CancelFlightInfoResult, CancelStatus, FlightInfo,
};
use prost::Message;
use tonnage::{Error, Result};
use tonnage_sql::Parameters;

use super::message::{command_of, schema_bytes};
use super::parameter_types::parameter_schema;
use super::plain::plain_schema;
use super::session;
use super::statement::{StatementTicket, no_transaction};
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::flight::command::parse;

/// The actions, with what they do.
pub(crate) const ACTIONS: [(&str, &str); 7] = [
    ("CreatePreparedStatement", "Keep a statement for many executions"),
    ("ClosePreparedStatement", "Forget a prepared statement"),
    ("CancelQuery", "Cancel a statement"),
    ("CancelFlightInfo", "Cancel a statement"),
    ("SetSessionOptions", "Set options of the session: catalog, schema, timeout_ms"),
    ("GetSessionOptions", "Tell the options of the session"),
    ("CloseSession", "End the session"),
];

const NO_TRANSACTIONS: [&str; 4] =
    ["BeginTransaction", "EndTransaction", "BeginSavepoint", "EndSavepoint"];

/// Whether an action is one of these.
pub(crate) fn is_action(name: &str) -> bool {
    ACTIONS.iter().any(|(known, _)| *known == name)
        || NO_TRANSACTIONS.contains(&name)
        || name == "CreatePreparedSubstraitPlan"
}

/// What an action answers.
#[derive(Default)]
pub(crate) struct ActionAnswer {
    /// The body of each result.
    pub(crate) results: Vec<Vec<u8>>,
    /// A session that the client did not name before.
    pub(crate) session: Option<String>,
}

impl ActionAnswer {
    fn one(body: Vec<u8>) -> Self {
        Self { results: vec![body], session: None }
    }
}

/// Carries an action out.
///
/// # Errors
/// `Unsupported` for transactions and Substrait; what is wrong with its body; what the statement
/// says.
pub(crate) async fn run(
    context: &Arc<ServerContext>,
    caller: &Caller,
    action: Action,
) -> Result<ActionAnswer> {
    let body = &action.body;
    // Each action is also in `ACTIONS`. Those of transactions are refused with a reason.
    match action.r#type.as_str() {
        "CreatePreparedStatement" => {
            prepare(context, caller, unpack(body)?).await.map(ActionAnswer::one)
        }
        "ClosePreparedStatement" => {
            let request: ActionClosePreparedStatementRequest = unpack(body)?;
            context.prepared.close(&request.prepared_statement_handle, caller.user());
            Ok(ActionAnswer::default())
        }
        "CancelQuery" => {
            let request: ActionCancelQueryRequest = unpack(body)?;
            let info = FlightInfo::decode(&*request.info).map_err(|error| unreadable(&error))?;
            let result = cancel(context, &info)? as i32;
            Ok(ActionAnswer::one(ActionCancelQueryResult { result }.as_any().encode_to_vec()))
        }
        "CancelFlightInfo" => {
            // An action of Flight itself, not of Flight SQL: no `Any` is wrapped around it.
            let request =
                CancelFlightInfoRequest::decode(&**body).map_err(|error| unreadable(&error))?;
            let status = cancel(context, &request.info.unwrap_or_default())? as i32;
            Ok(ActionAnswer::one(CancelFlightInfoResult { status }.encode_to_vec()))
        }
        "SetSessionOptions" => {
            // Only here may a session begin, whose name the service sends as a cookie.
            let (body, session) = session::set(context, caller, body)?;
            Ok(ActionAnswer { results: vec![body], session: Some(session) })
        }
        "GetSessionOptions" => Ok(ActionAnswer::one(session::get(context, caller))),
        "CloseSession" => Ok(ActionAnswer::one(session::close(context, caller))),
        name if NO_TRANSACTIONS.contains(&name) => Err(Error::unsupported(
            "there are no transactions over several statements: use autocommit",
        )),
        name => Err(Error::unsupported(format!("{name} is not offered: send SQL"))),
    }
}

fn unpack<M: ProstMessageExt>(body: &[u8]) -> Result<M> {
    let any = Any::decode(body).map_err(|error| unreadable(&error))?;
    let message = any.unpack().map_err(|error| Error::invalid(error.to_string()))?;
    message.ok_or_else(|| {
        Error::invalid(format!("the action's body is a {}, not a {}", any.type_url, M::type_url()))
    })
}

fn unreadable(error: &prost::DecodeError) -> Error {
    Error::invalid(format!("the action's body cannot be read: {error}"))
}

async fn prepare(
    context: &Arc<ServerContext>,
    caller: &Caller,
    request: ActionCreatePreparedStatementRequest,
) -> Result<Vec<u8>> {
    no_transaction(request.transaction_id.as_deref())?;
    let caller = caller.clone();
    let result = context.blocking(move |context| {
        caller.check_statement(&context.sql, &request.query)?;
        let prepared = context.sql.prepare(&request.query)?;
        let described = prepared.describe(&Parameters::default())?;
        let rows = described.rows.as_ref().map(plain_schema);
        let dataset_schema = rows.map(|rows| schema_bytes(&rows)).transpose()?.unwrap_or_default();
        let parameters = parameter_schema(described.parameters, caller.binds_milliseconds());
        let parameter_schema = schema_bytes(&parameters)?;
        let handle = context.prepared.keep(prepared, caller.user().map(str::to_owned))?;
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle: handle.into_bytes().into(),
            dataset_schema: dataset_schema.into(),
            parameter_schema: parameter_schema.into(),
        })
    });
    Ok(result.await?.as_any().encode_to_vec())
}

/// Cancels the statements whose tickets an info holds.
fn cancel(context: &ServerContext, info: &FlightInfo) -> Result<CancelStatus> {
    let mut found = false;
    for ticket in info.endpoint.iter().filter_map(|endpoint| endpoint.ticket.as_ref()) {
        if let Some(Command::TicketStatementQuery(query)) = command_of(&ticket.ticket)? {
            let handle: StatementTicket = parse("the ticket", &query.statement_handle)?;
            found |= context.statements.cancel(&handle.id);
        }
    }
    // The values are those of CancelQuery's results, too.
    Ok(if found { CancelStatus::Cancelled } else { CancelStatus::NotCancellable })
}
