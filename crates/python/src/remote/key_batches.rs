//! Record batches of keys for a server, out of Arrow or out of Python's iterators.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tonnage::{BulkKey, Error, Key, Result, Row, TableEntry, TableSchema, Value};
use tonnage_client::{batch_of, batch_of_keys};

use crate::arrow_in::{failed, reader_of};
use crate::python_rows::{RaisedError, pair_keys, table_keys};

/// Keys that one batch has.
const KEYS_MAX: usize = 4_096;

/// Batches of keys, and whether drawing them needs the interpreter.
pub(crate) type DrawnKeys = (Box<dyn Iterator<Item = Result<RecordBatch>> + Send>, bool);

/// Keys of a table.
///
/// # Errors
/// `TypeError` for what gives no keys.
pub(crate) fn keys_of_table(
    keys: &Bound<'_, PyAny>,
    entry: &Arc<TableEntry>,
) -> PyResult<DrawnKeys> {
    // The order matters: data frames and dicts are iterables, too, but of the names of columns.
    if let Some(reader) = reader_of(keys)? {
        let batches = reader.map(|batch| batch.map_err(|error| failed(&error)));
        return Ok((Box::new(batches), false));
    }
    if let Ok(columns) = keys.cast::<PyDict>() {
        let rows = keys.py().import("tonnage._rows")?.getattr("of_columns")?.call1((columns,))?;
        return keys_of_table(&rows, entry);
    }
    let columns: Vec<_> = entry.schema.key_columns().map(|column| column.name.clone()).collect();
    let keys = table_keys(keys.try_iter()?.unbind(), columns.clone(), RaisedError::default());
    let entry = entry.clone();
    let batch = move |keys: Vec<BulkKey>| {
        let rows = keys.into_iter().map(|key| match key {
            BulkKey::Row(row) => full_key(&row, &columns),
            _ => Err(Error::internal("a key that is no row")),
        });
        let mut rows = rows.collect::<Result<Vec<_>>>()?;
        // A key that its column would round has no row: rounded, it would find the row of another.
        rows.retain(|key| fits_key_columns(&entry.schema, key));
        match rows.is_empty() {
            true => Ok(RecordBatch::new_empty(key_schema(&entry.schema))),
            false => batch_of(&entry.schema, &rows),
        }
    };
    Ok((Box::new(KeyChunks { items: keys, batch }), true))
}

/// Keys of pairs.
///
/// # Errors
/// `TypeError` for what is no iterable.
pub(crate) fn keys_of_pairs(keys: &Bound<'_, PyAny>) -> PyResult<DrawnKeys> {
    let keys = pair_keys(keys.try_iter()?.unbind(), RaisedError::default());
    let batch = |keys: Vec<Key>| batch_of_keys(&keys);
    Ok((Box::new(KeyChunks { items: keys, batch }), true))
}

/// The key with NULL for what it leaves open, so that all keys have the same columns.
fn full_key(key: &Row, columns: &[String]) -> Result<Row> {
    let is_known = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    if let Some((name, _)) = key.iter().find(|(name, _)| !is_known(name)) {
        let columns = columns.join(", ");
        return Err(Error::invalid(format!("'{name}' is no key column: these are {columns}")));
    }
    let cell = |name: &String| (name.clone(), key.get(name).cloned().unwrap_or(Value::Null));
    Ok(columns.iter().map(cell).collect())
}

/// Whether a row can have the key: none has one that a column would round.
fn fits_key_columns(table: &TableSchema, key: &Row) -> bool {
    table.key_columns().all(|column| {
        let Some(value) = key.get(&column.name) else { return true };
        // What is no value of the column is an error, told with its batch.
        value.convert_to(column.column_type).map_or(true, |held| value.is_kept_as(&held))
    })
}

fn key_schema(table: &TableSchema) -> SchemaRef {
    let fields = table.key_columns().map(|column| column.to_arrow().with_nullable(true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Items by the thousand, each lot as a batch.
struct KeyChunks<I, F> {
    items: I,
    batch: F,
}

impl<T, I, F> Iterator for KeyChunks<I, F>
where
    I: Iterator<Item = Result<T>>,
    F: FnMut(Vec<T>) -> Result<RecordBatch>,
{
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let items = self.items.by_ref().take(KEYS_MAX).collect::<Result<Vec<T>>>();
        match items {
            Ok(items) if items.is_empty() => None,
            Ok(items) => Some((self.batch)(items)),
            Err(error) => Some(Err(error)),
        }
    }
}
