//! Values that Parquet keeps in bytes of their own kind, which its decoder leaves as they are.
//!
//! - INT96: nanoseconds of a day in eight bytes, and the Julian number of the day in four. Spark,
//!   Impala and SQL Server write timestamps so.
//! - INTERVAL: months, days and milliseconds, four bytes each.
//! - Whole numbers of 128 bits, which only Polars writes.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Decimal256Array, FixedSizeBinaryArray, IntervalMonthDayNanoArray,
    PrimitiveArray, StringArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, IntervalMonthDayNano, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, i256,
};

use crate::text::timestamp;

/// The width of an INT96 and of an INTERVAL.
const RAW_BYTES: i32 = 12;

/// The Julian number of 1970-01-01.
const JULIAN_DAY_OF_EPOCH: i64 = 2_440_588;

const NANOSECONDS: i64 = 1_000_000_000;

const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// Whole numbers of 128 bits, signed or not, have at most so many digits.
pub(crate) const WIDE_DIGITS: u8 = 39;

/// The values that the bytes of a Parquet column mean, exactly or as NULL; none unless the types
/// are those of such bytes and their values.
pub(crate) fn of_bytes(column: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    let bytes =
        column.as_fixed_size_binary_opt().filter(|bytes| bytes.value_length() == RAW_BYTES)?;
    match to {
        DataType::Interval(arrow::datatypes::IntervalUnit::MonthDayNano) => {
            let values: IntervalMonthDayNanoArray =
                bytes.iter().map(|value| value.and_then(interval)).collect();
            Some(Arc::new(values))
        }
        DataType::Timestamp(unit, zone) => {
            macro_rules! moments {
                ($type:ty) => {
                    Arc::new(moments::<$type>(bytes, *unit).with_timezone_opt(zone.clone()))
                };
            }
            Some(match unit {
                TimeUnit::Second => moments!(TimestampSecondType),
                TimeUnit::Millisecond => moments!(TimestampMillisecondType),
                TimeUnit::Microsecond => moments!(TimestampMicrosecondType),
                TimeUnit::Nanosecond => moments!(TimestampNanosecondType),
            })
        }
        _ => None,
    }
}

/// The INT96 of a column as text, whatever they reach to.
pub(crate) fn moment_texts(column: &ArrayRef) -> Option<StringArray> {
    let bytes = column.as_fixed_size_binary_opt()?;
    let text = |value: &[u8]| {
        let moment = nanoseconds(value)?;
        let second = i128::from(NANOSECONDS);
        let mut out = Vec::new();
        let seconds = i64::try_from(moment.div_euclid(second)).ok()?;
        timestamp::write(&mut out, seconds, TimeUnit::Second);
        let mut text = String::from_utf8(out).ok()?;
        let fraction = moment.rem_euclid(second);
        if fraction > 0 {
            text.push_str(format!(".{fraction:09}").trim_end_matches('0'));
        }
        Some(text)
    };
    Some(bytes.iter().map(|value| value.and_then(text)).collect())
}

/// Whether some INT96 of a column has digits below the microsecond. The second type is that which
/// the bytes mean.
pub(crate) fn has_nanoseconds(column: &ArrayRef, declared: &DataType) -> bool {
    match declared {
        DataType::Timestamp(..) => column.as_fixed_size_binary_opt().is_some_and(|bytes| {
            let mut moments = bytes.iter().flatten().filter_map(nanoseconds);
            moments.any(|moment| moment % 1_000 != 0)
        }),
        DataType::List(item) => column
            .as_list_opt::<i32>()
            .is_some_and(|list| has_nanoseconds(list.values(), item.data_type())),
        DataType::LargeList(item) => column
            .as_list_opt::<i64>()
            .is_some_and(|list| has_nanoseconds(list.values(), item.data_type())),
        DataType::Map(entries, _) => column.as_map_opt().is_some_and(|map| {
            let entry: ArrayRef = Arc::new(map.entries().clone());
            has_nanoseconds(&entry, entries.data_type())
        }),
        DataType::Struct(fields) => column.as_struct_opt().is_some_and(|parts| {
            let mut parts = parts.columns().iter().zip(fields);
            parts.any(|(part, field)| has_nanoseconds(part, field.data_type()))
        }),
        _ => false,
    }
}

/// The whole numbers of 128 bits that bytes mean.
pub(crate) fn wide_numbers(column: &ArrayRef, is_signed: bool) -> Option<ArrayRef> {
    let number = |value: &[u8]| {
        let bytes = value.try_into().ok()?;
        Some(match is_signed {
            true => i256::from_i128(i128::from_le_bytes(bytes)),
            false => i256::from_parts(u128::from_le_bytes(bytes), 0),
        })
    };
    let bytes = column.as_fixed_size_binary_opt()?;
    let numbers: Decimal256Array = bytes.iter().map(|value| value.and_then(number)).collect();
    let numbers = numbers.with_precision_and_scale(WIDE_DIGITS, 0).ok()?;
    Some(Arc::new(numbers))
}

fn moments<T: ArrowPrimitiveType<Native = i64>>(
    bytes: &FixedSizeBinaryArray,
    unit: TimeUnit,
) -> PrimitiveArray<T> {
    let tick = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    let ticks = |value: &[u8]| {
        let moment = nanoseconds(value)?;
        // Neither rounded nor wrapped around: what does not fit is not a value.
        (moment % tick == 0).then(|| i64::try_from(moment / tick).ok()).flatten()
    };
    bytes.iter().map(|value| value.and_then(ticks)).collect()
}

/// The nanoseconds between 1970 and an INT96.
fn nanoseconds(value: &[u8]) -> Option<i128> {
    let (of_day, day) = value.split_first_chunk::<8>()?;
    let day = i64::from(i32::from_le_bytes(day.try_into().ok()?)) - JULIAN_DAY_OF_EPOCH;
    Some(i128::from(day) * DAY_NANOSECONDS + i128::from(i64::from_le_bytes(*of_day)))
}

/// An interval, whose parts have no signs in Parquet. Writers put negative ones there all the same.
fn interval(value: &[u8]) -> Option<IntervalMonthDayNano> {
    let part = |at: usize| value.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes);
    let milliseconds = i64::from(part(8)?);
    Some(IntervalMonthDayNano::new(part(0)?, part(4)?, milliseconds * 1_000_000))
}
