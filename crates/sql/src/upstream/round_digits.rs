//! `round` of the library, for more digits than a double has.
//!
//! Upstream: no issue known: docs/upstream/round-to-many-digits.md. Gone in: open
//!
//! It takes the number times a power of ten, which may be infinite: `round(42.1, 400)` was NaN.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::math;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use crate::functions::wrapped;

pub(crate) fn function() -> ScalarUDF {
    wrapped(math::round(), rounded)
}

fn rounded(inner: &ScalarUDF, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
    let given = arguments.args.clone();
    let rows = arguments.number_rows;
    let rounded = inner.invoke_with_args(arguments)?;
    let [value, digits] = given.as_slice() else { return Ok(rounded) };
    if !rounded.data_type().is_floating() {
        return Ok(rounded);
    }
    match rounded {
        ColumnarValue::Array(array) => {
            finite(&array, &value.to_array(rows)?, &digits.to_array(rows)?)
                .map(ColumnarValue::Array)
        }
        ColumnarValue::Scalar(scalar) => {
            let array = finite(&scalar.to_array()?, &value.to_array(1)?, &digits.to_array(1)?)?;
            ScalarValue::try_from_array(&array, 0).map(ColumnarValue::Scalar)
        }
    }
}

/// The rounded numbers. Where one is not finite though its number is, that has fewer digits than
/// were asked for, or none before them.
fn finite(rounded: &ArrayRef, values: &ArrayRef, digits: &ArrayRef) -> Result<ArrayRef> {
    let doubles = cast(rounded, &DataType::Float64)?;
    let doubles = doubles.as_primitive::<Float64Type>();
    if doubles.iter().flatten().all(f64::is_finite) {
        return Ok(rounded.clone());
    }
    let values = cast(values, &DataType::Float64)?;
    let values = values.as_primitive::<Float64Type>();
    let digits = cast(digits, &DataType::Int64)?;
    let digits = digits.as_primitive::<Int64Type>();
    let settled = (0..doubles.len()).map(|row| {
        let is_odd = doubles.is_valid(row) && !doubles.value(row).is_finite();
        doubles.is_valid(row).then(|| match is_odd && values.value(row).is_finite() {
            true if digits.value(row) > 0 => values.value(row),
            true => 0.0,
            false => doubles.value(row),
        })
    });
    Ok(cast(&settled.collect::<Float64Array>(), rounded.data_type())?)
}
