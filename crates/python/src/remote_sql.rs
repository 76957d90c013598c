//! SQL statements over a server.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tonnage::internal::sync::lock;
use tonnage::{Cancel, Error, Value};
use tonnage_client::{Answer, Fetched, PreparedStatement, RemoteStore};

use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::error::{OrRaise, to_exception};
use crate::sql_answer::SqlAnswer;
use crate::value::to_value;

/// A statement that the server keeps for many executions.
pub(crate) struct Prepared {
    /// One execution at a time: the server keeps the values with the statement.
    statement: Mutex<PreparedStatement>,
    text: String,
}

impl Prepared {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn execute(
        &self,
        py: Python<'_>,
        values: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SqlAnswer> {
        let values = numbered(values)?;
        let answer = py.detach(|| lock(&self.statement).execute(&values));
        Ok(answer_of(answer.or_raise()?, Cancel::new()))
    }
}

pub(crate) fn prepare(py: Python<'_>, store: &RemoteStore, text: &str) -> PyResult<Prepared> {
    let statement = py.detach(|| store.prepare(text)).or_raise()?;
    Ok(Prepared { statement: Mutex::new(statement), text: text.to_owned() })
}

pub(crate) fn execute(
    py: Python<'_>,
    store: &RemoteStore,
    text: &str,
    values: Option<&Bound<'_, PyAny>>,
    cancel: Cancel,
) -> PyResult<SqlAnswer> {
    let values = numbered(values)?;
    let answer = py.detach(|| store.sql_with(text, &values)).or_raise()?;
    Ok(answer_of(answer, cancel))
}

/// The answer of each statement, or the exception that it ended with.
pub(crate) fn fetch_all<'py>(
    py: Python<'py>,
    store: &RemoteStore,
    statements: &[(String, Option<Bound<'py, PyAny>>)],
) -> PyResult<Bound<'py, PyList>> {
    let statements =
        statements.iter().map(|(text, values)| Ok((text.clone(), numbered(values.as_ref())?)));
    let statements = statements.collect::<PyResult<Vec<_>>>()?;
    let told = PyList::empty(py);
    for answer in py.detach(|| store.fetch_all(&statements)).or_raise()? {
        match answer.map(fetched_answer) {
            Ok(answer) => told.append(answer)?,
            Err(error) => told.append(to_exception(&error).into_value(py))?,
        }
    }
    Ok(told)
}

fn answer_of(answer: Answer, cancel: Cancel) -> SqlAnswer {
    match answer {
        Answer::Rows(rows) => {
            SqlAnswer::Rows(Batches::new(rows.schema().clone(), BatchIterator::new(rows), cancel))
        }
        Answer::Changed(changes) => changed(changes),
        Answer::Done(outcome) => SqlAnswer::Done(outcome.to_string()),
    }
}

fn fetched_answer(answer: Fetched) -> SqlAnswer {
    match answer {
        Fetched::Rows(schema, batches) => {
            let batches = BatchIterator::new(batches.into_iter().map(Ok));
            SqlAnswer::Rows(Batches::new(schema, batches, Cancel::new()))
        }
        Fetched::Changed(changes) => changed(changes),
        Fetched::Done(outcome) => SqlAnswer::Done(outcome.to_string()),
    }
}

fn changed(changes: tonnage_client::Changes) -> SqlAnswer {
    SqlAnswer::Changed((changes.inserted, changes.updated, changes.deleted, changes.skipped))
}

/// Values for `$1`, `$2` and so on.
fn numbered(values: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
    let Some(values) = values else { return Ok(Vec::new()) };
    if values.is_instance_of::<PyDict>() {
        return Err(to_exception(&Error::unsupported(
            "a server takes parameters by their numbers: write $1, $2, and give a sequence",
        )));
    }
    values.try_iter()?.map(|value| to_value(&value?)).collect()
}
