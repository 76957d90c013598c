//! Renders columns of all types as text. Nested values become JSON, and their parts read like the
//! same values in columns of their own.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field};
use tonnage_engine::Result;

use crate::render::{RenderedColumn, cast_to, quote_long, write_json_row, write_json_string};

/// An array prepared to be written value by value.
struct NestedNode {
    array: ArrayRef,
    parts: NestedParts,
}

/// The parts of the values of an array.
enum NestedParts {
    None(RenderedColumn),
    Items(Box<NestedNode>),
    Members(ArrayRef, Box<NestedNode>),
    Fields(Vec<(String, NestedNode)>),
    /// By the number of each kind.
    Kinds(Vec<(i8, NestedNode)>),
}

/// Makes all columns of a batch ready.
pub(crate) fn columns_of(batch: &RecordBatch) -> Result<Vec<RenderedColumn>> {
    let fields = batch.schema_ref().fields().iter();
    let ready = fields.zip(batch.columns()).map(|(field, array)| {
        if !field.data_type().is_nested() {
            return RenderedColumn::new(field, array);
        }
        nested_as_json(field, array).map(|texts| RenderedColumn::of_json(field.name(), texts))
    });
    ready.collect()
}

/// One row of a batch as a JSON object; empty if the batch has columns that cannot be written.
pub(crate) fn json_line(batch: &RecordBatch, row: usize) -> Vec<u8> {
    let mut line = Vec::new();
    if let Ok(columns) = columns_of(&batch.slice(row, 1)) {
        write_json_row(&columns, 0, &mut line);
    }
    line
}

/// The values of a nested column as JSON text.
pub(crate) fn nested_as_json(field: &Field, array: &ArrayRef) -> Result<StringArray> {
    let node = NestedNode::new(field, array)?;
    let (mut texts, mut text) = (StringBuilder::new(), Vec::new());
    // Of a union the value of the kind that a row has is NULL.
    let nulls = array.logical_nulls();
    for row in 0..array.len() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            texts.append_null();
            continue;
        }
        text.clear();
        node.write(row, &mut text);
        texts.append_value(String::from_utf8_lossy(&text));
    }
    Ok(texts.finish())
}

impl NestedNode {
    fn new(field: &Field, array: &ArrayRef) -> Result<NestedNode> {
        let mut array = Arc::clone(array);
        let parts = match field.data_type() {
            DataType::List(item) => NestedParts::of_list(item, &array)?,
            // Converted to plain lists: `write` knows one kind of offsets.
            DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item) => {
                array = cast_to(&array, &DataType::List(Arc::clone(item)), field)?;
                NestedParts::of_list(item, &array)?
            }
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) if !fields[0].data_type().is_nested() => {
                    let map = array.as_map();
                    let names = names_of(&fields[0], map.keys())?;
                    let values = NestedNode::new(&fields[1], map.values())?;
                    NestedParts::Members(names, Box::new(values))
                }
                // A nested key has no text to name a member: such a map is left to Arrow's encoder.
                _ => NestedParts::None(RenderedColumn::new(field, &array)?),
            },
            DataType::Struct(fields) => {
                let columns = fields.iter().zip(array.as_struct().columns());
                let nodes = columns.map(|(field, column)| {
                    NestedNode::new(field, column).map(|node| (field.name().clone(), node))
                });
                NestedParts::Fields(nodes.collect::<Result<_>>()?)
            }
            DataType::Union(kinds, _) => {
                let union = array.as_union();
                let nodes = kinds
                    .iter()
                    .map(|(kind, field)| Ok((kind, NestedNode::new(field, union.child(kind))?)));
                NestedParts::Kinds(nodes.collect::<Result<_>>()?)
            }
            // Unpacked: a value that is NULL, or has NULL in it, is known only by itself.
            DataType::Dictionary(_, values) => {
                let plain = field.clone().with_data_type(values.as_ref().clone());
                return NestedNode::new(&plain, &cast_to(&array, values, field)?);
            }
            DataType::RunEndEncoded(_, values) => {
                let plain = field.clone().with_data_type(values.data_type().clone());
                return NestedNode::new(&plain, &cast_to(&array, values.data_type(), field)?);
            }
            _ => NestedParts::None(RenderedColumn::new(field, &array)?),
        };
        Ok(NestedNode { array, parts })
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        // Checked at every level: below a NULL there may be values that no writer wrote.
        if self.array.is_null(row) {
            return out.extend_from_slice(b"null");
        }
        match &self.parts {
            NestedParts::None(column) => {
                let start = out.len();
                column.write_json(row, out);
                // Most readers of JSON make doubles of numbers, which would round a long one.
                if self.array.data_type().is_decimal() {
                    quote_long(out, start);
                }
            }
            NestedParts::Items(items) => {
                let offsets = self.array.as_list::<i32>().value_offsets();
                out.push(b'[');
                for (place, at) in (offsets[row]..offsets[row + 1]).enumerate() {
                    separate(place, out);
                    items.write(at as usize, out);
                }
                out.push(b']');
            }
            NestedParts::Members(names, values) => {
                let names = names.as_string::<i32>();
                let offsets = self.array.as_map().value_offsets();
                out.push(b'{');
                for (place, at) in (offsets[row]..offsets[row + 1]).enumerate() {
                    separate(place, out);
                    write_json_string(names.value(at as usize), out);
                    out.push(b':');
                    values.write(at as usize, out);
                }
                out.push(b'}');
            }
            NestedParts::Kinds(kinds) => {
                let union = self.array.as_union();
                match kinds.iter().find(|(kind, _)| *kind == union.type_id(row)) {
                    Some((_, values)) => values.write(union.value_offset(row), out),
                    None => out.extend_from_slice(b"null"),
                }
            }
            NestedParts::Fields(fields) => {
                out.push(b'{');
                for (place, (name, values)) in fields.iter().enumerate() {
                    separate(place, out);
                    write_json_string(name, out);
                    out.push(b':');
                    values.write(row, out);
                }
                out.push(b'}');
            }
        }
    }
}

impl NestedParts {
    fn of_list(item: &Field, array: &ArrayRef) -> Result<NestedParts> {
        let items = NestedNode::new(item, array.as_list::<i32>().values())?;
        Ok(NestedParts::Items(Box::new(items)))
    }
}

/// The keys of a map as names of members: what they are in text.
fn names_of(field: &Field, keys: &ArrayRef) -> Result<ArrayRef> {
    if keys.data_type() == &DataType::Utf8 {
        return Ok(Arc::clone(keys));
    }
    let column = RenderedColumn::new(field, keys)?;
    let (mut names, mut text) = (StringBuilder::new(), Vec::new());
    for row in 0..keys.len() {
        text.clear();
        column.write(row, &mut text);
        names.append_value(String::from_utf8_lossy(&text));
    }
    Ok(Arc::new(names.finish()))
}

fn separate(place: usize, out: &mut Vec<u8>) {
    if place > 0 {
        out.push(b',');
    }
}
