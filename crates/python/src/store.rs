//! A store: open it, get its tables, put in bulk, maintain it.

use std::path::PathBuf;

use arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tonnage::{
    BulkGetOptions, Cancel as NativeCancel, KeySource, MultiGetRequest, RowOperation, WriteResult,
};
use tonnage_client::{AnyMultiGet, AnyTable, RemoteStore};

use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::bulk_put::{PutArguments, SourceArgument, bulk_put};
use crate::connect_arguments::ConnectArguments;
use crate::definition::table_definition;
use crate::error::{OrRaise, to_exception};
use crate::handle::{StoreHandle, before_open};
use crate::key_value::KeyValue;
use crate::pipeline::Pipeline;
use crate::python_rows::RaisedError;
use crate::read_options::ReadArguments;
use crate::sql::{self, Prepared};
use crate::sql_answer::SqlAnswer;
use crate::table::{Table, key_source};
use crate::value::to_row;
use crate::write_options::{to_condition, write_options};

/// `put` or `delete`, the path of the table, the row or key, and a condition.
type OperationArgument<'py> = (String, String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// An open store, or a connection to one on a server.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct Store {
    pub(crate) handle: StoreHandle,
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (url, *, create=true, data_directories=Vec::new(), cache_bytes=None))]
    fn open(
        py: Python<'_>,
        url: String,
        create: bool,
        data_directories: Vec<PathBuf>,
        cache_bytes: Option<usize>,
    ) -> PyResult<Self> {
        before_open(&url).or_raise()?;
        let mut builder = tonnage::Store::builder(&url)
            .create_if_missing(create)
            .data_directories(data_directories);
        if let Some(bytes) = cache_bytes {
            builder = builder.cache_bytes(bytes);
        }
        let store = py.detach(|| builder.open()).or_raise()?;
        Ok(Self { handle: StoreHandle::new(store, url, cache_bytes) })
    }

    /// Connects to a store on a server.
    #[staticmethod]
    fn connect(py: Python<'_>, url: String, arguments: ConnectArguments) -> PyResult<Self> {
        let options = arguments.options()?;
        let store = py.detach(|| RemoteStore::connect(&url, options)).or_raise()?;
        Ok(Self { handle: StoreHandle::new(store, url, None) })
    }

    #[getter]
    fn url(&self) -> &str {
        self.handle.url()
    }

    #[getter]
    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.handle.close())
    }

    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let store = self.handle.store()?;
        py.detach(|| store.sync()).or_raise()
    }

    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        let remedy = "it compacts by itself; sync makes rows durable";
        let store = self.handle.embedded("settle", remedy)?;
        py.detach(|| store.settle()).or_raise()
    }

    fn checkpoint(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        let remedy = "run `tonnage checkpoint` where the store is";
        let store = self.handle.embedded("checkpoint", remedy)?;
        py.detach(|| store.checkpoint(&directory)).or_raise()
    }

    /// Rows by table, pairs, and damaged places as text.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.handle.store()?;
        let report = py.detach(|| store.check()).or_raise()?;
        check_report(py, report)
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.handle.store()?;
        let read = py.detach(|| store.statistics()).or_raise()?;
        let told = PyDict::new(py);
        told.set_item("rows_estimate", read.rows_estimate())?;
        told.set_item("disk_bytes", read.disk_bytes())?;
        told.set_item("compaction_pending_bytes", read.compaction_pending_bytes())?;
        told.set_item("shards", read.shards.len())?;
        Ok(told)
    }

    /// The paths of all tables; of those on a server, of the ones that the caller may see.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let store = self.handle.store()?;
        py.detach(|| store.table_paths()).or_raise()
    }

    fn table(&self, py: Python<'_>, path: &str) -> PyResult<Table> {
        Ok(Table::new(self.handle.clone(), self.handle.table(py, path)?))
    }

    /// Makes a table with the columns of an Arrow schema, or of whatever has one.
    #[pyo3(signature = (path, columns, primary_key, shard, ttl))]
    fn create_table(
        &self,
        py: Python<'_>,
        path: String,
        columns: &Bound<'_, PyAny>,
        primary_key: Vec<String>,
        shard: Vec<String>,
        ttl: Option<f64>,
    ) -> PyResult<Table> {
        let definition = table_definition(path, columns, primary_key, &shard, ttl)?;
        let store = self.handle.store()?;
        py.detach(|| store.create_table(&definition, false)).or_raise()?;
        self.table(py, &definition.path)
    }

    fn kv(&self) -> PyResult<KeyValue> {
        self.handle.store()?;
        Ok(KeyValue { handle: self.handle.clone() })
    }

    fn pipeline(&self, py: Python<'_>) -> PyResult<Pipeline> {
        Pipeline::open(py, self.handle.clone())
    }

    fn bulk_put<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<SourceArgument<'py>>,
        arguments: PutArguments<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        bulk_put(py, &self.handle.store()?, sources, &arguments)
    }

    /// Answers each request of a table and keys with batches or an exception.
    fn multi_get<'py>(
        &self,
        py: Python<'py>,
        requests: Vec<(String, Bound<'py, PyAny>)>,
        arguments: ReadArguments<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let store = self.handle.store()?;
        // No caller holds this cancel: the answers are complete when the call returns.
        let options = arguments.bulk_get(&NativeCancel::new())?;
        let raised = RaisedError::default();
        let mut asked = Vec::new();
        for (path, keys) in &requests {
            let keys = match py.detach(|| store.table(path)) {
                Ok(table) => key_source(keys, &table, &raised)?.0,
                // The answer to the request is that there is no such table.
                Err(_) => KeySource::from(Vec::<tonnage::Row>::new()),
            };
            asked.push(MultiGetRequest::new(path.as_str(), keys));
        }
        let answers =
            py.detach(|| store.multi_get_requests(asked, &options).map(AnyMultiGet::into_answers));
        if let Some(error) = raised.take() {
            return Err(error);
        }
        let told = PyList::empty(py);
        for ((path, _), answer) in requests.iter().zip(answers.or_raise()?) {
            match answer {
                Ok(batches) => {
                    let schema = match batches.first() {
                        Some(first) => first.rows.schema(),
                        None => wanted_schema(py, &self.handle.table(py, path)?, &options)?,
                    };
                    let batches = batches.into_iter().map(|batch| Ok(batch.rows));
                    let batches = BatchIterator::new(batches);
                    told.append(Batches::new(schema, batches, NativeCancel::new()))?;
                }
                Err(error) => told.append(to_exception(&error).into_value(py))?,
            }
        }
        Ok(told)
    }

    /// Carries out operations on rows of one shard key, all or none: tuples of `put` or `delete`,
    /// the table, the row or key, and a condition.
    #[pyo3(signature = (operations, durability, ttl))]
    fn atomic_write(
        &self,
        py: Python<'_>,
        operations: Vec<OperationArgument<'_>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<Option<u64>> {
        let store = self.handle.store()?;
        let operations = operations.iter().map(|(kind, path, row, condition)| {
            let names = match row.is_instance_of::<PyDict>() {
                true => Vec::new(),
                false => column_names(&self.handle.table(py, path)?),
            };
            let row = to_row(row, &names)?;
            let operation = match kind.as_str() {
                "put" => RowOperation::put(path.as_str(), row),
                _ => RowOperation::delete(path.as_str(), row),
            };
            Ok(operation.when(to_condition(condition.as_ref())?))
        });
        let operations = operations.collect::<PyResult<Vec<_>>>()?;
        let options = write_options(durability, ttl)?;
        match py.detach(|| store.atomic_write(&operations, &options)).or_raise()? {
            WriteResult::Stored { version } => Ok(Some(version)),
            WriteResult::ConditionFailed { .. } => Ok(None),
        }
    }

    #[pyo3(signature = (text, parameters, timeout, cancel))]
    fn sql(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<Bound<'_, PyAny>>,
        timeout: Option<f64>,
        cancel: Option<Bound<'_, crate::bulk_put::Cancel>>,
    ) -> PyResult<SqlAnswer> {
        sql::execute(py, &self.handle, text, parameters.as_ref(), timeout, cancel.as_ref())
    }

    fn prepare(&self, py: Python<'_>, text: &str) -> PyResult<Prepared> {
        sql::prepare(py, &self.handle, text)
    }

    fn fetch_all<'py>(
        &self,
        py: Python<'py>,
        statements: Vec<(String, Option<Bound<'py, PyAny>>)>,
    ) -> PyResult<Bound<'py, PyList>> {
        sql::fetch_all(py, &self.handle, &statements)
    }

    /// The number under which the driver for ADBC finds this store, once.
    fn share(&self) -> PyResult<u64> {
        self.handle.embedded("ADBC driver", "use the driver for Flight SQL")?;
        Ok(crate::adbc::share(self.handle.clone()))
    }

    fn query_table(&self, py: Python<'_>, table: &str, text: &str) -> PyResult<SqlAnswer> {
        let remedy = format!("write the statement with FROM {table}, and give it to sql");
        self.handle.embedded("query_table", &remedy)?;
        sql::query_table(py, &self.handle, table, text)
    }

    fn __repr__(&self) -> String {
        format!("Store({:?})", self.handle.url())
    }
}

