//! `percentile_cont`: the value at a share of the sorted values, between two of them where the
//! position falls between.
//!
//! Upstream: apache/datafusion#25266. Gone in: open
//!
//! The library rounds the position to six digits after the point (DataFusion 55), and takes the
//! complement of the share for a descending order, which loses a digit. Here the position is the
//! product that PostgreSQL takes, counted from the end that the order begins with.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, ListArray, RecordBatch};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type, Schema};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, ColumnarValue, EmitTo, GroupsAccumulator};

/// What partial percentiles hand on: all values.
pub(crate) fn state_fields(name: &str) -> Vec<FieldRef> {
    let values = Field::new_list_field(DataType::Float64, true);
    vec![Arc::new(Field::new_list(format_state_name(name, "percentile_cont"), values, true))]
}

/// The percentile of all; nothing for arguments that the library refuses or takes for NULL.
pub(crate) fn percentile(arguments: &AccumulatorArgs<'_>) -> Option<Box<dyn Accumulator>> {
    let position = Position::of(arguments)?;
    let is_distinct = arguments.is_distinct;
    Some(Box::new(AllValues { values: Vec::new(), is_distinct, position }))
}

/// The percentiles of groups.
pub(crate) fn groups(arguments: &AccumulatorArgs<'_>) -> Option<Box<dyn GroupsAccumulator>> {
    let position = Position::of(arguments)?;
    Some(Box::new(GroupValues { groups: Vec::new(), position }))
}

/// Which value of the sorted ones is asked for.
#[derive(Debug)]
struct Position {
    share: f64,
    is_descending: bool,
    result_type: DataType,
}

impl Position {
    fn of(arguments: &AccumulatorArgs<'_>) -> Option<Self> {
        if !arguments.expr_fields.first()?.data_type().is_floating() {
            return None;
        }
        let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
        let share = match arguments.exprs.get(1)?.evaluate(&nothing).ok()? {
            ColumnarValue::Scalar(ScalarValue::Float64(Some(share))) => share,
            ColumnarValue::Scalar(ScalarValue::Float32(Some(share))) => share.into(),
            _ => return None,
        };
        let order = arguments.order_bys.first();
        (0.0..=1.0).contains(&share).then(|| Self {
            share,
            is_descending: order.is_some_and(|order| order.options.descending),
            result_type: arguments.return_field.data_type().clone(),
        })
    }

    /// The value at the position; nothing of no values.
    fn value_of(&self, values: &mut [f64]) -> Option<f64> {
        let last = values.len().checked_sub(1)?;
        let place = self.share * last as f64;
        let before = (place.floor() as usize).min(last);
        let low = self.value_at(values, before);
        let weight = place - before as f64;
        if weight == 0.0 || before == last {
            return Some(low);
        }
        let high = self.value_at(values, before + 1);
        // Of two infinities the difference is not a number, and of two large values it is infinite.
        Some(match high - low {
            _ if low == high => low,
            distance if distance.is_infinite() && low.is_finite() && high.is_finite() => {
                low * (1.0 - weight) + high * weight
            }
            distance => low + distance * weight,
        })
    }

    fn value_at(&self, values: &mut [f64], place: usize) -> f64 {
        let place = if self.is_descending { values.len() - 1 - place } else { place };
        *values.select_nth_unstable_by(place, f64::total_cmp).1
    }

    /// Values of percentiles in the type of the result.
    fn results(&self, values: Float64Array) -> Result<ArrayRef> {
        Ok(cast(&values, &self.result_type)?)
    }
}

/// The numbers that are there. NaN has no sign, so that it comes last.
fn numbers(values: &ArrayRef) -> Result<Float64Array> {
    let values = cast(values, &DataType::Float64)?;
    let values = values.as_primitive::<Float64Type>();
    Ok(values.unary(|number: f64| if number.is_nan() { f64::NAN } else { number }))
}

