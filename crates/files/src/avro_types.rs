//! Types of Avro that Arrow's decoder does not know.
//!
//! - A `big-decimal` has its own scale in each value. It becomes text, which is a NUMBER where the
//!   table has one.
//! - A record that contains itself has no type here, and is refused.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StringBuilder, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use serde_json::Value as Json;

use crate::avro_number::{broken, long, read_sized};

/// Where the decoder leaves the name of a logical type.
const LOGICAL_TYPE: &str = "logicalType";
const BIG_DECIMAL: &str = "big-decimal";
/// The longest number: a hundred times the digits of the widest NUMBER.
const UNSCALED_BYTES_MAX: usize = 4 << 10;
/// The most zeros that are written out before or after the digits.
const NOUGHTS_MAX: usize = 1_000;

/// The words of schemas that name no record.
const KINDS: [&str; 14] = [
    "null", "boolean", "int", "long", "float", "double", "bytes", "string", "record", "error",
    "enum", "array", "map", "fixed",
];

/// Whether the values of a field are numbers with a scale of their own, which its text tells.
pub(crate) fn is_big_decimal(field: &Field) -> bool {
    field.metadata().get(LOGICAL_TYPE).is_some_and(|name| name == BIG_DECIMAL)
}

/// The schema with text for each big-decimal.
pub(crate) fn as_text(schema: &Schema) -> Result<SchemaRef, ArrowError> {
    let fields = schema.fields().iter().map(text_field).collect::<Result<Fields, _>>()?;
    Ok(Arc::new(Schema::new(fields)))
}

fn text_field(field: &FieldRef) -> Result<FieldRef, ArrowError> {
    let data_type = match field.data_type() {
        DataType::Binary if is_big_decimal(field) => DataType::Utf8,
        DataType::List(item) => DataType::List(text_field(item)?),
        DataType::Map(entries, sorted) => DataType::Map(text_field(entries)?, *sorted),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(text_field).collect::<Result<_, _>>()?)
        }
        DataType::Union(fields, _) => {
            for (_, field) in fields.iter() {
                // Among other types its text would be taken for a string.
                if text_field(field)?.data_type() != field.data_type() {
                    return Err(ArrowError::AvroError(format!(
                        "{} is a union with a big-decimal, which is not read: write it as a string",
                        field.name()
                    )));
                }
            }
            return Ok(Arc::clone(field));
        }
        _ => return Ok(Arc::clone(field)),
    };
    Ok(Arc::new(field.as_ref().clone().with_data_type(data_type)))
}

/// A column of the decoder with the values that its field in the schema of [`as_text`] has.
pub(crate) fn text_column(column: &ArrayRef, field: &Field) -> Result<ArrayRef, ArrowError> {
    if column.data_type() == field.data_type() {
        return Ok(Arc::clone(column));
    }
    // A number may lie anywhere in a nested value, so each part is looked at.
    Ok(match field.data_type() {
        DataType::List(item) => {
            let list = column.as_list::<i32>();
            let values = text_column(list.values(), item)?;
            Arc::new(ListArray::try_new(
                Arc::clone(item),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            )?)
        }
        // Its entries are records of a key and a value.
        DataType::Map(entries, sorted) => {
            let map = column.as_map();
            let members: ArrayRef = Arc::new(map.entries().clone());
            let members = text_column(&members, entries)?;
            Arc::new(MapArray::try_new(
                Arc::clone(entries),
                map.offsets().clone(),
                members.as_struct().clone(),
                map.nulls().cloned(),
                *sorted,
            )?)
        }
        DataType::Struct(fields) => {
            let record = column.as_struct();
            let columns = record.columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| text_column(column, field));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, record.nulls().cloned())?)
        }
        _ => numbers(column)?,
    })
}

