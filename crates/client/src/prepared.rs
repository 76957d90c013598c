//! Prepared statements: the server keeps them, with values for their parameters.

use std::sync::atomic::{AtomicBool, Ordering};

use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::sql::{
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest,
    ActionCreatePreparedStatementResult, Any, CommandPreparedStatementQuery, ProstMessageExt,
};
use arrow_flight::{Action, FlightDescriptor};
use futures::{StreamExt, TryStreamExt};
use prost::Message;
use tonnage::{Error, Result, Value};

use crate::limits::CallLimits;
use crate::row_batch::batch_of_values;
use crate::sql::Answer;
use crate::store::RemoteStore;

/// A statement that the server keeps for many executions, until this is dropped.
#[derive(Debug)]
pub struct PreparedStatement {
    client: RemoteStore,
    text: String,
    handle: prost::bytes::Bytes,
    /// Whether the server may keep values of an execution before.
    is_bound: AtomicBool,
}

impl RemoteStore {
    /// Keeps a statement for many executions.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn prepare(&self, text: &str) -> Result<PreparedStatement> {
        let query = text.to_owned();
        let asked = ActionCreatePreparedStatementRequest { query, transaction_id: None };
        let answers = self.act("CreatePreparedStatement", asked.as_any().encode_to_vec())?;
        let told = answers.first().and_then(|answer| Any::decode(answer.as_slice()).ok());
        let told = told.and_then(|told| told.unpack::<ActionCreatePreparedStatementResult>().ok());
        let told = told.flatten().ok_or_else(|| {
            Error::internal(format!("{}: a statement was kept without a name", self.server()))
        })?;
        Ok(PreparedStatement {
            client: self.clone(),
            text: text.to_owned(),
            handle: told.prepared_statement_handle,
            is_bound: AtomicBool::new(false),
        })
    }

    /// Carries out one statement with values for `$1`, `$2` and so on, or for each `?`.
    ///
    /// # Errors
    /// As [`RemoteStore::sql`].
    pub fn sql_with(&self, text: &str, values: &[Value]) -> Result<Answer> {
        match values.is_empty() {
            true => self.sql(text),
            false => self.prepare(text)?.execute(values),
        }
    }
}

impl PreparedStatement {
    /// The statement.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Carries the statement out with these values for `$1`, `$2` and so on, or for each `?`. Calls
    /// from several threads must not overlap: the values are kept with the statement.
    ///
    /// # Errors
    /// As [`RemoteStore::sql`].
    pub fn execute(&self, values: &[Value]) -> Result<Answer> {
        let limits = self.client.limits();
        let command = CommandPreparedStatementQuery { prepared_statement_handle: self.handle() };
        let command = command.as_any().encode_to_vec();
        // Those of an execution before would be taken for those of this one.
        if !values.is_empty() || self.is_bound.load(Ordering::Acquire) {
            self.is_bound.store(true, Ordering::Release);
            self.bind(&limits, &command, values)?;
            self.is_bound.store(!values.is_empty(), Ordering::Release);
        }
        self.client.execute_command(limits, command)
    }

    fn bind(&self, limits: &CallLimits, command: &[u8], values: &[Value]) -> Result<()> {
        let names = (1..=values.len()).map(|number| format!("${number}"));
        let batch = batch_of_values(names.zip(values))?;
        let rows = FlightDataEncoderBuilder::new()
            .with_schema(batch.schema())
            .with_flight_descriptor(Some(FlightDescriptor::new_cmd(command.to_vec())))
            .build(futures::stream::iter([Ok(batch)]))
            .filter_map(|message| std::future::ready(message.ok()));
        let (mut flight, request) = (self.client.flight(), self.client.request(rows));
        let bound = async move {
            flight.do_put(request).await?.into_inner().try_for_each(async |_| Ok(())).await
        };
        self.client.checked(self.client.wait(limits, bound)?)
    }

    fn handle(&self) -> prost::bytes::Bytes {
        self.handle.clone()
    }
}

impl Drop for PreparedStatement {
    fn drop(&mut self) {
        let asked =
            ActionClosePreparedStatementRequest { prepared_statement_handle: self.handle() };
        let body = asked.as_any().encode_to_vec();
        let mut flight = self.client.flight();
        let request = self.client.request(Action::new("ClosePreparedStatement", body));
        // No call waits; a server that does not get it forgets the statement by itself.
        let _ = self.client.spawn(async move {
            let _ = flight.do_action(request).await;
        });
    }
}
