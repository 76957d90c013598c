//! Table definitions out of Arrow schemas.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tonnage::{ColumnDefinition, TableDefinition};

use crate::arrow_in::schema_of;
use crate::read_options::seconds;

/// A table with the columns of an Arrow schema, or of whatever has one.
///
/// # Errors
/// `ValueError` for a type that no column has, and for a shard key that does not begin the key.
pub(crate) fn table_definition(
    path: String,
    columns: &Bound<'_, PyAny>,
    primary_key: Vec<String>,
    shard: &[String],
    ttl: Option<f64>,
) -> PyResult<TableDefinition> {
    let schema = schema_of(columns)?;
    let columns = schema.fields().iter().map(|field| {
        let column_type = tonnage::ColumnType::of_arrow(field).ok_or_else(|| {
            PyValueError::new_err(format!(
                "column '{}' is of type {}, which no column of a table has",
                field.name(),
                field.data_type()
            ))
        })?;
        // Arrow calls most columns nullable, but a column of the key never is.
        let nullable = !primary_key.contains(field.name());
        Ok(ColumnDefinition { nullable, ..ColumnDefinition::new(field.name(), column_type) })
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    if !primary_key.starts_with(shard) {
        return Err(PyValueError::new_err(format!(
            "shard is {shard:?}: the shard key is the beginning of the primary key {primary_key:?}"
        )));
    }
    Ok(TableDefinition {
        path,
        columns,
        // An empty list says nothing of the shard key, which is then the whole primary key.
        shard_key_len: (!shard.is_empty()).then_some(shard.len()),
        key: primary_key,
        ttl_ms: seconds(ttl)?.map(|ttl| ttl.as_millis() as u64),
    })
}
