//! Parses decimal numbers, digit by digit.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, i256};

use super::scalar::{Reason, WholeNumber, integer};

/// The digits of a number without the zeros that lead and follow them, and the position of the
/// point among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecimalDigits {
    negative: bool,
    digits: Vec<u8>,
    /// How many of the digits stand before the point; less than nothing where zeros follow it
    /// first.
    point: i64,
}

/// As many digits as every double keeps, whatever they are.
const DOUBLE_DIGITS: usize = 15;

/// As many digits as the longest whole number of 64 bits has.
const INTEGER_DIGITS: u32 = 19;

/// The powers of ten within which that holds.
const DOUBLE_POINTS: std::ops::Range<i64> = -280..280;

impl DecimalDigits {
    /// Reads a number with or without a point and an exponent.
    pub(crate) fn of(text: &[u8]) -> Option<DecimalDigits> {
        let (negative, text) = match text.first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => {
                (&text[..at], std::str::from_utf8(&text[at + 1..]).ok()?.parse::<i32>().ok()?)
            }
            None => (text, 0),
        };
        let point = mantissa.iter().position(|byte| *byte == b'.');
        let mut digits: Vec<u8> = mantissa.to_vec();
        // A second point stays among the digits, and is refused with them.
        if let Some(at) = point {
            digits.remove(at);
        }
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let point = point.unwrap_or(mantissa.len()) as i64 + i64::from(exponent);
        // Zeros at both ends go, so that equal numbers have equal digits: `fit_double` compares
        // them.
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        digits.truncate(digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1));
        let point = if digits.is_empty() { 0 } else { point - zeros as i64 };
        Some(DecimalDigits { negative, digits, point })
    }

    /// How many digits stand before the point.
    pub(crate) fn integer_digits(&self) -> u32 {
        self.point.clamp(0, i64::from(u32::MAX / 2)) as u32
    }

    /// The number of digits after the point.
    pub(crate) fn fraction_digits(&self) -> u32 {
        (self.digits.len() as i64 - self.point).clamp(0, i64::from(u32::MAX / 2)) as u32
    }

    /// Whether the double next to the number is the number again in its shortest form, or has a
    /// shorter one and is the number when it is written with as many digits. 563000000000000.2 is
    /// the double 563000000000000.25, whose shortest form ends in 3; so it does not fit, and that
    /// does.
    pub(crate) fn fit_double(&self) -> bool {
        if self.digits.is_empty()
            || self.digits.len() <= DOUBLE_DIGITS && DOUBLE_POINTS.contains(&self.point)
        {
            return true;
        }
        // Digits are ASCII.
        let digits = String::from_utf8_lossy(&self.digits);
        let Ok(value) = format!("0.{digits}e{}", self.point).parse::<f64>() else { return false };
        if !value.is_finite() {
            return false;
        }
        let is_again = |text: String| {
            DecimalDigits::of(text.as_bytes())
                .is_some_and(|again| again == DecimalDigits { negative: false, ..self.clone() })
        };
        let has_fewer_digits = |text: &str| {
            DecimalDigits::of(text.as_bytes())
                .is_some_and(|again| again.digits.len() < self.digits.len())
        };
        let shortest = format!("{value:e}");
        match has_fewer_digits(&shortest) {
            true => is_again(format!("{value:.*e}", self.digits.len() - 1)),
            false => is_again(shortest),
        }
    }

    /// Whether a double keeps a number that is written without an exponent. A whole number of up to
    /// 19 digits may be an identifier, so every digit counts: 1000000000007617150 is a double with
    /// as many digits, which is 1000000000007617152.
    pub(crate) fn plain_fit_double(&self) -> bool {
        let is_whole = self.fraction_digits() == 0;
        if !is_whole
            || !(DOUBLE_DIGITS as u32 + 1..=INTEGER_DIGITS).contains(&self.integer_digits())
        {
            return self.fit_double();
        }
        self.unscaled(DECIMAL128_MAX_PRECISION, 0).is_ok_and(|value| value as f64 as i128 == value)
    }

    /// How many zeros follow the digits when the number is counted in units of `scale` digits after
    /// the point, if that is exact and takes at most `precision` digits.
    fn zeros(&self, precision: u8, scale: i8) -> Result<u32, Reason> {
        if self.digits.is_empty() {
            return Ok(0);
        }
        if i64::from(self.fraction_digits()) > i64::from(scale).max(0) {
            return Err(TOO_FINE);
        }
        let zeros = i64::from(scale) + self.point - self.digits.len() as i64;
        if zeros < 0 || zeros + self.digits.len() as i64 > i64::from(precision) {
            return Err(TOO_LONG);
        }
        Ok(zeros as u32)
    }

    /// The number counted in such units, of a precision of up to 38.
    fn unscaled(&self, precision: u8, scale: i8) -> Result<i128, Reason> {
        let zeros = self.zeros(precision, scale)?;
        let value = whole_of(&self.digits) * 10_i128.pow(zeros);
        Ok(if self.negative { -value } else { value })
    }

    /// The same of a precision of up to 76.
    fn wide_unscaled(&self, precision: u8, scale: i8) -> Result<i256, Reason> {
        let zeros = self.zeros(precision, scale)?;
        let power = |exponent: usize| i256::from_i128(10).wrapping_pow(exponent as u32);
        // At most 76 digits, which 256 bits hold.
        let value = self.digits.chunks(DECIMAL128_MAX_PRECISION.into()).fold(
            i256::ZERO,
            |value, digits| {
                value.wrapping_mul(power(digits.len())).wrapping_add(whole_of(digits).into())
            },
        );
        let value = value.wrapping_mul(power(zeros as usize));
        Ok(if self.negative { value.wrapping_neg() } else { value })
    }
}

