//! Returns whether a column holds a value exactly, or rounded.

use std::cmp::Ordering;

use tonnage_engine::{Error, Result};

use super::decimal_text::compare_exactly;
use super::reason::Reason;
use super::{Value, time};
use crate::schema::ColumnType;

impl Value {
    /// Reads the text of a value for a key column, which holds it as it is or not at all.
    ///
    /// # Errors
    /// As [`Value::parse`]; `Invalid` too for a value that the column would round.
    pub fn parse_exact(text: &str, column_type: ColumnType) -> Result<Value> {
        let value = Value::parse(text, column_type)?;
        if Value::String(text.to_owned()).is_kept_as(&value) {
            return Ok(value);
        }
        Err(Error::invalid(format!(
            "'{text}' would be rounded to {value} to fit {column_type}, and no key has more digits"
        )))
    }

    /// Reads the text of a value that is given for a column: the column holds it as it is or not at
    /// all. Only FLOAT and DOUBLE take the nearest number that they have.
    ///
    /// ```
    /// use tonnage::{ColumnType, Value};
    /// let price = ColumnType::Number { precision: 10, scale: 2 };
    /// assert!(Value::parse_given("12.500", price).is_ok());
    /// assert!(Value::parse_given("12.505", price).is_err());
    /// assert!(Value::parse_given("0.1", ColumnType::Double).is_ok());
    /// ```
    ///
    /// # Errors
    /// As [`Value::parse`]; `Invalid` too for a value that the column would round.
    pub fn parse_given(text: &str, column_type: ColumnType) -> Result<Value> {
        read_given(text, column_type).map_err(Error::invalid)
    }

    /// Whether a column that makes `held` of this value, which is given, may take it: nothing is lost,
    /// or the column is of FLOAT or DOUBLE, which take the nearest number.
    pub(crate) fn may_be_held_as(&self, held: &Value) -> bool {
        match (self, held) {
            (_, Value::Float(_) | Value::Double(_)) => true,
            (Value::Array(items), Value::Array(held)) => {
                items.iter().zip(held).all(|(item, held)| item.may_be_held_as(held))
            }
            (
                Value::Map(members) | Value::Record(members),
                Value::Map(held) | Value::Record(held),
            ) => members.iter().enumerate().all(|(place, member)| {
                let held = member_called(&member.0, held, place);
                held.is_none_or(|held| member.1.may_be_held_as(held))
            }),
            _ => self.is_kept_as(held),
        }
    }

    /// How two numbers compare, whatever their types, digit by digit. Text may be a number, and a
    /// fraction means the number that its shortest text shows. Nothing when one of them is no
    /// number.
    pub(crate) fn compare_exactly(&self, other: &Value) -> Option<Ordering> {
        compare_exactly(self, other)
    }

    /// Why a column does not store this value: it would hold another one, `held`. Nothing where it
    /// holds this one, and for FLOAT and DOUBLE, which take the nearest of any number.
    pub fn rounding_fault(&self, held: &Value, column_type: ColumnType) -> Option<String> {
        (!self.may_be_held_as(held)).then(|| {
            format!("{self} would be rounded to fit {column_type}: give {held}, or round it first")
        })
    }

    /// Whether `held`, to which a column converted this value, still means the same: no digit of a
    /// fraction, and no part of a second was lost. A fraction means the number that its shortest
    /// text shows.
    pub fn is_kept_as(&self, held: &Value) -> bool {
        // Only pairs in which digits may be lost are compared; all others hold the same or were
        // refused before.
        match (self, held) {
            (Value::String(_), Value::Timestamp { .. })
            | (Value::String(_) | Value::Timestamp { .. }, Value::Date(_)) => {
                moment(self).is_none_or(|exact| moment(held) == Some(exact))
            }
            (
                Value::Timestamp { value, precision: from },
                Value::Timestamp { value: held, precision: to },
                // A finer unit loses nothing; out of a coarser one the way back must give the same
                // count.
            ) => from <= to || time::rescale(*held, *to, *from) == Some(*value),
            (Value::Double(value), Value::Float(held)) => {
                value.is_nan()
                    || f64::from(*held) == *value
                    || value.to_string() == held.to_string()
            }
            (
                Value::Integer(_) | Value::Long(_) | Value::Number { .. } | Value::WideNumber(_),
                Value::Double(_) | Value::Float(_),
            )
            | (
                Value::String(_)
                | Value::Integer(_)
                | Value::Long(_)
                | Value::Float(_)
                | Value::Double(_)
                | Value::Number { .. }
                | Value::WideNumber(_),
                Value::Number { .. } | Value::WideNumber(_),
            ) => self.compare_exactly(held) == Some(Ordering::Equal),
            (Value::Array(items), Value::Array(held)) => {
                items.iter().zip(held).all(|(item, held)| item.is_kept_as(held))
            }
            (
                Value::Map(fields) | Value::Record(fields),
                Value::Map(held) | Value::Record(held),
            ) => {
                let kept = |name: &str| held.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
                fields
                    .iter()
                    .all(|(name, value)| kept(name).is_none_or(|(_, held)| value.is_kept_as(held)))
            }
            _ => true,
        }
    }
}

