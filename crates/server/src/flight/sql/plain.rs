//! Casts answers to types that every client reads, without views and dictionaries.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tonnage::{Error, Result};

/// The schema with views and dictionaries as what they stand for.
pub(crate) fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    if schema.fields().iter().all(|field| plain_type(field.data_type()).is_none()) {
        return schema.clone();
    }
    let fields = schema.fields().iter().map(|field| match plain_type(field.data_type()) {
        Some(data_type) => Arc::new(Field::clone(field).with_data_type(data_type)),
        None => field.clone(),
    });
    let fields: Vec<_> = fields.collect();
    Arc::new(Schema::new(fields).with_metadata(schema.metadata().clone()))
}

fn plain_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Utf8View => Some(DataType::Utf8),
        DataType::BinaryView => Some(DataType::Binary),
        DataType::Dictionary(_, values) => {
            Some(plain_type(values).unwrap_or_else(|| values.as_ref().clone()))
        }
        DataType::RunEndEncoded(_, values) => {
            Some(plain_type(values.data_type()).unwrap_or_else(|| values.data_type().clone()))
        }
        _ => None,
    }
}

/// A batch under its plain schema.
///
/// # Errors
/// `Internal` for columns that are not of the schema.
pub(crate) fn plain_batch(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch);
    }
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        match column.data_type() == field.data_type() {
            true => Ok(column.clone()),
            false => cast(column, field.data_type()),
        }
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
    columns
        .and_then(|columns| RecordBatch::try_new_with_options(schema.clone(), columns, &options))
        .map_err(|error| Error::internal(format!("rows do not fit their schema: {error}")))
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, AsArray, DictionaryArray, StringViewArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn views_and_dictionaries_go_out_as_texts() {
        let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        let views = StringViewArray::from(vec![Some("x"), None, Some("z")]);
        let columns: Vec<(&str, ArrayRef, bool)> =
            vec![("w", Arc::new(words), true), ("v", Arc::new(views), true)];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let schema = plain_schema(batch.schema_ref());
        assert!(schema.fields().iter().all(|field| *field.data_type() == DataType::Utf8));
        let plain = plain_batch(batch, &schema).unwrap();
        let texts: Vec<_> = plain.column(0).as_string::<i32>().iter().flatten().collect();
        assert_eq!(texts, ["a", "b", "a"]);
    }
}
