//! SQL statements over Flight SQL.

use arrow_flight::decode::FlightDataDecoder;
use arrow_flight::error::FlightError;
use arrow_flight::sql::{CommandStatementQuery, ProstMessageExt};
use arrow_flight::{FlightDescriptor, Ticket};
use futures::TryStreamExt;
use prost::Message;
use serde::Deserialize;
use tonnage::{DdlOutcome, Error, Result};

use crate::definition::outcome_of;
use crate::limits::CallLimits;
use crate::rows::{Rows, SourceFailure};
use crate::store::RemoteStore;

/// What a statement answers.
#[derive(Debug)]
pub enum Answer {
    /// Rows, for a statement that reads.
    Rows(Rows),
    /// How many rows a statement changed.
    Changed(Changes),
    /// What a definition did.
    Done(DdlOutcome),
}

/// How many rows a statement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Changes {
    /// Rows stored under a key that was free.
    pub inserted: u64,
    /// Rows changed, or stored over another.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
    /// Rows left out because their key existed and `ON CONFLICT DO NOTHING` was said.
    pub skipped: u64,
}

impl Changes {
    /// Rows that are not as they were.
    pub fn total(&self) -> u64 {
        self.inserted + self.updated + self.deleted
    }
}

impl Answer {
    /// The rows; none of a change.
    pub fn rows(self) -> impl Iterator<Item = Result<tonnage::arrow::array::RecordBatch>> {
        match self {
            Answer::Rows(rows) => Some(rows),
            Answer::Changed(_) | Answer::Done(_) => None,
        }
        .into_iter()
        .flatten()
    }
}

impl RemoteStore {
    /// Carries out one statement. Rows are pulled; a change is done when this returns.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. Whether a change was done
    /// is not known then.
    pub fn sql(&self, statement: &str) -> Result<Answer> {
        let query = statement.to_owned();
        let command = CommandStatementQuery { query, transaction_id: None };
        self.execute_command(self.limits(), command.as_any().encode_to_vec())
    }

    /// Carries out what a command of Flight SQL asks for.
    pub(crate) fn execute_command(&self, limits: CallLimits, command: Vec<u8>) -> Result<Answer> {
        let descriptor = FlightDescriptor::new_cmd(command);
        let (mut flight, request) = (self.flight(), self.request(descriptor));
        let asked = async move { flight.get_flight_info(request).await };
        let info = self.checked(self.wait(&limits, asked)?)?.into_inner();
        // A statement that changes something has no columns before it was carried out.
        let is_change = info.schema.is_empty();
        let tickets = info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket);
        let ticket = tickets.last().ok_or_else(|| {
            Error::internal(format!("{}: a statement came back without a ticket", self.server()))
        })?;
        let rows = self.fetch(limits, ticket)?;
        match is_change {
            false => Ok(Answer::Rows(rows)),
            true => self.counted(rows),
        }
    }

    /// Fetches the rows of a ticket.
    pub(crate) fn fetch(&self, limits: CallLimits, ticket: Ticket) -> Result<Rows> {
        let (mut flight, request) = (self.flight(), self.request(ticket));
        let got = async move { flight.do_get(request).await };
        let stream = self.checked(self.wait(&limits, got)?)?.into_inner();
        let decoder = FlightDataDecoder::new(stream.map_err(FlightError::from));
        Rows::open(self.clone(), limits, decoder, SourceFailure::default())
    }

    /// A change answers the one column `count` and tells in its schema what it did; but for one
    /// whose answer is rows.
    fn counted(&self, rows: Rows) -> Result<Answer> {
        let told = rows.schema().metadata();
        let (changes, done) = (told.get("tonnage.changes"), told.get("tonnage.done"));
        let answer = match (changes, done) {
            (Some(changes), _) => serde_json::from_str(changes).ok().map(Answer::Changed),
            (None, Some(done)) => outcome_of(done.as_bytes()).map(Answer::Done),
            (None, None) => return Ok(Answer::Rows(rows)),
        };
        let answer = answer.ok_or_else(|| {
            let server = self.server();
            Error::internal(format!("{server}: a statement is done, but its answer cannot be read"))
        })?;
        // The server is done when its rows are.
        for batch in rows {
            batch?;
        }
        Ok(answer)
    }
}
