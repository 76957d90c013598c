//! Calls on single rows and pairs that do not wait for the answers of earlier ones.

use std::collections::HashMap;
use std::sync::Mutex;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use tonnage::internal::sync::lock;
use tonnage::{Condition, GetOptions, Row};
use tonnage_client::{AnyPipeline, CallResult};

use crate::error::{OrRaise, to_exception};
use crate::handle::StoreHandle;
use crate::key::to_native_key;
use crate::key_value::stored_pair;
use crate::table::key_columns;
use crate::value::{bytes_of, to_key, to_row};
use crate::write_options::{stored_row, to_condition, write_options, write_outcome};

/// A pipeline. Its calls come from one thread at a time.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct Pipeline {
    handle: StoreHandle,
    calls: Mutex<AnyPipeline>,
    tables: Mutex<HashMap<String, KnownColumns>>,
}

/// The names that rows and keys without names take.
#[derive(Clone)]
struct KnownColumns {
    all: Vec<String>,
    key: Vec<String>,
}

impl Pipeline {
    pub(crate) fn open(py: Python<'_>, handle: StoreHandle) -> PyResult<Self> {
        let store = handle.store()?;
        let calls = py.detach(|| store.pipeline()).or_raise()?;
        Ok(Self { handle, calls: Mutex::new(calls), tables: Mutex::default() })
    }

    fn columns(&self, py: Python<'_>, path: &str) -> PyResult<KnownColumns> {
        if let Some(known) = lock(&self.tables).get(path) {
            return Ok(known.clone());
        }
        let table = self.handle.table(py, path)?;
        let all = table.schema().columns.iter().map(|column| column.name.clone()).collect();
        let known = KnownColumns { all, key: key_columns(&table) };
        lock(&self.tables).insert(path.to_owned(), known.clone());
        Ok(known)
    }

    fn call(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut AnyPipeline) -> tonnage::Result<()> + Send,
    ) -> PyResult<()> {
        py.detach(|| call(&mut lock(&self.calls))).or_raise()
    }

    fn key(&self, py: Python<'_>, table: &str, key: &Bound<'_, PyAny>) -> PyResult<Row> {
        to_key(key, &self.columns(py, table)?.key)
    }
}

#[pymethods]
impl Pipeline {
    #[pyo3(signature = (table, row, condition, durability, ttl))]
    fn put(
        &self,
        py: Python<'_>,
        table: &str,
        row: &Bound<'_, PyAny>,
        condition: Option<&Bound<'_, PyAny>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<()> {
        let row = to_row(row, &self.columns(py, table)?.all)?;
        let (condition, options) = (to_condition(condition)?, write_options(durability, ttl)?);
        self.call(py, |calls| calls.put(table, &row, condition, &options))
    }

    #[pyo3(signature = (table, changes, version, durability, ttl))]
    fn update(
        &self,
        py: Python<'_>,
        table: &str,
        changes: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<()> {
        let changes = to_row(changes, &[])?;
        let options = write_options(durability, ttl)?;
        let condition = present(version);
        self.call(py, |calls| calls.update(table, &changes, condition, &options))
    }

    #[pyo3(signature = (table, key, version, durability))]
    fn delete(
        &self,
        py: Python<'_>,
        table: &str,
        key: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
    ) -> PyResult<()> {
        let key = self.key(py, table, key)?;
        let options = write_options(durability, None)?;
        let condition = present(version);
        self.call(py, |calls| calls.delete(table, &key, condition, &options))
    }

    fn get(&self, py: Python<'_>, table: &str, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = self.key(py, table, key)?;
        self.call(py, |calls| calls.get(table, &key, &GetOptions::default()))
    }

    #[pyo3(signature = (key, value, condition, durability, ttl))]
    fn put_pair(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        condition: Option<&Bound<'_, PyAny>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<()> {
        let (key, value) = (to_native_key(key)?, bytes_of(value)?);
        let (condition, options) = (to_condition(condition)?, write_options(durability, ttl)?);
        self.call(py, |calls| calls.put_pair(&key, &value, condition, &options))
    }

    #[pyo3(signature = (key, version, durability))]
    fn delete_pair(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
    ) -> PyResult<()> {
        let (key, options) = (to_native_key(key)?, write_options(durability, None)?);
        let condition = present(version);
        self.call(py, |calls| calls.delete_pair(&key, condition, &options))
    }

    fn get_pair(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = to_native_key(key)?;
        self.call(py, |calls| calls.get_pair(&key, &GetOptions::default()))
    }

    /// The next answer: what it is, and its value or the exception; None after the last one.
    fn next_answer<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
        let answer = py.detach(|| lock(&self.calls).next_answer()).or_raise()?;
        let Some(answer) = answer else { return Ok(None) };
        let answer = match answer {
            Err(error) => ("error", to_exception(&error).into_value(py).into_bound_py_any(py)?),
            Ok(CallResult::Written(written)) => {
                ("written", write_outcome(written).into_bound_py_any(py)?)
            }
            Ok(CallResult::Row(row)) => {
                let row = row.map(|row| stored_row(py, &row)).transpose()?;
                ("row", row.into_bound_py_any(py)?)
            }
            Ok(CallResult::Pair(pair)) => {
                let pair = pair.map(|pair| stored_pair(py, &pair)).transpose()?;
                ("pair", pair.into_bound_py_any(py)?)
            }
            Ok(_) => return Err(pyo3::exceptions::PyRuntimeError::new_err("an unknown answer")),
        };
        Ok(Some(answer))
    }
}

fn present(version: Option<u64>) -> Condition {
    version.map_or(Condition::IfPresent, Condition::IfVersion)
}
