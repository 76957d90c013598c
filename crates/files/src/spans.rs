//! The time between two moments as an interval. Arrow has a type of its own for it, with another
//! text: `PT3600S` stood beside `1 hours`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, IntervalMonthDayNano, TimeUnit};
use arrow::error::ArrowError;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// Times between moments as intervals of nanoseconds, and of days where these reach no farther. Other
/// columns stay.
///
/// # Errors
/// Those of Arrow for more than 2^31 days, which lie beyond all timestamps.
pub fn spans_as_intervals(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let DataType::Duration(unit) = column.data_type() else { return Ok(Arc::clone(column)) };
    let tick = match unit {
        TimeUnit::Second => SECOND,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    let ticks = cast(column, &DataType::Int64)?;
    let interval = |ticks: i64| {
        let length = i128::from(ticks) * tick;
        if let Ok(nanoseconds) = i64::try_from(length) {
            return Ok(IntervalMonthDayNano::new(0, 0, nanoseconds));
        }
        let days = i32::try_from(length / DAY).map_err(|_| {
            ArrowError::ComputeError("an interval of more than 2,147,483,647 days".to_owned())
        })?;
        // Less than a day.
        Ok(IntervalMonthDayNano::new(0, days, (length % DAY) as i64))
    };
    let intervals = ticks.as_primitive::<Int64Type>().iter();
    let intervals = intervals.map(|ticks| ticks.map(interval).transpose());
    Ok(Arc::new(intervals.collect::<Result<IntervalMonthDayNanoArray, ArrowError>>()?))
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        Array, DurationMillisecondArray, DurationNanosecondArray, DurationSecondArray, Int64Array,
    };

    use super::*;

    fn texts(spans: ArrayRef) -> Vec<Option<String>> {
        let intervals = spans_as_intervals(&spans).unwrap();
        let texts = cast(&intervals, &DataType::Utf8).unwrap();
        texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn both_have_one_text() {
        let told = |text: &str| Some(text.to_owned());
        let milliseconds =
            DurationMillisecondArray::from(vec![Some(3_600_001), None, Some(-60_000)]);
        assert_eq!(
            texts(Arc::new(milliseconds)),
            [told("1 hours 0.001000000 secs"), None, told("-1 mins")]
        );
        // 9,999 years.
        let seconds = DurationSecondArray::from(vec![315_537_897_601]);
        assert_eq!(texts(Arc::new(seconds)), [told("3652059 days 1.000000000 secs")]);
        let least = DurationNanosecondArray::from(vec![i64::MIN]);
        assert_eq!(texts(Arc::new(least)).len(), 1);
    }

    #[test]
    fn what_is_no_interval_stays_or_is_refused() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        assert_eq!(&spans_as_intervals(&numbers).unwrap(), &numbers);
        let far: ArrayRef = Arc::new(DurationSecondArray::from(vec![i64::MAX]));
        assert!(spans_as_intervals(&far).is_err());
        assert!(spans_as_intervals(&far.slice(0, 0)).unwrap().is_empty());
    }
}
