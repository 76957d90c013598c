//! Sums of whole numbers and decimals, exact or an error.
//!
//! The state is a decimal of 128 bits, in which no number of LONGs overflows, so that a sum whose
//! end fits is right whatever it was on its way. That of longer decimals has 256 bits.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, AsArray, Int64Array, PrimitiveArray};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type,
    DecimalType, Int64Type,
};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{Accumulator, GroupsAccumulator};

use super::groups::{GroupFold, GroupStates};

/// The type of the state of a sum that is computed here; nothing for the others.
pub(super) fn state_type(result: &DataType) -> Option<DataType> {
    match result {
        DataType::Int64 => Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0)),
        DataType::Decimal128(_, scale) => {
            Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, *scale))
        }
        DataType::Decimal256(_, scale) => {
            Some(DataType::Decimal256(DECIMAL256_MAX_PRECISION, *scale))
        }
        _ => None,
    }
}

/// The sums of groups.
pub(super) fn groups(result: &DataType) -> Option<Box<dyn GroupsAccumulator>> {
    let state_type = state_type(result)?;
    Some(match result {
        DataType::Int64 => Box::new(GroupStates::<LongSums>::new(state_type, result.clone())),
        DataType::Decimal256(..) => {
            Box::new(GroupStates::<DecimalSums<Decimal256Type>>::new(state_type, result.clone()))
        }
        _ => Box::new(GroupStates::<DecimalSums<Decimal128Type>>::new(state_type, result.clone())),
    })
}

/// The sum of all.
pub(super) fn total(result: &DataType, is_distinct: bool) -> Option<Box<dyn Accumulator>> {
    let state_type = state_type(result)?;
    Some(match result {
        DataType::Decimal256(..) => Box::new(SumAccumulator {
            sum: RunningSum::<Decimal256Type>::new(state_type, is_distinct),
            result_type: result.clone(),
        }),
        _ => Box::new(SumAccumulator {
            sum: RunningSum::<Decimal128Type>::new(state_type, is_distinct),
            result_type: result.clone(),
        }),
    })
}

/// Decimals that sums are kept in.
pub(crate) trait SumDecimal: DecimalType + Debug {
    /// The same number as a key of a map.
    type Key: Copy + Debug + Eq + Hash + Send + Sync;

    fn key(number: Self::Native) -> Self::Key;
    fn number(key: Self::Key) -> Self::Native;
    /// A whole number.
    fn whole(number: i64) -> Self::Native;
}

macro_rules! summed {
    ($type:ty, $native:ty) => {
        impl SumDecimal for $type {
            type Key = $native;

            fn key(number: $native) -> $native {
                number
            }

            fn number(key: $native) -> $native {
                key
            }

            fn whole(number: i64) -> $native {
                number.into()
            }
        }
    };
}

summed!(Decimal128Type, i128);
summed!(Decimal256Type, arrow::datatypes::i256);

struct LongSums;
struct DecimalSums<T>(std::marker::PhantomData<T>);

impl GroupFold for LongSums {
    type Input = Int64Type;
    type State = Decimal128Type;

    fn first(number: i64) -> i128 {
        number.into()
    }

    fn combine(one: i128, other: i128) -> Result<i128> {
        added::<Decimal128Type>(one, other)
    }

    fn finish(states: PrimitiveArray<Decimal128Type>, _: &DataType) -> Result<ArrayRef> {
        let sums = states.iter().map(|sum| sum.map(to_long).transpose());
        Ok(Arc::new(sums.collect::<Result<Int64Array>>()?))
    }
}

impl<T: SumDecimal + Send + 'static> GroupFold for DecimalSums<T> {
    type Input = T;
    type State = T;

    fn first(number: T::Native) -> T::Native {
        number
    }

    fn combine(one: T::Native, other: T::Native) -> Result<T::Native> {
        added::<T>(one, other)
    }

    fn finish(states: PrimitiveArray<T>, result: &DataType) -> Result<ArrayRef> {
        states.iter().flatten().try_for_each(check_precision::<T>)?;
        Ok(Arc::new(states.with_data_type(result.clone())))
    }
}

fn added<T: DecimalType>(one: T::Native, other: T::Native) -> Result<T::Native> {
    one.add_checked(other).or_else(|_| too_long::<T, _>())
}

fn check_precision<T: DecimalType>(sum: T::Native) -> Result<()> {
    T::validate_decimal_precision(sum, T::MAX_PRECISION, 0).or_else(|_| too_long::<T, _>())
}

#[cold]
fn too_long<T: DecimalType, S>() -> Result<S> {
    match T::MAX_PRECISION {
        DECIMAL256_MAX_PRECISION => {
            exec_err!(
                "sum is out of range: a decimal has {DECIMAL256_MAX_PRECISION} digits at most"
            )
        }
        most => exec_err!(
            "sum is out of range: it has more than {most} digits; sum CAST(x AS NUMBER(76, s)) instead, with the scale of x"
        ),
    }
}

