//! Casts values from one type to another, and finds the values that lose something.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::{
    DataType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::cast_text;
use crate::raw_values;

/// Casts, with NULL for what cannot be cast.
pub(crate) fn cast_values(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if cast_text::is_text(column.data_type())
        && !cast_text::is_text(data_type)
        && let Some(values) = cast_text::parse_text(column, data_type)?
    {
        return Ok(values);
    }
    if let Some(values) = raw_values::of_bytes(column, data_type) {
        return Ok(values);
    }
    let options = CastOptions { safe: true, ..CastOptions::default() };
    match (column.data_type(), data_type) {
        // Digits are read as the nearest number: Arrow's cast divides, and may miss it.
        (from, DataType::Float32 | DataType::Float64) if from.is_decimal() => {
            let texts = cast_with_options(column, &DataType::Utf8, &options).map_err(internal)?;
            cast_values(&texts, data_type)
        }
        // Arrow's cast between a zone and none would turn instants into what clocks show there.
        (DataType::Timestamp(..), DataType::Timestamp(unit, zone)) => {
            let cast = cast_with_options(
                &in_zone(column, None),
                &DataType::Timestamp(*unit, None),
                &options,
            );
            Ok(in_zone(&cast.map_err(internal)?, zone.clone()))
        }
        _ => cast_with_options(column, data_type, &options).map_err(internal),
    }
}

/// The same instants in a zone, or in none.
fn in_zone(column: &ArrayRef, zone: Option<Arc<str>>) -> ArrayRef {
    let DataType::Timestamp(unit, _) = column.data_type() else { return Arc::clone(column) };
    macro_rules! in_zone {
        ($type:ty) => {
            Arc::new(column.as_primitive::<$type>().clone().with_timezone_opt(zone))
        };
    }
    match unit {
        TimeUnit::Second => in_zone!(TimestampSecondType),
        TimeUnit::Millisecond => in_zone!(TimestampMillisecondType),
        TimeUnit::Microsecond => in_zone!(TimestampMicrosecondType),
        TimeUnit::Nanosecond => in_zone!(TimestampNanosecondType),
    }
}

/// For each value whether it was cast without loss.
pub(crate) fn same_values(before: &ArrayRef, after: &ArrayRef) -> Result<BooleanBuffer> {
    if before.data_type() == &DataType::Null {
        return Ok(BooleanBuffer::new_set(before.len()));
    }
    if is_copy(before.data_type(), after.data_type()) {
        return Ok(BooleanBuffer::new_set(before.len()));
    }
    // A column of such numbers takes the nearest one of any other.
    let may_round = before.data_type().is_numeric() && after.data_type().is_floating();
    let from_text = cast_text::is_text(before.data_type());
    // Bytes that are text become that text, and text is read as base64.
    let is_text_of_bytes = before.data_type().is_binary() && cast_text::is_text(after.data_type());
    let has_no_way_back = may_round || from_text || is_text_of_bytes;
    if has_no_way_back || !can_cast_types(after.data_type(), before.data_type()) {
        let kept =
            |row| before.is_null(row) || after.is_valid(row) && !has_left_range(before, after, row);
        return Ok((0..before.len()).map(kept).collect());
    }
    let back = cast_values(after, before.data_type())?;
    Ok(not_distinct(before, &back).map_err(internal)?.values().clone())
}

/// True for a cast that copies each text, or each string of bytes, as it is.
fn is_copy(before: &DataType, after: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary};
    let is_bytes = |data_type: &DataType| matches!(data_type, Binary | LargeBinary | BinaryView);
    let is_text = cast_text::is_text;
    is_text(before) && is_text(after) || is_bytes(before) && is_bytes(after)
}

/// Whether a float takes a double for infinite, or for 0, that is neither.
fn has_left_range(before: &ArrayRef, after: &ArrayRef, row: usize) -> bool {
    use arrow::datatypes::{Float32Type, Float64Type};
    let (Some(before), Some(after)) =
        (before.as_primitive_opt::<Float64Type>(), after.as_primitive_opt::<Float32Type>())
    else {
        return false;
    };
    let (before, after) = (before.value(row), after.value(row));
    after.is_infinite() && before.is_finite() || after == 0.0 && before != 0.0
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("values could not be cast: {error}")).with_source(error)
}
