//! The values of a long list, converted to the type of the value that is compared with them. The
//! result is that of a short list, whose values the planner converts one by one.
//!
//! 1. Values that the type cannot hold exactly equal none of its values. They are left out.
//! 2. Text that the type cannot read at all is an error.
//! 3. Text beside numbers is read as numbers. Intervals compare by length.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Decimal256Array, FixedSizeBinaryBuilder, Int64Array,
    StringArray,
};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use tonnage::{ColumnType, Value};

use super::moments::count_of_text;
use super::numbers::digits_of_text;
use crate::access::non_null_values;
use crate::interval::{INTERVAL, lengths};

/// The values that are looked for among those of a type, in the type that [`compared_value`] gives.
///
/// # Errors
/// For text that spells no value of the type, and for numbers beside what is none.
pub(crate) fn list_values_as(values: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let found = match values.as_string_opt::<i32>() {
        _ if data_type.is_null() => values.clone(),
        Some(texts) => values_of_texts(texts, data_type)?,
        None => match data_type {
            data_type if data_type.is_string() => values.clone(),
            data_type if data_type.is_numeric() => cast(values, data_type)?,
            DataType::FixedSizeBinary(16) => return exec_err!("a UUID is compared with numbers"),
            other => return exec_err!("{other} is compared with a list of numbers"),
        },
    };
    Ok(non_null_values(&found)?)
}

/// What is held against the values of a list, in the type that they are compared in.
pub(super) fn compared_value(array: ArrayRef, values: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Interval(_) | DataType::Duration(_) => Ok(Arc::new(lengths(&array)?)),
        DataType::Null => Ok(cast(&array, values.data_type())?),
        given if given.is_string() && values.data_type().is_integer() => {
            cast_strictly(&array, values.data_type())
        }
        _ => Ok(array),
    }
}

/// A cast that fails for what the type cannot read.
fn cast_strictly(array: &dyn Array, data_type: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(array, data_type, &options)?)
}

fn values_of_texts(texts: &StringArray, data_type: &DataType) -> Result<ArrayRef> {
    match data_type {
        DataType::FixedSizeBinary(width) => bytes_of_width(texts, *width),
        kind if kind.is_binary() => {
            let values = texts.iter().flatten().map(bytes).collect::<Result<Vec<_>>>()?;
            Ok(cast(&BinaryArray::from_iter_values(values), kind)?)
        }
        DataType::Interval(_) | DataType::Duration(_) => {
            // In step with `compared_value`, which makes lengths of the other side.
            Ok(Arc::new(lengths(&cast_strictly(texts, &INTERVAL)?)?))
        }
        // A cast would cut what the type cannot hold, and find rows that are not equal. Such a
        // value is NULL here, which `list_values_as` leaves out.
        DataType::Timestamp(unit, None) => {
            let count = |text: &str| match count_of_text(text, *unit) {
                Some(count) => Ok(count),
                None => exec_err!("'{text}' is not a timestamp"),
            };
            let counts = texts.iter().map(|text| text.map_or(Ok(None), count));
            let counts: ArrayRef = Arc::new(counts.collect::<Result<Int64Array>>()?);
            Ok(cast(&counts, data_type)?)
        }
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            let digits = |text: &str| match digits_of_text(text, *precision, *scale) {
                Some(digits) => Ok(digits),
                None => exec_err!("'{text}' is not a number"),
            };
            let digits = texts.iter().map(|text| text.map_or(Ok(None), digits));
            // In 256 bits for both: the digits fit the precision, so the last cast loses none.
            let digits = digits.collect::<Result<Decimal256Array>>()?;
            let digits = digits.with_precision_and_scale(*precision, *scale)?;
            Ok(cast(&digits, data_type)?)
        }
        data_type => cast_strictly(texts, data_type),
    }
}

/// Texts as the UUIDs or bytes that they spell. Bytes of another length equal none: they are left
/// out.
fn bytes_of_width(texts: &StringArray, width: i32) -> Result<ArrayRef> {
    let mut builder = FixedSizeBinaryBuilder::with_capacity(texts.len(), width);
    for text in texts.iter().flatten() {
        let found = match Value::parse(text, ColumnType::Uuid) {
            Ok(Value::Uuid(bytes)) if width == 16 => bytes.to_vec(),
            _ => bytes(text)?,
        };
        if found.len() == width as usize {
            builder.append_value(found)?;
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    match Value::parse(text, ColumnType::Binary) {
        Ok(Value::Binary(bytes)) => Ok(bytes),
        Ok(_) => exec_err!("'{text}' is not a BINARY"),
        Err(error) => exec_err!("{}", error.message()),
    }
}
