//! Casts answers to types that every client reads. Clients of Flight SQL give up a whole answer, or
//! read an index for its value, where a column is a view, a dictionary, run-end encoded, half a
//! float or a short decimal, at any depth.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use tonnage::{Error, Result};

/// The schema with such types as what they mean.
pub(crate) fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    if schema.fields().iter().all(|field| plain_type(field.data_type()).is_none()) {
        return schema.clone();
    }
    let fields: Vec<FieldRef> = schema.fields().iter().map(plain_field).collect();
    Arc::new(Schema::new(fields).with_metadata(schema.metadata().clone()))
}

/// The type that replaces another; nothing where that is plain itself.
fn plain_type(data_type: &DataType) -> Option<DataType> {
    // Of a list that is plain itself, the items may be plain or not.
    let changed = |item: &FieldRef| plain_type(item.data_type()).map(|_| plain_field(item));
    match data_type {
        DataType::Utf8View => Some(DataType::Utf8),
        DataType::BinaryView => Some(DataType::Binary),
        DataType::Float16 => Some(DataType::Float32),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            Some(DataType::Decimal128(*precision, *scale))
        }
        DataType::Dictionary(_, values) => {
            Some(plain_type(values).unwrap_or_else(|| values.as_ref().clone()))
        }
        DataType::RunEndEncoded(_, values) => Some(plain_field(values).data_type().clone()),
        DataType::ListView(item) => Some(DataType::List(plain_field(item))),
        DataType::LargeListView(item) => Some(DataType::LargeList(plain_field(item))),
        DataType::List(item) => changed(item).map(DataType::List),
        DataType::LargeList(item) => changed(item).map(DataType::LargeList),
        DataType::FixedSizeList(item, length) => {
            changed(item).map(|item| DataType::FixedSizeList(item, *length))
        }
        DataType::Map(entries, sorted) => {
            changed(entries).map(|entries| DataType::Map(entries, *sorted))
        }
        // Records keep their type as it is, rather than a copy of it, where all members are plain.
        DataType::Struct(members) => {
            let is_plain = members.iter().all(|member| plain_type(member.data_type()).is_none());
            (!is_plain).then(|| DataType::Struct(members.iter().map(plain_field).collect()))
        }
        _ => None,
    }
}

fn plain_field(field: &FieldRef) -> FieldRef {
    match plain_type(field.data_type()) {
        Some(data_type) => Arc::new(Field::clone(field).with_data_type(data_type)),
        None => field.clone(),
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
    use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, StringViewArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    /// Each of these types, at any depth, and the type that is sent.
    #[test]
    fn types_that_clients_do_not_read_go_out_as_what_they_stand_for() {
        use DataType::*;
        let item = |data_type| Arc::new(Field::new("item", data_type, true));
        let codes = || Dictionary(Box::new(Int32), Box::new(Utf8View));
        let runs = RunEndEncoded(Arc::new(Field::new("run_ends", Int32, false)), item(BinaryView));
        let pair = |value| {
            let names = Field::new("key", Utf8, false);
            let members = vec![names, Field::new("value", value, true)];
            Arc::new(Field::new("entries", Struct(members.into()), false))
        };
        let record = |data_type| {
            Struct(vec![Field::new("a", Int64, true), Field::new("b", data_type, true)].into())
        };
        for (wide, plain) in [
            (Utf8View, Utf8),
            (BinaryView, Binary),
            (Float16, Float32),
            (Decimal32(9, 2), Decimal128(9, 2)),
            (Decimal64(18, 3), Decimal128(18, 3)),
            (codes(), Utf8),
            (runs, Binary),
            (ListView(item(Int64)), List(item(Int64))),
            (LargeListView(item(Float16)), LargeList(item(Float32))),
            (List(item(codes())), List(item(Utf8))),
            (LargeList(item(Utf8View)), LargeList(item(Utf8))),
            (FixedSizeList(item(Decimal32(5, 1)), 2), FixedSizeList(item(Decimal128(5, 1)), 2)),
            (Map(pair(Utf8View), false), Map(pair(Utf8), false)),
            (record(ListView(item(codes()))), record(List(item(Utf8)))),
        ] {
            let schema = Arc::new(Schema::new(vec![Field::new("c", wide.clone(), true)]));
            let told = plain_schema(&schema);
            assert_eq!(told.field(0).data_type(), &plain, "{wide}");
            assert!(Arc::ptr_eq(&plain_schema(&told), &told), "{plain} is plain");
            let column = arrow::array::new_null_array(&wide, 3);
            let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
            let sent = plain_batch(batch, &told).unwrap();
            assert_eq!((sent.num_rows(), sent.column(0).null_count()), (3, 3), "{wide}");
        }
    }

    #[test]
    fn values_within_lists_are_kept() {
        let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        let item = Arc::new(Field::new("item", words.data_type().clone(), true));
        let offsets = arrow::buffer::OffsetBuffer::from_lengths([2, 0, 1]);
        let lists = arrow::array::ListArray::new(item, offsets, Arc::new(words), None);
        let batch = RecordBatch::try_from_iter([("l", Arc::new(lists) as ArrayRef)]).unwrap();
        let schema = plain_schema(batch.schema_ref());
        let plain = plain_batch(batch, &schema).unwrap();
        let lists = plain.column(0).as_list::<i32>();
        let texts: Vec<_> = lists.values().as_string::<i32>().iter().flatten().collect();
        assert_eq!((texts, lists.value_length(0)), (vec!["a", "b", "a"], 2));
    }

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
