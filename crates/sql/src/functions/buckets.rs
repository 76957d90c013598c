//! `time_bucket` and `date_bin`: the beginning of the stretch of time that a timestamp is in.
//!
//! The library's `date_bin` counts in nanoseconds of 64 bits, gives NULL for timestamps outside of
//! 1677 to 2262, and takes no column for a width (DataFusion 55). Times of a day are left to it.
//!
//! 1. Stretches of months are counted in months from their origin. One whose day the month lacks
//!    begins on the last day of it.
//! 2. All others are counted in nanoseconds from their origin, a day having 24 hours.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit,
};
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::functions::datetime::date_bin;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tonnage::internal::calendar::{date_of, days_of_month, days_since_1970};

use crate::interval::{DAY, INTERVAL};

const MICROSECONDS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);
/// Days from 1970 to 2000-01-01.
const FIRST_OF_2000: i128 = 10_957;
/// As elsewhere weeks begin on a Monday.
const MONDAY_OF_2000: i128 = FIRST_OF_2000 + 2;

/// The functions as sessions have them.
pub(super) fn functions() -> [ScalarUDF; 2] {
    ["time_bucket", "date_bin"].map(|name| {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::new_from_impl(BucketFunction { name, signature, of_times: date_bin() })
    })
}

#[derive(Debug)]
struct BucketFunction {
    name: &'static str,
    signature: Signature,
    /// What does it for times of a day.
    of_times: Arc<ScalarUDF>,
}

impl PartialEq for BucketFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for BucketFunction {}

impl Hash for BucketFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Time32(_) | DataType::Time64(_))
}

impl ScalarUDFImpl for BucketFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.name;
        let (width, at, origin) = match types {
            [width, at] => (width, at, None),
            [width, at, origin] => (width, at, Some(origin)),
            _ => {
                return plan_err!(
                    "write {name}(width, timestamp) or {name}(width, timestamp, origin)"
                );
            }
        };
        // A text is read as an interval.
        let is_width = matches!(width, DataType::Interval(_) | DataType::Duration(_))
            || width.is_string()
            || width.is_null();
        if !is_width {
            return plan_err!("{name} takes an interval for its width, not {width}");
        }
        let moment = |given: &DataType| match given {
            DataType::Timestamp(..) => Ok(given.clone()),
            DataType::Date32 | DataType::Date64 => Ok(MICROSECONDS),
            given if given.is_string() || given.is_null() => Ok(MICROSECONDS),
            given if is_time(given) && is_time(at) => Ok(at.clone()),
            other => plan_err!("{name} takes a timestamp, not {other}"),
        };
        let mut coerced = vec![INTERVAL, moment(at)?];
        if let Some(origin) = origin {
            // Of a time of a day the origin is one, too.
            coerced.push(if is_time(at) { at.clone() } else { moment(origin)? });
        }
        Ok(coerced)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [_, at, ..] => Ok(at.clone()),
            _ => plan_err!("{} takes a width and a timestamp", self.name),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if is_time(&arguments.args[1].data_type()) {
            return self.of_times.invoke_with_args(arguments);
        }
        let rows = arguments.number_rows;
        let arrays = arguments.args.iter().map(|argument| argument.to_array(rows));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let buckets = BucketRows {
            name: self.name,
            widths: arrays[0].as_primitive::<IntervalMonthDayNanoType>().clone(),
            moments: MomentCounts::of(&arrays[1])?,
            origins: arrays.get(2).map(MomentCounts::of).transpose()?,
        };
        let starts = (0..rows).map(|row| buckets.start(row)).collect::<Result<Int64Array>>()?;
        let starts: ArrayRef = Arc::new(starts);
        Ok(ColumnarValue::Array(cast(&starts, arrays[1].data_type())?))
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        let [width, moment, origin @ ..] = inputs else { return Ok(SortProperties::Unordered) };
        let is_one = |input: &ExprProperties| input.sort_properties == SortProperties::Singleton;
        Ok(match is_one(width) && origin.iter().all(is_one) {
            true => moment.sort_properties,
            false => SortProperties::Unordered,
        })
    }
}

/// Timestamps as whole numbers of a unit.
struct MomentCounts {
    counts: Int64Array,
    /// The nanoseconds of the unit.
    unit: i128,
}

