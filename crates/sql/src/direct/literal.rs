//! Literals and parameters of simple statements.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StringArray};
use datafusion::sql::sqlparser::tokenizer::Token;
use tonnage::{ColumnType, Result, Value};

use crate::session::Parameters;
use crate::text::Cursor;

/// A value, or a placeholder.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SqlLiteral {
    Number(String),
    Text(String),
    Truth(bool),
    /// `TIMESTAMP '...'`.
    Moment(String),
    /// `DATE '...'`.
    Day(String),
    /// `$1` or `:name`.
    Parameter(String),
}

impl SqlLiteral {
    /// Takes a literal, if there is one.
    pub(super) fn parse(cursor: &mut Cursor) -> Option<SqlLiteral> {
        if cursor.token(&Token::Minus) {
            // After a minus anything but a number is an expression, which is left to the planner.
            return match cursor.next()? {
                Token::Number(digits, false) => Some(SqlLiteral::Number(format!("-{digits}"))),
                _ => None,
            };
        }
        // Words taken here are not put back: without a literal the planner gets the whole
        // statement.
        if cursor.word("TRUE") {
            return Some(SqlLiteral::Truth(true));
        }
        if cursor.word("FALSE") {
            return Some(SqlLiteral::Truth(false));
        }
        if cursor.word("TIMESTAMP") {
            return quoted(cursor).map(SqlLiteral::Moment);
        }
        if cursor.word("DATE") {
            return quoted(cursor).map(SqlLiteral::Day);
        }
        match cursor.next()? {
            Token::Number(digits, false) => Some(SqlLiteral::Number(digits.clone())),
            Token::SingleQuotedString(text) => Some(SqlLiteral::Text(text.clone())),
            Token::Placeholder(name) if name.len() > 1 => Some(SqlLiteral::Parameter(name.clone())),
            Token::Colon => cursor.name().map(|name| SqlLiteral::Parameter(format!(":{name}"))),
            _ => None,
        }
    }

    /// The value that a column of that type is compared with; `None` when SQL would compare in some
    /// other way than the column does.
    fn value(&self, column_type: ColumnType, parameters: &Parameters) -> Result<Option<Value>> {
        Ok(match self {
            SqlLiteral::Number(digits) => of_number(digits, column_type),
            SqlLiteral::Text(text) => of_text(text, column_type),
            SqlLiteral::Moment(text) => match column_type {
                ColumnType::Timestamp(_) if is_plain_moment(text) => of_text(text, column_type),
                _ => None,
            },
            SqlLiteral::Day(text) => match column_type {
                ColumnType::Date if is_digits_like(text, DAY) => of_text(text, column_type),
                _ => None,
            },
            SqlLiteral::Truth(truth) => {
                (column_type == ColumnType::Boolean).then_some(Value::Boolean(*truth))
            }
            SqlLiteral::Parameter(name) => of_parameter(parameters.get(name)?, column_type),
        })
    }

    /// A count, such as that of LIMIT.
    pub(super) fn count(&self, parameters: &Parameters) -> Result<Option<u64>> {
        let value = self.value(ColumnType::Long, parameters)?;
        Ok(if let Some(Value::Long(count)) = value { u64::try_from(count).ok() } else { None })
    }
}

fn quoted(cursor: &mut Cursor) -> Option<String> {
    match cursor.next()? {
        Token::SingleQuotedString(text) => Some(text.clone()),
        _ => None,
    }
}

const DAY: &str = "2022-01-03";
const TIME: &str = "06:00:00";

