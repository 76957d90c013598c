//! Decimal numbers: read, rounded, bounded.

use std::num::NonZeroU64;
use std::str::FromStr;
use std::sync::Arc;

use bigdecimal::{BigDecimal, RoundingMode};

use super::kinds::Item;

/// How far from 1 a decimal number may lie, in digits. Sums of numbers farther apart would take
/// the memory of all digits between.
const EXPONENT_MAX: i64 = 6_144;

/// The digits that arithmetic keeps, and how the rest is rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberContext {
    digits: NonZeroU64,
    rounding: RoundingMode,
}

impl Default for NumberContext {
    fn default() -> Self {
        Self { digits: NonZeroU64::MIN.saturating_add(6), rounding: RoundingMode::HalfEven }
    }
}

impl NumberContext {
    /// As a request gives it: digits, and the number of a way of rounding.
    pub(crate) fn new(digits: i64, rounding: i64) -> Self {
        let digits = u64::try_from(digits).ok().and_then(NonZeroU64::new);
        let rounding = match rounding {
            0 => RoundingMode::Up,
            1 => RoundingMode::Down,
            2 => RoundingMode::Ceiling,
            3 => RoundingMode::Floor,
            4 => RoundingMode::HalfUp,
            5 => RoundingMode::HalfDown,
            _ => RoundingMode::HalfEven,
        };
        let most = NonZeroU64::MIN.saturating_add(75);
        Self { digits: digits.unwrap_or(most).min(most), rounding }
    }

    /// A number with just these digits; nothing where it is too large or too small.
    pub(crate) fn rounded(&self, number: &BigDecimal) -> Option<Item> {
        let number = number.with_precision_round(self.digits, self.rounding);
        bounded(number).map(|number| Item::Number(Arc::new(number)))
    }
}

fn bounded(number: BigDecimal) -> Option<BigDecimal> {
    let (_, scale) = number.as_bigint_and_exponent();
    (-EXPONENT_MAX..=EXPONENT_MAX).contains(&scale).then_some(number)
}

/// The decimal number of a text; nothing where it is none, or is out of range.
pub(crate) fn decimal(text: &str) -> Option<BigDecimal> {
    // Digits take time that grows with their square.
    if text.len() > 2 * EXPONENT_MAX as usize {
        return None;
    }
    bounded(BigDecimal::from_str(text.trim()).ok()?)
}

/// A number as a statement writes it.
pub(crate) fn number_of_literal(text: &str) -> Option<Item> {
    if let Some(digits) = text.strip_suffix(['n', 'N']) {
        return decimal(digits).map(|number| Item::Number(Arc::new(number)));
    }
    if text.contains(['.', 'e', 'E']) {
        let number: f64 = text.parse().ok()?;
        // One that a double does not reach stays as it is written.
        return match number.is_finite() {
            true => Some(Item::Double(number)),
            false => decimal(text).map(|number| Item::Number(Arc::new(number))),
        };
    }
    match text.parse::<i64>() {
        Ok(whole) => Some(match i32::try_from(whole) {
            Ok(whole) => Item::Integer(whole),
            Err(_) => Item::Long(whole),
        }),
        Err(_) => decimal(text).map(|number| Item::Number(Arc::new(number))),
    }
}