impl MomentCounts {
    fn of(array: &ArrayRef) -> Result<Self> {
        let unit = match array.data_type() {
            DataType::Timestamp(TimeUnit::Second, _) => 1_000_000_000,
            DataType::Timestamp(TimeUnit::Millisecond, _) => 1_000_000,
            DataType::Timestamp(TimeUnit::Microsecond, _) => 1_000,
            DataType::Timestamp(TimeUnit::Nanosecond, _) => 1,
            other => return exec_err!("{other} is not a timestamp"),
        };
        let counts = cast(array, &DataType::Int64)?;
        Ok(Self { counts: counts.as_primitive::<Int64Type>().clone(), unit })
    }

    /// The nanoseconds from 1970 to a timestamp.
    fn nanoseconds(&self, row: usize) -> Option<i128> {
        self.counts.is_valid(row).then(|| i128::from(self.counts.value(row)) * self.unit)
    }
}

struct BucketRows {
    name: &'static str,
    widths: IntervalMonthDayNanoArray,
    moments: MomentCounts,
    origins: Option<MomentCounts>,
}

impl BucketRows {
    /// The first timestamp of the bucket of a row.
    fn start(&self, row: usize) -> Result<Option<i64>> {
        let Some(moment) = self.moments.nanoseconds(row).filter(|_| self.widths.is_valid(row))
        else {
            return Ok(None);
        };
        let IntervalMonthDayNano { months, days, nanoseconds } = self.widths.value(row);
        // The origins of `time_bucket` in DuckDB, and of `date_bin` in the library.
        let origin = match &self.origins {
            Some(origins) => match origins.nanoseconds(row) {
                Some(origin) => origin,
                None => return Ok(None),
            },
            None if self.name == "date_bin" => 0,
            None if months != 0 => FIRST_OF_2000 * DAY,
            None => MONDAY_OF_2000 * DAY,
        };
        let width = i128::from(days) * DAY + i128::from(nanoseconds);
        let start = match months {
            // Rounded down, also for timestamps before the origin.
            0 if width > 0 => origin + (moment - origin).div_euclid(width) * width,
            months if months > 0 && width == 0 => start_of_months(moment, origin, months.into()),
            0 => return exec_err!("{}: the width is not longer than nothing", self.name),
            _ => return exec_err!("{}: a width has months, or days and less", self.name),
        };
        let count = start.div_euclid(self.moments.unit);
        let count = i64::try_from(count).map_err(|_| {
            exec_datafusion_err!("{}: the stretch begins before all timestamps", self.name)
        })?;
        Ok(Some(count))
    }
}

/// The same for stretches of months.
fn start_of_months(moment: i128, origin: i128, months: i64) -> i128 {
    let day_of = |moment: i128| date_of(moment.div_euclid(DAY) as i64);
    let ((year, month, _), (from_year, from_month, from_day)) = (day_of(moment), day_of(origin));
    let between = (year - from_year) * 12 + month - from_month;
    let start = |stretches: i64| {
        let month = from_year * 12 + from_month - 1 + stretches * months;
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        let day = from_day.min(days_of_month(year, month));
        i128::from(days_since_1970(year, month, day)) * DAY + origin.rem_euclid(DAY)
    };
    let stretches = between.div_euclid(months);
    let found = start(stretches);
    if found > moment { start(stretches - 1) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_months_begin_at_the_origin() {
        let at = |year, month, day| i128::from(days_since_1970(year, month, day)) * DAY;
        let quarter = |moment| start_of_months(moment, at(2000, 1, 1), 3);
        assert_eq!(quarter(at(2024, 5, 20) + 1), at(2024, 4, 1));
        assert_eq!(quarter(at(1969, 12, 31)), at(1969, 10, 1));
        assert_eq!(quarter(at(9999, 12, 31)), at(9999, 10, 1));
        let from_31st = |moment| start_of_months(moment, at(2024, 1, 31) + 5, 1);
        assert_eq!(from_31st(at(2024, 2, 29) + 4), at(2024, 1, 31) + 5);
        assert_eq!(from_31st(at(2024, 2, 29) + 5), at(2024, 2, 29) + 5);
    }
}
