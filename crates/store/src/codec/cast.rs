//! Casts columns of other types to the types of a table.
//!
//! A cast does to one cell what [`Value::convert_to`] does to one value. Casts that real files need
//! by the million have loops of their own. All others go value by value.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array,
    Decimal256Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    PrimitiveArray, StringArray, Time64NanosecondArray, new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Field, FieldRef, Int32Type, Int64Type,
    Time64NanosecondType, TimeUnit, TimestampSecondType,
};
use tonnage_engine::{Error, Result};

use super::{cell, nested_array};
use crate::schema::timestamp_unit;
use crate::schema::{ColumnType, EnumSymbols};
use crate::value::Value;
use crate::value::{self, Reason};

/// An array of the column's own type, and the rows whose cells could not be cast; these are NULL in
/// the array.
pub(super) type CastResult = (ArrayRef, Vec<(usize, Reason)>);

/// Casts a column.
///
/// # Errors
/// `Invalid` when the types have nothing to do with each other.
pub(super) fn cast_column(
    array: &ArrayRef,
    field: &Field,
    column_type: ColumnType,
) -> Result<CastResult> {
    // The same Arrow type is not enough: Arrow checks no JSON, no digits, no symbols and no times.
    if array.data_type() == &column_type.data_type() {
        return Ok(match column_type {
            ColumnType::Json => check_json_cells(array),
            ColumnType::Number { precision, .. } if column_type.is_wide() => {
                check_wide_digits(array, precision)
            }
            ColumnType::Number { precision, .. } => check_digits(array, precision),
            ColumnType::Enum(symbols) => check_symbols(array, symbols),
            ColumnType::Time => check_times(array),
            nested if nested.is_nested() => return check_nested(array, field, nested),
            _ => (array.clone(), Vec::new()),
        });
    }
    let from = match array.data_type() {
        DataType::Null => {
            return Ok((new_null_array(&column_type.data_type(), array.len()), Vec::new()));
        }
        DataType::LargeUtf8 | DataType::Utf8View => {
            return recast(array, field, &DataType::Utf8, column_type);
        }
        DataType::LargeBinary | DataType::BinaryView => {
            return recast(array, field, &DataType::Binary, column_type);
        }
        DataType::FixedSizeBinary(_) if column_type == ColumnType::Binary => {
            return recast(array, field, &DataType::Binary, column_type);
        }
        DataType::Dictionary(_, values) => {
            return recast(array, field, values.as_ref(), column_type);
        }
        DataType::RunEndEncoded(_, values) => {
            return recast(array, field, values.data_type(), column_type);
        }
        _ if column_type.is_nested() && ColumnType::of_arrow(field) == Some(column_type) => {
            // The names and widths of parts differ, or how places are counted.
            return match cast(array, &column_type.data_type()) {
                Ok(array) => check_nested(&array, field, column_type),
                Err(_) => cast_values(array, field, column_type),
            };
        }
        // Truth values of other writers, in whole numbers.
        DataType::Int8
            if column_type == ColumnType::Boolean
                && ColumnType::of_arrow(field) == Some(ColumnType::Boolean) =>
        {
            return plain_cast(array, &DataType::Boolean).map(|array| (array, Vec::new()));
        }
        _ => ColumnType::of_arrow(field)
            .filter(|from| is_castable(*from, column_type))
            .ok_or_else(|| uncastable(field, column_type))?,
    };
    let is_text = matches!(from, ColumnType::String | ColumnType::Enum(_));
    if is_text || from == ColumnType::Json && column_type.is_nested() {
        return Ok(cast_text(array, column_type));
    }
    // Arrow casts only where every value fits: one that does not would become NULL without a
    // reason.
    match (array.data_type(), column_type) {
        (DataType::Timestamp(..) | DataType::Date64, ColumnType::Date) => cast_days(array, field),
        (
            DataType::Timestamp(..) | DataType::Date32 | DataType::Date64,
            ColumnType::Timestamp(precision),
        ) => cast_moments(array, precision),
        (
            DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16,
            ColumnType::Integer,
        )
        | (
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32,
            ColumnType::Long,
        )
        | (
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32,
            ColumnType::Double,
        )
        | (DataType::Float16 | DataType::Float32, ColumnType::Double) => {
            plain_cast(array, &column_type.data_type()).map(|array| (array, Vec::new()))
        }
        (DataType::Int64, ColumnType::Integer) => Ok(narrow_longs(array)),
        _ => cast_values(array, field, column_type),
    }
}

