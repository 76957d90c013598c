//! The items of arrays and the members of objects as lists, for `unnest`.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{Result, exec_err};

use super::scan::{Kind, checked, items, members, string};
use crate::functions::{Arguments, Gives, Scalar, text_of};

/// The items of an array, as documents.
pub(crate) const ITEMS: &str = "_json_items";
/// The items of an array, as text.
pub(crate) const TEXT_ITEMS: &str = "_json_texts";
/// The members of an object, with documents as values.
pub(crate) const ENTRIES: &str = "_json_entries";
/// The members of an object, with texts as values.
pub(crate) const TEXT_ENTRIES: &str = "_json_text_entries";

fn list_type() -> DataType {
    DataType::new_list(DataType::Utf8, true)
}

fn entries_type() -> DataType {
    DataType::new_list(DataType::Struct(entry()), true)
}

fn entry() -> Fields {
    Fields::from(vec![
        Field::new("key", DataType::Utf8, true),
        Field::new("value", DataType::Utf8, true),
    ])
}

const fn list_function(
    name: &'static str,
    form: &'static str,
    data_type: fn() -> DataType,
    work: fn(&Arguments) -> Result<ArrayRef>,
) -> Scalar {
    Scalar { name, form, count: (1, 1), gives: Gives::Type(data_type), work }
}

pub(super) const ALL: [Scalar; 4] = [
    list_function(ITEMS, "json_array_elements(document)", list_type, |arguments| {
        all_items(arguments, |item| Ok(Some(item.to_owned())))
    }),
    list_function(TEXT_ITEMS, "json_array_elements_text(document)", list_type, |arguments| {
        all_items(arguments, text)
    }),
    list_function(ENTRIES, "json_each(document)", entries_type, |arguments| {
        all_entries(arguments, |value| Ok(Some(value.to_owned())))
    }),
    list_function(TEXT_ENTRIES, "json_each_text(document)", entries_type, |arguments| {
        all_entries(arguments, text)
    }),
];

/// A value as text: a text without its quotes, nothing for null.
fn text(value: &str) -> Result<Option<String>> {
    match Kind::of(value) {
        Kind::String => string(value).map(Some),
        Kind::Null => Ok(None),
        _ => Ok(Some(value.to_owned())),
    }
}

type ItemText = fn(&str) -> Result<Option<String>>;

fn all_items(arguments: &Arguments, shown: ItemText) -> Result<ArrayRef> {
    let documents = arguments.texts(0)?;
    let (mut lengths, mut values) = (Vec::new(), Vec::new());
    let mut are_there = Vec::new();
    for row in 0..arguments.rows {
        let document = text_of(&documents, row);
        are_there.push(document.is_some());
        let before = values.len();
        if let Some(document) = document {
            let document = checked(document)?;
            if Kind::of(document) != Kind::Array {
                return exec_err!("json_array_elements takes an array, not {document}");
            }
            for item in items(document)? {
                values.push(shown(item)?);
            }
        }
        lengths.push(values.len() - before);
    }
    let field = Arc::new(Field::new_list_field(DataType::Utf8, true));
    list_array(field, Arc::new(StringArray::from(values)), lengths, are_there)
}

fn all_entries(arguments: &Arguments, shown: ItemText) -> Result<ArrayRef> {
    let documents = arguments.texts(0)?;
    let (mut lengths, mut keys, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut are_there = Vec::new();
    for row in 0..arguments.rows {
        let document = text_of(&documents, row);
        // A NULL document is a NULL list, which a length of 0 does not distinguish from an empty
        // object.
        are_there.push(document.is_some());
        // All rows share the flat arrays of a list: what a row has added is its length.
        let before = values.len();
        if let Some(document) = document {
            let document = checked(document)?;
            if Kind::of(document) != Kind::Object {
                return exec_err!(
                    "json_each takes an object, not {document}: json_array_elements takes an array"
                );
            }
            for (name, value) in members(document)? {
                keys.push(name);
                values.push(shown(value)?);
            }
        }
        lengths.push(values.len() - before);
    }
    let parts: Vec<ArrayRef> =
        vec![Arc::new(StringArray::from(keys)), Arc::new(StringArray::from(values))];
    let entries = Arc::new(StructArray::try_new(entry(), parts, None)?);
    let field = Arc::new(Field::new_list_field(DataType::Struct(entry()), true));
    list_array(field, entries, lengths, are_there)
}

fn list_array(
    field: Arc<Field>,
    items: ArrayRef,
    lengths: Vec<usize>,
    are_there: Vec<bool>,
) -> Result<ArrayRef> {
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(field, offsets, items, Some(NullBuffer::from(are_there)))?))
}
