//! Text on its way into a cast that takes digits alone for something unexpected.
//!
//! To the library `'11'` is a time of 11 nanoseconds, and an interval of 11 months; the literal
//! `INTERVAL '11'` is 11 seconds. Digits with an exponent, `'1.5e3'`, are not a decimal to it.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::Expr;
use tonnage::{ColumnType, Value};

use super::scalar::{Arguments, Gives, Scalar, ScalarWork, text_of};
use crate::interval::in_whole_units;

/// What precedes the digits of bytes.
pub(crate) const HEXADECIMAL: &str = r"\x";

const TIME: Scalar =
    of_text("_time_text", "CAST(text AS TIME)", |arguments| times(arguments, true));
const TRIED_TIME: Scalar =
    of_text("_tried_time_text", "TRY_CAST(text AS TIME)", |arguments| times(arguments, false));
const INTERVAL: Scalar = of_text("_interval_text", "CAST(text AS INTERVAL)", intervals);
const BYTES: Scalar = bytes_of("_bytes_text", "CAST(text AS BINARY)", |given| bytes(given, true));
const TRIED_BYTES: Scalar =
    bytes_of("_tried_bytes_text", "TRY_CAST(text AS BINARY)", |given| bytes(given, false));
const DECIMAL: Scalar = of_text("_decimal_text", "CAST(text AS NUMBER)", decimals);

const fn of_text(name: &'static str, form: &'static str, work: ScalarWork) -> Scalar {
    Scalar { name, form, count: (1, 1), gives: Gives::Type(|| DataType::Utf8), work }
}

const fn bytes_of(name: &'static str, form: &'static str, work: ScalarWork) -> Scalar {
    Scalar { name, form, count: (1, 1), gives: Gives::Type(|| DataType::Binary), work }
}

/// Text that is cast to bytes.
pub(crate) fn text_bytes(text: Expr, is_tried: bool) -> Expr {
    if is_tried { TRIED_BYTES.call(vec![text]) } else { BYTES.call(vec![text]) }
}

/// Text that is cast to a time.
pub(crate) fn time_text(text: Expr, is_tried: bool) -> Expr {
    if is_tried { TRIED_TIME.call(vec![text]) } else { TIME.call(vec![text]) }
}

/// Text that is cast to an interval.
pub(crate) fn interval_text(text: Expr) -> Expr {
    INTERVAL.call(vec![text])
}

/// Text that is cast to a decimal.
pub(crate) fn decimal_text(text: Expr) -> Expr {
    DECIMAL.call(vec![text])
}

/// Whether text is digits alone, with a sign and a point.
pub(crate) fn is_number(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let digits = text.trim().trim_start_matches(['-', '+']);
    digits.contains(is_digit) && digits.chars().all(|c| is_digit(c) || c == '.')
}

/// Whether the last second of a minute is its 61st, which no column holds.
pub(crate) fn is_leap(text: &str) -> bool {
    text.matches(':').count() == 2
        && text.rsplit(':').next().is_some_and(|second| second.starts_with("60"))
}

/// Numbers are not times.
fn times(arguments: &Arguments, is_asked: bool) -> Result<ArrayRef> {
    let texts = arguments.texts(0)?;
    arguments.map_text(|row| match text_of(&texts, row) {
        Some(text) if is_number(text) && is_asked => {
            exec_err!("'{text}' is not a time: write it as '09:30' or '09:30:15'")
        }
        Some(text) if is_leap(text) && is_asked => {
            exec_err!("'{text}' is not a time: seconds end at 59")
        }
        Some(text) if is_number(text) || is_leap(text) => Ok(None),
        text => Ok(text.map(str::to_owned)),
    })
}

/// Digits after `\x` are bytes, as PostgreSQL writes them. Other text is its own bytes.
fn bytes(arguments: &Arguments, is_asked: bool) -> Result<ArrayRef> {
    let texts = arguments.texts(0)?;
    let mut rows = BinaryBuilder::with_capacity(arguments.rows, texts.value_data().len());
    for row in 0..arguments.rows {
        match text_of(&texts, row) {
            Some(text) if text.starts_with(HEXADECIMAL) => {
                match Value::parse(text, ColumnType::Binary) {
                    Ok(Value::Binary(bytes)) => rows.append_value(bytes),
                    Err(error) if is_asked => return exec_err!("{}", error.message()),
                    _ => rows.append_null(),
                }
            }
            text => rows.append_option(text),
        }
    }
    Ok(Arc::new(rows.finish()))
}

/// Numbers are seconds.
fn intervals(arguments: &Arguments) -> Result<ArrayRef> {
    let texts = arguments.texts(0)?;
    let with_unit = |text: &str| match is_number(text) {
        true => format!("{} seconds", text.trim()),
        false => in_whole_units(text).unwrap_or_else(|| text.to_owned()),
    };
    arguments.map_text(|row| Ok(text_of(&texts, row).map(with_unit)))
}

/// Numbers with an exponent are written without one.
fn decimals(arguments: &Arguments) -> Result<ArrayRef> {
    let texts = arguments.texts(0)?;
    let has_exponent = |text: &str| text.contains(['e', 'E']);
    if !texts.iter().flatten().any(has_exponent) {
        return Ok(Arc::new(texts));
    }
    arguments.map_text(|row| {
        Ok(text_of(&texts, row).map(|text| {
            let written = text.split_once(['e', 'E']).and_then(|(digits, by)| shifted(digits, by));
            written.unwrap_or_else(|| text.to_owned())
        }))
    })
}

/// Digits with their point moved to the right.
fn shifted(number: &str, places: &str) -> Option<String> {
    /// More digits than a decimal has.
    const PLACES_MAX: i32 = 200;
    let number = number.trim_start();
    let digits = number.trim_start_matches(['-', '+']);
    let sign = &number[..number.len() - digits.len()];
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let places: i32 = places.trim_end().parse().ok()?;
    if sign.len() > 1
        || whole.len() + part.len() == 0
        || !are_digits(whole)
        || !are_digits(part)
        || places.abs() > PLACES_MAX
    {
        return None;
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let (whole_places, part_places) = (whole.len() as i32, part.len() as i32);
    let all =
        format!("{}{whole}{part}{}", zeros(-places - whole_places), zeros(places - part_places));
    let point = usize::try_from((whole_places + places).max(0)).ok()?;
    Some(format!("{sign}{}.{}", &all[..point], &all[point..]))
}

#[cfg(test)]
mod tests {
    use super::shifted;

    #[test]
    fn the_point_moves_by_the_exponent() {
        let moved = |number, places| shifted(number, places).unwrap();
        assert_eq!(moved("1", "2"), "100.");
        assert_eq!(moved("-1.5", "-3"), "-.0015");
        assert_eq!(moved("+12.34", "+1"), "+123.4");
        assert_eq!(moved("12.34", "-1"), "1.234");
        assert_eq!(moved(".5", "0"), ".5");
        assert_eq!(moved("12.34", "-2"), ".1234");
        assert_eq!(moved("12.34", "2"), "1234.");
        for (number, places) in [("", "1"), ("--1", "1"), ("1a", "1"), ("1", "x"), ("1", "900")] {
            assert!(shifted(number, places).is_none(), "{number}e{places}");
        }
    }
}
