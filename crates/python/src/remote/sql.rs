//! SQL statements over a server.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tonnage::internal::sync::lock;
use tonnage::{Cancel as NativeCancel, Error, Value};
use tonnage_client::{Answer, Fetched, PreparedStatement};

use super::connection::RemoteConnection;
use super::rows::batches;
use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::bulk_put::Cancel;
use crate::error::{OrRaise, to_exception};
use crate::handle::ProcessBound;
use crate::read_options::seconds;
use crate::sql::SqlAnswer;
use crate::value::to_value;

/// A statement that the server keeps for many executions.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct RemotePrepared {
    /// One execution at a time: the server keeps the values with the statement.
    statement: ProcessBound<Mutex<PreparedStatement>>,
    text: String,
}

#[pymethods]
impl RemotePrepared {
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[pyo3(signature = (values=None))]
    fn execute(&self, py: Python<'_>, values: Option<Bound<'_, PyAny>>) -> PyResult<SqlAnswer> {
        let statement = self.statement.get()?;
        let values = numbered(values.as_ref())?;
        let answer = py.detach(|| {
            let statement = lock(statement);
            statement.execute(&values)
        });
        Ok(answer_of(answer.or_raise()?, NativeCancel::new()))
    }
}

pub(crate) fn prepare(
    py: Python<'_>,
    connection: &RemoteConnection,
    text: &str,
) -> PyResult<RemotePrepared> {
    let client = connection.client()?;
    let statement = py.detach(|| client.prepare(text)).or_raise()?;
    let statement = ProcessBound::new(Mutex::new(statement));
    Ok(RemotePrepared { statement, text: text.to_owned() })
}

pub(crate) fn execute(
    py: Python<'_>,
    connection: &RemoteConnection,
    text: &str,
    values: Option<&Bound<'_, PyAny>>,
    timeout: Option<f64>,
    cancel: Option<&Bound<'_, Cancel>>,
) -> PyResult<SqlAnswer> {
    let cancel = cancel.map(|cancel| cancel.get().0.clone()).unwrap_or_default();
    let client = connection.limited(&cancel, seconds(timeout)?)?;
    let values = numbered(values)?;
    let answer = py.detach(|| client.sql_with(text, &values)).or_raise()?;
    Ok(answer_of(answer, cancel))
}

/// The answer of each statement, or the exception that it ended with.
pub(crate) fn fetch_all<'py>(
    py: Python<'py>,
    connection: &RemoteConnection,
    statements: &[(String, Option<Bound<'py, PyAny>>)],
) -> PyResult<Bound<'py, PyList>> {
    let client = connection.client()?;
    let statements =
        statements.iter().map(|(text, values)| Ok((text.clone(), numbered(values.as_ref())?)));
    let statements = statements.collect::<PyResult<Vec<_>>>()?;
    let told = PyList::empty(py);
    for answer in py.detach(|| client.fetch_all(&statements)).or_raise()? {
        match answer.map(fetched_answer) {
            Ok(answer) => told.append(answer)?,
            Err(error) => told.append(to_exception(&error).into_value(py))?,
        }
    }
    Ok(told)
}

fn answer_of(answer: Answer, cancel: NativeCancel) -> SqlAnswer {
    match answer {
        Answer::Rows(rows) => SqlAnswer::Rows(batches(rows, None, false, cancel)),
        Answer::Changed(changes) => changed(changes),
        Answer::Done(outcome) => SqlAnswer::Done(outcome.to_string()),
    }
}

fn fetched_answer(answer: Fetched) -> SqlAnswer {
    match answer {
        Fetched::Rows(schema, batches) => {
            let batches = BatchIterator::new(batches.into_iter().map(Ok));
            SqlAnswer::Rows(Batches::new(schema, batches, NativeCancel::new()))
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