fn to_long(sum: i128) -> Result<i64> {
    let fits = i64::try_from(sum);
    fits.or_else(|_| {
        exec_err!("sum is out of range for LONG: {sum}; sum CAST(x AS DECIMAL(38, 0)) instead")
    })
}

/// One sum, from which numbers may be taken again as a window moves on.
#[derive(Debug)]
pub(crate) struct RunningSum<T: SumDecimal> {
    pub(crate) sum: T::Native,
    /// How many numbers it is the sum of.
    pub(crate) count: u64,
    /// For a sum of different numbers how often each came.
    seen: Option<HashMap<T::Key, u64>>,
    state_type: DataType,
}

impl<T: SumDecimal> RunningSum<T> {
    pub(crate) fn new(state_type: DataType, is_distinct: bool) -> Self {
        let seen = is_distinct.then(HashMap::new);
        Self { sum: T::Native::default(), count: 0, seen, state_type }
    }

    fn add(&mut self, number: T::Native) -> Result<()> {
        if let Some(seen) = &mut self.seen {
            let times = seen.entry(T::key(number)).or_default();
            *times += 1;
            if *times > 1 {
                return Ok(());
            }
        }
        self.sum = added::<T>(self.sum, number)?;
        self.count += 1;
        Ok(())
    }

    fn take(&mut self, number: T::Native) -> Result<()> {
        if let Some(seen) = &mut self.seen
            && let Some(times) = seen.get_mut(&T::key(number))
        {
            *times -= 1;
            if *times > 0 {
                return Ok(());
            }
            seen.remove(&T::key(number));
        }
        self.sum = self.sum.sub_checked(number).or_else(|_| too_long::<T, _>())?;
        self.count -= 1;
        Ok(())
    }

    fn each(values: &ArrayRef, mut visit: impl FnMut(T::Native) -> Result<()>) -> Result<()> {
        match values.data_type() {
            DataType::Int64 => values
                .as_primitive::<Int64Type>()
                .iter()
                .flatten()
                .try_for_each(|number| visit(T::whole(number))),
            _ => values.as_primitive::<T>().iter().flatten().try_for_each(visit),
        }
    }

    pub(crate) fn add_all(&mut self, values: &ArrayRef) -> Result<()> {
        Self::each(values, |number| self.add(number))
    }

    pub(crate) fn take_all(&mut self, values: &ArrayRef) -> Result<()> {
        Self::each(values, |number| self.take(number))
    }

    /// Adds lists of different numbers.
    pub(crate) fn add_lists(&mut self, lists: &ArrayRef) -> Result<()> {
        let lists = lists.as_list::<i32>();
        lists.iter().flatten().try_for_each(|numbers| self.add_all(&numbers))
    }

    /// The different numbers as a list; nothing for a sum of all.
    pub(crate) fn list(&self) -> Option<ScalarValue> {
        let seen = self.seen.as_ref()?;
        let numbers = PrimitiveArray::<T>::from_iter_values(seen.keys().map(|key| T::number(*key)));
        let numbers: ArrayRef = Arc::new(numbers.with_data_type(self.state_type.clone()));
        Some(ScalarValue::List(Arc::new(
            datafusion::common::utils::SingleRowListArrayBuilder::new(numbers).build_list_array(),
        )))
    }

    /// The sum as it is handed on; NULL for a sum of no number.
    pub(crate) fn partial(&self) -> Result<ScalarValue> {
        scalar::<T>((self.count > 0).then_some(self.sum), &self.state_type)
    }

    pub(crate) fn size(&self) -> usize {
        self.seen.as_ref().map_or(0, |seen| seen.capacity() * size_of::<(T::Key, u64)>())
    }
}

/// A decimal as a value of a type.
pub(crate) fn scalar<T: DecimalType>(
    number: Option<T::Native>,
    data_type: &DataType,
) -> Result<ScalarValue> {
    let array = PrimitiveArray::<T>::from_iter([number]).with_data_type(data_type.clone());
    ScalarValue::try_from_array(&array, 0)
}

#[derive(Debug)]
struct SumAccumulator<T: SumDecimal> {
    sum: RunningSum<T>,
    result_type: DataType,
}

impl<T: SumDecimal> Accumulator for SumAccumulator<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.add_all(&values[0])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        match self.sum.seen {
            None => self.update_batch(states),
            Some(_) => self.sum.add_lists(&states[0]),
        }
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.take_all(&values[0])
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let RunningSum { sum, count, .. } = self.sum;
        if count == 0 {
            return ScalarValue::try_from(&self.result_type);
        }
        if self.result_type != DataType::Int64 {
            check_precision::<T>(sum)?;
            return scalar::<T>(Some(sum), &self.result_type);
        }
        match scalar::<T>(Some(sum), &self.sum.state_type)? {
            ScalarValue::Decimal128(Some(sum), ..) => Ok(ScalarValue::Int64(Some(to_long(sum)?))),
            _ => exec_err!("a sum of whole numbers is kept in 128 bits"),
        }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.sum.list().map_or_else(|| self.sum.partial(), Ok)?])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sum.size()
    }
}
