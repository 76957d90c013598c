//! Functions that build documents from values: `to_json`, `json_build_object` and others.
//!
//! `json_agg(x)` is `_json_array(array_agg(to_json(x)))`, `json_object_agg(k, v)` is
//! `_json_object(array_agg(_json_member(k, v)))`.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, exec_err};

use super::scan::{checked, members};
use super::write::{quote, write};
use crate::functions::{Arguments, Gives, Scalar, text_of};

const MANY: usize = 1_000;

const fn json(
    name: &'static str,
    form: &'static str,
    count: (usize, usize),
    work: fn(&Arguments) -> Result<ArrayRef>,
) -> Scalar {
    Scalar { name, form, count, gives: Gives::Json, work }
}

pub(super) const ALL: [Scalar; 13] = [
    json("to_json", "to_json(x)", (1, 1), to_json),
    json("json_build_object", "json_build_object('a', a, 'b', b)", (0, MANY), object),
    json("jsonb_build_object", "jsonb_build_object('a', a, 'b', b)", (0, MANY), object),
    json("json_object", "json_object('a', a, 'b', b)", (0, MANY), object),
    json("json_build_array", "json_build_array(a, b)", (0, MANY), array),
    json("jsonb_build_array", "jsonb_build_array(a, b)", (0, MANY), array),
    json("json_array", "json_array(a, b)", (0, MANY), array),
    json("_json_member", "json_object_agg(name, value)", (2, 2), member),
    json("_json_array", "json_agg(x)", (1, 1), array_of),
    json("_json_object", "json_object_agg(name, value)", (1, 1), object_of),
    json("_json", "CAST(text AS JSON)", (1, 1), |arguments| as_document(arguments, false)),
    json("_try_json", "TRY_CAST(text AS JSON)", (1, 1), |arguments| as_document(arguments, true)),
    json("_as_json", "json_array_elements(document)", (1, 1), |arguments| {
        let texts = arguments.texts(0)?;
        arguments.map_text(|row| Ok(text_of(&texts, row).map(str::to_owned)))
    }),
];

/// A text as the document that it is, and any other value as `to_json` writes it.
fn as_document(arguments: &Arguments, is_tried: bool) -> Result<ArrayRef> {
    let Ok(texts) = arguments.texts(0) else { return to_json(arguments) };
    arguments.map_text(|row| match text_of(&texts, row).map(checked) {
        Some(Ok(document)) => Ok(Some(document.to_owned())),
        Some(Err(error)) if !is_tried => Err(error),
        _ => Ok(None),
    })
}

fn to_json(arguments: &Arguments) -> Result<ArrayRef> {
    let (array, field) = (&arguments.arrays[0], &arguments.fields[0]);
    arguments.map_text(|row| {
        if array.is_null(row) || *array.data_type() == DataType::Null {
            return Ok(None);
        }
        let mut out = String::new();
        write(&mut out, array.as_ref(), field, row)?;
        Ok(Some(out))
    })
}

/// The name of a member: any value but NULL, as it shows.
fn name(arguments: &Arguments, place: usize, row: usize) -> Result<String> {
    let array = &arguments.arrays[place];
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return exec_err!(
            "{}: the name of a member is NULL",
            arguments.name.trim_start_matches('_')
        );
    }
    let mut out = String::new();
    write(&mut out, array.as_ref(), &Field::new("name", array.data_type().clone(), true), row)?;
    Ok(if out.starts_with('"') { out } else { quote(&out) })
}

fn object(arguments: &Arguments) -> Result<ArrayRef> {
    if !arguments.arrays.len().is_multiple_of(2) {
        return exec_err!(
            "{} takes names and values in turns: the last name has no value",
            arguments.name
        );
    }
    arguments.map_text(|row| {
        let mut out = String::from("{");
        for place in (0..arguments.arrays.len()).step_by(2) {
            if place > 0 {
                out.push(',');
            }
            out.push_str(&name(arguments, place, row)?);
            out.push(':');
            value(&mut out, arguments, place + 1, row)?;
        }
        out.push('}');
        keep_last_members(out).map(Some)
    })
}

fn value(out: &mut String, arguments: &Arguments, place: usize, row: usize) -> Result<()> {
    write(out, arguments.arrays[place].as_ref(), &arguments.fields[place], row)
}

fn array(arguments: &Arguments) -> Result<ArrayRef> {
    arguments.map_text(|row| {
        let mut out = String::from("[");
        for place in 0..arguments.arrays.len() {
            if place > 0 {
                out.push(',');
            }
            value(&mut out, arguments, place, row)?;
        }
        out.push(']');
        Ok(Some(out))
    })
}

/// `"name":value`
fn member(arguments: &Arguments) -> Result<ArrayRef> {
    arguments.map_text(|row| {
        let mut out = name(arguments, 0, row)?;
        out.push(':');
        value(&mut out, arguments, 1, row)?;
        Ok(Some(out))
    })
}

fn array_of(arguments: &Arguments) -> Result<ArrayRef> {
    join_parts(arguments, '[', ']', Ok)
}

fn object_of(arguments: &Arguments) -> Result<ArrayRef> {
    join_parts(arguments, '{', '}', keep_last_members)
}

/// Parts that were gathered, between brackets; NULL where none were.
fn join_parts(
    arguments: &Arguments,
    open: char,
    close: char,
    finish: fn(String) -> Result<String>,
) -> Result<ArrayRef> {
    let item = Field::new_list_field(DataType::Utf8, true);
    let lists = cast(&arguments.arrays[0], &DataType::List(item.into()))?;
    let lists = lists.as_list::<i32>();
    arguments.map_text(|row| {
        if lists.is_null(row) {
            return Ok(None);
        }
        let parts = lists.value(row);
        let parts: Vec<&str> =
            parts.as_string::<i32>().iter().map(|part| part.unwrap_or("null")).collect();
        finish(format!("{open}{}{close}", parts.join(","))).map(Some)
    })
}

/// An object in which no name comes twice: the last member of each stays.
fn keep_last_members(object: String) -> Result<String> {
    let kept = members(&object)?;
    let written = object.matches(':').count();
    // Without a colon to spare there is one member for each.
    if kept.len() == written {
        return Ok(object);
    }
    let members: Vec<String> =
        kept.iter().map(|(name, value)| format!("{}:{value}", quote(name))).collect();
    Ok(format!("{{{}}}", members.join(",")))
}
