//! Runs SQL statements, and returns their rows or counts.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tonnage::Cancel as NativeCancel;
use tonnage_client::Connection;
use tonnage_sql::{Answer, Parameters, Request, Rows};

use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::bulk_put::Cancel;
use crate::error::{OrRaise, to_exception};
use crate::handle::{ProcessBound, StoreHandle};
use crate::read_options::seconds;
use crate::remote_sql;
use crate::sql_answer::SqlAnswer;
use crate::value::to_value;

/// A statement that is kept for many executions.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct Prepared(ProcessBound<PreparedStatement>);

enum PreparedStatement {
    Embedded(tonnage_sql::Prepared),
    Remote(remote_sql::Prepared),
}

#[pymethods]
impl Prepared {
    #[getter]
    fn text(&self) -> PyResult<String> {
        Ok(match self.0.get()? {
            PreparedStatement::Embedded(prepared) => prepared.text().to_owned(),
            PreparedStatement::Remote(prepared) => prepared.text().to_owned(),
        })
    }

    #[pyo3(signature = (values=None))]
    fn execute(&self, py: Python<'_>, values: Option<Bound<'_, PyAny>>) -> PyResult<SqlAnswer> {
        match self.0.get()? {
            PreparedStatement::Embedded(prepared) => {
                let values = parameters(values.as_ref())?;
                let answer = py.detach(|| prepared.execute(values)).or_raise()?;
                Ok(answer_of(answer, NativeCancel::new()))
            }
            PreparedStatement::Remote(prepared) => prepared.execute(py, values.as_ref()),
        }
    }
}

pub(crate) fn prepare(py: Python<'_>, handle: &StoreHandle, text: &str) -> PyResult<Prepared> {
    let prepared = match handle.store()? {
        Connection::Embedded(_) => {
            PreparedStatement::Embedded(handle.sql()?.prepare(text).or_raise()?)
        }
        Connection::Remote(store) => {
            PreparedStatement::Remote(remote_sql::prepare(py, &store, text)?)
        }
    };
    Ok(Prepared(ProcessBound::new(prepared)))
}

pub(crate) fn execute(
    py: Python<'_>,
    handle: &StoreHandle,
    text: &str,
    values: Option<&Bound<'_, PyAny>>,
    timeout: Option<f64>,
    cancel: Option<&Bound<'_, Cancel>>,
) -> PyResult<SqlAnswer> {
    let cancel = cancel.map(|cancel| cancel.get().0.clone()).unwrap_or_default();
    if let Connection::Remote(store) = handle.store()? {
        let store = store.with_limits(&cancel, seconds(timeout)?);
        return remote_sql::execute(py, &store, text, values, cancel);
    }
    let sql = handle.sql()?;
    let mut request = Request::new(text).parameters(parameters(values)?).cancel(&cancel);
    if let Some(timeout) = seconds(timeout)? {
        request = request.timeout(timeout);
    }
    let answer = py.detach(|| sql.execute(request)).or_raise()?;
    Ok(answer_of(answer, cancel))
}

pub(crate) fn query_table(
    py: Python<'_>,
    handle: &StoreHandle,
    table: &str,
    text: &str,
) -> PyResult<SqlAnswer> {
    let sql = handle.sql()?;
    let answer = py.detach(|| sql.query_table(table, text)).or_raise()?;
    Ok(answer_of(answer, NativeCancel::new()))
}

/// The answer of each statement, or the exception that it ended with.
pub(crate) fn fetch_all<'py>(
    py: Python<'py>,
    handle: &StoreHandle,
    statements: &[(String, Option<Bound<'py, PyAny>>)],
) -> PyResult<Bound<'py, PyList>> {
    if let Connection::Remote(store) = handle.store()? {
        return remote_sql::fetch_all(py, &store, statements);
    }
    let sql = handle.sql()?;
    let requests = statements.iter().map(|(text, values)| {
        Ok(Request::new(text.as_str()).parameters(parameters(values.as_ref())?))
    });
    let requests = requests.collect::<PyResult<Vec<_>>>()?;
    let answers = py.detach(|| sql.fetch_all(requests));
    let told = PyList::empty(py);
    for answer in answers {
        match answer {
            Ok(answer) => told.append(answer_of(answer, NativeCancel::new()))?,
            Err(error) => told.append(to_exception(&error).into_value(py))?,
        }
    }
    Ok(told)
}

fn answer_of(answer: Answer, cancel: NativeCancel) -> SqlAnswer {
    match answer {
        Answer::Rows(rows) => SqlAnswer::Rows(batches(rows, cancel)),
        Answer::Changed(changes) => SqlAnswer::Changed((
            changes.inserted,
            changes.updated,
            changes.deleted,
            changes.skipped,
        )),
        Answer::Done(outcome) => SqlAnswer::Done(outcome.to_string()),
    }
}

fn batches(rows: Rows, cancel: NativeCancel) -> Batches {
    Batches::new(rows.schema().clone(), BatchIterator::new(rows), cancel)
}

/// Parameters out of a sequence, for `$1`, `$2`, or a mapping, for `:name`.
fn parameters(values: Option<&Bound<'_, PyAny>>) -> PyResult<Parameters> {
    let mut parameters = Parameters::default();
    let Some(values) = values else { return Ok(parameters) };
    if let Ok(named) = values.cast::<PyDict>() {
        for (name, value) in named.iter() {
            parameters.set(name.extract::<String>()?, to_value(&value)?);
        }
        return Ok(parameters);
    }
    for value in values.try_iter()? {
        parameters.push(to_value(&value?)?);
    }
    Ok(parameters)
}
