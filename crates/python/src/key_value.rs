//! Key/value pairs.

use std::sync::Arc;

use arrow::array::{
    BinaryBuilder, RecordBatch, StringBuilder, TimestampMillisecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tonnage::{Cancel, Condition};
use tonnage_client::{AnyPairBatch, AnyPairs};

use crate::batch_iterator::BatchIterator;
use crate::batches::Batches;
use crate::error::OrRaise;
use crate::handle::StoreHandle;
use crate::key::{from_native_key, to_native_key};
use crate::python_rows::{RaisedError, pair_keys};
use crate::read_options::{PairArguments, depth, key_range};
use crate::value::bytes_of;
use crate::write_options::{durability, to_condition, write_options, write_outcome};

/// The key/value pairs of a store.
#[pyclass(frozen, module = "tonnage._tonnage")]
pub(crate) struct KeyValue {
    pub(crate) handle: StoreHandle,
}

/// A pair: key, value, version, expiry in ms or nothing.
type StoredPair<'py> = (Bound<'py, PyTuple>, Bound<'py, PyBytes>, u64, Option<u64>);

/// A stored pair as Python takes it.
pub(crate) fn stored_pair<'py>(py: Python<'py>, pair: &tonnage::Pair) -> PyResult<StoredPair<'py>> {
    let key = from_native_key(py, &pair.key)?;
    let value = PyBytes::new(py, &pair.value);
    let expires = (pair.expires_at_ms > 0).then_some(pair.expires_at_ms);
    Ok((key, value, pair.version, expires))
}

#[pymethods]
impl KeyValue {
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
        let pairs = self.handle.store()?.kv();
        let (key, value) = (to_native_key(key)?, bytes_of(value)?);
        let condition = to_condition(condition)?;
        let options = write_options(durability, ttl)?;
        let result = py.detach(|| pairs.put_if(&key, &value, condition, &options));
        Ok(write_outcome(result.or_raise()?))
    }

    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<StoredPair<'py>>> {
        let pairs = self.handle.store()?.kv();
        let key = to_native_key(key)?;
        let pair = py.detach(|| pairs.get(&key)).or_raise()?;
        pair.map(|pair| stored_pair(py, &pair)).transpose()
    }

    #[pyo3(signature = (key, version, durability))]
    fn delete(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        version: Option<u64>,
        durability: &str,
    ) -> PyResult<bool> {
        let pairs = self.handle.store()?.kv();
        let key = to_native_key(key)?;
        let options = write_options(durability, None)?;
        let condition = version.map_or(Condition::IfPresent, Condition::IfVersion);
        let result = py.detach(|| pairs.delete_if(&key, condition, &options));
        Ok(result.or_raise()?.is_stored())
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
        let pairs = self.handle.store()?.kv();
        let (parent, depth) = (to_native_key(parent)?, depth(depth_)?);
        let range = range.map(key_range).transpose()?;
        let durability = durability(durability_)?;
        py.detach(|| pairs.delete_subtree(&parent, depth, range.as_ref(), durability)).or_raise()
    }

    fn bulk_get(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        arguments: PairArguments<'_>,
    ) -> PyResult<Batches> {
        let pairs = self.handle.store()?.kv();
        let cancel = Cancel::new();
        let options = arguments.options(&cancel)?;
        let keys = pair_keys(keys.try_iter()?.unbind(), RaisedError::default());
        let found = py.detach(|| pairs.try_bulk_get(keys, &options)).or_raise()?;
        Ok(batches(found, cancel, true))
    }

    fn scan(&self, py: Python<'_>, arguments: PairArguments<'_>) -> PyResult<Batches> {
        let pairs = self.handle.store()?.kv();
        let cancel = Cancel::new();
        let options = arguments.options(&cancel)?;
        let found = py.detach(|| pairs.scan(&options)).or_raise()?;
        Ok(batches(found, cancel, false))
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let pairs = self.handle.store()?.kv();
        py.detach(|| pairs.count()).or_raise()
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Binary, false),
        Field::new("version", DataType::UInt64, false),
        Field::new("expires_at", DataType::Timestamp(TimeUnit::Millisecond, None), true),
    ]))
}

fn batches(pairs: AnyPairs, cancel: Cancel, needs_python: bool) -> Batches {
    let pairs = pairs.map(|batch| columns_of(&batch?));
    Batches::new(schema(), BatchIterator::new(pairs).with_python(needs_python), cancel)
}

fn columns_of(batch: &AnyPairBatch) -> tonnage::Result<RecordBatch> {
    let count = batch.len();
    let mut keys = StringBuilder::with_capacity(count, count * 24);
    let mut values = BinaryBuilder::with_capacity(count, batch.bytes());
    let (mut versions, mut expiries) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for row in 0..count {
        keys.append_value(batch.key(row)?.to_string());
        values.append_value(batch.value(row));
        versions.push(batch.version(row));
        let expires = batch.expires_at_ms(row);
        expiries.push((expires > 0).then_some(expires as i64));
    }
    let columns: Vec<arrow::array::ArrayRef> = vec![
        Arc::new(keys.finish()),
        Arc::new(values.finish()),
        Arc::new(UInt64Array::from(versions)),
        Arc::new(TimestampMillisecondArray::from(expiries)),
    ];
    RecordBatch::try_new(schema(), columns)
        .map_err(|error| tonnage::Error::internal(format!("pairs as a batch: {error}")))
}
