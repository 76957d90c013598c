//! Values that have no type of their own: NULL, and lists without items, `[]` and `[[]]`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use tonnage::{Error, Result, TableSchema};

/// Whether nothing but NULL may be in values of a type, however deep.
pub(super) fn is_untyped(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_untyped(item.data_type())
        }
        _ => false,
    }
}

/// Such values as those of a column; nothing where they are none of it, as lists are not text.
pub(super) fn typed(values: &ArrayRef, column: &Field) -> Option<ArrayRef> {
    let wanted = column.data_type();
    match values.data_type() {
        DataType::Null => Some(new_null_array(wanted, values.len())),
        _ if wanted.is_list() => cast(values, wanted).ok(),
        _ => None,
    }
}

/// Rows with such values in the types of the columns that they are for.
pub(super) fn typed_rows(batch: RecordBatch, schema: &TableSchema) -> Result<RecordBatch> {
    if !batch.schema_ref().fields().iter().any(|field| is_untyped(field.data_type())) {
        return Ok(batch);
    }
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    // Columns of the rows may be fewer than those of the table, so they are found by name.
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let column = schema.columns.iter().find(|column| {
            is_untyped(field.data_type()) && column.name.eq_ignore_ascii_case(field.name())
        });
        let own = column.map(|column| column.to_arrow().with_nullable(true));
        let made = own.and_then(|own| Some((typed(array, &own)?, own)));
        match made {
            // The rows keep the letters of their own names.
            Some((array, own)) => {
                fields.push(own.with_name(field.name()));
                arrays.push(array);
            }
            None => {
                fields.push(Field::clone(field));
                arrays.push(array.clone());
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| Error::internal(error.to_string()))
}
