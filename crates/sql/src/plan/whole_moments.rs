//! `_moment_down` and `_moment_up`: a timestamp rounded to a coarser unit, to the last one that is
//! not after it, or to the first one that is not before it.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// How many of a unit a second has.
pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// A timestamp in another unit, rounded up or down.
pub(super) fn round_moment(moment: Expr, unit: TimeUnit, is_up: bool) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let func = ScalarUDF::new_from_impl(WholeMoment { unit, is_up, signature });
    Expr::ScalarFunction(ScalarFunction { func: Arc::new(func), args: vec![moment] })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct WholeMoment {
    unit: TimeUnit,
    is_up: bool,
    signature: Signature,
}

impl ScalarUDFImpl for WholeMoment {
    fn name(&self) -> &str {
        if self.is_up { "_moment_up" } else { "_moment_down" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::Timestamp(_, zone)] => Ok(DataType::Timestamp(self.unit, zone.clone())),
            _ => exec_err!("{} takes a timestamp", self.name()),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = arguments.args[0].to_array(arguments.number_rows)?;
        let DataType::Timestamp(unit, zone) = array.data_type() else {
            return exec_err!("{} takes a timestamp", self.name());
        };
        let (given, wanted) = (per_second(*unit), per_second(self.unit));
        let counts = cast(&array, &DataType::Int64)?;
        let counts = counts.as_primitive::<Int64Type>();
        let rounded = |count: i64| match given / wanted {
            // Into a finer unit: what is outside of it is before or after all that it holds.
            0 | 1 => Some(count.saturating_mul(wanted / given)),
            step if self.is_up => Some(-(-count).div_euclid(step)),
            step => Some(count.div_euclid(step)),
        };
        let counts: Int64Array = counts.iter().map(|count| count.and_then(rounded)).collect();
        let counts: ArrayRef = Arc::new(counts);
        let moments = cast(&counts, &DataType::Timestamp(self.unit, zone.clone()))?;
        Ok(ColumnarValue::Array(moments))
    }
}
