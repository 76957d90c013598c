//! Key/value pairs of a server.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::UInt64Type;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tonnage::{Cancel, Condition, Error, Result};
use tonnage_client::{BulkGetRequest, PairScanRequest, PairWrite, key_of_row};

use super::connection::RemoteConnection;
use super::key_batches::keys_of_pairs;
use super::rows::empty_batches;
use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::error::OrRaise;
use crate::key::{from_native_key, to_native_key};
use crate::key_value::{StoredPair, schema};
use crate::read_options::{PairArguments, depth, key_range};
use crate::value::bytes_of;
use crate::write_options::{to_condition, write_options, write_outcome};

/// The key/value pairs behind a server.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct RemoteKeyValue {
    pub(crate) connection: RemoteConnection,
}

#[pymethods]
impl RemoteKeyValue {
    #[pyo3(signature = (key, value, condition, durability, ttl))]
    fn put(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        condition: Option<&Bound<'_, PyAny>>,
        durability: &str,
        ttl: Option<f64>,
    ) -> PyResult<(bool, Option<u64>)> {
        let client = self.connection.client()?;
        let (key, value) = (to_native_key(key)?, bytes_of(value)?);
        let condition = to_condition(condition)?;
        let options = write_options(durability, ttl)?;
        let write = PairWrite::Put(&value);
        let written = py.detach(|| client.write_pair(&key, &write, &condition, &options));
        Ok(write_outcome(written.or_raise()?))
    }

    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<StoredPair<'py>>> {
        let client = self.connection.client()?;
        let key = to_native_key(key)?;
        let pair = py.detach(|| client.get_pair(&key)).or_raise()?;
        pair.map(|pair| {
            let key = from_native_key(py, &pair.key)?;
            let value = PyBytes::new(py, &pair.value);
            let expires = (pair.expires_at_ms > 0).then_some(pair.expires_at_ms);
            Ok((key, value, pair.version, expires))
        })
        .transpose()
    }

    #[pyo3(signature = (key, version, durability))]
    fn delete(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
    ) -> PyResult<bool> {
        let client = self.connection.client()?;
        let key = to_native_key(key)?;
        let condition = version.map_or(Condition::IfPresent, Condition::IfVersion);
        let options = write_options(durability, None)?;
        let written =
            py.detach(|| client.write_pair(&key, &PairWrite::Delete, &condition, &options));
        Ok(written.or_raise()?.is_stored())
    }

    #[pyo3(signature = (parent, depth_, range, durability_))]
    fn delete_subtree(
        &self,
        py: Python<'_>,
        parent: &Bound<'_, PyAny>,
        depth_: &str,
        range: Option<&Bound<'_, PyAny>>,
        durability_: &str,
    ) -> PyResult<u64> {
        let client = self.connection.client()?;
        let (parent, depth) = (to_native_key(parent)?, depth(depth_)?);
        let range = range.map(key_range).transpose()?;
        let options = write_options(durability_, None)?;
        py.detach(|| client.delete_pairs(&parent, depth, range.as_ref(), &options)).or_raise()
    }

    fn bulk_get(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        arguments: PairArguments<'_>,
    ) -> PyResult<Batches> {
        let cancel = Cancel::new();
        let options = arguments.options(&cancel)?;
        let request = BulkGetRequest {
            direction: options.direction,
            keys_only: options.keys_only,
            depth: options.depth,
            limit_per_key: options.limit_per_key,
            components: options.range,
            // The package shows version and expiry of each pair, and `columns_of` fails without
            // them.
            versions: true,
            ..BulkGetRequest::default()
        };
        let client = self.connection.limited(&cancel, options.timeout)?;
        let (mut keys, needs_python) = keys_of_pairs(keys)?;
        // The first keys are drawn before the call: without any there is no schema to send.
        let found = py.detach(|| {
            let Some(first) = keys.next() else { return Ok(None) };
            client.bulk_get(std::iter::once(first).chain(keys), &request).map(Some)
        });
        let Some(found) = found.or_raise()? else { return Ok(empty_batches(schema())) };
        let pairs = found.map(|batch| columns_of(&batch?));
        let pairs = BatchIterator::new(pairs).with_python(needs_python);
        Ok(Batches::new(schema(), pairs, cancel))
    }

    fn scan(&self, py: Python<'_>, arguments: PairArguments<'_>) -> PyResult<Batches> {
        let cancel = Cancel::new();
        let options = arguments.options(&cancel)?;
        let request = PairScanRequest {
            direction: options.direction,
            keys_only: options.keys_only,
            ..PairScanRequest::default()
        };
        let client = self.connection.limited(&cancel, options.timeout)?;
        let found = py.detach(|| client.scan_pairs(&request)).or_raise()?;
        let pairs = BatchIterator::new(found.map(|batch| columns_of(&batch?)));
        Ok(Batches::new(schema(), pairs, cancel))
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let client = self.connection.client()?;
        py.detach(|| client.count_pairs()).or_raise()
    }
}

fn columns_of(batch: &RecordBatch) -> Result<RecordBatch> {
    let strange = || Error::internal("pairs came in columns of another version");
    let column = |name: &str| batch.column_by_name(name).cloned().ok_or_else(strange);
    let keys = (0..batch.num_rows()).map(|row| Ok(Some(key_of_row(batch, row)?.to_string())));
    let keys = keys.collect::<Result<StringArray>>()?;
    let expires = column("_expires_at_ms")?;
    let expires = expires.as_primitive_opt::<UInt64Type>().ok_or_else(strange)?;
    let expires: TimestampMillisecondArray = (0..expires.len())
        .map(|row| (expires.value(row) > 0).then_some(expires.value(row) as i64))
        .collect();
    let columns: Vec<ArrayRef> =
        vec![Arc::new(keys), column("value")?, column("_version")?, Arc::new(expires)];
    RecordBatch::try_new(schema(), columns)
        .map_err(|error| Error::internal(format!("pairs as a batch: {error}")))
}
