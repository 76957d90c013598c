//! Renders values as text, for CSV, for JSON lines, and for the original of a rejected row.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_json::EncoderOptions;
use arrow_json::writer::make_encoder;
use tonnage_engine::{Error, Result};

use crate::spans::spans_as_intervals;
use crate::text::json_check::is_json;
use crate::text::{scalar, timestamp};
use crate::type_name::{is_binary_field, is_json_field, type_name};

/// How the text of a value is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueStyle {
    /// A number or a truth value: never in need of quotes.
    Bare,
    /// Text.
    Text,
    /// JSON.
    Json,
}

/// A column prepared to be written value by value.
pub(crate) struct RenderedColumn {
    name: String,
    array: ArrayRef,
    style: ValueStyle,
    /// Whether JSON has its long numbers as text.
    quotes_long: bool,
}

impl RenderedColumn {
    /// Makes a column ready. One of nested values is encoded as Arrow does it: `nested.rs` does
    /// better.
    pub(crate) fn new(field: &Field, array: &ArrayRef) -> Result<RenderedColumn> {
        let (array, style) = match field.data_type() {
            // Guards go before the types that they narrow. A type that `write` has no arm for is
            // cast to one here.
            _ if is_json_field(field) => (Arc::clone(array), ValueStyle::Json),
            DataType::Utf8 | DataType::Timestamp(..) | DataType::Date32 | DataType::Binary => {
                // Not cast: Arrow's text of a time names its zone, `write` gives UTC without one.
                (Arc::clone(array), ValueStyle::Text)
            }
            DataType::FixedSizeBinary(16) if !is_binary_field(field) => {
                (Arc::clone(array), ValueStyle::Text)
            }
            number
                if number.is_integer()
                    || matches!(
                        number,
                        DataType::Float32 | DataType::Float64 | DataType::Boolean
                    ) =>
            {
                (Arc::clone(array), ValueStyle::Bare)
            }
            DataType::Decimal128(..) | DataType::Decimal256(..) => {
                (cast_to(array, &DataType::Utf8, field)?, ValueStyle::Bare)
            }
            DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                (cast_to(array, &DataType::Binary, field)?, ValueStyle::Text)
            }
            // Arrow's text of a time has noughts at the end of its fraction.
            DataType::Time32(_) | DataType::Time64(_) => {
                (cast_to(array, &DataType::Time64(TimeUnit::Nanosecond), field)?, ValueStyle::Text)
            }
            DataType::Duration(_) => {
                let intervals =
                    spans_as_intervals(array).map_err(|error| cannot_write(field, error))?;
                (cast_to(&intervals, &DataType::Utf8, field)?, ValueStyle::Text)
            }
            nested if nested.is_nested() => return encoded_as_json(field, array),
            _ => (cast_to(array, &DataType::Utf8, field)?, ValueStyle::Text),
        };
        Ok(RenderedColumn { name: field.name().clone(), array, style, quotes_long: false })
    }

    /// A prepared column of JSON text.
    pub(crate) fn of_json(name: &str, texts: StringArray) -> RenderedColumn {
        let style = ValueStyle::Json;
        RenderedColumn { name: name.to_owned(), array: Arc::new(texts), style, quotes_long: false }
    }

    /// The same column, whose decimals of more than 15 digits are text in JSON. LONG stays a
    /// number.
    pub(crate) fn with_long_numbers_as_text(self) -> RenderedColumn {
        // Decimals are text here already; a whole number without a sign may be longer than a LONG.
        let is_decimal = self.style == ValueStyle::Bare
            && matches!(self.array.data_type(), DataType::Utf8 | DataType::UInt64);
        RenderedColumn { quotes_long: is_decimal, ..self }
    }

    pub(crate) fn style(&self) -> ValueStyle {
        self.style
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// Appends the text of a value that is not NULL.
    pub(crate) fn write(&self, row: usize, out: &mut Vec<u8>) {
        let array = self.array.as_ref();
        macro_rules! number {
            ($type:ty) => {
                // Writing to memory cannot fail.
                drop(write!(out, "{}", array.as_primitive::<$type>().value(row)))
            };
        }
        // The debug form of a float is the shortest text that reads back as the same number, with
        // an exponent where that is short.
        macro_rules! float {
            ($type:ty) => {
                drop(write!(out, "{:?}", array.as_primitive::<$type>().value(row)))
            };
        }
        macro_rules! time {
            ($type:ty, $unit:expr) => {
                timestamp::write(out, array.as_primitive::<$type>().value(row), $unit)
            };
        }
        match array.data_type() {
            DataType::Int8 => number!(Int8Type),
            DataType::Int16 => number!(Int16Type),
            DataType::Int32 => number!(Int32Type),
            DataType::Int64 => number!(Int64Type),
            DataType::UInt8 => number!(UInt8Type),
            DataType::UInt16 => number!(UInt16Type),
            DataType::UInt32 => number!(UInt32Type),
            DataType::UInt64 => number!(UInt64Type),
            DataType::Float32 => float!(Float32Type),
            DataType::Float64 => float!(Float64Type),
            DataType::Boolean => out.extend_from_slice(if array.as_boolean().value(row) {
                b"true"
            } else {
                b"false"
            }),
            DataType::Timestamp(unit @ TimeUnit::Second, _) => time!(TimestampSecondType, *unit),
            DataType::Timestamp(unit @ TimeUnit::Millisecond, _) => {
                time!(TimestampMillisecondType, *unit)
            }
            DataType::Timestamp(unit @ TimeUnit::Microsecond, _) => {
                time!(TimestampMicrosecondType, *unit)
            }
            DataType::Timestamp(unit @ TimeUnit::Nanosecond, _) => {
                time!(TimestampNanosecondType, *unit)
            }
            DataType::Date32 => {
                timestamp::write_date(out, array.as_primitive::<Date32Type>().value(row).into())
            }
            DataType::Time64(_) => {
                timestamp::write_time(out, array.as_primitive::<Time64NanosecondType>().value(row))
            }
            DataType::Binary => scalar::write_bytes(out, array.as_binary::<i32>().value(row)),
            DataType::FixedSizeBinary(_) => {
                scalar::write_uuid(out, array.as_fixed_size_binary().value(row))
            }
            _ => out.extend_from_slice(array.as_string::<i32>().value(row).as_bytes()),
        }
    }

    /// Appends a value as JSON, NULL as `null`. Numbers that JSON does not know (`NaN`, `inf`)
    /// become strings.
    pub(crate) fn write_json(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return out.extend_from_slice(b"null");
        }
        let start = out.len();
        match self.style {
            ValueStyle::Bare => {
                self.write(row, out);
                // `NaN` ends in N and `inf` in f: no number and no truth value does.
                if matches!(out[start..].last(), Some(b'N' | b'f')) {
                    out.insert(start, b'"');
                    out.push(b'"');
                } else if self.quotes_long {
                    quote_long(out, start);
                }
            }
            ValueStyle::Json => {
                self.write(row, out);
                make_one_line_of_json(out, start);
            }
            ValueStyle::Text if matches!(self.array.data_type(), DataType::Utf8) => {
                write_json_string(self.array.as_string::<i32>().value(row), out);
            }
            // Points in time, UUIDs and base64 have nothing in them that JSON escapes.
            ValueStyle::Text => {
                out.push(b'"');
                self.write(row, out);
                out.push(b'"');
            }
        }
    }
}

