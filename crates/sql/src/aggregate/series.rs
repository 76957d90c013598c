//! Aggregates over measurements and the timestamps that they were taken at.
//!
//! - `time_avg(value, at)` weighs each value by the time that it covers: half of the time since
//!   the measurement before, and half of that until the next. It is the mean of the straight lines
//!   between the measurements.
//! - `time_interpolated(value, at, moment)` is the value at a timestamp, on the straight line
//!   between the measurements right before and right after it; NULL outside of all.
//!
//! Rows may come in any order. A value or a timestamp that is NULL is skipped.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{
    DataType, Field, FieldRef, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};

/// The functions as sessions have them.
pub(crate) fn series() -> [AggregateUDF; 2] {
    let function = |kind| {
        let signature = Signature::user_defined(Volatility::Immutable);
        AggregateUDF::new_from_impl(SeriesAggregate { kind, signature })
    };
    [function(SeriesKind::Average), function(SeriesKind::Interpolated)]
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SeriesAggregate {
    kind: SeriesKind,
    signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SeriesKind {
    Average,
    Interpolated,
}

const MOMENT: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

impl AggregateUDFImpl for SeriesAggregate {
    fn name(&self) -> &str {
        match self.kind {
            SeriesKind::Average => "time_avg",
            SeriesKind::Interpolated => "time_interpolated",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (wanted, form) = match self.kind {
            SeriesKind::Average => (2, "time_avg(value, at)"),
            SeriesKind::Interpolated => (3, "time_interpolated(value, at, moment)"),
        };
        let is_moment =
            |given: &DataType| given.is_temporal() || given.is_string() || *given == DataType::Null;
        let [value, moments @ ..] = given else {
            return plan_err!("{form} takes {wanted} values, not 0");
        };
        if given.len() != wanted {
            return plan_err!("{form} takes {wanted} values, not {}", given.len());
        }
        if !(value.is_numeric() || *value == DataType::Null) || !moments.iter().all(is_moment) {
            return plan_err!(
                "{form} takes a number and TIMESTAMPs, not {}",
                given.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            );
        }
        Ok(std::iter::once(DataType::Float64).chain(moments.iter().map(|_| MOMENT)).collect())
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if arguments.is_distinct {
            return plan_err!("{} takes all rows: leave out DISTINCT", self.name());
        }
        Ok(match self.kind {
            SeriesKind::Average => Box::new(TimeAverage::default()),
            SeriesKind::Interpolated => Box::new(TimeInterpolation::default()),
        })
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |part: &str, item: DataType| {
            let name = format_state_name(arguments.name, part);
            Arc::new(Field::new_list(name, Field::new_list_field(item, true), false))
        };
        let single = |part: &str, data_type: DataType| {
            Arc::new(Field::new(format_state_name(arguments.name, part), data_type, true))
        };
        Ok(match self.kind {
            SeriesKind::Average => {
                vec![list("moments", DataType::Int64), list("values", DataType::Float64)]
            }
            SeriesKind::Interpolated => vec![
                single("moment", DataType::Int64),
                single("before", DataType::Int64),
                single("value before", DataType::Float64),
                single("after", DataType::Int64),
                single("value after", DataType::Float64),
            ],
        })
    }
}

/// A value with its timestamp, in microseconds.
type Measurement = (i64, f64);

/// By their timestamps; of equal timestamps by their values, so that the order of rows says
/// nothing.
fn order(one: &Measurement, other: &Measurement) -> Ordering {
    one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
}

/// The measurements of a batch.
fn measurements(arguments: &[ArrayRef]) -> impl Iterator<Item = (usize, Measurement)> {
    let values = arguments[0].as_primitive::<Float64Type>();
    let moments = arguments[1].as_primitive::<TimestampMicrosecondType>();
    let both = values.iter().zip(moments).enumerate();
    both.filter_map(|(row, (value, at))| Some((row, (at?, value?))))
}

/// All measurements: what each weighs is known when all are there.
#[derive(Debug, Default)]
struct TimeAverage {
    measurements: Vec<Measurement>,
}

impl Accumulator for TimeAverage {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        self.measurements.extend(measurements(arguments).map(|(_, measurement)| measurement));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.measurements.sort_unstable_by(order);
        Ok(ScalarValue::Float64(mean(&self.measurements)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.measurements.capacity() * size_of::<Measurement>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let moments = self.measurements.iter().map(|(at, _)| *at);
        let values = self.measurements.iter().map(|(_, value)| *value);
        Ok(vec![
            one_list(Arc::new(Int64Array::from_iter_values(moments))),
            one_list(Arc::new(Float64Array::from_iter_values(values))),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (moments, values) = (states[0].as_list::<i32>(), states[1].as_list::<i32>());
        for (moments, values) in moments.iter().flatten().zip(values.iter().flatten()) {
            let moments = moments.as_primitive::<Int64Type>().values().iter().copied();
            let values = values.as_primitive::<Float64Type>().values().iter().copied();
            self.measurements.extend(moments.zip(values));
        }
        Ok(())
    }
}

fn one_list(items: ArrayRef) -> ScalarValue {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    ScalarValue::List(Arc::new(ListArray::new(field, offsets, items, None)))
}

/// The mean of measurements in the order of their timestamps; the plain one if all have one
/// timestamp.
fn mean(measurements: &[Measurement]) -> Option<f64> {
    let ((first, _), (last, _)) = (measurements.first()?, measurements.last()?);
    if first == last {
        let sum: f64 = measurements.iter().map(|(_, value)| value).sum();
        return Some(sum / measurements.len() as f64);
    }
    // As i128: timestamps may be further apart than an i64 can count.
    let between = |from: i64, to: i64| (i128::from(to) - i128::from(from)) as f64;
    let area = |pair: &[Measurement]| match pair {
        [(from, one), (to, other)] => (one / 2.0 + other / 2.0) * between(*from, *to),
        _ => 0.0,
    };
    Some(measurements.windows(2).map(area).sum::<f64>() / between(*first, *last))
}

/// The measurements around a timestamp.
#[derive(Debug, Default)]
struct TimeInterpolation {
    moment: Option<i64>,
    before: Option<Measurement>,
    after: Option<Measurement>,
}

impl TimeInterpolation {
    /// Takes the timestamp that is asked for, of which there is one.
    fn set_moment(&mut self, moment: i64) -> Result<()> {
        match self.moment.replace(moment) {
            Some(known) if known != moment => {
                plan_err!("time_interpolated takes one timestamp for all rows of a group")
            }
            _ => Ok(()),
        }
    }

    fn add_measurement(&mut self, moment: i64, measurement: Measurement) {
        let (at, _) = measurement;
        if at <= moment && self.before.is_none_or(|before| order(&before, &measurement).is_lt()) {
            self.before = Some(measurement);
        }
        if at >= moment && self.after.is_none_or(|after| order(&after, &measurement).is_gt()) {
            self.after = Some(measurement);
        }
    }

    fn value(&self) -> Option<f64> {
        let ((from, one), (to, other)) = (self.before?, self.after?);
        let between = |from: i64, to: i64| (i128::from(to) - i128::from(from)) as f64;
        if from == to {
            return Some(one);
        }
        let part = between(from, self.moment?) / between(from, to);
        Some(one + (other - one) * part)
    }
}

impl Accumulator for TimeInterpolation {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let moments = arguments[2].as_primitive::<TimestampMicrosecondType>();
        for (row, measurement) in measurements(arguments) {
            if moments.is_valid(row) {
                self.set_moment(moments.value(row))?;
                self.add_measurement(moments.value(row), measurement);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.value()))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let at = |of: Option<Measurement>| ScalarValue::Int64(of.map(|(at, _)| at));
        let value = |of: Option<Measurement>| ScalarValue::Float64(of.map(|(_, value)| value));
        Ok(vec![
            ScalarValue::Int64(self.moment),
            at(self.before),
            value(self.before),
            at(self.after),
            value(self.after),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let asked = states[0].as_primitive::<Int64Type>();
        for row in (0..asked.len()).filter(|row| asked.is_valid(*row)) {
            let moment = asked.value(row);
            self.set_moment(moment)?;
            for side in [1, 3] {
                let moments = states[side].as_primitive::<Int64Type>();
                let values = states[side + 1].as_primitive::<Float64Type>();
                if moments.is_valid(row) {
                    self.add_measurement(moment, (moments.value(row), values.value(row)));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn average_in_parts(parts: &[&[Measurement]]) -> Option<f64> {
        let mut whole = TimeAverage::default();
        for part in parts {
            let mut one = TimeAverage { measurements: part.to_vec() };
            let states: Vec<ArrayRef> =
                one.state().unwrap().iter().map(|state| state.to_array().unwrap()).collect();
            whole.merge_batch(&states).unwrap();
        }
        match whole.evaluate().unwrap() {
            ScalarValue::Float64(value) => value,
            other => panic!("{other}"),
        }
    }

    proptest! {
        #[test]
        fn neither_order_nor_parts_matter(mut all in proptest::collection::vec((any::<i64>(), -9..9_i32), 0..20), cut in 0..20_usize) {
            let measured = |all: &[(i64, i32)]| all.iter().map(|(at, value)| (*at, f64::from(*value))).collect::<Vec<_>>();
            let shuffled = measured(&all);
            all.sort_unstable();
            let sorted = measured(&all);
            let (one, other) = shuffled.split_at(cut.min(shuffled.len()));
            let (whole, parts) = (average_in_parts(&[&sorted]), average_in_parts(&[other, one]));
            prop_assert_eq!(whole, parts);
            prop_assert!(whole.is_none_or(|mean| mean.abs() < 9.000001));
        }
    }
}
