//! Options of reads, out of Python's keyword arguments.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tonnage::{
    BulkGetOptions, Cancel, Direction, FieldRange, IndexScanOptions, PairGetOptions,
    TableScanOptions,
};

use crate::value::to_value;

/// How to read rows: what the package's `bulk_get` and `scan` take.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadArguments<'py> {
    columns: Option<Vec<String>>,
    range: Option<Bound<'py, PyAny>>,
    direction: String,
    limit: Option<u64>,
    limit_per_key: Option<u64>,
    relatives: Vec<String>,
    keys_only: bool,
    batch_rows: usize,
    batch_bytes: usize,
    max_concurrent_requests: Option<usize>,
    memory_bytes: Option<usize>,
    timeout: Option<f64>,
}

impl ReadArguments<'_> {
    pub(crate) fn bulk_get(&self, cancel: &Cancel) -> PyResult<BulkGetOptions> {
        let defaults = BulkGetOptions::default();
        Ok(BulkGetOptions {
            columns: self.columns.clone(),
            range: self.range()?,
            direction: direction(&self.direction)?,
            limit: self.limit,
            limit_per_key: self.limit_per_key,
            relatives: self.relatives.clone(),
            keys_only: self.keys_only,
            batch_rows_max: self.batch_rows,
            batch_bytes_max: self.batch_bytes,
            max_concurrent_requests: self.max_concurrent_requests,
            memory_bytes_max: self.memory_bytes.unwrap_or(defaults.memory_bytes_max),
            timeout: seconds(self.timeout)?,
            cancel: cancel.clone(),
            ..defaults
        })
    }

    pub(crate) fn scan(&self, cancel: &Cancel) -> PyResult<TableScanOptions> {
        Ok(TableScanOptions {
            columns: self.columns.clone(),
            range: self.range()?,
            direction: direction(&self.direction)?,
            limit: self.limit,
            limit_per_shard_key: self.limit_per_key,
            relatives: self.relatives.clone(),
            keys_only: self.keys_only,
            batch_rows_max: self.batch_rows,
            max_concurrent_requests: self.max_concurrent_requests,
            timeout: seconds(self.timeout)?,
            cancel: cancel.clone(),
            ..TableScanOptions::default()
        })
    }

    /// The options of a read by places, which has no order and no keys.
    pub(crate) fn within(&self, cancel: &Cancel) -> PyResult<IndexScanOptions> {
        Ok(IndexScanOptions {
            columns: self.columns.clone(),
            limit: self.limit,
            batch_rows_max: self.batch_rows,
            batch_bytes_max: self.batch_bytes,
            max_concurrent_requests: self.max_concurrent_requests,
            timeout: seconds(self.timeout)?,
            cancel: cancel.clone(),
            index_only: true,
            ..IndexScanOptions::default()
        })
    }

    fn range(&self) -> PyResult<Option<FieldRange>> {
        self.range.as_ref().map(field_range).transpose()
    }
}

/// How to read pairs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PairArguments<'py> {
    depth: String,
    range: Option<Bound<'py, PyAny>>,
    direction: String,
    limit_per_key: Option<u64>,
    keys_only: bool,
    max_concurrent_requests: Option<usize>,
    memory_bytes: Option<usize>,
    timeout: Option<f64>,
}

impl PairArguments<'_> {
    pub(crate) fn options(&self, cancel: &Cancel) -> PyResult<PairGetOptions> {
        Ok(PairGetOptions {
            depth: depth(&self.depth)?,
            range: self.range.as_ref().map(key_range).transpose()?,
            limit_per_key: self.limit_per_key,
            keys_only: self.keys_only,
            direction: direction(&self.direction)?,
            max_concurrent_requests: self.max_concurrent_requests,
            memory_bytes_max: self.memory_bytes,
            timeout: seconds(self.timeout)?,
            cancel: cancel.clone(),
            ..PairGetOptions::default()
        })
    }
}

/// A time in seconds as Python counts it.
///
/// # Errors
/// `ValueError` for a negative or endless time.
pub(crate) fn seconds(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = seconds else { return Ok(None) };
    Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| {
        PyValueError::new_err(format!("{seconds} is not a time: give seconds, more than 0"))
    })
}

pub(crate) fn direction(name: &str) -> PyResult<Direction> {
    match name {
        "unordered" => Ok(Direction::Unordered),
        "forward" => Ok(Direction::Forward),
        "reverse" => Ok(Direction::Reverse),
        _ => Err(PyValueError::new_err(format!(
            "direction is '{name}': give 'unordered', 'forward' or 'reverse'"
        ))),
    }
}

pub(crate) fn depth(name: &str) -> PyResult<tonnage::Depth> {
    use tonnage::Depth;
    match name {
        "parent_only" => Ok(Depth::ParentOnly),
        "children_only" => Ok(Depth::ChildrenOnly),
        "descendants_only" => Ok(Depth::DescendantsOnly),
        "parent_and_children" => Ok(Depth::ParentAndChildren),
        "parent_and_descendants" => Ok(Depth::ParentAndDescendants),
        _ => Err(PyValueError::new_err(format!(
            "depth is '{name}': give 'parent_only', 'children_only', 'descendants_only', \
             'parent_and_children' or 'parent_and_descendants'"
        ))),
    }
}

/// A range of a column: an object with `column`, `low`, `high`, `low_inclusive`, `high_inclusive`.
pub(crate) fn field_range(range: &Bound<'_, PyAny>) -> PyResult<FieldRange> {
    let mut field = FieldRange::of(range.getattr("column")?.extract::<String>()?);
    field.low = end(range, "low", to_value)?;
    field.high = end(range, "high", to_value)?;
    Ok(field)
}

/// A range of the component below a key: `low`, `high` and `prefix`.
pub(crate) fn key_range(range: &Bound<'_, PyAny>) -> PyResult<tonnage::KeyRange> {
    let bytes = crate::value::bytes_of;
    let prefix = range.getattr("prefix")?;
    Ok(tonnage::KeyRange {
        start: end(range, "low", bytes)?,
        end: end(range, "high", bytes)?,
        prefix: if prefix.is_none() { Vec::new() } else { bytes(&prefix)? },
    })
}

fn end<V>(
    range: &Bound<'_, PyAny>,
    name: &str,
    value: impl Fn(&Bound<'_, PyAny>) -> PyResult<V>,
) -> PyResult<Option<(V, bool)>> {
    let bound = range.getattr(name)?;
    if bound.is_none() {
        return Ok(None);
    }
    let inclusive = range.getattr(format!("{name}_inclusive").as_str())?.extract()?;
    Ok(Some((value(&bound)?, inclusive)))
}
