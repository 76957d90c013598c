//! Runs a prepared statement once for each row of a batch of parameters.

use arrow::array::RecordBatch;
use tonnage::{Error, Result};

use super::answer::{Answer, Changes};
use super::describe::parameter_count;
use super::request::{Parameters, Request};
use super::sql::Prepared;
use super::statement::ParsedStatement;
use super::statement_cache::CachedStatement;
use crate::write::repeat_insert;

/// Rows of an INSERT that are written by one statement: more would cost more to plan than they
/// save.
const ROWS_AT_ONCE: usize = 500;

impl Prepared {
    /// Carries the statement out once for each row of a batch, whose columns are `$1`, `$2` and so
    /// on, in order. An INSERT of plain values takes 500 rows at a time: a key that exists refuses
    /// all of these, but a failure midway may leave some stored, and its error says how many.
    /// Rows before those that fail stay stored.
    ///
    /// `request` gives time-out and cancellation; its text and parameters are not used.
    ///
    /// # Errors
    /// As [`crate::Sql::execute`], with the number of the row from 0; `Invalid` for a statement
    /// that gives rows, or for too few columns.
    pub fn execute_batch(&self, batch: &RecordBatch, request: &Request) -> Result<Changes> {
        let wanted = parameter_count(&self.statement.piece().tokens);
        if batch.num_columns() < wanted {
            return Err(Error::invalid(format!(
                "the statement has {wanted} parameters, but {} are bound",
                batch.num_columns()
            )));
        }
        let piece = self.statement.piece();
        // Refused before the first row is written: its rows would be lost.
        let is_returning = matches!(self.statement.parsed()?,
            ParsedStatement::Write(write) if write.gives_rows());
        if is_returning || piece.kind.reads_only() {
            return Err(gives_rows());
        }
        let mut changes = Changes::default();
        let mut at = 0;
        while at < batch.num_rows() {
            let rows = (batch.num_rows() - at).min(ROWS_AT_ONCE);
            let place = |error: Error, last: usize| {
                let rows =
                    if last > at { format!("rows {at} to {last}") } else { format!("row {at}") };
                error.at(format!("{rows} of the parameters"))
            };
            // An error of one statement does not say which of its rows failed, so it names all of
            // them. Their keys are checked first. A failure after that may leave some stored.
            let many = (rows > 1).then(|| repeat_insert(piece, wanted, rows)).flatten();
            match many {
                Some(piece) => {
                    let parameters = flat(batch, wanted, at, rows)?;
                    let request = request.clone().parameters(parameters);
                    let answer = self.sql.run(&CachedStatement::new(piece), &request);
                    add(&mut changes, answer.map_err(|error| place(error, at + rows - 1))?)?;
                    at += rows;
                }
                None => {
                    let request = request.clone().parameters(Parameters::of_row(batch, at)?);
                    let answer = self.sql.run(&self.statement, &request.text(self.text()));
                    add(&mut changes, answer.map_err(|error| place(error, at))?)?;
                    at += 1;
                }
            }
        }
        Ok(changes)
    }

    /// Carries the statement out with what a request brings beside its text.
    ///
    /// # Errors
    /// As [`crate::Sql::execute`].
    pub fn execute_request(&self, request: &Request) -> Result<Answer> {
        self.sql.run(&self.statement, &request.clone().text(self.text()))
    }
}

/// The values of several rows, one after another.
fn flat(batch: &RecordBatch, columns: usize, from: usize, rows: usize) -> Result<Parameters> {
    let places: Vec<usize> = (0..columns).collect();
    let batch = batch.project(&places).map_err(|error| Error::invalid(error.to_string()))?;
    let mut all = Parameters::default();
    for row in from..from + rows {
        all.append(Parameters::of_row(&batch, row)?);
    }
    Ok(all)
}

fn add(changes: &mut Changes, answer: Answer) -> Result<()> {
    match answer {
        Answer::Changed(more) => {
            changes.inserted += more.inserted;
            changes.updated += more.updated;
            changes.deleted += more.deleted;
            changes.skipped += more.skipped;
            Ok(())
        }
        Answer::Done(_) => Ok(()),
        Answer::Rows(_) => Err(gives_rows()),
    }
}

fn gives_rows() -> Error {
    Error::invalid("the statement gives rows: ask for them, instead of carrying it out as a change")
}