/// What at most 38 digits say, which an i128 holds.
fn whole_of(digits: &[u8]) -> i128 {
    digits.iter().fold(0, |value, digit| value * 10 + i128::from(digit - b'0'))
}

/// A whole number in any form that a number has: `7`, `7.0` and `7e0`.
#[inline]
pub(crate) fn whole<T: WholeNumber>(text: &[u8]) -> Result<T, Reason> {
    match integer(text) {
        Err(reason) if reason != T::OUT_OF_RANGE => whole_decimal(text).unwrap_or(Err(reason)),
        whole => whole,
    }
}

/// Nothing for a text that is not a whole number.
#[cold]
fn whole_decimal<T: WholeNumber>(text: &[u8]) -> Option<Result<T, Reason>> {
    let number = DecimalDigits::of(text).filter(|number| number.fraction_digits() == 0)?;
    let whole = number.unscaled(DECIMAL128_MAX_PRECISION, 0).ok().and_then(T::from_i128);
    Some(whole.ok_or(T::OUT_OF_RANGE))
}

/// A decimal number of up to 76 digits, exactly as it is written, counted in units of `scale`
/// digits after the point.
pub(crate) fn wide_decimal(text: &[u8], precision: u8, scale: i8) -> Result<i256, Reason> {
    DecimalDigits::of(text).ok_or(NO_NUMBER)?.wide_unscaled(precision, scale)
}

/// A decimal number of up to 38 digits, exactly as it is written, counted in units of `scale`
/// digits after the point.
pub(crate) fn decimal(text: &[u8], precision: u8, scale: i8) -> Result<i128, Reason> {
    match plain_decimal(text, precision, scale) {
        // Exponents are rare. The digits before one may be too long or too fine by themselves.
        Err(_) if text.iter().any(|byte| matches!(byte, b'e' | b'E')) => {
            DecimalDigits::of(text).ok_or(NO_NUMBER)?.unscaled(precision, scale)
        }
        decimal => decimal,
    }
}

/// The same without an exponent.
fn plain_decimal(text: &[u8], precision: u8, scale: i8) -> Result<i128, Reason> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (mut value, mut behind, mut has_digits) = (0_i128, None, false);
    // What has one digit less may grow by a digit. A check after that would be too late: 39 digits
    // may be more than 128 bits hold.
    let full = 10_i128.pow(u32::from(precision.saturating_sub(1)));
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        match (digit, behind) {
            (0, Some(places)) if places >= scale => {}
            (1..=9, Some(places)) if places >= scale => return Err(TOO_FINE),
            (0..=9, _) if value >= full => return Err(TOO_LONG),
            (0..=9, _) => {
                has_digits = true;
                value = value * 10 + i128::from(digit);
                behind = behind.map(|places| places + 1);
            }
            (_, None) if *byte == b'.' => behind = Some(0),
            _ => return Err(NO_NUMBER),
        }
    }
    // Noughts beyond the scale were passed over, but `.0` is a number.
    if !has_digits && !digits.contains(&b'0') {
        return Err(NO_NUMBER);
    }
    for _ in behind.unwrap_or(0)..scale {
        if value >= full {
            return Err(TOO_LONG);
        }
        value *= 10;
    }
    Ok(if negative { -value } else { value })
}

