//! Statements, over Flight SQL.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow_flight::decode::FlightDataDecoder;
use arrow_flight::error::FlightError;
use arrow_flight::sql::{CommandStatementQuery, ProstMessageExt};
use arrow_flight::{FlightDescriptor, Ticket};
use futures::TryStreamExt;
use prost::Message;
use tonnage::{Error, Result};

use crate::client::Client;
use crate::limits::Limits;
use crate::rows::{Rows, SourceFailure};

/// What a statement answers.
#[derive(Debug)]
pub enum Answer {
    /// Rows, for a statement that reads.
    Rows(Rows),
    /// How many rows a statement changed; 0 for definitions.
    Changed(u64),
}

impl Answer {
    /// The rows; none of a change.
    pub fn rows(self) -> impl Iterator<Item = Result<tonnage::arrow::array::RecordBatch>> {
        match self {
            Answer::Rows(rows) => Some(rows),
            Answer::Changed(_) => None,
        }
        .into_iter()
        .flatten()
    }
}

impl Client {
    /// Carries out one statement. Rows are pulled; a change is done when this returns.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. Whether a change was done
    /// is not known then.
    pub fn sql(&self, statement: &str) -> Result<Answer> {
        let limits = self.limits();
        let query = statement.to_owned();
        let command = CommandStatementQuery { query, transaction_id: None };
        let descriptor = FlightDescriptor::new_cmd(command.as_any().encode_to_vec());
        let (mut flight, request) = (self.flight(), self.request(descriptor));
        let asked = async move { flight.get_flight_info(request).await };
        let info = self.answered(self.wait(&limits, asked)?)?.into_inner();
        // A statement that changes something has no columns before it was carried out.
        let is_change = info.schema.is_empty();
        let tickets = info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket);
        let ticket = tickets.last().ok_or_else(|| {
            Error::internal(format!("{}: a statement came back without a ticket", self.server()))
        })?;
        let rows = self.fetch(limits, ticket)?;
        match is_change {
            false => Ok(Answer::Rows(rows)),
            true => counted(rows),
        }
    }

    /// Fetches the rows of a ticket.
    pub(crate) fn fetch(&self, limits: Limits, ticket: Ticket) -> Result<Rows> {
        let (mut flight, request) = (self.flight(), self.request(ticket));
        let got = async move { flight.do_get(request).await };
        let stream = self.answered(self.wait(&limits, got)?)?.into_inner();
        let decoder = FlightDataDecoder::new(stream.map_err(FlightError::from));
        Rows::open(self.clone(), limits, decoder, SourceFailure::default())
    }
}

/// A change answers the one column `count`, but for one whose answer is rows.
fn counted(rows: Rows) -> Result<Answer> {
    let fields = rows.schema().fields();
    if fields.len() != 1 || fields[0].name() != "count" {
        return Ok(Answer::Rows(rows));
    }
    let mut total = 0;
    for batch in rows {
        let batch = batch?;
        let counts = batch.column(0).as_primitive_opt::<Int64Type>();
        total += counts.map_or(0, |counts| counts.values().iter().sum::<i64>());
    }
    Ok(Answer::Changed(u64::try_from(total).unwrap_or_default()))
}
