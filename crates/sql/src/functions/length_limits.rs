//! Functions of the library that make long texts and lists of short ones, kept below the memory of
//! statements.
//!
//! The library asks for the memory of all rows of a batch at once, whether it is there or not. So
//! the result of a call is measured before it is built. In a column `lpad` and `rpad` take no
//! length below zero: it becomes zero here.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::functions::{core, regex, string, unicode};
use datafusion::functions_nested::range::{gen_series_udf, range_udf};
use datafusion::functions_nested::repeat::array_repeat_udf;
use datafusion::functions_nested::resize::array_resize_udf;
use datafusion::functions_nested::string::array_to_string_udf;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use super::given_columns::GivenColumns;
use super::list_lengths::{items_of_ranges, texts_of_lists};
use super::replacements::{by_pattern, by_text};
use super::wrapped::wrapped;

/// What the texts or lists of one batch may have, however much memory there is: more do not fit
/// into one array.
const BYTES_MAX: usize = 512 << 20;
/// What an item of a list takes at least, with the number that it is taken by.
const ITEM_BYTES: i64 = 16;

/// How many bytes all rows of a result have together, at most.
type Measure = fn(&GivenColumns) -> Result<i64>;

/// The functions for statements that may take so much memory: one call takes half of it at most.
pub(super) fn functions(memory_bytes_max: usize) -> Vec<ScalarUDF> {
    let bytes_max = BYTES_MAX.min(memory_bytes_max / 2);
    vec![
        padded(unicode::lpad(), bytes_max),
        padded(unicode::rpad(), bytes_max),
        limited(string::repeat(), repeated_texts, bytes_max),
        limited(array_repeat_udf(), |given| items(given, 0), bytes_max),
        limited(array_resize_udf(), |given| items(given, 2), bytes_max),
        limited(string::replace(), by_text, bytes_max),
        limited(regex::regexp_replace(), by_pattern, bytes_max),
        limited(string::concat(), |given| Ok(joined_texts(given, 1)), bytes_max),
        limited(
            string::concat_ws(),
            |given| Ok(joined_texts(given, given.len() as i64)),
            bytes_max,
        ),
        limited(core::overlay(), |given| Ok(joined_texts(given, 1)), bytes_max),
        limited(range_udf(), items_of_ranges, bytes_max),
        limited(gen_series_udf(), items_of_ranges, bytes_max),
        limited(array_to_string_udf(), texts_of_lists, bytes_max),
    ]
}

fn limited(inner: Arc<ScalarUDF>, measure: Measure, bytes_max: usize) -> ScalarUDF {
    wrapped(inner, move |inner, arguments| checked_call(inner, arguments, measure, bytes_max))
}

fn padded(inner: Arc<ScalarUDF>, bytes_max: usize) -> ScalarUDF {
    wrapped(inner, move |inner, arguments| {
        checked_call(inner, without_negative_lengths(arguments)?, letters, bytes_max)
    })
}

fn checked_call(
    inner: &ScalarUDF,
    arguments: ScalarFunctionArgs,
    measure: Measure,
    bytes_max: usize,
) -> Result<ColumnarValue> {
    let bytes = measure(&GivenColumns::new(&arguments)?)?;
    if usize::try_from(bytes).is_ok_and(|bytes| bytes <= bytes_max) {
        return inner.invoke_with_args(arguments);
    }
    exec_err!("{}: this is too long: {bytes} bytes at once, of {bytes_max} at most", inner.name())
}

/// Lengths below zero as nothing.
fn without_negative_lengths(mut arguments: ScalarFunctionArgs) -> Result<ScalarFunctionArgs> {
    if let Some(ColumnarValue::Array(counts)) = arguments.args.get(1) {
        let counts = cast(counts, &DataType::Int64)?;
        let counts: Int64Array = counts.as_primitive::<Int64Type>().unary(|count| count.max(0));
        arguments.args[1] = ColumnarValue::Array(Arc::new(counts));
    }
    Ok(arguments)
}

/// Texts of so many letters.
fn letters(given: &GivenColumns) -> Result<i64> {
    let counts = given.numbers(1)?;
    Ok(given.sum(|row| counts.value(given.index(1, row)).max(0)))
}

fn repeated_texts(given: &GivenColumns) -> Result<i64> {
    let (texts, counts) = (given.texts(0)?, given.numbers(1)?);
    Ok(given.sum(|row| {
        let length = texts.value(given.index(0, row)).len() as i64;
        length.saturating_mul(counts.value(given.index(1, row)).max(0))
    }))
}

/// Lists of so many items: the value itself for `array_repeat`, the third one for `array_resize`.
fn items(given: &GivenColumns, item: usize) -> Result<i64> {
    let counts = given.numbers(1)?;
    let is_there = |row: &usize| counts.is_valid(given.index(1, *row));
    Ok((0..given.rows).filter(is_there).fold(0, |sum: i64, row| {
        let own = if item < given.len() { given.bytes_of(item, row) } else { 0 };
        let count = counts.value(given.index(1, row)).max(0);
        sum.saturating_add(count.saturating_mul(own.saturating_add(ITEM_BYTES)))
    }))
}

/// Texts one after the other, the first of them so many times.
fn joined_texts(given: &GivenColumns, first_times: i64) -> i64 {
    let mut bytes = 0_i64;
    for place in 0..given.len() {
        // What is not text is short.
        let Ok(texts) = given.texts(place) else { continue };
        let times = if place == 0 { first_times } else { 1 };
        let each = (0..given.rows).map(|row| texts.value_length(given.index(place, row)));
        let all = each.fold(0_i64, |sum, length| sum.saturating_add(i64::from(length)));
        bytes = bytes.saturating_add(all.saturating_mul(times));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use arrow::array::ArrayRef;
    use arrow::datatypes::Field;
    use datafusion::common::config::ConfigOptions;

    use super::*;

    #[test]
    fn lengths_below_zero_in_a_column_are_zero() {
        let lengths: ArrayRef = Arc::new(Int64Array::from(vec![Some(-1), Some(2), None]));
        let texts: ArrayRef = Arc::new(arrow::array::StringArray::from(vec!["x"; 3]));
        let field = |data_type| Arc::new(Field::new("f", data_type, true));
        let arguments = ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(texts), ColumnarValue::Array(lengths)],
            arg_fields: vec![field(DataType::Utf8), field(DataType::Int64)],
            number_rows: 3,
            return_field: field(DataType::Utf8),
            config_options: Arc::new(ConfigOptions::default()),
        };
        let given = without_negative_lengths(arguments).unwrap().args.remove(1);
        let expected: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(2), None]));
        assert_eq!(&given.to_array(3).unwrap(), &expected);
    }
}
