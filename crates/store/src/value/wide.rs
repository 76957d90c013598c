//! Decimal numbers of more digits than 128 bits hold, in 256 bits.

use std::fmt;

use arrow::datatypes::i256;
use serde::{Deserialize, Serialize};

/// The powers of ten that 256 bits hold.
static POWERS: [i256; 77] = powers();

const fn powers() -> [i256; 77] {
    let mut powers = [i256::ONE; 77];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1].wrapping_mul(i256::from_i128(10));
        exponent += 1;
    }
    powers
}

/// Ten to the power of `exponent`, if 256 bits hold it.
pub(super) fn power_of_ten(exponent: usize) -> Option<i256> {
    POWERS.get(exponent).copied()
}

/// Whether a number has no more digits than a precision allows.
pub(crate) fn fits_wide(unscaled: i256, precision: u8) -> bool {
    power_of_ten(precision.into())
        .is_some_and(|limit| unscaled < limit && unscaled > limit.wrapping_neg())
}

/// The digits at another scale, rounded, halves away from zero; nothing when they are more than the
/// precision allows.
pub(crate) fn rescale_wide(digits: i256, from: i32, to: i8, precision: u8) -> Option<i256> {
    let shift = i32::from(to) - from;
    let value = if digits == i256::ZERO {
        i256::ZERO
    } else if shift >= 0 {
        digits.checked_mul(power_of_ten(shift as usize)?)?
    } else {
        // The last digit that is kept, and the one after it, which decides.
        let ten = POWERS[1];
        let kept = power_of_ten(shift.unsigned_abs() as usize - 1)
            .map_or(i256::ZERO, |divisor| digits.wrapping_div(divisor));
        let (quotient, last) = (kept.wrapping_div(ten), kept.wrapping_rem(ten));
        let is_away = last.wrapping_abs() >= i256::from_i128(5);
        if is_away { quotient.wrapping_add(digits.signum()) } else { quotient }
    };
    fits_wide(value, precision).then_some(value)
}

/// The digits of a decimal number that 128 bits do not hold, and the position of its point:
/// `unscaled / 10^scale`. `Value::number` makes one where it needs one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenNumber", into = "WrittenNumber")]
pub struct WideNumber {
    /// Little-endian, as in a row.
    bytes: [u8; 32],
    scale: i8,
}

/// The same, borrowed in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WideNumberRef<'a> {
    bytes: &'a [u8; 32],
    scale: i8,
}

impl WideNumber {
    pub(super) fn new(unscaled: i256, scale: i8) -> Self {
        Self { bytes: unscaled.to_le_bytes(), scale }
    }

    /// The digits.
    pub fn unscaled(&self) -> i256 {
        i256::from_le_bytes(self.bytes)
    }

    /// The number of them after the point.
    pub fn scale(&self) -> i8 {
        self.scale
    }
}

impl<'a> WideNumberRef<'a> {
    /// Digits as a row has them, which 128 bits do not hold.
    pub(crate) fn of_stored(bytes: &'a [u8; 32], scale: i8) -> Self {
        Self { bytes, scale }
    }

    /// The digits.
    pub fn unscaled(self) -> i256 {
        i256::from_le_bytes(*self.bytes)
    }

    /// The number of them after the point.
    pub fn scale(self) -> i8 {
        self.scale
    }
}

impl<'a> From<&'a WideNumber> for WideNumberRef<'a> {
    fn from(number: &'a WideNumber) -> Self {
        Self { bytes: &number.bytes, scale: number.scale }
    }
}

impl fmt::Debug for WideNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WideNumberRef::from(self).fmt(f)
    }
}

impl fmt::Debug for WideNumberRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}e{}", self.unscaled(), -i32::from(self.scale))
    }
}

/// Such a number in the catalog.
#[derive(Serialize, Deserialize)]
struct WrittenNumber {
    /// Its digits as text: JSON's readers hold no such number.
    unscaled: String,
    scale: i8,
}

impl From<WideNumber> for WrittenNumber {
    fn from(number: WideNumber) -> Self {
        Self { unscaled: number.unscaled().to_string(), scale: number.scale }
    }
}

impl TryFrom<WrittenNumber> for WideNumber {
    type Error = String;

    fn try_from(written: WrittenNumber) -> Result<Self, String> {
        let unscaled =
            i256::from_string(&written.unscaled).filter(|digits| digits.to_i128().is_none());
        let unscaled =
            unscaled.ok_or_else(|| format!("'{}' is not a wide number", written.unscaled))?;
        Ok(Self::new(unscaled, written.scale))
    }
}
