//! Sums of whole numbers and decimals, exact or an error.
//!
//! The state is a decimal of 128 bits, in which no number of LONGs overflows, so that a sum whose
//! end fits is right whatever it was on its way.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Int64Array, PrimitiveArray};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{Accumulator, GroupsAccumulator};

use super::groups::{Fold, Groups};

/// The type of the state of a sum that is made here; nothing for the others.
pub(super) fn state_type(result: &DataType) -> Option<DataType> {
    match result {
        DataType::Int64 => Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0)),
        DataType::Decimal128(_, scale) => {
            Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, *scale))
        }
        _ => None,
    }
}

/// The sums of groups.
pub(super) fn groups(result: &DataType) -> Option<Box<dyn GroupsAccumulator>> {
    let state_type = state_type(result)?;
    Some(match result {
        DataType::Int64 => Box::new(Groups::<OfLongs>::new(state_type, result.clone())),
        _ => Box::new(Groups::<OfDecimals>::new(state_type, result.clone())),
    })
}

/// The sum of all.
pub(super) fn total(result: &DataType, is_distinct: bool) -> Option<Box<dyn Accumulator>> {
    let state_type = state_type(result)?;
    let seen = is_distinct.then(HashMap::new);
    Some(Box::new(Total { sum: 0, count: 0, seen, state_type, result_type: result.clone() }))
}

struct OfLongs;
struct OfDecimals;

impl Fold for OfLongs {
    type Input = Int64Type;
    type State = Decimal128Type;

    fn first(number: i64) -> i128 {
        number.into()
    }

    fn both(one: i128, other: i128) -> Result<i128> {
        added(one, other)
    }

    fn finish(states: PrimitiveArray<Decimal128Type>, _: &DataType) -> Result<ArrayRef> {
        let sums = states.iter().map(|sum| sum.map(long).transpose());
        Ok(Arc::new(sums.collect::<Result<Int64Array>>()?))
    }
}

impl Fold for OfDecimals {
    type Input = Decimal128Type;
    type State = Decimal128Type;

    fn first(number: i128) -> i128 {
        number
    }

    fn both(one: i128, other: i128) -> Result<i128> {
        added(one, other)
    }

    fn finish(states: PrimitiveArray<Decimal128Type>, result: &DataType) -> Result<ArrayRef> {
        states.iter().flatten().try_for_each(held)?;
        Ok(Arc::new(states.with_data_type(result.clone())))
    }
}

fn added(one: i128, other: i128) -> Result<i128> {
    one.checked_add(other)
        .map_or_else(|| exec_err!("sum is out of range: a decimal has 38 digits at most"), Ok)
}

fn long(sum: i128) -> Result<i64> {
    let fits = i64::try_from(sum);
    fits.or_else(|_| {
        exec_err!("sum is out of range for LONG: {sum}; sum CAST(x AS DECIMAL(38, 0)) instead")
    })
}

fn held(sum: i128) -> Result<()> {
    if sum.unsigned_abs() < 10_u128.pow(DECIMAL128_MAX_PRECISION.into()) {
        return Ok(());
    }
    exec_err!("sum is out of range: a decimal has 38 digits at most")
}

/// One sum, from which numbers may be taken again as a window moves on.
#[derive(Debug)]
struct Total {
    sum: i128,
    /// How many numbers it is the sum of.
    count: u64,
    /// For a sum of different numbers how often each came.
    seen: Option<HashMap<i128, u64>>,
    state_type: DataType,
    result_type: DataType,
}

impl Total {
    fn add(&mut self, number: i128) -> Result<()> {
        if let Some(seen) = &mut self.seen {
            let times = seen.entry(number).or_default();
            *times += 1;
            if *times > 1 {
                return Ok(());
            }
        }
        self.sum = added(self.sum, number)?;
        self.count += 1;
        Ok(())
    }

    fn take(&mut self, number: i128) -> Result<()> {
        if let Some(seen) = &mut self.seen
            && let Some(times) = seen.get_mut(&number)
        {
            *times -= 1;
            if *times > 0 {
                return Ok(());
            }
            seen.remove(&number);
        }
        self.sum = added(self.sum, -number)?;
        self.count -= 1;
        Ok(())
    }

    fn each(values: &ArrayRef, mut visit: impl FnMut(i128) -> Result<()>) -> Result<()> {
        match values.data_type() {
            DataType::Int64 => values
                .as_primitive::<Int64Type>()
                .iter()
                .flatten()
                .try_for_each(|number| visit(number.into())),
            _ => values.as_primitive::<Decimal128Type>().iter().flatten().try_for_each(visit),
        }
    }

    fn decimals(&self, numbers: impl Iterator<Item = i128>) -> ArrayRef {
        Arc::new(Decimal128Array::from_iter_values(numbers).with_data_type(self.state_type.clone()))
    }
}

impl Accumulator for Total {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Self::each(&values[0], |number| self.add(number))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        if self.seen.is_none() {
            return self.update_batch(states);
        }
        states[0]
            .as_list::<i32>()
            .iter()
            .flatten()
            .try_for_each(|numbers| Self::each(&numbers, |number| self.add(number)))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Self::each(&values[0], |number| self.take(number))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.count == 0 {
            return ScalarValue::try_from(&self.result_type);
        }
        Ok(match self.result_type {
            DataType::Decimal128(precision, scale) => {
                held(self.sum)?;
                ScalarValue::Decimal128(Some(self.sum), precision, scale)
            }
            _ => ScalarValue::Int64(Some(long(self.sum)?)),
        })
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let Some(seen) = &self.seen else {
            let sum = (self.count > 0).then_some(self.sum);
            let DataType::Decimal128(precision, scale) = self.state_type else {
                return exec_err!("a sum is kept as a decimal");
            };
            return Ok(vec![ScalarValue::Decimal128(sum, precision, scale)]);
        };
        let numbers = self.decimals(seen.keys().copied());
        Ok(vec![ScalarValue::List(Arc::new(
            datafusion::common::utils::SingleRowListArrayBuilder::new(numbers).build_list_array(),
        ))])
    }

    fn size(&self) -> usize {
        let seen = self.seen.as_ref().map_or(0, |seen| seen.capacity() * size_of::<(i128, u64)>());
        size_of_val(self) + seen
    }
}