/// The rows whose cells were rounded when they were cast for a key column.
pub(super) fn rounded_cells(
    array: &ArrayRef,
    field: &Field,
    cast: &ArrayRef,
    column_type: ColumnType,
) -> Vec<usize> {
    if !may_round(array.data_type(), column_type) {
        return Vec::new();
    }
    // Cast at once to what a value is read from: else each cell would be cast by itself.
    let own_type = ColumnType::of_arrow(field).map(|own| own.data_type());
    let recast = own_type.filter(|own| own != array.data_type()).map(|own| plain_cast(array, &own));
    let recast = recast.and_then(Result::ok);
    let own_field =
        recast.as_ref().map(|own| field.clone().with_data_type(own.data_type().clone()));
    let (array, field) = (recast.as_ref().unwrap_or(array), own_field.as_ref().unwrap_or(field));
    // Text without a fraction, or without a time of day, loses none, and most has none.
    let text = array.as_string_opt::<i32>();
    let has_more = |text: &str| match column_type {
        ColumnType::Date => text.len() > "2022-01-03".len(),
        // Such a column rounds whole numbers.
        ColumnType::Number { scale: ..0, .. } => true,
        _ => text.contains(['.', ',', 'e', 'E']),
    };
    let may_be = |row: &usize| text.is_none_or(|text| has_more(text.value(*row)));
    let is_rounded = |row: &usize| {
        let held = || Value::of_cell(cast.as_ref(), column_type, *row);
        let given = Value::from_array(array.as_ref(), field, *row);
        cast.is_valid(*row) && given.is_ok_and(|given| !given.is_kept_as(&held()))
    };
    (0..array.len()).filter(may_be).filter(is_rounded).collect()
}

/// Whether a column of this type may hold other values than those it is given.
fn may_round(from: &DataType, column_type: ColumnType) -> bool {
    match (from, column_type) {
        (DataType::Timestamp(unit, _), ColumnType::Timestamp(precision)) => {
            *unit > timestamp_unit(precision)
        }
        (from, ColumnType::Date) => !matches!(from, DataType::Null | DataType::Date32),
        (_, ColumnType::Timestamp(_) | ColumnType::Number { .. } | ColumnType::Float)
            if from == &column_type.data_type()
                || matches!(from, DataType::Null | DataType::Date32) =>
        {
            false
        }
        // Whole numbers have no digits after the point.
        (from, ColumnType::Number { scale: 0.., .. }) if from.is_integer() => false,
        (_, ColumnType::Timestamp(_) | ColumnType::Number { .. } | ColumnType::Float) => true,
        (
            DataType::Int64
            | DataType::UInt64
            | DataType::Decimal128(..)
            | DataType::Decimal256(..),
            ColumnType::Double,
        ) => true,
        _ => false,
    }
}

/// Casts to a type that holds the same values, then on to the column's type.
fn recast(
    array: &ArrayRef,
    field: &Field,
    data_type: &DataType,
    column_type: ColumnType,
) -> Result<CastResult> {
    let array = plain_cast(array, data_type)?;
    let field =
        Field::new(field.name(), data_type.clone(), true).with_metadata(field.metadata().clone());
    cast_column(&array, &field, column_type)
}

fn plain_cast(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    cast(array, data_type).map_err(|error| {
        let (from, to) = (told(array.data_type()), told(data_type));
        Error::invalid(format!("cannot turn {from} into {to}: {error}")).with_source(error)
    })
}

/// Whether values of one type can be values of another at all.
fn is_castable(from: ColumnType, to: ColumnType) -> bool {
    use ColumnType::{
        Binary, Boolean, Date, Double, FixedBinary, Float, Integer, Json, Long, Number, String,
        Timestamp, Uuid,
    };
    match (from, to) {
        (String | ColumnType::Enum(_), _) => true,
        (_, String) => !matches!(from, Binary | FixedBinary(_)),
        (
            Integer | Long | Float | Double | Number { .. },
            Integer | Long | Float | Double | Number { .. },
        ) => true,
        (Timestamp(_) | Date, Timestamp(_) | Date)
        | (Uuid | Binary | FixedBinary(_), Uuid | Binary | FixedBinary(_))
        | (Boolean | Integer | Long, Json) => true,
        (Json, to) if to.is_nested() => true,
        (from, Json) if from.is_nested() => true,
        (ColumnType::Array(_), ColumnType::Array(_)) => true,
        (
            ColumnType::Map(_) | ColumnType::Record(_),
            ColumnType::Map(_) | ColumnType::Record(_),
        ) => true,
        _ => from == to,
    }
}

