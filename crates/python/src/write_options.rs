//! Options of writes, out of Python's arguments, and their results.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tonnage::{Condition, Durability, OnExisting, WriteOptions, WriteResult};

use crate::read_options::seconds;

pub(crate) fn on_existing(name: &str) -> PyResult<OnExisting> {
    match name {
        "keep" => Ok(OnExisting::Keep),
        "replace" => Ok(OnExisting::Replace),
        "blind" => Ok(OnExisting::BlindReplace),
        "fail" => Ok(OnExisting::Fail),
        _ => Err(PyValueError::new_err(format!(
            "on_existing is '{name}': give 'keep', 'replace', 'blind' or 'fail'"
        ))),
    }
}

pub(crate) fn durability(name: &str) -> PyResult<Durability> {
    match name {
        "none" => Ok(Durability::None),
        "write" => Ok(Durability::Write),
        "fsync" => Ok(Durability::Fsync),
        _ => Err(PyValueError::new_err(format!(
            "durability is '{name}': give 'none', 'write' or 'fsync'"
        ))),
    }
}

pub(crate) fn write_options(name: &str, ttl: Option<f64>) -> PyResult<WriteOptions> {
    let ttl = seconds(ttl)?;
    Ok(WriteOptions { durability: durability(name)?, ttl, ..WriteOptions::default() })
}

/// `None`, `"absent"`, `"present"` or a version.
pub(crate) fn to_condition(condition: Option<&Bound<'_, PyAny>>) -> PyResult<Condition> {
    let Some(condition) = condition else { return Ok(Condition::Always) };
    if let Ok(version) = condition.extract::<u64>() {
        return Ok(Condition::IfVersion(version));
    }
    match condition.extract::<&str>() {
        Ok("absent") => Ok(Condition::IfAbsent),
        Ok("present") => Ok(Condition::IfPresent),
        _ => Err(PyValueError::new_err(format!(
            "the condition is {condition}: give 'absent', 'present' or a version"
        ))),
    }
}

/// A stored row as Python takes it: values, version, expiry in ms or nothing.
pub(crate) type StoredRowTuple<'py> = (Bound<'py, PyDict>, u64, Option<u64>);

/// The row of a table, or the answer that there is none.
pub(crate) fn stored_row<'py>(
    py: Python<'py>,
    row: &tonnage::StoredRow,
) -> PyResult<StoredRowTuple<'py>> {
    let dict = PyDict::new(py);
    for (name, value) in row.row.iter() {
        dict.set_item(name, crate::record_cells::value_of(py, value)?)?;
    }
    Ok((dict, row.version, (row.expires_at_ms > 0).then_some(row.expires_at_ms)))
}

/// Whether a write was carried out, and the version of what is stored.
pub(crate) fn write_outcome(result: WriteResult) -> (bool, Option<u64>) {
    match result {
        WriteResult::Stored { version } => (true, Some(version)),
        WriteResult::ConditionFailed { current, .. } => (false, current),
    }
}
