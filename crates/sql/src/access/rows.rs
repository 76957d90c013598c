//! Rows one by one, brought into columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::Schema;
use tonnage::{Error, Result, Row, Value};

use super::SqlTable;

/// Rows as a table shows them.
pub(crate) fn batch_of(table: &SqlTable, rows: &[&Row]) -> Result<RecordBatch> {
    let columns = &table.schema().columns;
    let fields = &table.arrow.fields()[..columns.len()];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    if rows.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    let column = |column: &tonnage::Column| {
        let cells = rows.iter().map(|row| {
            row.get(&column.name).unwrap_or(&Value::Null).to_array(column.column_type, 1)
        });
        let cells = cells.collect::<Result<Vec<ArrayRef>>>()?;
        let cells: Vec<_> = cells.iter().map(AsRef::as_ref).collect();
        let mut array = concat(&cells).map_err(|error| Error::internal(error.to_string()))?;
        crate::plan::settle(&mut array);
        Ok(array)
    };
    let arrays = columns.iter().map(column).collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(schema, arrays)
        .map_err(|error| Error::internal(format!("rows written: {error}")))
}