/// A type of Arrow as SQL calls it.
fn told(data_type: &DataType) -> String {
    let own = ColumnType::of_arrow(&Field::new("", data_type.clone(), true));
    own.map_or_else(|| data_type.to_string(), |own| own.to_string())
}

#[cold]
fn uncastable(field: &Field, column_type: ColumnType) -> Error {
    let own = ColumnType::of_arrow(field);
    let own = own.map_or_else(|| told(field.data_type()), |own| own.to_string());
    Error::invalid(format!("values of type {own} cannot go into a column of type {column_type}"))
}

/// Gathers cells and the reasons of those that fail.
fn gather<T>(
    rows: impl Iterator<Item = Option<std::result::Result<T, Reason>>>,
) -> (Vec<Option<T>>, Vec<(usize, Reason)>) {
    let mut failures = Vec::new();
    let keep = |(row, cell): (usize, Option<std::result::Result<T, Reason>>)| match cell {
        Some(Ok(value)) => Some(value),
        Some(Err(reason)) => {
            failures.push((row, reason));
            None
        }
        None => None,
    };
    let cells = rows.enumerate().map(keep).collect();
    (cells, failures)
}

fn cast_text(array: &ArrayRef, column_type: ColumnType) -> CastResult {
    let text = array.as_string::<i32>();
    macro_rules! parse {
        ($array:ty, $read:expr) => {{
            let (cells, failures) = gather(text.iter().map(|cell| cell.map($read)));
            (Arc::new(<$array>::from_iter(cells)) as ArrayRef, failures)
        }};
    }
    // The same readers as in `Value::read`, so that a cell and a single value read alike. Types
    // that hold text as it is return the array itself, without a copy.
    match column_type {
        ColumnType::Integer => parse!(Int32Array, value::parse_integer),
        ColumnType::Long => parse!(Int64Array, value::parse_long),
        ColumnType::Float => parse!(Float32Array, value::parse_float),
        ColumnType::Double => parse!(Float64Array, value::parse_double),
        ColumnType::Boolean => parse!(BooleanArray, value::parse_boolean),
        ColumnType::Binary => parse!(BinaryArray, value::parse_binary),
        ColumnType::Number { precision, scale } if column_type.is_wide() => {
            let read = |cell| value::parse_wide_number(cell, precision, scale);
            let (cells, failures) = gather(text.iter().map(|cell| cell.map(read)));
            (
                Arc::new(Decimal256Array::from_iter(cells).with_data_type(column_type.data_type())),
                failures,
            )
        }
        ColumnType::Number { precision, scale } => {
            let (cells, failures) = gather(
                text.iter()
                    .map(|cell| cell.map(|cell| value::parse_number(cell, precision, scale))),
            );
            (
                Arc::new(Decimal128Array::from_iter(cells).with_data_type(column_type.data_type())),
                failures,
            )
        }
        ColumnType::Timestamp(precision) => {
            let (cells, failures) = gather(
                text.iter().map(|cell| cell.map(|cell| value::parse_timestamp(cell, precision))),
            );
            (value::timestamps(Int64Array::from_iter(cells), precision), failures)
        }
        ColumnType::Uuid => {
            let (cells, failures) = gather(text.iter().map(|cell| cell.map(value::parse_uuid)));
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells.into_iter(), 16);
            (Arc::new(array.expect("every UUID has 16 bytes")), failures)
        }
        ColumnType::Json => check_json_cells(array),
        ColumnType::String => (array.clone(), Vec::new()),
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            // Nested text has no reader for columns: each cell becomes a value, and these an array.
            let read = |cell| Value::read(cell, column_type);
            let (cells, failures) = gather(text.iter().map(|cell| cell.map(read)));
            let cells: Vec<Value> =
                cells.into_iter().map(|cell| cell.unwrap_or(Value::Null)).collect();
            (value::array_of(&cells, column_type), failures)
        }
        ColumnType::Date => parse!(Date32Array, value::parse_date),
        ColumnType::Time => parse!(Time64NanosecondArray, value::parse_time),
        ColumnType::FixedBinary(width) => {
            let read = |cell: &str| value::of_width(value::parse_binary(cell)?, width);
            let (cells, failures) = gather(text.iter().map(|cell| cell.map(read)));
            let cells = cells.into_iter();
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells, width.into());
            (Arc::new(array.expect("every cell has the column's width")), failures)
        }
        ColumnType::Enum(symbols) => check_symbols(array, symbols),
    }
}

