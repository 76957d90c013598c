//! SQL values written as JSON.

use arrow::array::{Array, AsArray, MapArray};
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type};
use arrow::util::display::array_value_to_string;
use datafusion::common::{Result, exec_err};
use serde_json::Value as Json;
use tonnage::Value;

/// A text in quotes.
pub(super) fn quote(text: &str) -> String {
    Json::from(text).to_string()
}

/// Writes the value of a row. Numbers keep all their digits, documents are taken as they are, and
/// what JSON has no value for is the text that it shows as.
pub(super) fn write(out: &mut String, array: &dyn Array, field: &Field, row: usize) -> Result<()> {
    // An array of type Null has no bits for validity, so `is_null` finds no NULL in it.
    if array.is_null(row) || *array.data_type() == DataType::Null {
        out.push_str("null");
        return Ok(());
    }
    match array.data_type() {
        DataType::Boolean => {
            out.push_str(if array.as_boolean().value(row) { "true" } else { "false" })
        }
        DataType::Float64 => double(out, array.as_primitive::<Float64Type>().value(row)),
        DataType::Float32 => {
            let number = array.as_primitive::<Float32Type>().value(row);
            // By way of its text, so that 0.1 stays 0.1.
            double(out, number.to_string().parse().unwrap_or(f64::from(number)));
        }
        data_type if data_type.is_integer() || data_type.is_decimal() => {
            out.push_str(&array_value_to_string(array, row)?);
        }
        DataType::List(item) => list(out, array.as_list::<i32>().value(row).as_ref(), item)?,
        DataType::LargeList(item) => list(out, array.as_list::<i64>().value(row).as_ref(), item)?,
        DataType::FixedSizeList(item, _) => {
            list(out, array.as_fixed_size_list().value(row).as_ref(), item)?;
        }
        DataType::Struct(members) => {
            let columns = array.as_struct().columns();
            out.push('{');
            for (place, (member, column)) in members.iter().zip(columns).enumerate() {
                name(out, place, member.name());
                write(out, column.as_ref(), member, row)?;
            }
            out.push('}');
        }
        DataType::Map(entries, _) => map(out, array.as_map(), entries, row)?,
        DataType::Union(..) => {
            return exec_err!(
                "this is a part of a document: take it out with ->> or json_get_json"
            );
        }
        _ => text(out, array, field, row)?,
    }
    Ok(())
}

fn double(out: &mut String, number: f64) {
    match number {
        number if number.is_nan() => out.push_str("\"NaN\""),
        f64::INFINITY => out.push_str("\"Infinity\""),
        f64::NEG_INFINITY => out.push_str("\"-Infinity\""),
        number if number.fract() == 0.0 && number.abs() < 1e15 => {
            out.push_str(&format!("{number}"));
        }
        number => out.push_str(&format!("{number:?}")),
    }
}

fn name(out: &mut String, place: usize, name: &str) {
    if place > 0 {
        out.push(',');
    }
    out.push_str(&quote(name));
    out.push(':');
}

fn list(out: &mut String, items: &dyn Array, field: &Field) -> Result<()> {
    out.push('[');
    for row in 0..items.len() {
        if row > 0 {
            out.push(',');
        }
        write(out, items, field, row)?;
    }
    out.push(']');
    Ok(())
}

fn map(out: &mut String, maps: &MapArray, entries: &Field, row: usize) -> Result<()> {
    let DataType::Struct(parts) = entries.data_type() else {
        return exec_err!("a map has keys and values");
    };
    let members = maps.value(row);
    let [keys, values] = members.columns() else {
        return exec_err!("a map has keys and values");
    };
    out.push('{');
    for place in 0..members.len() {
        name(out, place, &array_value_to_string(keys, place)?);
        write(out, values.as_ref(), &parts[1], place)?;
    }
    out.push('}');
    Ok(())
}

fn text(out: &mut String, array: &dyn Array, field: &Field, row: usize) -> Result<()> {
    match Value::from_array(array, field, row) {
        Ok(Value::Json(document)) => out.push_str(&document),
        Ok(value) => out.push_str(&quote(&value.to_string())),
        Err(_) => out.push_str(&quote(&array_value_to_string(array, row)?)),
    }
    Ok(())
}
