//! Converts values to the types of columns.

use arrow::datatypes::{Decimal256Type, DecimalType, i256};
use tonnage_engine::{Error, Result};

use super::parse::{number_out_of_range, of_width, rescale_number};
use super::reason::Reason;
use super::wide::{power_of_ten, rescale_wide};
use super::{Value, WideNumber, json_text, nested, time};
use crate::schema::{ColumnType, NUMBER_DIGITS_MAX};

impl Value {
    /// The same value as a column of that type holds it. NULL stays NULL; text is read as
    /// [`Value::parse`] does; timestamps lose digits that the column does not keep.
    ///
    /// # Errors
    /// `Invalid` when it cannot be held, saying why.
    pub fn convert_to(&self, column_type: ColumnType) -> Result<Value> {
        self.convert(column_type).map_err(Error::invalid)
    }

    pub(crate) fn convert(&self, column_type: ColumnType) -> std::result::Result<Value, Reason> {
        if let (Value::String(text), false) = (self, column_type == ColumnType::String) {
            return Value::read(text, column_type);
        }
        // The first arm that fits decides, so exact types come first, and JSON before nested ones.
        // The codec's `is_castable` must allow the same pairs for whole columns.
        let converted = match (self, column_type) {
            (Value::Null, _) => Some(Value::Null),
            (Value::Boolean(_), ColumnType::Boolean)
            | (Value::Integer(_), ColumnType::Integer)
            | (Value::Long(_), ColumnType::Long)
            | (Value::Float(_), ColumnType::Float)
            | (Value::Double(_), ColumnType::Double)
            | (Value::String(_), ColumnType::String)
            | (Value::Binary(_), ColumnType::Binary)
            | (Value::Uuid(_), ColumnType::Uuid)
            | (Value::Date(_), ColumnType::Date)
            | (Value::Time(_), ColumnType::Time) => Some(self.clone()),
            // Read anew even where the type stays: a JSON value may hold any text until someone has
            // looked.
            (Value::Json(text), ColumnType::Json | ColumnType::String | ColumnType::Enum(_)) => {
                return Value::read(text, column_type);
            }
            (Value::Json(text), nested) if nested.is_nested() => {
                return Value::read(text, column_type);
            }
            (nested, ColumnType::Json) if nested.is_nested() => Some(Value::Json(self.to_string())),
            (_, nested) if nested.is_nested() => nested::convert(self, column_type)?,
            (_, ColumnType::Integer) => self
                .to_whole(i32::MIN.into(), i32::MAX.into(), column_type)?
                .map(|value| Value::Integer(value as i32)),
            (_, ColumnType::Long) => {
                self.to_whole(i64::MIN, i64::MAX, column_type)?.map(Value::Long)
            }
            (_, ColumnType::Float) => self.to_float()?,
            (_, ColumnType::Double) => self.to_double().map(Value::Double),
            (_, ColumnType::Number { precision, scale }) => self.to_number(precision, scale)?,
            (Value::Binary(_), ColumnType::String) => None,
            (Value::Number { .. } | Value::WideNumber(_), ColumnType::String) => {
                self.as_number().map(|(digits, scale)| Value::String(all_digits(digits, scale)))
            }
            (_, ColumnType::String) => Some(Value::String(self.to_string())),
            (Value::Uuid(bytes), ColumnType::Binary) => Some(Value::Binary(bytes.to_vec())),
            (Value::Binary(bytes), ColumnType::Uuid) => {
                bytes.as_slice().try_into().ok().map(Value::Uuid)
            }
            (Value::Timestamp { value, precision }, ColumnType::Timestamp(to)) => {
                let value = time::rescale(*value, *precision, to)
                    .ok_or_else(|| format!("{self} is too far from 1970 for {column_type}"))?;
                Some(Value::Timestamp { value, precision: to })
            }
            (Value::Date(days), ColumnType::Timestamp(to)) => {
                let value = time::midnight(*days, to)
                    .ok_or_else(|| format!("{self} is too far from 1970 for {column_type}"))?;
                Some(Value::Timestamp { value, precision: to })
            }
            (Value::Timestamp { value, precision }, ColumnType::Date) => {
                let days = time::day_of(*value, *precision)
                    .ok_or_else(|| format!("{self} is too far from 1970 for DATE"))?;
                Some(Value::Date(days))
            }
            (Value::Binary(bytes), ColumnType::FixedBinary(width)) => {
                Some(Value::Binary(of_width(bytes.clone(), width)?))
            }
            (Value::Uuid(bytes), ColumnType::FixedBinary(16)) => {
                Some(Value::Binary(bytes.to_vec()))
            }
            (Value::Boolean(_) | Value::Integer(_) | Value::Long(_), ColumnType::Json) => {
                Some(Value::Json(self.to_string()))
            }
            _ => None,
        };
        converted.ok_or_else(|| {
            format!(
                "a value of type {} does not fit a column of type {column_type}",
                self.type_name()
            )
        })
    }

    /// A whole number between two bounds; nothing when the value is of no numeric type.
    fn to_whole(
        &self,
        low: i64,
        high: i64,
        column_type: ColumnType,
    ) -> std::result::Result<Option<i64>, Reason> {
        let whole: Option<i128> = match *self {
            Value::Integer(value) => Some(value.into()),
            Value::Long(value) => Some(value.into()),
            Value::Float(value) => whole_of_double(value.into()),
            Value::Double(value) => whole_of_double(value),
            Value::Number { unscaled, scale } => whole_of_number(unscaled, scale),
            Value::WideNumber(ref number) => whole_of_wide(number),
            _ => return Ok(None),
        };
        let whole = whole
            .ok_or_else(|| format!("{self} is not {column_type}: a whole number is needed"))?;
        match i64::try_from(whole) {
            Ok(value) if (low..=high).contains(&value) => Ok(Some(value)),
            _ => Err(format!("{self} is out of range for {column_type} ({low} to {high})")),
        }
    }

