//! A store of a server.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tonnage::{RowOperation, WriteResult};
use tonnage_client::{Client, ClientOptions, Credentials};

use super::connection::RemoteConnection;
use super::key_value::RemoteKeyValue;
use super::sql::{self, RemotePrepared};
use super::table::RemoteTable;
use crate::bulk_put::{Cancel, PutArguments, SourceArgument, bulk_put};
use crate::definition::table_definition;
use crate::error::OrRaise;
use crate::put_destination::PutDestination;
use crate::read_options::{ReadArguments, seconds};
use crate::sql::SqlAnswer;
use crate::store::{OperationArgument, check_report};
use crate::value::to_row;
use crate::write_options::{to_condition, write_options};

/// A store behind a server.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct RemoteStore {
    connection: RemoteConnection,
}

/// Who calls, and how to reach the server.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ConnectArguments {
    user: Option<String>,
    password: Option<String>,
    token: Option<String>,
    tls_roots: Option<PathBuf>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    connect_timeout: Option<f64>,
    timeout: Option<f64>,
}

impl ConnectArguments {
    fn options(self) -> PyResult<ClientOptions> {
        let credentials = match (self.user, self.password, self.token) {
            (None, None, None) => None,
            (None, None, Some(token)) => Some(Credentials::Token(token)),
            (Some(user), Some(password), None) => Some(Credentials::Password { user, password }),
            _ => {
                return Err(PyValueError::new_err("give a user with a password, or a token"));
            }
        };
        let tls_certificate = match (self.tls_certificate, self.tls_key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate, key)),
            _ => return Err(PyValueError::new_err("tls_certificate and tls_key go together")),
        };
        let defaults = ClientOptions::default();
        Ok(ClientOptions {
            credentials,
            tls_ca: self.tls_roots,
            tls_certificate,
            connect_timeout: seconds(self.connect_timeout)?.unwrap_or(defaults.connect_timeout),
            timeout: seconds(self.timeout)?.filter(|timeout| *timeout > Duration::ZERO),
            ..defaults
        })
    }
}

#[pymethods]
impl RemoteStore {
    #[new]
    fn open(py: Python<'_>, url: String, arguments: ConnectArguments) -> PyResult<Self> {
        let options = arguments.options()?;
        let client = py.detach(|| Client::connect(&url, options)).or_raise()?;
        Ok(Self { connection: RemoteConnection::new(client, url) })
    }

    #[getter]
    fn url(&self) -> &str {
        self.connection.url()
    }

    #[getter]
    fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.connection.close())
    }

    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let client = self.connection.client()?;
        py.detach(|| client.sync()).or_raise()
    }

    fn settle(&self) -> PyResult<()> {
        Err(self.connection.unsupported("settle", "it compacts by itself; sync makes rows durable"))
    }

    fn checkpoint(&self, directory: PathBuf) -> PyResult<()> {
        let _ = directory;
        let remedy = "run `tonnage checkpoint` where the store is";
        Err(self.connection.unsupported("checkpoint", remedy))
    }

    /// Rows by table, pairs, and damaged places as text.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let client = self.connection.client()?;
        let (report, _) = py.detach(|| client.check(false)).or_raise()?;
        check_report(py, report)
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let client = self.connection.client()?;
        let read = py.detach(|| client.statistics()).or_raise()?;
        let told = PyDict::new(py);
        for (name, value) in read {
            told.set_item(name, value.as_u64())?;
        }
        Ok(told)
    }

    /// The paths of the tables that the caller may see.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let client = self.connection.client()?;
        py.detach(|| client.tables()).or_raise()
    }

    fn table(&self, py: Python<'_>, path: &str) -> PyResult<RemoteTable> {
        let client = self.connection.client()?;
        let entry = py.detach(|| client.describe(path)).or_raise()?;
        Ok(RemoteTable { connection: self.connection.clone(), entry })
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
    ) -> PyResult<RemoteTable> {
        let definition = table_definition(path, columns, primary_key, &shard, ttl)?;
        let client = self.connection.client()?;
        py.detach(|| client.create_table(&definition, false)).or_raise()?;
        self.table(py, &definition.path)
    }

    fn kv(&self) -> PyResult<RemoteKeyValue> {
        self.connection.client()?;
        Ok(RemoteKeyValue { connection: self.connection.clone() })
    }

    fn bulk_put<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<SourceArgument<'py>>,
        arguments: PutArguments<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        bulk_put(py, &PutDestination::Server(self.connection.client()?), sources, &arguments)
    }

    /// Answers each request of a table and keys with batches or an exception.
    fn multi_get<'py>(
        &self,
        py: Python<'py>,
        requests: Vec<(String, Bound<'py, PyAny>)>,
        arguments: ReadArguments<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let told = PyList::empty(py);
        for (path, keys) in requests {
            let rows = self.table(py, &path).and_then(|table| {
                let rows = table.read(py, &keys, &arguments)?;
                rows.fetched(py)
            });
            match rows {
                Ok(rows) => told.append(rows)?,
                Err(error) if is_of_store(py, &error)? => told.append(error.into_value(py))?,
                Err(error) => return Err(error),
            }
        }
        Ok(told)
    }

    /// Carries out operations on rows of one shard key, all or none.
    #[pyo3(signature = (operations, durability, ttl))]
    fn atomic_write(
        &self,
        py: Python<'_>,
        operations: Vec<OperationArgument<'_>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<Option<u64>> {
        let client = self.connection.client()?;
        let operations = operations.iter().map(|(kind, path, row, condition)| {
            let names = match row.is_instance_of::<PyDict>() {
                true => Vec::new(),
                false => self.table(py, path)?.column_names(),
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
        let written = py.detach(|| client.write(&operations, &options)).or_raise()?;
        Ok(WriteResult::version(written))
    }

    #[pyo3(signature = (text, parameters=None, timeout=None, cancel=None))]
    fn sql(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<Bound<'_, PyAny>>,
        timeout: Option<f64>,
        cancel: Option<Bound<'_, Cancel>>,
    ) -> PyResult<SqlAnswer> {
        sql::execute(py, &self.connection, text, parameters.as_ref(), timeout, cancel.as_ref())
    }

    fn prepare(&self, py: Python<'_>, text: &str) -> PyResult<RemotePrepared> {
        sql::prepare(py, &self.connection, text)
    }

    fn fetch_all<'py>(
        &self,
        py: Python<'py>,
        statements: Vec<(String, Option<Bound<'py, PyAny>>)>,
    ) -> PyResult<Bound<'py, PyList>> {
        sql::fetch_all(py, &self.connection, &statements)
    }

    fn query_table(&self, table: &str, text: &str) -> PyResult<SqlAnswer> {
        let _ = text;
        let remedy = format!("write the statement with FROM {table}, and give it to sql");
        Err(self.connection.unsupported("query_table", &remedy))
    }

    fn __repr__(&self) -> String {
        format!("RemoteStore({:?})", self.connection.url())
    }
}

/// Whether an exception is an answer of the store, not a fault of the caller's objects.
fn is_of_store(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let class = py.import("tonnage.errors")?.getattr("TonnageError")?;
    error.value(py).is_instance(&class)
}
