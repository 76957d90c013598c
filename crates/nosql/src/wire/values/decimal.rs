//! Decimal numbers as text.

use bigdecimal::BigDecimal;
use tonnage::Value;

/// How far after the point plain digits reach.
const PLAIN_EXPONENT_MIN: i64 = -6;

/// A decimal number as the SDKs write it: without zeros at its end, with an exponent where it would
/// need zeros before the point or many after it.
pub(crate) fn decimal_text(number: &Value) -> Option<String> {
    let (unscaled, scale) = number.as_number()?;
    Some(scaled_text(&unscaled.to_string(), scale.into()))
}

/// The same for a number of any digits.
pub(crate) fn decimal_digits_text(number: &BigDecimal) -> String {
    let (unscaled, scale) = number.as_bigint_and_exponent();
    scaled_text(&unscaled.to_string(), scale)
}

fn scaled_text(text: &str, scale: i64) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return "0".to_owned();
    }
    let scale = scale - (digits.len() - kept.len()) as i64;
    format!("{sign}{}", placed(kept, scale))
}

/// Digits of which `scale` follow the point.
fn placed(digits: &str, scale: i64) -> String {
    let exponent = digits.len() as i64 - 1 - scale;
    if scale < 0 || exponent < PLAIN_EXPONENT_MIN {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{first}{point}{rest}E{exponent:+}");
    }
    let width = usize::try_from(scale).unwrap_or_default() + 1;
    let digits = format!("{digits:0>width$}");
    match digits.split_at(digits.len() + 1 - width) {
        (whole, "") => whole.to_owned(),
        (whole, fraction) => format!("{whole}.{fraction}"),
    }
}

/// Whether two texts write the same decimal number; not so where one of them is none.
pub(super) fn is_same_decimal(one: &str, other: &str) -> bool {
    match (normal(one), normal(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Sign, digits without zeros around them, and the exponent of the last digit.
fn normal(text: &str) -> Option<(bool, String, i64)> {
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let is_negative = mantissa.starts_with('-');
    let mantissa = mantissa.trim_start_matches(['-', '+']);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let kept = digits.trim_end_matches('0');
    let zeros = (digits.len() - kept.len()) as i64;
    let kept = kept.trim_start_matches('0');
    if kept.is_empty() {
        return Some((false, String::new(), 0));
    }
    let exponent = exponent.checked_sub(fraction.len() as i64)?.checked_add(zeros)?;
    Some((is_negative, kept.to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_sdks_write_them() {
        for (unscaled, scale, text) in [
            (300, 2, "3"),
            (0, 9, "0"),
            (100_000, 0, "1E+5"),
            (120, 0, "1.2E+2"),
            (1_234, 2, "12.34"),
            (-5, 1, "-0.5"),
            (1, 6, "0.000001"),
            (1, 7, "1E-7"),
            (-12, 9, "-1.2E-8"),
        ] {
            let number = Value::Number { unscaled, scale };
            assert_eq!(decimal_text(&number).as_deref(), Some(text));
        }
    }

    #[test]
    fn numbers_are_compared_whatever_their_form() {
        for (one, other) in [("0.1", "1e-1"), ("-3.00", "-3"), ("1E+5", "100000"), ("0", "-0.0")] {
            assert!(is_same_decimal(one, other), "{one} {other}");
        }
        for (one, other) in [("0.12345678901234567890", "0.12345678901234568"), ("x", "x")] {
            assert!(!is_same_decimal(one, other), "{one} {other}");
        }
    }
}