fn numbers(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let values = column.as_binary::<i32>();
    let mut texts = StringBuilder::with_capacity(values.len(), values.len() * 8);
    let mut text = String::new();
    for value in values {
        let Some(value) = value else {
            texts.append_null();
            continue;
        };
        text.clear();
        number_text(value, &mut text)?;
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

/// Writes a value: its unscaled number as bytes after their length, then its scale.
fn number_text(mut value: &[u8], text: &mut String) -> Result<(), ArrowError> {
    let unscaled = read_sized(&mut value, UNSCALED_BYTES_MAX as u64)?;
    let scale = long(&mut value)?;
    if !value.is_empty() || unscaled.is_empty() {
        return Err(broken("a big-decimal in it is damaged").into());
    }
    if unscaled[0] & 0x80 != 0 {
        text.push('-');
    }
    let digits = digits_of(&unscaled);
    match usize::try_from(scale) {
        Ok(0) => text.push_str(&digits),
        Ok(scale) if scale < digits.len() => {
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            text.extend([whole, ".", fraction]);
        }
        Ok(scale) if scale - digits.len() <= NOUGHTS_MAX => {
            text.extend(["0.", &"0".repeat(scale - digits.len()), &digits]);
        }
        _ => text.extend([digits.as_str(), "e", &scale.saturating_neg().to_string()]),
    }
    Ok(())
}

/// The digits of a number in two's complement, the highest byte first, without its sign.
fn digits_of(bytes: &[u8]) -> String {
    const NINE_DIGITS: u64 = 1_000_000_000;
    let is_negative = bytes[0] & 0x80 != 0;
    // A negative number is all bits turned over, and one more. That never exceeds its bytes.
    let mut carry = is_negative;
    // The lowest byte first, in pieces of four.
    let mut limbs = vec![0_u32; bytes.len().div_ceil(4)];
    for (place, byte) in bytes.iter().rev().enumerate() {
        let (byte, carried) = match is_negative {
            true => (!byte).overflowing_add(u8::from(carry)),
            false => (*byte, false),
        };
        carry = carried;
        limbs[place / 4] |= u32::from(byte) << (place % 4 * 8);
    }
    let mut groups = Vec::new();
    while limbs.iter().any(|limb| *limb != 0) {
        let mut rest = 0;
        for limb in limbs.iter_mut().rev() {
            let number = rest << 32 | u64::from(*limb);
            *limb = (number / NINE_DIGITS) as u32;
            rest = number % NINE_DIGITS;
        }
        groups.push(rest);
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
    }
    let mut groups = groups.into_iter().rev();
    let first = groups.next().unwrap_or(0).to_string();
    groups.fold(first, |digits, group| format!("{digits}{group:09}"))
}

/// The name of a record of a schema that contains itself, which the decoder would look for in vain.
pub(crate) fn recursive_record(schema: &[u8]) -> Option<String> {
    let schema: Json = serde_json::from_slice(schema).ok()?;
    find_recursive(&schema, "", &mut Vec::new())
}

fn find_recursive(schema: &Json, namespace: &str, inside: &mut Vec<String>) -> Option<String> {
    let full_name = |name: &str, namespace: &str| match name.contains('.') || namespace.is_empty() {
        true => name.to_owned(),
        false => format!("{namespace}.{name}"),
    };
    match schema {
        Json::String(word) if KINDS.contains(&word.as_str()) => None,
        Json::String(name) => inside.contains(&full_name(name, namespace)).then(|| name.clone()),
        Json::Array(branches) => {
            branches.iter().find_map(|branch| find_recursive(branch, namespace, inside))
        }
        Json::Object(members) => {
            let told = |member: &str| members.get(member).and_then(Json::as_str);
            let namespace = told("namespace").unwrap_or(namespace);
            let name = told("name").map(|name| full_name(name, namespace));
            // Names without a namespace are of that in which they stand.
            let namespace = match &name {
                Some(name) => name.rsplit_once('.').map_or("", |(namespace, _)| namespace),
                None => namespace,
            }
            .to_owned();
            // A name inside a record may be that of the record, or of one further out.
            let depth = inside.len();
            inside.extend(name.filter(|_| members.contains_key("fields")));
            let fields = members.get("fields").and_then(Json::as_array).into_iter().flatten();
            let types = fields.filter_map(|field| field.get("type"));
            let parts =
                ["type", "items", "values"].into_iter().filter_map(|part| members.get(part));
            let found =
                types.chain(parts).find_map(|part| find_recursive(part, &namespace, inside));
            inside.truncate(depth);
            found
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(unscaled: &[u8], scale: i64) -> String {
        let mut value = Vec::new();
        crate::avro_number::put_bytes(unscaled, &mut value);
        crate::avro_number::put_long(scale, &mut value);
        let mut text = String::new();
        number_text(&value, &mut text).unwrap();
        text
    }

    #[test]
    fn numbers_have_their_own_scale() {
        assert_eq!(text(&[0], 0), "0");
        assert_eq!(text(&[0x04, 0xd2], 2), "12.34");
        assert_eq!(text(&[0xfb, 0x2e], 2), "-12.34");
        assert_eq!(text(&[0x7b], 5), "0.00123");
        assert_eq!(text(&[0x7b], 3), "0.123");
        assert_eq!(text(&[0xff], -3), "-1e3");
        assert_eq!(text(&[0x80], 0), "-128");
        assert_eq!(text(&[0x80, 0, 0, 0], 0), "-2147483648");
        assert_eq!(text(&[1; 17], 20), "3416168075755303790.06368233343265341697");
        assert_eq!(text(&[1], i64::from(i32::MAX)), "1e-2147483647");
        for damaged in [&b""[..], b"\x02", b"\x02\x01", b"\x00\x00", b"\x02\x01\x00\x00"] {
            assert!(number_text(damaged, &mut String::new()).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn records_that_contain_themselves_are_found() {
        let found = |fields: &str| {
            recursive_record(
                format!(r#"{{"type":"record","name":"a.N","fields":[{fields}]}}"#).as_bytes(),
            )
        };
        for fields in [
            r#"{"name":"next","type":["null","N"]}"#,
            r#"{"name":"next","type":["null","a.N"]}"#,
            r#"{"name":"all","type":{"type":"array","items":"N"}}"#,
            r#"{"name":"m","type":{"type":"record","name":"M","fields":[{"name":"n","type":{"type":"map","values":"N"}}]}}"#,
        ] {
            assert!(found(fields).is_some(), "{fields}");
        }
        for fields in [
            r#"{"name":"N","type":"string"}"#,
            r#"{"name":"next","type":["null","b.N"]}"#,
            r#"{"name":"m","type":{"type":"record","name":"M","fields":[]}},{"name":"n","type":"M"}"#,
        ] {
            assert_eq!(found(fields), None, "{fields}");
        }
    }
}