    fn to_double(&self) -> Option<f64> {
        match *self {
            Value::Integer(value) => Some(value.into()),
            Value::Long(value) => Some(value as f64),
            Value::Float(value) => Some(value.into()),
            Value::Double(value) => Some(value),
            // The shortest text of a decimal reads back as the nearest double, which a division
            // would miss.
            Value::Number { .. } | Value::WideNumber(_) => self.to_string().parse().ok(),
            _ => None,
        }
    }

    fn to_float(&self) -> std::result::Result<Option<Value>, Reason> {
        let Some(double) = self.to_double() else { return Ok(None) };
        let float = double as f32;
        if float.is_infinite() && double.is_finite() {
            return Err(format!("{self} is out of range for FLOAT ({} to {})", f32::MIN, f32::MAX));
        }
        Ok(Some(Value::Float(float)))
    }

    fn to_number(&self, precision: u8, scale: i8) -> std::result::Result<Option<Value>, Reason> {
        let is_wide = ColumnType::Number { precision, scale }.is_wide();
        let of_digits = |digits: i128, from: i8| match is_wide {
            true => rescale_wide(digits.into(), from.into(), scale, precision)
                .map(|unscaled| Value::number(unscaled, scale)),
            false => rescale_number(digits, from.into(), scale, precision)
                .map(|unscaled| Value::Number { unscaled, scale }),
        };
        let number = match self {
            Value::Integer(value) => of_digits((*value).into(), 0),
            Value::Long(value) => of_digits((*value).into(), 0),
            Value::Number { unscaled, scale: from } => of_digits(*unscaled, *from),
            Value::WideNumber(number) => {
                rescale_wide(number.unscaled(), number.scale().into(), scale, precision)
                    .map(|unscaled| Value::number(unscaled, scale))
            }
            Value::Float(_) | Value::Double(_) => {
                Some(Value::read(&self.to_string(), ColumnType::Number { precision, scale })?)
            }
            _ => return Ok(None),
        };
        let out_of_range = || number_out_of_range(&self.to_string(), precision, scale);
        number.map(Some).ok_or_else(out_of_range)
    }

    /// The value as a JSON value: numbers and booleans as such, JSON as it is, the rest as the text
    /// that it shows as. So do decimals of more than 15 digits: readers take numbers for doubles.
    pub fn to_json(&self) -> serde_json::Value {
        let number = |value: f64| {
            serde_json::Number::from_f64(value)
                .map_or_else(|| self.to_string().into(), serde_json::Value::Number)
        };
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Long(value) => (*value).into(),
            // By way of its text, so that 0.1 stays 0.1.
            Value::Float(value) => {
                value.to_string().parse().map_or(serde_json::Value::Null, number)
            }
            Value::Double(value) => number(*value),
            Value::Number { unscaled, .. } if unscaled.unsigned_abs() >= DIGITS_15 => {
                self.to_string().into()
            }
            // A double would show as 1.0.
            Value::Number { unscaled, scale: 0 } => i64::try_from(*unscaled)
                .map_or_else(|_| self.to_string().into(), serde_json::Value::from),
            Value::Number { .. } => self.to_double().map_or(serde_json::Value::Null, number),
            Value::WideNumber(_) => self.to_string().into(),
            Value::Array(_) | Value::Map(_) | Value::Record(_) => nested::to_json(self),
            Value::Json(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
            }
            _ => self.to_string().into(),
        }
    }

    /// The value as the text of [`Value::to_json`], in which documents stand as they were written: all
    /// numbers keep their digits.
    pub fn to_json_text(&self) -> String {
        match self {
            Value::Array(_) | Value::Map(_) | Value::Record(_) => self.to_string(),
            Value::Json(text) => match json_text::checked(text) {
                Ok(text) => text.to_owned(),
                Err(_) => serde_json::Value::from(text.as_str()).to_string(),
            },
            other => other.to_json().to_string(),
        }
    }
}

/// Every decimal of so many digits is a double's own shortest text.
const DIGITS_15: u128 = 1_000_000_000_000_000;

/// A decimal as it is given and as CAST shows it: 4.50 keeps its last zero.
fn all_digits(digits: i256, scale: i8) -> String {
    Decimal256Type::format_decimal(digits, NUMBER_DIGITS_MAX, scale)
}

fn whole_of_double(value: f64) -> Option<i128> {
    (value.is_finite() && value.fract() == 0.0).then_some(value as i128)
}

fn whole_of_number(unscaled: i128, scale: i8) -> Option<i128> {
    let power = 10_i128.checked_pow(scale.unsigned_abs().into())?;
    if scale < 0 {
        unscaled.checked_mul(power)
    } else {
        (unscaled % power == 0).then_some(unscaled / power)
    }
}

/// A whole number, the nearest that 128 bits hold; nothing for a fraction.
fn whole_of_wide(number: &WideNumber) -> Option<i128> {
    let unscaled = number.unscaled();
    let furthest = if unscaled.is_negative() { i128::MIN } else { i128::MAX };
    if number.scale() < 0 {
        return Some(furthest);
    }
    let power = power_of_ten(number.scale().unsigned_abs().into())?;
    (unscaled.wrapping_rem(power) == i256::ZERO)
        .then(|| unscaled.wrapping_div(power).to_i128().unwrap_or(furthest))
}