/// Text that must be one of some symbols: the array itself when all of it is.
fn check_symbols(array: &ArrayRef, symbols: EnumSymbols) -> CastResult {
    let text = array.as_string::<i32>();
    if text.iter().flatten().all(|cell| symbols.place(cell).is_some()) {
        return (array.clone(), Vec::new());
    }
    let check = |cell| value::parse_symbol(cell, symbols);
    let (cells, failures) = gather(text.iter().map(|cell| cell.map(check)));
    (Arc::new(StringArray::from_iter(cells)), failures)
}

/// Times that are in no day: Arrow does not look.
fn check_times(array: &ArrayRef) -> CastResult {
    let times = array.as_primitive::<Time64NanosecondType>();
    if times.iter().flatten().all(cell::is_time) {
        return (array.clone(), Vec::new());
    }
    let check = |nanoseconds| match cell::is_time(nanoseconds) {
        true => Ok(nanoseconds),
        false => Err(format!("{nanoseconds} nanoseconds after midnight are not a time of a day")),
    };
    let (cells, failures) = gather(times.iter().map(|cell| cell.map(check)));
    (Arc::new(Time64NanosecondArray::from_iter(cells)), failures)
}

/// Nested values of the column's own type, whose parts must be looked at, too: the array itself
/// when all of them are.
fn check_nested(array: &ArrayRef, field: &Field, column_type: ColumnType) -> Result<CastResult> {
    let is_own = |(part, field, part_type): (ArrayRef, FieldRef, ColumnType)| -> Result<bool> {
        Ok(cast_column(&part, &field, part_type)?.1.is_empty())
    };
    let mut parts = nested_array::parts_of(array, column_type).into_iter();
    if parts.try_fold(true, |all, part| Ok::<_, Error>(all && is_own(part)?))? {
        return Ok((array.clone(), Vec::new()));
    }
    cast_values(array, &column_type.to_arrow(field.name(), true), column_type)
}

/// The days of timestamps.
fn cast_days(array: &ArrayRef, field: &Field) -> Result<CastResult> {
    let (seconds, failures) = cast_moments(array, 0)?;
    let day = |seconds: i64| i32::try_from(seconds.div_euclid(SECONDS_PER_DAY)).map_err(|_| ());
    let days: std::result::Result<Date32Array, ()> =
        seconds.as_primitive::<TimestampSecondType>().try_unary(day);
    match days {
        Ok(days) if failures.is_empty() => Ok((Arc::new(days), Vec::new())),
        _ => cast_values(array, field, ColumnType::Date),
    }
}

const SECONDS_PER_DAY: i64 = 86_400;

/// Text that must be JSON: the array itself when all of it is.
fn check_json_cells(array: &ArrayRef) -> CastResult {
    let text = array.as_string::<i32>();
    let bad = |(row, cell): (usize, Option<&str>)| {
        cell.and_then(|cell| value::check_json(cell).err()).map(|reason| (row, reason))
    };
    let failures: Vec<_> = text.iter().enumerate().filter_map(bad).collect();
    if failures.is_empty() {
        return (array.clone(), failures);
    }
    let mut next = failures.iter().map(|(row, _)| *row).peekable();
    let kept = text
        .iter()
        .enumerate()
        .map(|(row, cell)| if next.next_if_eq(&row).is_some() { None } else { cell });
    (Arc::new(kept.collect::<StringArray>()), failures)
}

/// Numbers with more digits than their type has: Arrow does not look.
fn check_digits(array: &ArrayRef, precision: u8) -> CastResult {
    let numbers = array.as_primitive::<Decimal128Type>();
    let is_too_long = |unscaled: i128| unscaled.unsigned_abs() >= 10_u128.pow(u32::from(precision));
    if !numbers.values().iter().any(|unscaled| is_too_long(*unscaled)) {
        return (array.clone(), Vec::new());
    }
    let check = |unscaled: i128| match is_too_long(unscaled) {
        true => Err(too_long(array, precision)),
        false => Ok(unscaled),
    };
    let (cells, failures) = gather(numbers.iter().map(|cell| cell.map(check)));
    (
        Arc::new(Decimal128Array::from_iter(cells).with_data_type(array.data_type().clone())),
        failures,
    )
}

