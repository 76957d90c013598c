//! `lpad`, `rpad`, `repeat`, `array_repeat` and `array_resize` of the library, for lengths that it
//! does not bear.
//!
//! It asks for the memory of all rows of a batch at once, whether it is there or not. In a column
//! `lpad` and `rpad` take no length below zero: it becomes zero here.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::compute::kernels::length::length;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::functions::{string, unicode};
use datafusion::functions_nested::{repeat::array_repeat_udf, resize::array_resize_udf};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use super::wrapped::wrapped;

/// What the texts or lists of one batch may have.
const BYTES_MAX: i64 = 512 << 20;
/// What an item of a list takes at least, with the number that it is taken by.
const ITEM_BYTES: i64 = 16;

pub(super) fn functions() -> [ScalarUDF; 5] {
    [
        wrapped(unicode::lpad(), padded),
        wrapped(unicode::rpad(), padded),
        wrapped(string::repeat(), |inner, arguments| {
            lengthened(inner, arguments, LengthUnit::Text)
        }),
        wrapped(array_repeat_udf(), of_items),
        wrapped(array_resize_udf(), of_items),
    ]
}

/// What the second argument is a number of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LengthUnit {
    Letter,
    Text,
    Item,
}

fn padded(inner: &ScalarUDF, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
    lengthened(inner, arguments, LengthUnit::Letter)
}

fn of_items(inner: &ScalarUDF, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
    lengthened(inner, arguments, LengthUnit::Item)
}

fn lengthened(
    inner: &ScalarUDF,
    mut arguments: ScalarFunctionArgs,
    unit: LengthUnit,
) -> Result<ColumnarValue> {
    let rows = arguments.number_rows;
    let values = arguments.args[0].to_array(rows)?;
    let counts = cast(&arguments.args[1].to_array(rows)?, &DataType::Int64)?;
    let counts = counts.as_primitive::<Int64Type>();
    let bytes = bytes_of(&values, counts, unit)?;
    if bytes > BYTES_MAX {
        return exec_err!(
            "{}: this is too long: {bytes} bytes at once, of {BYTES_MAX} at most",
            inner.name()
        );
    }
    if unit == LengthUnit::Letter && matches!(arguments.args[1], ColumnarValue::Array(_)) {
        let counts: Int64Array = counts.unary(|count| count.max(0));
        arguments.args[1] = ColumnarValue::Array(Arc::new(counts));
    }
    inner.invoke_with_args(arguments)
}

/// How many bytes all rows have together.
fn bytes_of(values: &ArrayRef, counts: &Int64Array, unit: LengthUnit) -> Result<i64> {
    let lengths = match unit {
        LengthUnit::Text => Some(cast(&length(values)?, &DataType::Int64)?),
        LengthUnit::Letter | LengthUnit::Item => None,
    };
    let lengths = lengths.as_ref().map(|lengths| lengths.as_primitive::<Int64Type>());
    let is_counted =
        |row: &usize| counts.is_valid(*row) && (unit == LengthUnit::Item || values.is_valid(*row));
    let rows = (0..counts.len()).filter(is_counted);
    Ok(rows.fold(0_i64, |bytes, row| {
        let each = match (unit, lengths) {
            (LengthUnit::Text, Some(lengths)) => lengths.value(row),
            (LengthUnit::Item, _) => ITEM_BYTES,
            _ => 1,
        };
        bytes.saturating_add(counts.value(row).max(0).saturating_mul(each))
    }))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Field;
    use datafusion::common::ScalarValue;
    use datafusion::common::config::ConfigOptions;
    use datafusion::logical_expr::{Volatility, create_udf};

    use super::*;

    /// In the place of the library's function stands one that gives back the lengths that it gets.
    #[test]
    fn lengths_below_zero_in_a_column_are_zero() {
        let (text, length) = (DataType::Utf8, DataType::Int64);
        let inner = create_udf(
            "inner",
            vec![text.clone(), length.clone()],
            length.clone(),
            Volatility::Immutable,
            Arc::new(|arguments: &[ColumnarValue]| Ok(arguments[1].clone())),
        );
        let lengths: ArrayRef = Arc::new(Int64Array::from(vec![Some(-1), Some(2), None]));
        let field = |data_type| Arc::new(Field::new("f", data_type, true));
        let arguments = ScalarFunctionArgs {
            args: vec![
                ColumnarValue::Scalar(ScalarValue::from("x")),
                ColumnarValue::Array(lengths),
            ],
            arg_fields: vec![field(text), field(length.clone())],
            number_rows: 3,
            return_field: field(length),
            config_options: Arc::new(ConfigOptions::default()),
        };
        let given = padded(&inner, arguments).unwrap().to_array(3).unwrap();
        let given = given.as_primitive::<Int64Type>();
        assert_eq!(given, &Int64Array::from(vec![Some(0), Some(2), None]));
    }
}
