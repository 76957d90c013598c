//! `min` and `max` of doubles by group, in their total order: NaN is the greatest, as in ORDER BY.
//!
//! Upstream: apache/datafusion#13415, #24432. Gone in: 56

use std::sync::Arc;

use arrow::array::{ArrayRef, PrimitiveArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::Result;
use datafusion::logical_expr::GroupsAccumulator;

use crate::aggregate::{GroupFold, GroupStates};

/// The accumulator of a column of doubles or floats; for others the library's is right.
pub(crate) fn groups(is_max: bool, data_type: &DataType) -> Option<Box<dyn GroupsAccumulator>> {
    macro_rules! of {
        ($fold:ty) => {
            Some(Box::new(GroupStates::<$fold>::new(data_type.clone(), data_type.clone())))
        };
    }
    match (is_max, data_type) {
        (false, DataType::Float32) => of!(LeastDoubles<Float32Type>),
        (false, DataType::Float64) => of!(LeastDoubles<Float64Type>),
        (true, DataType::Float32) => of!(GreatestDoubles<Float32Type>),
        (true, DataType::Float64) => of!(GreatestDoubles<Float64Type>),
        _ => None,
    }
}

struct LeastDoubles<T>(std::marker::PhantomData<T>);
struct GreatestDoubles<T>(std::marker::PhantomData<T>);

macro_rules! fold {
    ($name:ident, $type:ty, $native:ty, $taken:pat) => {
        impl GroupFold for $name<$type> {
            type Input = $type;
            type State = $type;

            fn first(number: $native) -> $native {
                number
            }

            fn combine(one: $native, other: $native) -> Result<$native> {
                Ok(if matches!(other.total_cmp(&one), $taken) { other } else { one })
            }

            fn finish(states: PrimitiveArray<$type>, _: &DataType) -> Result<ArrayRef> {
                Ok(Arc::new(states))
            }
        }
    };
}

fold!(LeastDoubles, Float32Type, f32, std::cmp::Ordering::Less);
fold!(LeastDoubles, Float64Type, f64, std::cmp::Ordering::Less);
fold!(GreatestDoubles, Float32Type, f32, std::cmp::Ordering::Greater);
fold!(GreatestDoubles, Float64Type, f64, std::cmp::Ordering::Greater);