fn column_names(table: &AnyTable) -> Vec<String> {
    table.schema().columns.iter().map(|column| column.name.clone()).collect()
}

/// The columns of a get with these options, whatever it finds.
fn wanted_schema(
    py: Python<'_>,
    table: &AnyTable,
    options: &BulkGetOptions,
) -> PyResult<SchemaRef> {
    let no_keys = KeySource::from(Vec::<tonnage::Row>::new());
    let schema = || table.bulk_get(no_keys, options).map(|rows| rows.schema().clone());
    py.detach(schema).or_raise()
}

/// What a check found, as a dict.
fn check_report(py: Python<'_>, report: tonnage::CheckReport) -> PyResult<Bound<'_, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("is_sound", report.is_sound())?;
    told.set_item("rows", report.rows)?;
    told.set_item("pairs", report.pairs)?;
    told.set_item("large_objects", report.large_objects)?;
    told.set_item("stale_index_entries", report.stale_index_entries)?;
    told.set_item("unfinished_indexes", report.unfinished_indexes)?;
    let damages =
        report.damages.iter().map(|damage| format!("{}: {}", damage.location, damage.what));
    told.set_item("damages", damages.collect::<Vec<_>>())?;
    told.set_item("damage_count", report.damage_count)?;
    Ok(told)
}