const NO_NUMBER: Reason = "is not a number";
const TOO_FINE: Reason = "has more digits after the point than the column keeps";
const TOO_LONG: Reason = "has more digits than the column keeps";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// They were not whole numbers in files, and were in SQL.
    #[test]
    fn a_whole_number_is_one_in_every_form() {
        for (text, expected) in [
            ("7", Ok(7)),
            ("7.0", Ok(7)),
            ("-7.000", Ok(-7)),
            ("7e0", Ok(7)),
            ("1.2e3", Ok(1_200)),
            ("120e-1", Ok(12)),
            (".0", Ok(0)),
            ("0e99", Ok(0)),
            ("2147483647.0", Ok(i32::MAX)),
            ("2147483648.0", Err(i32::OUT_OF_RANGE)),
            ("1e300", Err(i32::OUT_OF_RANGE)),
            ("7.5", Err("is not a whole number")),
            ("1e-1", Err("is not a whole number")),
            ("seven", Err("is not a whole number")),
            ("", Err("is not a whole number")),
            (".", Err("is not a whole number")),
        ] {
            assert_eq!(whole::<i32>(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn decimals_are_read_as_they_stand() {
        for (text, expected) in [
            ("12.34", Ok(1234)),
            ("-.5", Ok(-50)),
            ("1e2", Ok(10_000)),
            ("0.000", Ok(0)),
            ("7", Ok(700)),
            ("1.230", Ok(123)),
            // The digits before an exponent were once held against the column without it.
            ("1.0005e2", Ok(10_005)),
            ("-1234567e-4", Err(TOO_FINE)),
            ("-1234500e-4", Ok(-12_345)),
        ] {
            assert_eq!(decimal(text.as_bytes(), 6, 2), expected, "{text}");
        }
        assert_eq!(
            decimal(b"1.005", 6, 2),
            Err("has more digits after the point than the column keeps")
        );
        assert_eq!(decimal(b"12345", 6, 2), Err("has more digits than the column keeps"));
        for text in ["", "-", ".", "1.2.3", "x", "1e", "1e99999999999"] {
            assert_eq!(decimal(text.as_bytes(), 6, 2), Err("is not a number"), "{text}");
        }
    }

    /// The 39th digit was more than 128 bits hold, and what was left of it could look small: 2 with
    /// 38 noughts became -140282366920938463463374607431768211456, without a word.
    #[test]
    fn digits_beyond_128_bits_are_too_many() {
        let nines = "9".repeat(38);
        for (text, scale) in [
            (format!("2{}", "0".repeat(38)), 0),
            (format!("4{}", "0".repeat(39)), 0),
            (nines.clone(), 1),
            (nines.clone(), 9),
            (format!("-{nines}.5"), 1),
            (format!("2{}", "0".repeat(36)), 2),
        ] {
            assert_eq!(decimal(text.as_bytes(), 38, scale), Err(TOO_LONG), "{text}, {scale}");
        }
        assert_eq!(decimal(nines.as_bytes(), 38, 0), Ok(10_i128.pow(38) - 1));
        let small = format!("-0.{nines}");
        assert_eq!(decimal(small.as_bytes(), 38, 38), Ok(1 - 10_i128.pow(38)));
    }

    #[test]
    fn wide_decimals_are_read_as_they_stand() {
        let nines = "9".repeat(76);
        let cases = [
            (nines.clone(), 76, 0, Ok(nines.clone())),
            (format!("-0.{nines}"), 76, 76, Ok(format!("-{nines}"))),
            (format!("{}.{}", &nines[..40], &nines[..36]), 76, 36, Ok(nines.clone())),
            ("1.5e40".to_owned(), 60, 2, Ok(format!("15{}", "0".repeat(41)))),
            ("-0.00".to_owned(), 60, 2, Ok("0".to_owned())),
            (format!("{nines}9"), 76, 0, Err(TOO_LONG)),
            (format!("1{}", "0".repeat(40)), 40, 0, Err(TOO_LONG)),
            ("0.001".to_owned(), 60, 2, Err(TOO_FINE)),
            ("1.2.3".to_owned(), 60, 2, Err("is not a number")),
        ];
        for (text, precision, scale, expected) in cases {
            let found = wide_decimal(text.as_bytes(), precision, scale);
            assert_eq!(found.map(|value| value.to_string()), expected, "{text}");
        }
    }

    #[test]
    fn what_a_double_rounds_is_known() {
        for text in [
            "0.1",
            "9007199254740992",
            "1.5",
            "-0.30000000000000004",
            "1e300",
            "0.10000000000000001",
            "0",
            "1e23",
        ] {
            assert!(DecimalDigits::of(text.as_bytes()).unwrap().fit_double(), "{text}");
        }
        for text in [
            "9007199254740993",
            "9223372036854775807",
            "12345678901234567.89",
            "0.1234567890123456789",
            "1e400",
            "1e-400",
        ] {
            assert!(!DecimalDigits::of(text.as_bytes()).unwrap().fit_double(), "{text}");
        }
    }

    /// They became doubles beside fractions: 1000000000007617150 was stored as
    /// 1000000000007617152.
    #[test]
    fn long_whole_numbers_fit_a_double_only_with_their_last_digit() {
        for (text, expected) in [
            ("1000000000007617150", false),
            ("-1000000000007617150", false),
            ("1000000000007617150.0", false),
            ("100000000000761715", false),
            ("1000000000007617152", true),
            ("9007199254740992", true),
            ("9223372036854775808", true),
            ("1000000000000000000", true),
            ("999999999999999", true),
            ("0.1", true),
        ] {
            let digits = DecimalDigits::of(text.as_bytes()).unwrap();
            assert_eq!(digits.plain_fit_double(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_fit_a_double_when_it_is_the_same_number(value: i64, zeros in 0..6_u32) {
            let value = value / 10_i64.pow(zeros) * 10_i64.pow(zeros);
            let fits = DecimalDigits::of(value.to_string().as_bytes()).unwrap().plain_fit_double();
            prop_assert_eq!(fits, value as f64 as i128 == i128::from(value));
        }

        #[test]
        fn doubles_fit_doubles(value: f64) {
            prop_assume!(value.is_finite());
            let fits = |text: &str| DecimalDigits::of(text.as_bytes()).unwrap().fit_double();
            let (shortest, long) = (format!("{value:e}"), format!("{value:.16e}"));
            prop_assert!(fits(&shortest), "{}", shortest);
            // When the double is halfway between two texts, only its shortest form fits.
            let digits = |text: &str| DecimalDigits::of(text.as_bytes()).unwrap();
            let is_shorter = digits(&shortest).digits.len() < digits(&long).digits.len();
            prop_assert_eq!(fits(&long), is_shorter || digits(&shortest) == digits(&long));
        }

        /// The double 145902248985414.625 is between two numbers of 17 digits.
        #[test]
        fn doubles_between_two_texts_fit_the_one_that_they_show(fraction in 0..1_000_u32) {
            let value = 145902248985414.0 + f64::from(fraction) / 64.0;
            let shortest = format!("{value:?}");
            prop_assert!(DecimalDigits::of(shortest.as_bytes()).unwrap().fit_double(), "{}", shortest);
        }

        /// Digits taken one after another say what digits taken together say.
        #[test]
        fn both_ways_to_read_a_decimal_agree(
            text in "-?[0-9]{0,42}(\\.[0-9]{0,42})?", precision in 1..=38_u8, scale in 0..=38_i8,
        ) {
            let scale = scale.min(precision as i8);
            let together = DecimalDigits::of(text.as_bytes())
                .map(|digits| digits.unscaled(precision, scale));
            let one_by_one = decimal(text.as_bytes(), precision, scale);
            prop_assert_eq!(one_by_one.ok(), together.and_then(Result::ok));
        }

        #[test]
        fn decimals_read_back(value in -10_i128.pow(20)..10_i128.pow(20)) {
            let text = format!("{}{}.{:04}", if value < 0 { "-" } else { "" }, value.abs() / 10_000, value.abs() % 10_000);
            prop_assert_eq!(decimal(text.as_bytes(), 38, 4), Ok(value));
            prop_assert_eq!(wide_decimal(text.as_bytes(), 60, 4), Ok(value.into()));
        }
    }
}
