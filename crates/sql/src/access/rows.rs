//! Rows of the store as columns of Arrow.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::Schema;
use tonnage::{Column, Error, Result, Row, TableSchema, Value};

use super::SqlTable;

/// Rows as a table shows them.
pub(crate) fn rows_to_batch(table: &SqlTable, rows: &[&Row]) -> Result<RecordBatch> {
    let columns = &table.schema().columns;
    let fields = &table.arrow.fields()[..columns.len()];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    if rows.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    let arrays =
        columns.iter().map(|column| column_array(column, rows)).collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(schema, arrays)
        .map_err(|error| Error::internal(format!("rows written: {error}")))
}

/// The key columns of rows, of which nothing else need be there. There is one row at least.
pub(crate) fn rows_to_keys(schema: &TableSchema, rows: &[&Row]) -> Result<Vec<ArrayRef>> {
    schema.key_columns().map(|column| column_array(column, rows)).collect()
}

/// A column of rows, of which there is one at least.
fn column_array(column: &Column, rows: &[&Row]) -> Result<ArrayRef> {
    let cells = rows
        .iter()
        .map(|row| row.get(&column.name).unwrap_or(&Value::Null).to_array(column.column_type, 1));
    let cells = cells.collect::<Result<Vec<ArrayRef>>>()?;
    let cells: Vec<_> = cells.iter().map(AsRef::as_ref).collect();
    let mut array = concat(&cells).map_err(|error| Error::internal(error.to_string()))?;
    crate::plan::canonicalise_doubles(&mut array);
    Ok(array)
}
