//! A table: single rows, bulk gets, scans.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tonnage::geo::Region;
use tonnage::{Cancel, Condition, DeleteOptions, Error, KeySource, TableScanOptions};
use tonnage_client::{AnyBulkGet, AnyRowsWithin, AnyTable, RemoteTable};

use crate::arrow_in::{failed, reader_of};
use crate::batch_iterator::BatchIterator;
use crate::batches::{Batches, TableBatches};
use crate::error::OrRaise;
use crate::handle::StoreHandle;
use crate::python_rows::{RaisedError, table_keys};
use crate::read_options::{ReadArguments, field_range};
use crate::value::{to_key, to_row};
use crate::write_options::{
    StoredRowTuple, durability, stored_row, to_condition, write_options, write_outcome,
};

/// A table by its path. One of this process is looked up anew for each call, so that it is as it is
/// defined then. One on a server is as it was when it was opened: a refresh would be a call.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct Table {
    handle: StoreHandle,
    path: String,
    remote: Option<RemoteTable>,
}

impl Table {
    pub(crate) fn new(handle: StoreHandle, table: AnyTable) -> Self {
        let path = table.path().to_owned();
        let remote = match table {
            AnyTable::Embedded(_) => None,
            AnyTable::Remote(table) => Some(table),
        };
        Self { handle, path, remote }
    }

    fn native(&self) -> PyResult<AnyTable> {
        let store = self.handle.store()?;
        match &self.remote {
            Some(table) => Ok(table.clone().into()),
            None => store.table(&self.path).or_raise(),
        }
    }

    /// How to scan.
    fn scan_options(
        &self,
        arguments: &ReadArguments<'_>,
        cancel: &Cancel,
    ) -> PyResult<TableScanOptions> {
        let options = arguments.scan(cancel)?;
        if self.remote.is_some() && !options.relatives.is_empty() {
            let remedy = "give keys to bulk_get_related, or scan each table by itself";
            return Err(self.handle.unsupported("scan with rows of relatives", remedy));
        }
        Ok(options)
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// Name, type and whether it may be NULL, of each column.
    #[getter]
    fn columns(&self) -> PyResult<Vec<(String, String, bool)>> {
        let table = self.native()?;
        let columns = table.schema().columns.iter();
        Ok(columns
            .map(|column| (column.name.clone(), column.column_type.to_string(), column.nullable))
            .collect())
    }

    #[getter]
    fn primary_key(&self) -> PyResult<Vec<String>> {
        Ok(key_columns(&self.native()?))
    }

    #[getter]
    fn shard_key(&self) -> PyResult<Vec<String>> {
        let table = self.native()?;
        let mut names = key_columns(&table);
        names.truncate(table.schema().shard_key_len);
        Ok(names)
    }

    #[getter]
    fn ddl(&self) -> PyResult<String> {
        Ok(self.native()?.schema().to_ddl())
    }

    fn __arrow_c_schema__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
        crate::arrow_out::schema_capsule(py, &self.native()?.schema().arrow_schema())
    }

    /// Puts a row under a condition. Answers whether it was stored, and the version of what is
    /// there then.
    #[pyo3(signature = (row, condition, durability, ttl))]
    fn put(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        condition: Option<&Bound<'_, PyAny>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<(bool, Option<u64>)> {
        let table = self.native()?;
        let columns: Vec<_> =
            table.schema().columns.iter().map(|column| column.name.clone()).collect();
        let row = to_row(row, &columns)?;
        let condition = to_condition(condition)?;
        let options = write_options(durability, ttl)?;
        let result = py.detach(|| table.put_if(&row, condition, &options));
        Ok(write_outcome(result.or_raise()?))
    }

    /// Changes the columns of a row that are named. Answers as `put` does.
    #[pyo3(signature = (changes, condition, durability, ttl))]
    fn update(
        &self,
        py: Python<'_>,
        changes: &Bound<'_, PyAny>,
        condition: Option<&Bound<'_, PyAny>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<(bool, Option<u64>)> {
        let table = self.native()?;
        let changes = to_row(changes, &key_columns(&table))?;
        let condition = match to_condition(condition)? {
            Condition::Always => Condition::IfPresent,
            condition => condition,
        };
        let options = write_options(durability, ttl)?;
        let result = py.detach(|| table.update_if(&changes, condition, &options));
        Ok(write_outcome(result.or_raise()?))
    }