fn check_wide_digits(array: &ArrayRef, precision: u8) -> CastResult {
    let numbers = array.as_primitive::<Decimal256Type>();
    if numbers.values().iter().all(|unscaled| value::fits_wide(*unscaled, precision)) {
        return (array.clone(), Vec::new());
    }
    let check = |unscaled| match value::fits_wide(unscaled, precision) {
        true => Ok(unscaled),
        false => Err(too_long(array, precision)),
    };
    let (cells, failures) = gather(numbers.iter().map(|cell| cell.map(check)));
    (
        Arc::new(Decimal256Array::from_iter(cells).with_data_type(array.data_type().clone())),
        failures,
    )
}

#[cold]
fn too_long(array: &ArrayRef, precision: u8) -> Reason {
    format!("a number of more than {precision} digits does not fit {}", told(array.data_type()))
}

fn narrow_longs(array: &ArrayRef) -> CastResult {
    let narrow = |value: i64| {
        i32::try_from(value)
            .map_err(|_| Value::Long(value).convert(ColumnType::Integer).err().unwrap_or_default())
    };
    let longs = array.as_primitive::<Int64Type>();
    if let Some(whole) = narrow_all(longs) {
        return (whole, Vec::new());
    }
    let (cells, failures) = gather(longs.iter().map(|cell| cell.map(narrow)));
    (Arc::new(Int32Array::from_iter(cells)), failures)
}

/// All of them, when all fit.
fn narrow_all(longs: &PrimitiveArray<Int64Type>) -> Option<ArrayRef> {
    let narrowed: PrimitiveArray<Int32Type> =
        longs.try_unary(|value| i32::try_from(value).map_err(|_| ())).ok()?;
    Some(Arc::new(narrowed))
}

fn cast_moments(array: &ArrayRef, precision: u8) -> Result<CastResult> {
    let (counted, unit) = match array.data_type() {
        DataType::Date32 => (plain_cast(array, &DataType::Timestamp(TimeUnit::Second, None))?, 0),
        DataType::Timestamp(TimeUnit::Second, _) => (array.clone(), 0),
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => (array.clone(), 3),
        DataType::Timestamp(TimeUnit::Microsecond, _) => (array.clone(), 6),
        _ => (array.clone(), 9),
    };
    // The count itself is in UTC whatever the time zone that it is shown in.
    let counts = Int64Array::from(
        counted
            .to_data()
            .into_builder()
            .data_type(DataType::Int64)
            .build()
            .map_err(|error| Error::invalid(error.to_string()))?,
    );
    if value::timestamp_units(unit) == value::timestamp_units(precision) {
        return Ok((value::timestamps(counts, precision), Vec::new()));
    }
    let is_days = array.data_type() == &DataType::Date32;
    let too_far = |count: i64| {
        let moment = Value::Timestamp { value: count, precision: unit };
        // The error shows what was given: days that were counted in seconds are days.
        let given = match moment.convert(ColumnType::Date) {
            Ok(day) if is_days => day,
            _ => moment,
        };
        format!("{given} is too far from 1970 for TIMESTAMP({precision})")
    };
    let rescale =
        |count: i64| value::rescale_timestamp(count, unit, precision).ok_or_else(|| too_far(count));
    let (cells, failures) = gather(counts.iter().map(|cell| cell.map(rescale)));
    Ok((value::timestamps(Int64Array::from_iter(cells), precision), failures))
}

/// Value by value, for all other types.
fn cast_values(array: &ArrayRef, field: &Field, column_type: ColumnType) -> Result<CastResult> {
    let cell = |row: usize| -> std::result::Result<Value, Reason> {
        let value = Value::from_array(array.as_ref(), field, row)
            .map_err(|error| error.message().to_owned())?;
        value.convert(column_type)
    };
    let (cells, failures) = gather((0..array.len()).map(|row| Some(cell(row))));
    let cells: Vec<Value> = cells.into_iter().map(|cell| cell.unwrap_or(Value::Null)).collect();
    Ok((value::array_of(&cells, column_type), failures))
}
