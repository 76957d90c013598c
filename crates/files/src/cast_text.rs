//! Casts text in Parquet, Arrow and Avro files to other types, by the rules of CSV.
//!
//! Arrow's own casts of text round decimals, truncate timestamps to the precision of the column,
//! and turn large numbers into infinity.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray,
    FixedSizeBinaryBuilder, PrimitiveArray, StringArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::text::convert::describe;
use crate::text::decimal::{decimal, whole, wide_decimal};
use crate::text::scalar::{self, Reason};
use crate::text::{time_of_day, timestamp};

/// Whether a type is text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The values that texts write, with NULL for those that write none; nothing for types of which
/// Arrow reads the same.
pub(crate) fn parse_text(column: &ArrayRef, to: &DataType) -> Result<Option<ArrayRef>> {
    let texts = cast(column, &DataType::Utf8).map_err(internal)?;
    let texts = texts.as_string::<i32>();
    // `fault` has these types as well: it says why a text that is NULL here writes no value.
    Ok(Some(match to {
        DataType::Int8 => Arc::new(values::<Int8Type>(texts, whole)),
        DataType::Int16 => Arc::new(values::<Int16Type>(texts, whole)),
        DataType::Int32 => Arc::new(values::<Int32Type>(texts, whole)),
        DataType::Int64 => Arc::new(values::<Int64Type>(texts, whole)),
        DataType::UInt8 => Arc::new(values::<UInt8Type>(texts, whole)),
        DataType::UInt16 => Arc::new(values::<UInt16Type>(texts, whole)),
        DataType::UInt32 => Arc::new(values::<UInt32Type>(texts, whole)),
        DataType::UInt64 => Arc::new(values::<UInt64Type>(texts, whole)),
        DataType::Float32 => Arc::new(values::<Float32Type>(texts, scalar::float)),
        DataType::Float64 => Arc::new(values::<Float64Type>(texts, scalar::double)),
        DataType::Boolean => {
            let read = |text: &str| scalar::boolean(text.as_bytes()).ok();
            let values: BooleanArray = texts.iter().map(|text| text.and_then(read)).collect();
            Arc::new(values)
        }
        DataType::Binary => {
            let read = |text: &str| bytes(text.as_bytes()).ok();
            let values: BinaryArray = texts.iter().map(|text| text.and_then(read)).collect();
            Arc::new(values)
        }
        DataType::Date32 => Arc::new(values::<Date32Type>(texts, timestamp::day)),
        DataType::Time64(TimeUnit::Nanosecond) => {
            Arc::new(values::<Time64NanosecondType>(texts, time_of_day::nanoseconds))
        }
        DataType::Decimal128(precision, scale) if *scale >= 0 => {
            let read = |text: &[u8]| decimal(text, *precision, *scale);
            let values = values::<Decimal128Type>(texts, read);
            Arc::new(values.with_precision_and_scale(*precision, *scale).map_err(internal)?)
        }
        DataType::Decimal256(precision, scale) if *scale >= 0 => {
            let read = |text: &[u8]| wide_decimal(text, *precision, *scale);
            let values = values::<Decimal256Type>(texts, read);
            Arc::new(values.with_precision_and_scale(*precision, *scale).map_err(internal)?)
        }
        DataType::Timestamp(unit, zone) => {
            // The ticks count in UTC whatever the zone is: it changes no value.
            let (unit, zone) = (*unit, zone.clone());
            let read = |text: &[u8]| timestamp::ticks(text, unit);
            match unit {
                TimeUnit::Second => {
                    Arc::new(values::<TimestampSecondType>(texts, read).with_timezone_opt(zone))
                }
                TimeUnit::Millisecond => Arc::new(
                    values::<TimestampMillisecondType>(texts, read).with_timezone_opt(zone),
                ),
                TimeUnit::Microsecond => Arc::new(
                    values::<TimestampMicrosecondType>(texts, read).with_timezone_opt(zone),
                ),
                TimeUnit::Nanosecond => {
                    Arc::new(values::<TimestampNanosecondType>(texts, read).with_timezone_opt(zone))
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// Why the text of a row writes no value of a type; nothing for what is not text.
pub(crate) fn fault(column: &ArrayRef, row: usize, to: &DataType) -> Option<String> {
    let is_texts = match column.data_type() {
        DataType::Dictionary(_, values) => is_text(values),
        own => is_text(own),
    };
    // One row is cast: this is asked for rejected rows alone.
    let texts = cast(&column.slice(row, 1), &DataType::Utf8).ok().filter(|_| is_texts)?;
    let text = texts.as_string::<i32>().value(0).as_bytes();
    // Each reader here is the one that reads the whole column, so both find the same fault.
    let reason = match to {
        DataType::Int8 => whole::<i8>(text).err(),
        DataType::Int16 => whole::<i16>(text).err(),
        DataType::Int32 => whole::<i32>(text).err(),
        DataType::Int64 => whole::<i64>(text).err(),
        DataType::UInt8 => whole::<u8>(text).err(),
        DataType::UInt16 => whole::<u16>(text).err(),
        DataType::UInt32 => whole::<u32>(text).err(),
        DataType::UInt64 => whole::<u64>(text).err(),
        DataType::Boolean => scalar::boolean(text).err(),
        DataType::Float32 => scalar::float(text).err(),
        DataType::Float64 => scalar::double(text).err(),
        DataType::Date32 => timestamp::day(text).err(),
        DataType::Time64(TimeUnit::Nanosecond) => time_of_day::nanoseconds(text).err(),
        DataType::Timestamp(unit, _) => timestamp::ticks(text, *unit).err(),
        DataType::Decimal128(precision, scale) => decimal(text, *precision, *scale).err(),
        DataType::Decimal256(precision, scale) => wide_decimal(text, *precision, *scale).err(),
        DataType::Binary => bytes(text).err(),
        DataType::FixedSizeBinary(16) => scalar::uuid(text).err(),
        _ => None,
    };
    reason.map(|reason| describe(text, reason))
}

/// The UUIDs that texts write.
pub(crate) fn uuids(column: &ArrayRef) -> Result<ArrayRef> {
    let texts = cast(column, &DataType::Utf8).map_err(internal)?;
    let texts = texts.as_string::<i32>();
    let mut uuids = FixedSizeBinaryBuilder::with_capacity(texts.len(), 16);
    for text in texts {
        match text.and_then(|text| scalar::uuid(text.as_bytes()).ok()) {
            Some(uuid) => uuids.append_value(uuid).map_err(internal)?,
            None => uuids.append_null(),
        }
    }
    Ok(Arc::new(uuids.finish()))
}

/// The bytes that a text writes.
fn bytes(text: &[u8]) -> std::result::Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    scalar::bytes(text, &mut bytes).map(|()| bytes)
}

fn values<T: ArrowPrimitiveType>(
    texts: &StringArray,
    read: impl Fn(&[u8]) -> std::result::Result<T::Native, Reason>,
) -> PrimitiveArray<T> {
    texts.iter().map(|text| text.and_then(|text| read(text.as_bytes()).ok())).collect()
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("texts could not be read: {error}")).with_source(error)
}
