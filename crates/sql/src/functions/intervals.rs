//! Functions that plans have for intervals: how long one is, the longest and the shortest of
//! several, one as many times as a number says, and what `date_part` takes.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, IntervalMonthDayNanoArray, new_null_array,
};
use arrow::compute::{cast, interleave};
use arrow::datatypes::{
    DataType, Float64Type, Int32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::Expr;

use super::scalar::{Arguments, Gives, Scalar};
use crate::interval::{DAY, INTERVAL, LENGTH, lengths};

const LENGTH_OF: Scalar =
    Scalar::new("_length", "_length(interval)", (1, 1), Gives::Type(|| LENGTH), |arguments| {
        Ok(Arc::new(lengths(&arguments.arrays[0])?))
    });

const LONGEST: Scalar = Scalar::new(
    "_longest",
    "greatest(interval, interval)",
    (1, usize::MAX),
    Gives::Type(|| INTERVAL),
    |arguments| choose_interval(arguments, |length, best| length > best),
);

const SHORTEST: Scalar = Scalar::new(
    "_shortest",
    "least(interval, interval)",
    (1, usize::MAX),
    Gives::Type(|| INTERVAL),
    |arguments| choose_interval(arguments, |length, best| length < best),
);

const WHOLE: Scalar = Scalar::new(
    "_interval",
    "CAST(moment - moment AS INTERVAL)",
    (1, 1),
    Gives::Type(|| INTERVAL),
    |arguments| whole(&arguments.arrays[0]),
);

const IN_DAYS: Scalar = Scalar::new(
    "_in_days",
    "_in_days(moment - moment)",
    (1, 1),
    Gives::Type(|| INTERVAL),
    |arguments| of_lengths(&arguments.arrays[0], in_days),
);

const SECONDS: Scalar = Scalar::new(
    "_seconds",
    "_seconds(interval)",
    (1, 1),
    Gives::Type(|| DataType::Float64),
    |arguments| seconds(&arguments.arrays[0]),
);

const MILLISECONDS: Scalar = Scalar::new(
    "_milliseconds",
    "_milliseconds(interval)",
    (1, 1),
    Gives::Type(|| DataType::Int32),
    |arguments| of_minute(&arguments.arrays[0], 1_000_000),
);

const MICROSECONDS: Scalar = Scalar::new(
    "_microseconds",
    "_microseconds(interval)",
    (1, 1),
    Gives::Type(|| DataType::Int32),
    |arguments| of_minute(&arguments.arrays[0], 1_000),
);

const TIMES: Scalar = Scalar::new(
    "_times",
    "interval * number",
    (2, 2),
    Gives::Of(|fields| of_kind(fields[0].data_type())),
    |arguments| scale_interval(arguments, ScaleOp::Times),
);

const OVER: Scalar = Scalar::new(
    "_over",
    "interval / number",
    (2, 2),
    Gives::Of(|fields| of_kind(fields[0].data_type())),
    |arguments| scale_interval(arguments, ScaleOp::Over),
);

/// How many nanoseconds an interval has.
pub(crate) fn length_of(interval: Expr) -> Expr {
    LENGTH_OF.call(vec![interval])
}

/// The longest or the shortest of intervals.
pub(crate) fn longest_of(intervals: Vec<Expr>, is_max: bool) -> Expr {
    if is_max { LONGEST.call(intervals) } else { SHORTEST.call(intervals) }
}

/// The time between two timestamps as an interval, however far they are from each other.
pub(crate) fn whole_interval(duration: Expr) -> Expr {
    WHOLE.call(vec![duration])
}

/// The time between two timestamps as an interval of days, and of what is left of one.
pub(crate) fn interval_in_days(duration: Expr) -> Expr {
    IN_DAYS.call(vec![duration])
}

/// The seconds of an interval, or of the time between two timestamps.
pub(crate) fn seconds_of(interval: Expr) -> Expr {
    SECONDS.call(vec![interval])
}

/// The milliseconds of an interval after its last whole minute.
pub(crate) fn milliseconds_of(interval: Expr) -> Expr {
    MILLISECONDS.call(vec![interval])
}

/// The microseconds of an interval after its last whole minute.
pub(crate) fn microseconds_of(interval: Expr) -> Expr {
    MICROSECONDS.call(vec![interval])
}

/// `interval * number`
pub(crate) fn times(interval: Expr, number: Expr) -> Expr {
    TIMES.call(vec![interval, number])
}

/// `interval / number`
pub(crate) fn over(interval: Expr, number: Expr) -> Expr {
    OVER.call(vec![interval, number])
}

/// In each row the first of the intervals that none of the others is beyond, NULL aside.
fn choose_interval(arguments: &Arguments, is_beyond: fn(i128, i128) -> bool) -> Result<ArrayRef> {
    let measured =
        arguments.arrays.iter().map(|array| lengths(array)).collect::<Result<Vec<_>>>()?;
    let nothing = new_null_array(&INTERVAL, 1);
    let mut arrays: Vec<&dyn Array> = arguments.arrays.iter().map(AsRef::as_ref).collect();
    arrays.push(nothing.as_ref());
    let places: Vec<(usize, usize)> = (0..arguments.rows)
        .map(|row| {
            let mut best: Option<(usize, i128)> = None;
            for (place, lengths) in measured.iter().enumerate() {
                if lengths.is_valid(row)
                    && best.is_none_or(|(_, known)| is_beyond(lengths.value(row), known))
                {
                    best = Some((place, lengths.value(row)));
                }
            }
            best.map_or((measured.len(), 0), |(place, _)| (place, row))
        })
        .collect();
    Ok(interleave(&arrays, &places)?)
}

/// Times between timestamps as intervals. What has too many nanoseconds, beyond 292 years, has
/// days.
fn whole(durations: &ArrayRef) -> Result<ArrayRef> {
    of_lengths(durations, |length| match i64::try_from(length) {
        Ok(time) => Ok(IntervalMonthDayNano::new(0, 0, time)),
        Err(_) => in_days(length),
    })
}

fn of_lengths(
    durations: &ArrayRef,
    interval: impl Fn(i128) -> Result<IntervalMonthDayNano>,
) -> Result<ArrayRef> {
    let lengths = lengths(durations)?;
    let intervals = lengths.iter().map(|length| length.map(&interval).transpose());
    Ok(Arc::new(intervals.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

fn in_days(length: i128) -> Result<IntervalMonthDayNano> {
    let days = i32::try_from(length / DAY).map_err(|_| out_of_range())?;
    Ok(IntervalMonthDayNano::new(0, days, (length % DAY) as i64))
}

/// The seconds of intervals. Twelve months count as 365 days and a quarter, as in PostgreSQL.
fn seconds(intervals: &ArrayRef) -> Result<ArrayRef> {
    const SECOND: i128 = 1_000_000_000;
    /// What a year has beside twelve months of 30 days.
    const YEAR_REST: i128 = 21 * DAY / 4;
    let is_duration = matches!(intervals.data_type(), DataType::Duration(_));
    let years = match is_duration {
        true => None,
        false => Some(cast(intervals, &INTERVAL)?),
    };
    let years = years.as_ref().map(|years| years.as_primitive::<IntervalMonthDayNanoType>());
    let lengths = lengths(intervals)?;
    let of_row = |row: usize| {
        let years = years.map_or(0, |intervals| intervals.value(row).months / 12);
        let length = lengths.value(row) + i128::from(years) * YEAR_REST;
        (length / SECOND) as f64 + (length % SECOND) as f64 / SECOND as f64
    };
    let rows = 0..lengths.len();
    let seconds = rows.map(|row| lengths.is_valid(row).then(|| of_row(row)));
    Ok(Arc::new(seconds.collect::<Float64Array>()))
}

/// How many of a unit of time intervals have after their last whole minutes.
fn of_minute(intervals: &ArrayRef, unit_ns: i64) -> Result<ArrayRef> {
    const MINUTE_NS: i64 = 60_000_000_000;
    let intervals = cast(intervals, &INTERVAL)?;
    let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>();
    let parts = intervals
        .unary::<_, Int32Type>(|interval| (interval.nanoseconds % MINUTE_NS / unit_ns) as i32);
    Ok(Arc::new(parts))
}

/// The type of a multiple: times between timestamps stay such.
fn of_kind(data_type: &DataType) -> Result<DataType> {
    match data_type {
        DataType::Interval(_) => Ok(INTERVAL),
        DataType::Duration(unit) => Ok(DataType::Duration(*unit)),
        other => plan_err!("{other} is not an interval"),
    }
}

#[derive(Clone, Copy)]
enum ScaleOp {
    Times,
    Over,
}

/// The numbers of a product or a quotient.
enum ScaleNumbers {
    Whole(ArrayRef),
    Double(ArrayRef),
}

fn scale_interval(arguments: &Arguments, by: ScaleOp) -> Result<ArrayRef> {
    let (array, numbers) = (&arguments.arrays[0], &arguments.arrays[1]);
    let given = numbers.data_type();
    let numbers = match given {
        // Whole numbers stay whole: as doubles they would lose nanoseconds of long intervals.
        given if given.is_integer() => ScaleNumbers::Whole(cast(numbers, &DataType::Int64)?),
        given if given.is_numeric() || given.is_null() => {
            ScaleNumbers::Double(cast(numbers, &DataType::Float64)?)
        }
        other => return exec_err!("an interval is multiplied by a number, not by {other}"),
    };
    let kind = of_kind(array.data_type())?;
    // Times between timestamps have no months and no days, and their unit is that of the result.
    let parts: ArrayRef = match &kind {
        DataType::Duration(_) => as_parts(array)?,
        _ => cast(array, &INTERVAL)?,
    };
    let parts = parts.as_primitive::<IntervalMonthDayNanoType>();
    let row = |row: usize| -> Result<Option<IntervalMonthDayNano>> {
        if parts.is_null(row) {
            return Ok(None);
        }
        let interval = parts.value(row);
        match &numbers {
            ScaleNumbers::Whole(numbers) => {
                let numbers = numbers.as_primitive::<Int64Type>();
                if numbers.is_null(row) {
                    return Ok(None);
                }
                match by {
                    ScaleOp::Times => multiple(interval, numbers.value(row)).map(Some),
                    ScaleOp::Over => quotient(interval, numbers.value(row)).map(Some),
                }
            }
            ScaleNumbers::Double(numbers) => {
                let numbers = numbers.as_primitive::<Float64Type>();
                if numbers.is_null(row) {
                    return Ok(None);
                }
                let number = numbers.value(row);
                match by {
                    ScaleOp::Times => approximate(interval, |part| part * number).map(Some),
                    ScaleOp::Over if number == 0.0 => exec_err!("an interval is divided by zero"),
                    ScaleOp::Over => approximate(interval, |part| part / number).map(Some),
                }
            }
        }
    };
    let made = (0..arguments.rows).map(row).collect::<Result<IntervalMonthDayNanoArray>>()?;
    match &kind {
        DataType::Duration(_) => of_parts(&made, &kind),
        _ => Ok(Arc::new(made)),
    }
}

/// Times between timestamps as intervals whose nanoseconds are the counts of these.
fn as_parts(durations: &ArrayRef) -> Result<ArrayRef> {
    let counts = cast(durations, &DataType::Int64)?;
    let counts = counts.as_primitive::<Int64Type>();
    let parts =
        counts.unary::<_, IntervalMonthDayNanoType>(|count| IntervalMonthDayNano::new(0, 0, count));
    Ok(Arc::new(parts))
}

fn of_parts(parts: &IntervalMonthDayNanoArray, kind: &DataType) -> Result<ArrayRef> {
    let counts: ArrayRef = Arc::new(parts.unary::<_, Int64Type>(|parts| parts.nanoseconds));
    Ok(cast(&counts, kind)?)
}

fn out_of_range() -> DataFusionError {
    exec_datafusion_err!("the interval is out of range")
}

fn multiple(interval: IntervalMonthDayNano, number: i64) -> Result<IntervalMonthDayNano> {
    let part = |part: i32| {
        i64::from(part).checked_mul(number).and_then(|product| i32::try_from(product).ok())
    };
    let product = || {
        let nanoseconds = interval.nanoseconds.checked_mul(number)?;
        Some(IntervalMonthDayNano::new(part(interval.months)?, part(interval.days)?, nanoseconds))
    };
    product().ok_or_else(out_of_range)
}

/// The rest of months is added to the days, the rest of days to the time of the day.
fn quotient(interval: IntervalMonthDayNano, number: i64) -> Result<IntervalMonthDayNano> {
    if number == 0 {
        return exec_err!("an interval is divided by zero");
    }
    let by = i128::from(number);
    let (months, days) = (i128::from(interval.months), i128::from(interval.days));
    let of_months = months % by * 30;
    let mut rest = (days % by + of_months % by) * DAY;
    let mut whole_days = days / by + of_months / by;
    whole_days += rest / (by * DAY);
    rest %= by * DAY;
    let time = rest + i128::from(interval.nanoseconds);
    // To the nearest nanosecond.
    let (time, by) = if by < 0 { (-time, -by) } else { (time, by) };
    let nanoseconds = (2 * time + by).div_euclid(2 * by);
    let made = || {
        Some(IntervalMonthDayNano::new(
            i32::try_from(months / i128::from(number)).ok()?,
            i32::try_from(whole_days).ok()?,
            i64::try_from(nanoseconds).ok()?,
        ))
    };
    made().ok_or_else(out_of_range)
}

/// The same with a number that may have a fraction.
fn approximate(
    interval: IntervalMonthDayNano,
    scale: impl Fn(f64) -> f64,
) -> Result<IntervalMonthDayNano> {
    const NANOSECONDS: f64 = DAY as f64;
    // What is left of months and days is as good as its millionths.
    let fine = |number: f64| (number * 1e6).round() / 1e6;
    let (months, days) = (scale(interval.months.into()), scale(interval.days.into()));
    let of_months = fine(months.fract() * 30.0);
    let mut whole_days = days.trunc() + of_months.trunc();
    let rest = fine(days.fract() + of_months.fract());
    whole_days += rest.trunc();
    let nanoseconds = scale(interval.nanoseconds as f64) + rest.fract() * NANOSECONDS;
    let fits = |number: f64, most: f64| number.is_finite() && number.abs() < most;
    if !fits(months, 2_147_483_648.0)
        || !fits(whole_days, 2_147_483_648.0)
        || !fits(nanoseconds, 9_223_372_036_854_775_808.0)
    {
        return Err(out_of_range());
    }
    Ok(IntervalMonthDayNano::new(months as i32, whole_days as i32, nanoseconds.round() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(interval: IntervalMonthDayNano) -> (i32, i32, i64) {
        (interval.months, interval.days, interval.nanoseconds)
    }

    #[test]
    fn multiples_are_those_of_postgresql() {
        let one = IntervalMonthDayNano::new(1, 2, 3);
        assert_eq!(parts(multiple(one, -5).unwrap()), (-5, -10, -15));
        assert!(multiple(one, i64::MAX).is_err());
        let half = |interval| parts(approximate(interval, |part| part * 0.5).unwrap());
        assert_eq!(half(IntervalMonthDayNano::new(1, 0, 0)), (0, 15, 0));
        assert_eq!(half(IntervalMonthDayNano::new(3, 1, 0)), (1, 15, DAY as i64 / 2));
        assert!(approximate(one, |part| part * f64::NAN).is_err());
    }

    #[test]
    fn quotients_are_those_of_postgresql() {
        let quotient = |months, days, time, by| {
            parts(quotient(IntervalMonthDayNano::new(months, days, time), by).unwrap())
        };
        assert_eq!(quotient(1, 0, 0, 2), (0, 15, 0));
        // 25 days and 17:08:34.285714286
        assert_eq!(quotient(6, 0, 0, 7), (0, 25, 61_714_285_714_286));
        assert_eq!(quotient(0, 3, 0, -2), (0, -1, -(DAY as i64) / 2));
        assert_eq!(quotient(0, 0, 10, 4), (0, 0, 3));
        assert!(super::quotient(IntervalMonthDayNano::new(1, 0, 0), 0).is_err());
    }
}
