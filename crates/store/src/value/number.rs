//! Decimal numbers in 128 or 256 bits, as their digits need.

use arrow::datatypes::i256;

use super::Value;
use super::wide::WideNumber;
use crate::schema::ColumnType;
use crate::schema::NUMBER_DIGITS_MAX;

/// The most digits that 128 bits hold.
const NARROW: u8 = 38;

impl Value {
    /// The decimal number `unscaled / 10^scale`, in the one form that it has: [`Value::Number`] if
    /// 128 bits hold its digits, else [`Value::WideNumber`].
    ///
    /// ```
    /// use tonnage::Value;
    /// use tonnage::arrow::datatypes::i256;
    /// assert_eq!(Value::number(i256::from(125), 2), Value::Number { unscaled: 125, scale: 2 });
    /// ```
    pub fn number(unscaled: i256, scale: i8) -> Value {
        match unscaled.to_i128() {
            Some(unscaled) => Value::Number { unscaled, scale },
            None => Value::WideNumber(Box::new(WideNumber::new(unscaled, scale))),
        }
    }

    /// The decimal number that a text writes out, with all of its digits. Nothing for an exponent,
    /// for more than 76 digits, and for text that is not a number.
    ///
    /// ```
    /// use tonnage::Value;
    ///
    /// assert_eq!(Value::decimal("-1.20"), Some(Value::Number { unscaled: -120, scale: 2 }));
    /// assert_eq!(Value::decimal("1e3"), None);
    /// ```
    pub fn decimal(text: &str) -> Option<Value> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let scale = i8::try_from(fraction.len()).ok()?;
        let digits = i256::from_string(&format!("{whole}{fraction}"))?;
        Some(Value::number(digits, scale)).filter(|number| number.number_type().is_some())
    }

    /// The type of column that holds a decimal number as it is, if there is one.
    pub fn number_type(&self) -> Option<ColumnType> {
        let scale = self.as_number()?.1.max(0);
        [NARROW, NUMBER_DIGITS_MAX]
            .into_iter()
            .filter(|precision| scale.unsigned_abs() <= *precision)
            .map(|precision| ColumnType::Number { precision, scale })
            .find(|column_type| self.convert(*column_type).is_ok())
    }

    /// The digits of a decimal number, whichever form it has, and the number of them after the
    /// point.
    pub fn as_number(&self) -> Option<(i256, i8)> {
        match self {
            Value::Number { unscaled, scale } => Some((i256::from_i128(*unscaled), *scale)),
            Value::WideNumber(number) => Some((number.unscaled(), number.scale())),
            _ => None,
        }
    }
}
