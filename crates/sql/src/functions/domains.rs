//! Functions of numbers that have no value everywhere: an error outside of their domain, as in
//! PostgreSQL and DuckDB, and not NaN.
//!
//! NaN among the arguments is no such error: it gives NaN.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::Result;
use datafusion::functions::math;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use tonnage::Error;

use super::wrapped::wrapped;
use crate::errors::into_datafusion;

/// A function, what its arguments must be, and whether those of a row are something else.
struct Domain {
    function: fn() -> Arc<ScalarUDF>,
    told: &'static str,
    is_outside: fn(&[f64]) -> bool,
}

const fn domain(
    function: fn() -> Arc<ScalarUDF>,
    told: &'static str,
    is_outside: fn(&[f64]) -> bool,
) -> Domain {
    Domain { function, told, is_outside }
}

const LOGARITHM: &str = "a logarithm is of a number above zero";

const DOMAINS: [Domain; 10] = [
    domain(math::sqrt, "a square root is of a number of zero or more", |given| given[0] < 0.0),
    domain(math::ln, LOGARITHM, is_below_or_zero),
    domain(math::log, LOGARITHM, is_below_or_zero),
    domain(math::log2, LOGARITHM, is_below_or_zero),
    domain(math::log10, LOGARITHM, is_below_or_zero),
    domain(math::acos, "a cosine is from -1 to 1", |given| given[0].abs() > 1.0),
    domain(math::asin, "a sine is from -1 to 1", |given| given[0].abs() > 1.0),
    domain(math::acosh, "a hyperbolic cosine is 1 or more", |given| given[0] < 1.0),
    domain(math::atanh, "a hyperbolic tangent is from -1 to 1", |given| given[0].abs() > 1.0),
    domain(
        math::power,
        "a number below zero is raised to whole powers, and zero to none below it",
        |given| match given {
            [base, power] if *base < 0.0 => power.is_finite() && power.fract() != 0.0,
            [base, power] => *base == 0.0 && *power < 0.0,
            _ => false,
        },
    ),
];

fn is_below_or_zero(given: &[f64]) -> bool {
    given.iter().any(|value| *value <= 0.0)
}

/// The functions with a look at their arguments.
pub(super) fn functions() -> Vec<ScalarUDF> {
    let checked = |domain: &'static Domain| {
        wrapped((domain.function)(), |inner, arguments| checked_call(inner, arguments, domain))
    };
    DOMAINS.iter().map(checked).collect()
}

fn checked_call(
    inner: &ScalarUDF,
    arguments: ScalarFunctionArgs,
    domain: &Domain,
) -> Result<ColumnarValue> {
    // The function takes them.
    let (given, rows) = (arguments.args.clone(), arguments.number_rows);
    let result = inner.invoke_with_args(arguments);
    // Where all results are finite no argument was outside: only then are these looked at.
    let is_suspect = match &result {
        Ok(result) if result.data_type().is_floating() => {
            !doubles(result, rows)?.iter().flatten().all(f64::is_finite)
        }
        Ok(_) => false,
        Err(_) => true,
    };
    if is_suspect {
        let given = given.iter().map(|given| doubles(given, rows)).collect::<Result<Vec<_>>>()?;
        let outside = (0..rows).filter_map(|row| values_of(&given, row));
        if let Some(values) = outside.into_iter().find(|values| (domain.is_outside)(values)) {
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            let message = format!("{}({}): {}", inner.name(), shown.join(", "), domain.told);
            return Err(into_datafusion(Error::invalid(message)));
        }
    }
    result
}

/// The arguments of a row, unless one of them is NULL. Those that are the same in all rows have one
/// value.
fn values_of(given: &[Float64Array], row: usize) -> Option<Vec<f64>> {
    let value = |column: &Float64Array| {
        let row = if column.len() == 1 { 0 } else { row };
        column.is_valid(row).then(|| column.value(row))
    };
    given.iter().map(value).collect()
}

fn doubles(value: &ColumnarValue, rows: usize) -> Result<Float64Array> {
    let array = match value {
        ColumnarValue::Scalar(scalar) => scalar.to_array()?,
        ColumnarValue::Array(_) => value.to_array(rows)?,
    };
    Ok(cast(&array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
}
