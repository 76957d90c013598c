//! Numbers as Redis reads and writes them.

use std::fmt::Write as _;

/// Reads a whole number as Redis does: no spaces, no plus sign, no zeros in front.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, text),
    };
    match digits {
        [b'0'] if !is_negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    // Below zero there is one number more.
    let mut number: i64 = 0;
    for digit in digits {
        let digit = i64::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
        number = number.checked_mul(10)?.checked_sub(digit)?;
    }
    if is_negative { Some(number) } else { number.checked_neg() }
}

/// How many digits after the point are kept.
const SCALE: u32 = 17;
/// One.
const UNIT: i128 = 100_000_000_000_000_000;
/// Numbers beyond it have no room for the digits after the point.
const WHOLE_MAX: i128 = i128::MAX / UNIT - 1;

/// A number with 17 digits after the point, for INCRBYFLOAT. Sums of decimal fractions are exact,
/// as they look with the 80-bit numbers of C. Numbers beyond 10^21 are as near as a double is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decimal {
    /// So many times 10^-17.
    Exact(i128),
    /// A larger one.
    Large(f64),
}

impl Decimal {
    /// Reads a number, perhaps with an exponent; infinity too, not NaN.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok().filter(|text| !text.is_empty())?;
        if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.iI".contains(c)) {
            return None;
        }
        // What a double cannot be read from is not a number here either.
        let near: f64 = text.parse().ok().filter(|near: &f64| !near.is_nan())?;
        Some(Self::parse_exact(text).map_or(Self::Large(near), Self::Exact))
    }

    fn parse_exact(text: &str) -> Option<i128> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // 38 digits fit; those far after the point are cut off below.
        let mut digits: i128 = 0;
        let mut scale = exponent.checked_add(SCALE as i32)?;
        for (index, digit) in whole.bytes().chain(part.bytes()).enumerate() {
            let digit = i128::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
            if digits > WHOLE_MAX && index >= whole.len() {
                continue;
            }
            digits = digits.checked_mul(10)?.checked_add(digit)?;
            scale -= i32::from(index >= whole.len());
        }
        // Now to 17 digits after the point: zeros are added, or digits cut off and rounded.
        while scale > 0 && digits != 0 {
            digits = digits.checked_mul(10)?;
            scale -= 1;
        }
        let mut is_half = false;
        while scale < 0 && digits != 0 {
            is_half = digits % 10 >= 5;
            digits /= 10;
            scale += 1;
        }
        let digits = digits + i128::from(is_half && scale == 0);
        (digits / UNIT <= WHOLE_MAX).then_some(if is_negative { -digits } else { digits })
    }

    /// Whether it is not infinity.
    pub fn is_finite(self) -> bool {
        self.near().is_finite()
    }

    /// The sum, if it is a finite number.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        if let (Self::Exact(one), Self::Exact(other)) = (self, other)
            && let Some(sum) = one.checked_add(other)
            && (sum / UNIT).abs() <= WHOLE_MAX
        {
            return Some(Self::Exact(sum));
        }
        Some(self.near() + other.near()).filter(|sum| sum.is_finite()).map(Self::Large)
    }

    fn near(self) -> f64 {
        match self {
            Self::Exact(scaled) => scaled as f64 / UNIT as f64,
            Self::Large(near) => near,
        }
    }

    /// Appends the digits: no exponent, no zeros at the end.
    pub fn write(self, text: &mut String) {
        let start = text.len();
        // Writing to a string does not fail.
        let _ = match self {
            Self::Exact(scaled) => {
                let sign = if scaled < 0 { "-" } else { "" };
                let scaled = scaled.unsigned_abs();
                let unit = UNIT as u128;
                write!(text, "{sign}{}.{:017}", scaled / unit, scaled % unit)
            }
            Self::Large(near) => write!(text, "{near:.17}"),
        };
        let kept = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(kept.max(start + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_strictly() {
        let good = [("0", 0), ("-1", -1), ("9223372036854775807", i64::MAX)];
        for (text, number) in good.into_iter().chain([("-9223372036854775808", i64::MIN)]) {
            assert_eq!(parse_integer(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["", "-", "+1", "01", "-0", " 1", "1 ", "1a", "9223372036854775808", "1.0"] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        }
    }

    fn sum(one: &str, other: &str) -> String {
        let sum = Decimal::parse(one.as_bytes()).unwrap();
        let sum = sum.checked_add(Decimal::parse(other.as_bytes()).unwrap()).unwrap();
        let mut text = String::new();
        sum.write(&mut text);
        text
    }

    #[test]
    fn sums_look_as_those_of_long_doubles() {
        let cases = [
            ("0.1", "0.2", "0.3"),
            ("10.50", "0.1", "10.6"),
            ("5.0e3", "2.0e2", "5200"),
            ("3.0", "-3", "0"),
            ("17179869184", "1.5", "17179869185.5"),
            ("1", "1e-20", "1"),
            ("-1.25", "0", "-1.25"),
            ("1e30", "0", "1000000000000000019884624838656"),
            ("2", "1e-2147483648", "2"),
        ];
        for (one, other, expected) in cases {
            assert_eq!(sum(one, other), expected, "{one} + {other}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "abc", " 1", "1 ", "nan", "1e", "--1", "1.2.3"] {
            assert_eq!(Decimal::parse(text.as_bytes()), None, "{text}");
        }
        for text in ["+inf", "1e2147483647", "-1e999"] {
            let infinite = Decimal::parse(text.as_bytes()).unwrap();
            assert_eq!(infinite.checked_add(Decimal::Exact(1)), None, "{text}");
        }
    }
}
