//! Decimal numbers as text: digits, a point, an exponent.

use std::cmp::Ordering;

use arrow::datatypes::i256;

use super::Value;
use super::wide::{fits_wide, power_of_ten};

/// A decimal number as it is written, taken apart.
pub(super) struct DecimalText<'a> {
    is_negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i32,
}

impl<'a> DecimalText<'a> {
    /// Nothing for text that is not a number, or whose exponent is beyond all reason.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (
                &text[..at],
                text[at + 1..].parse::<i32>().ok().filter(|exponent| exponent.abs() < 10_000)?,
            ),
            None => (text, 0),
        };
        let (is_negative, mantissa) = match mantissa.as_bytes().first()? {
            b'-' => (true, &mantissa[1..]),
            b'+' => (false, &mantissa[1..]),
            _ => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = whole.len() + fraction.len() > 0
            && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        is_number.then_some(Self {
            is_negative,
            whole: whole.as_bytes(),
            fraction: fraction.as_bytes(),
            exponent,
        })
    }

    /// The digits from the first one on.
    fn digits(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.whole.iter().chain(self.fraction).map(|byte| byte - b'0')
    }

    /// How many of the digits count at a scale. Below zero when zeros precede the first, more than
    /// there are when zeros follow the last.
    fn digits_kept(&self, scale: i8) -> i64 {
        self.whole.len() as i64 + i64::from(self.exponent) + i64::from(scale)
    }

    /// The number of zeros after the last digit.
    fn trailing_zeros(&self, kept: i64) -> usize {
        let digits = (self.whole.len() + self.fraction.len()) as i64;
        (kept - digits).max(0) as usize
    }

    /// Whether the digits after the kept ones round away from zero.
    fn rounds_away(&self, kept: i64) -> bool {
        usize::try_from(kept)
            .is_ok_and(|kept| self.digits().nth(kept).is_some_and(|digit| digit >= 5))
    }

    /// Whether only zeros follow the point.
    pub(super) fn is_whole(&self) -> bool {
        let kept = self.digits_kept(0).max(0) as usize;
        self.digits().skip(kept).all(|digit| digit == 0)
    }

    /// The digits at a scale, rounded, halves away from zero; nothing when they are more than a
    /// precision of at most 38 allows.
    pub(super) fn narrow(&self, precision: u8, scale: i8) -> Option<i128> {
        let kept = self.digits_kept(scale);
        let mut value = 0_u128;
        for digit in self.digits().take(kept.max(0) as usize) {
            value = value.checked_mul(10)?.checked_add(digit.into())?;
        }
        let zeros = self.trailing_zeros(kept);
        if zeros > 0 && value != 0 {
            value = value.checked_mul(10_u128.checked_pow(zeros as u32)?)?;
        }
        value += u128::from(self.rounds_away(kept));
        let is_held = value < 10_u128.pow(precision.into());
        is_held.then_some(if self.is_negative { -(value as i128) } else { value as i128 })
    }

    /// The same for a precision of up to 76.
    pub(super) fn wide(&self, precision: u8, scale: i8) -> Option<i256> {
        /// As many digits as 128 bits hold.
        const CHUNK: usize = 38;
        let kept = self.digits_kept(scale);
        let (mut value, mut chunk, mut count) = (i256::ZERO, 0_u128, 0);
        let shifted = |value: i256, chunk: u128, count: usize| {
            value.checked_mul(power_of_ten(count)?)?.checked_add(i256::from_parts(chunk, 0))
        };
        // Digits gather in 128 bits, so there is one step of 256 bits for 38 of them.
        for digit in self.digits().take(kept.max(0) as usize) {
            (chunk, count) = (chunk * 10 + u128::from(digit), count + 1);
            if count == CHUNK {
                value = shifted(value, chunk, count)?;
                (chunk, count) = (0, 0);
            }
        }
        value = shifted(value, chunk, count)?;
        let zeros = self.trailing_zeros(kept);
        if zeros > 0 && value != i256::ZERO {
            value = value.checked_mul(power_of_ten(zeros)?)?;
        }
        if self.rounds_away(kept) {
            value = value.checked_add(i256::ONE)?;
        }
        let value = if self.is_negative { value.wrapping_neg() } else { value };
        fits_wide(value, precision).then_some(value)
    }
}

/// A decimal number digit by digit, however many there are: `0.digits` times ten to the power of
/// `point`. No zero leads or ends the digits.
#[derive(PartialEq, Eq)]
struct ExactNumber {
    is_negative: bool,
    point: i64,
    digits: Vec<u8>,
}

impl ExactNumber {
    /// Nothing for a value that is not a number.
    fn of(value: &Value) -> Option<Self> {
        let shown;
        let text = match value {
            Value::String(text) => text.trim(),
            Value::Integer(_)
            | Value::Long(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::Number { .. }
            | Value::WideNumber(_) => {
                shown = value.to_string();
                &shown
            }
            _ => return None,
        };
        let text = DecimalText::of(text)?;
        let leading = text.digits().take_while(|digit| *digit == 0).count();
        let mut digits: Vec<u8> = text.digits().skip(leading).collect();
        digits.truncate(digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1));
        if digits.is_empty() {
            return Some(Self { is_negative: false, point: 0, digits });
        }
        let point = text.whole.len() as i64 + i64::from(text.exponent) - leading as i64;
        Some(Self { is_negative: text.is_negative, point, digits })
    }

    fn signum(&self) -> i8 {
        match (self.digits.is_empty(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for ExactNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        let sizes = || self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        match (self.signum(), other.signum()) {
            (1, 1) => sizes(),
            (-1, -1) => sizes().reverse(),
            (one, other) => one.cmp(&other),
        }
    }
}

impl PartialOrd for ExactNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How two numbers compare, digit by digit; text may be one, and a fraction means the number that
/// its shortest text shows. Nothing when one of them is not a number.
pub(super) fn compare_exactly(one: &Value, other: &Value) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (narrow_digits(one), narrow_digits(other))
        && one.1 == other.1
    {
        return Some(one.0.cmp(&other.0));
    }
    Some(ExactNumber::of(one)?.cmp(&ExactNumber::of(other)?))
}

fn narrow_digits(value: &Value) -> Option<(i128, i8)> {
    Some(match value {
        Value::Integer(value) => (i128::from(*value), 0),
        Value::Long(value) => (i128::from(*value), 0),
        Value::Number { unscaled, scale } => (*unscaled, *scale),
        _ => return None,
    })
}
