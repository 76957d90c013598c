//! How long intervals are: a month is as long as 30 days, and a day as 24 hours, as in other
//! databases.

mod fractions;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Int64Type, IntervalDayTime, IntervalDayTimeType, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType, TimeUnit,
};
use datafusion::common::{Result, exec_err};

pub(crate) use fractions::in_whole_units;

/// The type of a length: nanoseconds.
pub(crate) const LENGTH: DataType = DataType::Decimal128(38, 0);
/// The type of intervals that are computed.
pub(crate) const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);
/// A day in nanoseconds.
pub(crate) const DAY: i128 = 86_400_000_000_000;
const MONTH: i128 = 30 * DAY;

pub(crate) fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_))
}

/// Whether intervals are among the parts of a row, a list or a map.
pub(crate) fn holds_intervals(data_type: &DataType) -> bool {
    let is_part = |part: &DataType| is_interval(part) || holds_intervals(part);
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => is_part(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| is_part(field.data_type())),
        _ => false,
    }
}

/// The nanoseconds of intervals, or of times between timestamps.
///
/// # Errors
/// For other types.
pub(crate) fn lengths(array: &dyn Array) -> Result<Decimal128Array> {
    // In 128 bits: the nanoseconds of the longest interval do not fit into 64.
    let lengths: Decimal128Array = match array.data_type() {
        DataType::Null => (0..array.len()).map(|_| None::<i128>).collect(),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let length = |interval: IntervalMonthDayNano| {
                i128::from(interval.months) * MONTH
                    + i128::from(interval.days) * DAY
                    + i128::from(interval.nanoseconds)
            };
            let intervals = array.as_primitive::<IntervalMonthDayNanoType>();
            intervals.iter().map(|one| one.map(length)).collect()
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let length = |interval: IntervalDayTime| {
                i128::from(interval.days) * DAY + i128::from(interval.milliseconds) * 1_000_000
            };
            let intervals = array.as_primitive::<IntervalDayTimeType>();
            intervals.iter().map(|one| one.map(length)).collect()
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            let intervals = array.as_primitive::<IntervalYearMonthType>();
            intervals.iter().map(|one| one.map(|months| i128::from(months) * MONTH)).collect()
        }
        DataType::Duration(unit) => {
            let nanoseconds: i128 = match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1_000,
                TimeUnit::Nanosecond => 1,
            };
            let counts: ArrayRef = cast(array, &DataType::Int64)?;
            let counts = counts.as_primitive::<Int64Type>();
            counts.iter().map(|one| one.map(|count| i128::from(count) * nanoseconds)).collect()
        }
        other => return exec_err!("{other} is not an interval"),
    };
    // Collected decimals have a scale of 10, but these are whole nanoseconds.
    Ok(lengths.with_data_type(LENGTH))
}
