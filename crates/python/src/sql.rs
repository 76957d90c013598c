//! Runs SQL statements, and returns their rows or counts.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tonnage::Cancel as NativeCancel;
use tonnage_sql::{Answer, Parameters, Request, Rows};

use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::bulk_put::Cancel;
use crate::error::{OrRaise, to_exception};
use crate::handle::{ProcessBound, StoreHandle};
use crate::read_options::seconds;
use crate::value::to_value;

/// The answer of a statement: rows, or a dict of counts, or what a definition did as text.
#[derive(IntoPyObject)]
pub(crate) enum SqlAnswer {
    Rows(Batches),
    Changed((u64, u64, u64, u64)),
    Done(String),
}

/// A statement that is kept for many executions.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct Prepared(ProcessBound<tonnage_sql::Prepared>);

impl Prepared {
    pub(crate) fn new(prepared: tonnage_sql::Prepared) -> Self {
        Self(ProcessBound::new(prepared))
    }
}

#[pymethods]
impl Prepared {
    #[getter]
    fn text(&self) -> PyResult<String> {
        Ok(self.0.get()?.text().to_owned())
    }

    #[pyo3(signature = (values=None))]
    fn execute(&self, py: Python<'_>, values: Option<Bound<'_, PyAny>>) -> PyResult<SqlAnswer> {
        let prepared = self.0.get()?;
        let values = parameters(values.as_ref())?;
        let answer = py.detach(|| prepared.execute(values)).or_raise()?;
        Ok(answer_of(answer, NativeCancel::new()))
    }
}

pub(crate) fn execute(
    py: Python<'_>,
    handle: &StoreHandle,
    text: &str,
    values: Option<&Bound<'_, PyAny>>,
    timeout: Option<f64>,
    cancel: Option<&Bound<'_, Cancel>>,
) -> PyResult<SqlAnswer> {
    let sql = handle.sql()?;
    let cancel = cancel.map(|cancel| cancel.get().0.clone()).unwrap_or_default();
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