/// The value of a text that a column takes as it is given.
pub(super) fn read_given(
    text: &str,
    column_type: ColumnType,
) -> std::result::Result<Value, Reason> {
    let value = Value::read(text, column_type)?;
    match Value::String(text.to_owned()).rounding_fault(&value, column_type) {
        None => Ok(value),
        Some(reason) => Err(reason),
    }
}

/// A member of a converted value. Most have the place that they had; a record has the order of its
/// type.
fn member_called<'a>(
    name: &str,
    members: &'a [(String, Value)],
    place: usize,
) -> Option<&'a Value> {
    let at_place = members.get(place).filter(|(known, _)| known == name);
    let known = || members.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    at_place.or_else(known).map(|(_, value)| value)
}

/// A day, a timestamp, or text that says one, in halves of a nanosecond since 1970.
pub(crate) fn moment(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => time::parse_exact(text),
        Value::Date(days) => Some(2 * i128::from(*days) * i128::from(time::NANOSECONDS_PER_DAY)),
        Value::Timestamp { value, precision } => {
            let nanoseconds = 1_000_000_000 / time::units_per_second(*precision);
            Some(2 * i128::from(*value) * i128::from(nanoseconds))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::ColumnType;
    use crate::value::Value;

    fn is_kept(value: impl Into<Value>, column_type: ColumnType) -> bool {
        let value = value.into();
        value.is_kept_as(&value.convert_to(column_type).unwrap())
    }

    #[test]
    fn what_a_column_rounds_is_not_kept() {
        let number = ColumnType::Number { precision: 10, scale: 2 };
        for (value, kept) in [
            ("1.00", true),
            ("1.5", true),
            ("-0", true),
            ("1e3", true),
            ("1.004", false),
            ("1.005", false),
        ] {
            assert_eq!(is_kept(value, number), kept, "{value}");
        }
        assert!(is_kept(1.25, number) && is_kept(7_i64, number) && !is_kept(1.004, number));
        let second = ColumnType::Timestamp(0);
        assert!(
            is_kept("2022-01-03T06:00:00", second) && is_kept("2022-01-03T06:00:00.000", second)
        );
        assert!(!is_kept("2022-01-03T06:00:00.9", second));
        let moment = |value, precision| Value::Timestamp { value, precision };
        assert!(
            is_kept(moment(1_500, 3), ColumnType::Timestamp(6))
                && is_kept(moment(2_000, 3), second)
        );
        assert!(!is_kept(moment(1_500, 3), second) && !is_kept(moment(-1, 9), second));
    }

    #[test]
    fn whole_numbers_that_a_double_cannot_tell_apart_are_not_kept() {
        let exact = 1_i64 << 53;
        assert!(is_kept(exact, ColumnType::Double) && is_kept(-exact, ColumnType::Double));
        assert!(!is_kept(exact + 1, ColumnType::Double) && !is_kept(i64::MAX, ColumnType::Double));
        assert!(is_kept(1 << 24, ColumnType::Float) && !is_kept((1 << 24) + 1, ColumnType::Float));
        let tenth = Value::Number { unscaled: 1, scale: 1 };
        assert!(is_kept(tenth.clone(), ColumnType::Double) && is_kept(tenth, ColumnType::Float));
        assert!(is_kept(0.1, ColumnType::Float) && is_kept(0.5, ColumnType::Float));
        assert!(!is_kept(0.123456789012, ColumnType::Float));
        assert!(is_kept(f64::NAN, ColumnType::Float) && is_kept(f64::INFINITY, ColumnType::Float));
    }
}
