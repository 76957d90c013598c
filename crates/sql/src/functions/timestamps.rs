//! Functions of timestamps: `age`, `make_timestamp`, `epoch_ms`.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, IntervalMonthDayNanoArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Float64Type, Int64Type, IntervalMonthDayNano, IntervalUnit, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType,
};
use datafusion::common::{Result, exec_err, plan_err};
use tonnage::internal::calendar::{date_of, days_of_month, days_since_1970};

use super::scalar::{Arguments, Gives, Scalar, int};

const MICROSECONDS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);
const MILLISECONDS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);
const DAY: i64 = 86_400_000_000;

pub(super) const ALL: [Scalar; 3] = [
    Scalar {
        name: "age",
        form: "age(later, earlier) or age(earlier)",
        count: (2, 2),
        gives: Gives::Type(|| DataType::Interval(IntervalUnit::MonthDayNano)),
        work: age,
    },
    Scalar {
        name: "make_timestamp",
        form: "make_timestamp(year, month, day, hour, minute, second)",
        count: (6, 6),
        gives: Gives::Type(|| MICROSECONDS),
        work: make_timestamp,
    },
    Scalar {
        name: "epoch_ms",
        form: "epoch_ms(timestamp) or epoch_ms(milliseconds)",
        count: (1, 1),
        gives: Gives::Of(|fields| match fields[0].data_type() {
            given if given.is_integer() => Ok(MILLISECONDS),
            given if given.is_temporal() || given.is_string() || given.is_null() => {
                Ok(DataType::Int64)
            }
            other => plan_err!("epoch_ms takes a timestamp, or whole milliseconds, not {other}"),
        }),
        work: epoch_ms,
    },
];

/// Milliseconds since 1970 as a timestamp, or a timestamp as these.
fn epoch_ms(arguments: &Arguments) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    if array.data_type().is_integer() {
        let numbers = cast(array, &DataType::Int64)?;
        let numbers = numbers.as_primitive::<Int64Type>();
        return Ok(Arc::new(numbers.iter().collect::<TimestampMillisecondArray>()));
    }
    let moments = cast(array, &MILLISECONDS)?;
    let moments = moments.as_primitive::<TimestampMillisecondType>();
    Ok(Arc::new(moments.iter().collect::<Int64Array>()))
}

fn make_timestamp(arguments: &Arguments) -> Result<ArrayRef> {
    let seconds = cast(&arguments.arrays[5], &DataType::Float64)?;
    let seconds = seconds.as_primitive::<Float64Type>();
    let mut moments = Vec::with_capacity(arguments.rows);
    for row in 0..arguments.rows {
        let mut parts = [0_i64; 5];
        let mut is_there = seconds.is_valid(row);
        for (part, array) in parts.iter_mut().zip(&arguments.arrays) {
            match int(array, row)? {
                Some(number) => *part = number,
                None => is_there = false,
            }
        }
        moments.push(if is_there { Some(moment(parts, seconds.value(row))?) } else { None });
    }
    Ok(Arc::new(TimestampMicrosecondArray::from(moments)))
}

/// Microseconds since 1970.
fn moment([year, month, day, hour, minute]: [i64; 5], second: f64) -> Result<i64> {
    let is_day = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day);
    let is_time =
        (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..60.0).contains(&second);
    if !is_day || !is_time {
        return exec_err!(
            "make_timestamp: there is no timestamp {year}-{month}-{day} {hour}:{minute}:{second}"
        );
    }
    let of_day = (hour * 3600 + minute * 60) * 1_000_000 + (second * 1e6).round() as i64;
    Ok(days_since_1970(year, month, day) * DAY + of_day)
}

/// Year, month, day and the microseconds of the day.
fn fields(moment: i64) -> [i64; 4] {
    let (year, month, day) = date_of(moment.div_euclid(DAY));
    [year, month, day, moment.rem_euclid(DAY)]
}

/// The time between two timestamps in years, months, days and less, as PostgreSQL counts.
fn age(arguments: &Arguments) -> Result<ArrayRef> {
    let moments = |index: usize| -> Result<ArrayRef> {
        match arguments.fields[index].data_type() {
            DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 | DataType::Null => {}
            given if given.is_string() => {}
            other => return exec_err!("age takes timestamps, not {other}"),
        }
        let plain = match arguments.arrays[index].data_type() {
            // A timestamp with a zone is stored in UTC.
            DataType::Timestamp(_, Some(_)) => cast(
                &arguments.arrays[index],
                &DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            )?,
            _ => arguments.arrays[index].clone(),
        };
        Ok(cast(&plain, &MICROSECONDS)?)
    };
    let (later, earlier) = (moments(0)?, moments(1)?);
    let (later, earlier) = (
        later.as_primitive::<TimestampMicrosecondType>(),
        earlier.as_primitive::<TimestampMicrosecondType>(),
    );
    let ages = later.iter().zip(earlier).map(|(later, earlier)| Some(between(later?, earlier?)));
    Ok(Arc::new(ages.collect::<IntervalMonthDayNanoArray>()))
}

fn between(later: i64, earlier: i64) -> IntervalMonthDayNano {
    if later < earlier {
        let age = between(earlier, later);
        return IntervalMonthDayNano::new(-age.months, -age.days, -age.nanoseconds);
    }
    let ([year, month, day, time], [from_year, from_month, from_day, from_time]) =
        (fields(later), fields(earlier));
    let (mut months, mut days, mut time) =
        ((year - from_year) * 12 + month - from_month, day - from_day, time - from_time);
    if time < 0 {
        (time, days) = (time + DAY, days - 1);
    }
    while days < 0 {
        // A month is as long as the one of the earlier timestamp.
        (days, months) = (days + days_of_month(from_year, from_month), months - 1);
    }
    IntervalMonthDayNano::new(months as i32, days as i32, time * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: i64, month: i64, day: i64) -> i64 {
        days_since_1970(year, month, day) * DAY
    }

    #[test]
    fn ages_are_those_of_postgresql() {
        let age = |later, earlier| {
            let age = between(later, earlier);
            (age.months, age.days, age.nanoseconds)
        };
        // The example of its manual: 43 years 9 months 27 days.
        assert_eq!(age(day(2001, 4, 10), day(1957, 6, 13)), (43 * 12 + 9, 27, 0));
        assert_eq!(age(day(2024, 3, 1), day(2024, 1, 31)), (1, 1, 0));
        assert_eq!(age(day(2024, 1, 31), day(2024, 3, 1)), (-1, -1, 0));
        assert_eq!(age(day(2024, 2, 1), day(2024, 1, 31) + 1), (0, 0, (DAY - 1) * 1_000));
    }
}