/// Lists of values, one for each group.
fn lists(groups: Vec<Vec<f64>>) -> Result<ArrayRef> {
    let lengths: Vec<usize> = groups.iter().map(Vec::len).collect();
    list_array(&lengths, Float64Array::from_iter_values(groups.into_iter().flatten()))
}

/// Lists of these lengths that share the values.
fn list_array(lengths: &[usize], values: Float64Array) -> Result<ArrayRef> {
    // Offsets of a list are 32 bits wide.
    if i32::try_from(values.len()).is_err() {
        return exec_err!("percentile_cont: {} values at once are too many", values.len());
    }
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(values), None)?))
}

/// All values of one group, or of the frame of a window.
#[derive(Debug)]
struct AllValues {
    values: Vec<f64>,
    is_distinct: bool,
    position: Position,
}

impl AllValues {
    /// The values that count.
    fn counted(&self) -> Vec<f64> {
        let mut values = self.values.clone();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup_by(|one, other| one == other || one.is_nan() && other.is_nan());
        values
    }
}

impl Accumulator for AllValues {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.extend(numbers(&values[0])?.iter().flatten());
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for values in states[0].as_list::<i32>().iter().flatten() {
            self.values.extend(numbers(&values)?.iter().flatten());
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut left = HashMap::<u64, usize>::new();
        for number in numbers(&values[0])?.iter().flatten() {
            *left.entry(number.to_bits()).or_default() += 1;
        }
        // Which of equal values leaves makes no difference.
        self.values.retain(|number| match left.get_mut(&number.to_bits()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // The values stay: frames of a window are asked again and again.
        let value = match self.is_distinct {
            true => self.position.value_of(&mut self.counted()),
            false => self.position.value_of(&mut self.values),
        };
        let result = self.position.results(Float64Array::from(vec![value]))?;
        ScalarValue::try_from_array(&result, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = match self.is_distinct {
            true => self.counted(),
            false => std::mem::take(&mut self.values),
        };
        Ok(vec![ScalarValue::try_from_array(&lists(vec![values])?, 0)?])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<f64>()
    }
}

/// The values of all groups.
#[derive(Debug)]
struct GroupValues {
    groups: Vec<Vec<f64>>,
    position: Position,
}

impl GroupsAccumulator for GroupValues {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        groups_len: usize,
    ) -> Result<()> {
        self.groups.resize(groups_len, Vec::new());
        let values = numbers(&values[0])?;
        for (row, group) in groups.iter().enumerate() {
            if values.is_valid(row) && is_kept(filter, row) {
                self.groups[*group].push(values.value(row));
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        groups_len: usize,
    ) -> Result<()> {
        self.groups.resize(groups_len, Vec::new());
        for (values, group) in values[0].as_list::<i32>().iter().zip(groups) {
            let Some(values) = values else { continue };
            self.groups[*group].extend(values.as_primitive::<Float64Type>().iter().flatten());
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let mut groups = emit.take_needed(&mut self.groups);
        let values = groups.iter_mut().map(|values| self.position.value_of(values));
        let values: Float64Array = values.collect();
        self.position.results(values)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![lists(emit.take_needed(&mut self.groups))?])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let values = numbers(&values[0])?;
        let rows = 0..values.len();
        let kept = rows.filter(|row| values.is_valid(*row) && is_kept(filter, *row));
        let kept: Vec<usize> = kept.collect();
        let mut lengths = vec![0; values.len()];
        kept.iter().for_each(|row| lengths[*row] = 1);
        let numbers = kept.into_iter().map(|row| values.value(row));
        Ok(vec![list_array(&lengths, Float64Array::from_iter_values(numbers))?])
    }

    fn size(&self) -> usize {
        let values: usize = self.groups.iter().map(Vec::capacity).sum();
        values * size_of::<f64>() + self.groups.capacity() * size_of::<Vec<f64>>()
    }
}

fn is_kept(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}
