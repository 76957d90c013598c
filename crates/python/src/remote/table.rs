//! A table of a server.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tonnage::{Cancel, Condition, RowOperation, TableEntry};
use tonnage_client::{BulkGetRequest, RelatedBatch, ScanRequest};

use super::connection::RemoteConnection;
use super::key_batches::keys_of_table;
use super::rows::{batches, empty_batches};
use crate::batches::{Batches, TableBatches};
use crate::error::OrRaise;
use crate::read_options::{ReadArguments, field_range};
use crate::value::{to_key, to_row};
use crate::write_options::{
    StoredRowTuple, stored_row, to_condition, write_options, write_outcome,
};

/// A table behind a server, as it was when it was asked for.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct RemoteTable {
    pub(crate) connection: RemoteConnection,
    pub(crate) entry: Arc<TableEntry>,
}

impl RemoteTable {
    fn path(&self) -> &str {
        &self.entry.schema.path
    }

    pub(crate) fn column_names(&self) -> Vec<String> {
        self.entry.schema.columns.iter().map(|column| column.name.clone()).collect()
    }

    fn key_columns(&self) -> Vec<String> {
        self.entry.schema.key_columns().map(|column| column.name.clone()).collect()
    }

    /// What to ask the server for.
    fn request_of(&self, options: tonnage::BulkGetOptions) -> BulkGetRequest {
        BulkGetRequest {
            direction: options.direction,
            limit_per_key: options.limit_per_key,
            columns: options.columns,
            range: options.range,
            keys_only: options.keys_only,
            relatives: options.relatives,
            ..BulkGetRequest::of(self.path())
        }
    }

    /// The rows of keys.
    pub(crate) fn read(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        arguments: &ReadArguments<'_>,
    ) -> PyResult<Batches> {
        let cancel = Cancel::new();
        let options = arguments.bulk_get(&cancel)?;
        let (limit, client) = (options.limit, self.connection.limited(&cancel, options.timeout)?);
        let request = self.request_of(options);
        let (mut keys, needs_python) = keys_of_table(keys, &self.entry)?;
        let rows = py.detach(|| {
            let Some(first) = keys.next() else { return Ok(None) };
            client.bulk_get(std::iter::once(first).chain(keys), &request).map(Some)
        });
        match rows.or_raise()? {
            Some(rows) => Ok(batches(rows, limit, needs_python, cancel)),
            None => {
                Ok(empty_batches(self.schema_of(request.columns.as_deref(), request.keys_only)?))
            }
        }
    }

    fn schema_of(&self, columns: Option<&[String]>, keys_only: bool) -> PyResult<SchemaRef> {
        let keys = self.key_columns();
        let Some(columns) = columns.or(keys_only.then_some(&keys)) else {
            return Ok(self.entry.schema.arrow_schema());
        };
        let fields = columns.iter().map(|name| {
            let place = self.entry.schema.require_column(name)?;
            Ok(self.entry.schema.columns[place].to_arrow())
        });
        Ok(Arc::new(Schema::new(fields.collect::<tonnage::Result<Vec<_>>>().or_raise()?)))
    }

    fn scan_request(
        &self,
        arguments: &ReadArguments<'_>,
    ) -> PyResult<(ScanRequest, tonnage::TableScanOptions)> {
        let options = arguments.scan(&Cancel::new())?;
        if !options.relatives.is_empty() {
            let remedy = "give keys to bulk_get_related, or scan each table by itself";
            return Err(self.connection.unsupported("scan with rows of relatives", remedy));
        }
        let request = ScanRequest {
            table: self.path().to_owned(),
            columns: options.columns.clone(),
            direction: options.direction,
            range: options.range.clone(),
            keys_only: options.keys_only,
            limit_per_shard_key: options.limit_per_shard_key,
            limit: options.limit,
            ..ScanRequest::default()
        };
        Ok((request, options))
    }

    fn write(
        &self,
        py: Python<'_>,
        operation: RowOperation,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<tonnage::WriteResult> {
        let client = self.connection.client()?;
        let options = write_options(durability, ttl)?;
        py.detach(|| client.write(&[operation], &options)).or_raise()
    }
}

#[pymethods]
impl RemoteTable {
    #[getter(path)]
    fn path_of(&self) -> &str {
        self.path()
    }

    /// Name, type and whether it may be NULL, of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, String, bool)> {
        let columns = self.entry.schema.columns.iter();
        columns
            .map(|column| (column.name.clone(), column.column_type.to_string(), column.nullable))
            .collect()
    }

    #[getter]
    fn primary_key(&self) -> Vec<String> {
        self.key_columns()
    }