/// The most digits that everybody who reads JSON keeps.
const DIGITS_KEPT: usize = 15;

/// Puts a decimal with more digits in quotes. Zeros before all others are none of them.
pub(crate) fn quote_long(out: &mut Vec<u8>, start: usize) {
    let digits = out[start..].iter().filter(|byte| byte.is_ascii_digit());
    if digits.skip_while(|digit| **digit == b'0').count() > DIGITS_KEPT {
        out.insert(start, b'"');
        out.push(b'"');
    }
}

/// Appends one row as a JSON object, every column with its name.
pub(crate) fn write_json_row(columns: &[RenderedColumn], row: usize, out: &mut Vec<u8>) {
    out.push(b'{');
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_json_string(&column.name, out);
        out.push(b':');
        column.write_json(row, out);
    }
    out.push(b'}');
}

/// A column of structs, lists or maps as a text column of JSON.
fn encoded_as_json(field: &Field, array: &ArrayRef) -> Result<RenderedColumn> {
    let encoded = Arc::new(field.clone());
    let options = EncoderOptions::default();
    let mut encoder = make_encoder(&encoded, array.as_ref(), &options)
        .map_err(|error| cannot_write(field, error))?;
    let mut texts = StringBuilder::new();
    let mut text = Vec::new();
    for row in 0..array.len() {
        if encoder.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        encoder.encode(row, &mut text);
        texts.append_value(String::from_utf8_lossy(&text));
    }
    Ok(RenderedColumn::of_json(field.name(), texts.finish()))
}

pub(crate) fn cast_to(array: &ArrayRef, data_type: &DataType, field: &Field) -> Result<ArrayRef> {
    cast(array, data_type).map_err(|error| cannot_write(field, error))
}

/// What Arrow says of it is about its own types.
fn cannot_write(field: &Field, _: arrow::error::ArrowError) -> Error {
    Error::unsupported(format!(
        "the column {} of type {} cannot be written as text",
        field.name(),
        type_name(field)
    ))
}

pub(crate) fn write_json_string(text: &str, out: &mut Vec<u8>) {
    // A text can always be written as JSON, and writing to memory cannot fail.
    drop(serde_json::to_writer(out, text));
}

/// Ensures that the text after `start` is JSON on one line. Line ends in JSON text are only ever
/// space between its tokens; text that is not JSON at all becomes a string.
fn make_one_line_of_json(out: &mut Vec<u8>, start: usize) {
    if !is_json(&out[start..]) {
        let text = String::from_utf8_lossy(&out[start..]).into_owned();
        out.truncate(start);
        return write_json_string(&text, out);
    }
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
