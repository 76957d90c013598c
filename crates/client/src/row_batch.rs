//! Rows as record batches.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::concat;
use arrow::datatypes::Schema;
use tonnage::{Error, Result, Row, TableSchema, Value};

/// Rows as a batch of the columns that any of them names. A row that lacks one has NULL there.
///
/// # Errors
/// `Invalid` for a column that the table does not have, or a value that does not fit.
pub fn batch_of(table: &TableSchema, rows: &[Row]) -> Result<RecordBatch> {
    let mut places = Vec::new();
    for (name, _) in rows.iter().flat_map(Row::iter) {
        let place = table.require_column(name)?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let (mut fields, mut columns): (Vec<_>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for column in places.iter().map(|place| &table.columns[*place]) {
        let cells = rows.iter().map(|row| {
            let value = row.get(&column.name).unwrap_or(&Value::Null);
            value
                .to_array(column.column_type, 1)
                .map_err(|error| error.at(format!("column {}", column.name)))
        });
        let cells = cells.collect::<Result<Vec<_>>>()?;
        let cells: Vec<&dyn Array> = cells.iter().map(AsRef::as_ref).collect();
        fields.push(column.to_arrow().with_nullable(true));
        columns.push(
            concat(&cells)
                .map_err(|error| Error::internal(format!("column {}: {error}", column.name)))?,
        );
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| Error::internal(format!("rows as a batch: {error}")))
}