    #[getter]
    fn shard_key(&self) -> Vec<String> {
        let mut names = self.key_columns();
        names.truncate(self.entry.schema.shard_key_len);
        names
    }

    #[getter]
    fn ddl(&self) -> String {
        self.entry.schema.to_ddl()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        crate::arrow_out::schema_capsule(py, &self.entry.schema.arrow_schema())
    }

    #[pyo3(signature = (row, condition, durability, ttl))]
    fn put(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        condition: Option<&Bound<'_, PyAny>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<(bool, Option<u64>)> {
        let row = to_row(row, &self.column_names())?;
        let operation = RowOperation::put(self.path(), row).when(to_condition(condition)?);
        Ok(write_outcome(self.write(py, operation, durability, ttl)?))
    }

    /// The row of a whole key.
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<StoredRowTuple<'py>>> {
        let key = to_key(key, &self.key_columns())?;
        let client = self.connection.client()?;
        let found = py.detach(|| client.get(self.path(), &key)).or_raise()?;
        found.map(|row| stored_row(py, &row)).transpose()
    }

    #[pyo3(signature = (key, version, durability))]
    fn delete(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
    ) -> PyResult<bool> {
        let key = to_key(key, &self.key_columns())?;
        let condition = version.map_or(Condition::IfPresent, Condition::IfVersion);
        let operation = RowOperation::delete(self.path(), key).when(condition);
        Ok(self.write(py, operation, durability, None)?.is_stored())
    }

    #[pyo3(signature = (key, range, relatives, durability_))]
    fn delete_range(
        &self,
        key: &Bound<'_, PyAny>,
        range: Option<&Bound<'_, PyAny>>,
        relatives: Vec<String>,
        durability_: &str,
    ) -> PyResult<u64> {
        let _ = (key, range.map(field_range).transpose()?, relatives, durability_);
        let remedy = format!("use sql with DELETE FROM {} WHERE ...", self.path());
        Err(self.connection.unsupported("delete_range", &remedy))
    }

    fn bulk_get<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        arguments: ReadArguments<'py>,
    ) -> PyResult<Batches> {
        self.read(py, keys, &arguments)
    }

    /// The same with rows of relatives: batches by the path of their table.
    fn bulk_get_related(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        arguments: ReadArguments<'_>,
    ) -> PyResult<TableBatches> {
        let cancel = Cancel::new();
        let options = arguments.bulk_get(&cancel)?;
        let client = self.connection.limited(&cancel, options.timeout)?;
        let request = self.request_of(options);
        let (mut keys, _) = keys_of_table(keys, &self.entry)?;
        let rows = py.detach(|| {
            let Some(first) = keys.next() else { return Ok(None) };
            client.bulk_get_related(std::iter::once(first).chain(keys), &request).map(Some)
        });
        let rows = rows.or_raise()?.into_iter().flatten().flat_map(by_table);
        Ok(TableBatches::new(rows, cancel))
    }

    fn scan(&self, py: Python<'_>, arguments: ReadArguments<'_>) -> PyResult<Batches> {
        let (request, options) = self.scan_request(&arguments)?;
        let client = self.connection.limited(&options.cancel, options.timeout)?;
        let rows = py.detach(|| client.scan(&request)).or_raise()?;
        Ok(batches(rows, request.limit, false, options.cancel))
    }

    fn scan_parts(
        &self,
        py: Python<'_>,
        parts: usize,
        arguments: ReadArguments<'_>,
    ) -> PyResult<Vec<Batches>> {
        let (request, options) = self.scan_request(&arguments)?;
        let client = self.connection.limited(&options.cancel, options.timeout)?;
        let parts = match request.limit {
            Some(_) => NonZeroUsize::MIN,
            None => NonZeroUsize::new(parts).unwrap_or(NonZeroUsize::MIN),
        };
        let read = (0..parts.get()).map(|part| {
            let request = ScanRequest { part, parts, ..request.clone() };
            let rows = py.detach(|| client.scan(&request)).or_raise()?;
            Ok(batches(rows, request.limit, false, options.cancel.clone()))
        });
        read.collect()
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let client = self.connection.client()?;
        py.detach(|| client.count(self.path())).or_raise()
    }

    fn rows_estimate(&self) -> PyResult<u64> {
        Err(self.connection.unsupported("rows_estimate of a table", "use count()"))
    }
}

/// The batches of rows that came together, or their one error.
fn by_table(
    rows: tonnage::Result<RelatedBatch>,
) -> Vec<tonnage::Result<(String, arrow::array::RecordBatch)>> {
    match rows {
        Ok(rows) => {
            rows.batches.into_iter().map(|(path, rows)| Ok((path.to_string(), rows))).collect()
        }
        Err(error) => vec![Err(error)],
    }
}