    /// The row of a whole key.
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<StoredRowTuple<'py>>> {
        let table = self.native()?;
        let key = to_key(key, &key_columns(&table))?;
        let row = py.detach(|| table.get(&key)).or_raise()?;
        row.map(|row| stored_row(py, &row)).transpose()
    }

    #[pyo3(signature = (key, version, durability))]
    fn delete(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
    ) -> PyResult<bool> {
        let table = self.native()?;
        let key = to_key(key, &key_columns(&table))?;
        let options = write_options(durability, None)?;
        let condition = version.map_or(Condition::IfPresent, Condition::IfVersion);
        let result = py.detach(|| table.delete_if(&key, condition, &options));
        Ok(result.or_raise()?.is_stored())
    }

    #[pyo3(signature = (key, range, relatives, durability_))]
    fn delete_range(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        range: Option<&Bound<'_, PyAny>>,
        relatives: Vec<String>,
        durability_: &str,
    ) -> PyResult<u64> {
        let remedy = format!("use sql with DELETE FROM {} WHERE ...", self.path);
        let store = self.handle.embedded("delete_range", &remedy)?;
        let table = store.table(&self.path).or_raise()?;
        let key = to_key(key, &key_columns(&table.clone().into()))?;
        let options = DeleteOptions {
            range: range.map(field_range).transpose()?,
            relatives,
            durability: durability(durability_)?,
            ..DeleteOptions::default()
        };
        py.detach(|| table.delete_range(&key, &options)).or_raise()
    }

    fn bulk_get<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        arguments: ReadArguments<'py>,
    ) -> PyResult<Batches> {
        let table = self.native()?;
        let cancel = Cancel::new();
        let options = arguments.bulk_get(&cancel)?;
        let raised = RaisedError::default();
        let (keys, needs_python) = key_source(keys, &table, &raised)?;
        let rows = py.detach(|| table.bulk_get(keys, &options)).or_raise()?;
        Ok(batches(rows, cancel, needs_python))
    }

    /// The same with rows of relatives: batches by the path of their table.
    fn bulk_get_related<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        arguments: ReadArguments<'py>,
    ) -> PyResult<TableBatches> {
        let table = self.native()?;
        let cancel = Cancel::new();
        let options = arguments.bulk_get(&cancel)?;
        let (keys, _) = key_source(keys, &table, &RaisedError::default())?;
        let rows = py.detach(|| table.bulk_get(keys, &options)).or_raise()?;
        let rows = rows.map(|batch| batch.map(|batch| (batch.table.to_string(), batch.rows)));
        Ok(TableBatches::new(rows, cancel))
    }

    /// Regions are JSON: a list. With `origins` each row has the number of its region as `_key`.
    fn bulk_get_within(
        &self,
        py: Python<'_>,
        regions: &str,
        origins: bool,
        arguments: ReadArguments<'_>,
    ) -> PyResult<Batches> {
        let table = self.native()?;
        let cancel = Cancel::new();
        let options = arguments.within(&cancel)?;
        let regions = regions_of(regions).or_raise()?;
        let rows = py.detach(|| table.bulk_get_within(regions, &options)).or_raise()?;
        Ok(with_regions(rows, origins, cancel))
    }

    fn scan(&self, py: Python<'_>, arguments: ReadArguments<'_>) -> PyResult<Batches> {
        let table = self.native()?;
        let cancel = Cancel::new();
        let options = self.scan_options(&arguments, &cancel)?;
        let rows = py.detach(|| table.scan(&options)).or_raise()?;
        Ok(batches(rows, cancel, false))
    }

    fn scan_parts(
        &self,
        py: Python<'_>,
        parts: usize,
        arguments: ReadArguments<'_>,
    ) -> PyResult<Vec<Batches>> {
        let table = self.native()?;
        let cancel = Cancel::new();
        let options = self.scan_options(&arguments, &cancel)?;
        let scans = py.detach(|| table.scan_parts(&options, parts)).or_raise()?;
        Ok(scans.into_iter().map(|rows| batches(rows, cancel.clone(), false)).collect())
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let table = self.native()?;
        py.detach(|| table.count()).or_raise()
    }

    fn rows_estimate(&self, py: Python<'_>) -> PyResult<u64> {
        let store = self.handle.embedded("rows_estimate of a table", "use count()")?;
        let table = store.table(&self.path).or_raise()?;
        py.detach(|| table.rows_estimate()).or_raise()
    }
}

pub(crate) fn key_columns(table: &AnyTable) -> Vec<String> {
    table.schema().key_columns().map(|column| column.name.clone()).collect()
}

fn batches(rows: AnyBulkGet, cancel: Cancel, needs_python: bool) -> Batches {
    let schema = rows.schema().clone();
    let rows = rows.map(|batch| batch.map(|batch| batch.rows));
    Batches::new(schema, BatchIterator::new(rows).with_python(needs_python), cancel)
}

/// Regions out of a list in JSON.
fn regions_of(json: &str) -> tonnage::Result<Vec<Region>> {
    let regions: Vec<serde_json::Value> = serde_json::from_str(json).map_err(|error| {
        Error::invalid(format!("regions are a list of objects: {error}")).with_source(error)
    })?;
    let regions = regions.iter().enumerate().map(|(number, region)| {
        Region::from_json(region).map_err(|error| error.at(format!("region {number}")))
    });
    regions.collect()
}

/// Rows, with the number of the region of each as last column if that is asked for.
fn with_regions(rows: AnyRowsWithin, origins: bool, cancel: Cancel) -> Batches {
    let mut schema = rows.schema().clone();
    if origins {
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("_key", DataType::UInt64, false)));
        schema = Arc::new(Schema::new(fields));
    }
    let shape = schema.clone();
    let rows = rows.map(move |batch| {
        let batch = batch?;
        if !origins {
            return Ok(batch.rows);
        }
        let numbers = batch.origins.iter().map(|origin| origin.position);
        let mut columns = batch.rows.columns().to_vec();
        columns.push(Arc::new(UInt64Array::from_iter_values(numbers)));
        RecordBatch::try_new(shape.clone(), columns)
            .map_err(|error| Error::internal(format!("rows with regions: {error}")))
    });
    Batches::new(schema, BatchIterator::new(rows), cancel)
}

/// Keys out of Arrow, or out of an iterable; and whether drawing them needs the interpreter.
pub(crate) fn key_source(
    keys: &Bound<'_, PyAny>,
    table: &AnyTable,
    raised: &RaisedError,
) -> PyResult<(KeySource, bool)> {
    if let Some(reader) = reader_of(keys)? {
        let batches = reader.map(|batch| batch.map_err(|error| failed(&error)));
        return Ok((KeySource::batches(batches), false));
    }
    if let Ok(columns) = keys.cast::<PyDict>() {
        let rows = keys.py().import("tonnage._rows")?.getattr("of_columns")?.call1((columns,))?;
        return key_source(&rows, table, raised);
    }
    let keys = table_keys(keys.try_iter()?.unbind(), key_columns(table), raised.clone());
    Ok((KeySource::try_keys(keys), true))
}