/// Whether a timestamp is written in a form that all readers take alike: a day, and maybe a time
/// with up to nine digits after the second.
fn is_plain_moment(text: &str) -> bool {
    let Some((day, rest)) = text.split_at_checked(DAY.len()) else { return false };
    let Some(time) = rest.strip_prefix([' ', 'T']) else {
        return rest.is_empty() && is_digits_like(day, DAY);
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction =
        (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_digits_like(day, DAY) && is_digits_like(time, TIME) && is_fraction
}

/// Whether a text has digits where another has them, and is the same elsewhere.
fn is_digits_like(text: &str, form: &str) -> bool {
    let is_alike = |(byte, form): (u8, u8)| match form.is_ascii_digit() {
        true => byte.is_ascii_digit(),
        false => byte == form,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(is_alike)
}

fn of_number(digits: &str, column_type: ColumnType) -> Option<Value> {
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match column_type {
        ColumnType::Integer if is_whole => digits.parse().ok().map(Value::Integer),
        ColumnType::Long if is_whole => digits.parse().ok().map(Value::Long),
        ColumnType::Double => digits.parse().ok().map(Value::Double),
        ColumnType::Number { scale, .. } if is_whole || fits_scale(digits, scale) => {
            Value::parse(digits, column_type).ok()
        }
        _ => None,
    }
}

/// Whether all digits after the point fit into a column of that scale: it would round the
/// others away.
fn fits_scale(digits: &str, scale: i8) -> bool {
    let fraction =
        digits.split_once('.').map_or("", |(_, fraction)| fraction.trim_end_matches('0'));
    !digits.contains(['e', 'E', '_']) && i8::try_from(fraction.len()).is_ok_and(|len| len <= scale)
}

fn of_text(text: &str, column_type: ColumnType) -> Option<Value> {
    match column_type {
        ColumnType::String => Some(Value::String(text.to_owned())),
        ColumnType::Uuid | ColumnType::Binary | ColumnType::FixedBinary(_) => {
            Value::parse(text, column_type).ok()
        }
        ColumnType::Date if text.len() == "2022-01-03".len() => {
            Value::parse(text, column_type).ok()
        }
        ColumnType::Timestamp(_) => {
            exact_moment(&Value::parse(text, ColumnType::Timestamp(9)).ok()?, column_type)
        }
        _ => None,
    }
}

fn of_parameter(value: &Value, column_type: ColumnType) -> Option<Value> {
    match (value, column_type) {
        (Value::Null, _) => None,
        (Value::String(text), _) => of_text(text, column_type),
        (Value::Timestamp { .. }, ColumnType::Timestamp(_)) => exact_moment(value, column_type),
        (
            Value::Integer(_) | Value::Long(_),
            ColumnType::Integer | ColumnType::Long | ColumnType::Number { .. },
        ) => value.convert_to(column_type).ok(),
        (Value::Double(_), ColumnType::Double)
        | (Value::Float(_), ColumnType::Float)
        | (Value::Boolean(_), ColumnType::Boolean)
        | (Value::Binary(_), ColumnType::Binary)
        | (Value::Date(_), ColumnType::Date)
        | (Value::Time(_), ColumnType::Time)
        | (Value::Uuid(_), ColumnType::Uuid) => Some(value.clone()),
        _ => None,
    }
}

/// A timestamp as the column holds it, unless the column would cut it.
fn exact_moment(value: &Value, column_type: ColumnType) -> Option<Value> {
    let held = value.convert_to(column_type).ok()?;
    let back = held.convert_to(ColumnType::Timestamp(9)).ok()?;
    (back == value.convert_to(ColumnType::Timestamp(9)).ok()?).then_some(held)
}

/// The values of a list as an array of the column's own type, likewise. Long lists are common: they
/// are not gone through value by value where their literals are the column's already.
pub(super) fn array_of(
    literals: &[SqlLiteral],
    column_type: ColumnType,
    parameters: &Parameters,
) -> Result<Option<ArrayRef>> {
    if let Some(array) = plain_array(literals, column_type) {
        return Ok(Some(array));
    }
    let mut arrays = Vec::with_capacity(literals.len());
    for literal in literals {
        let Some(value) = literal.value(column_type, parameters)? else { return Ok(None) };
        arrays.push(value.to_array(column_type, 1)?);
    }
    let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
    Ok(arrow::compute::concat(&arrays).ok())
}

fn plain_array(literals: &[SqlLiteral], column_type: ColumnType) -> Option<ArrayRef> {
    let number = |literal: &SqlLiteral| {
        if let SqlLiteral::Number(digits) = literal { digits.parse::<i64>().ok() } else { None }
    };
    match column_type {
        ColumnType::Integer => {
            let numbers = literals.iter().map(|literal| i32::try_from(number(literal)?).ok());
            Some(Arc::new(Int32Array::from(numbers.collect::<Option<Vec<_>>>()?)))
        }
        ColumnType::Long => Some(Arc::new(Int64Array::from(
            literals.iter().map(number).collect::<Option<Vec<_>>>()?,
        ))),
        ColumnType::String => {
            let texts = literals.iter().map(|literal| {
                if let SqlLiteral::Text(text) = literal { Some(text.as_str()) } else { None }
            });
            Some(Arc::new(StringArray::from(texts.collect::<Option<Vec<_>>>()?)))
        }
        _ => None,
    }
}
