//! The least and the greatest of doubles: by their total order, in which NaN is the greatest, as in
//! ORDER BY.

use std::sync::Arc;

use arrow::array::{ArrayRef, PrimitiveArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::Result;
use datafusion::logical_expr::GroupsAccumulator;

use super::groups::{Fold, Groups};

/// The accumulator of a column of doubles or floats; for others the library's is right.
pub(super) fn groups(is_max: bool, data_type: &DataType) -> Option<Box<dyn GroupsAccumulator>> {
    macro_rules! of {
        ($fold:ty) => {
            Some(Box::new(Groups::<$fold>::new(data_type.clone(), data_type.clone())))
        };
    }
    match (is_max, data_type) {
        (false, DataType::Float32) => of!(Least<Float32Type>),
        (false, DataType::Float64) => of!(Least<Float64Type>),
        (true, DataType::Float32) => of!(Greatest<Float32Type>),
        (true, DataType::Float64) => of!(Greatest<Float64Type>),
        _ => None,
    }
}

struct Least<T>(std::marker::PhantomData<T>);
struct Greatest<T>(std::marker::PhantomData<T>);

macro_rules! fold {
    ($name:ident, $type:ty, $native:ty, $taken:pat) => {
        impl Fold for $name<$type> {
            type Input = $type;
            type State = $type;

            fn first(number: $native) -> $native {
                number
            }

            fn both(one: $native, other: $native) -> Result<$native> {
                Ok(if matches!(other.total_cmp(&one), $taken) { other } else { one })
            }

            fn finish(states: PrimitiveArray<$type>, _: &DataType) -> Result<ArrayRef> {
                Ok(Arc::new(states))
            }
        }
    };
}

fold!(Least, Float32Type, f32, std::cmp::Ordering::Less);
fold!(Least, Float64Type, f64, std::cmp::Ordering::Less);
fold!(Greatest, Float32Type, f32, std::cmp::Ordering::Greater);
fold!(Greatest, Float64Type, f64, std::cmp::Ordering::Greater);
