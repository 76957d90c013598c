//! Arrays, maps and records: read from JSON, written as JSON, and converted to a column's type.

use std::collections::HashSet;
use std::fmt::{self, Write};

use serde_json::Value as Json;
use tonnage_engine::{Error, Result};

use super::Value;
use super::exact::read_given;
use super::json_text::{self, JsonKind};
use super::reason::Reason;
use crate::schema::{ColumnType, ElementType, RecordFields};

type ReadResult<T> = std::result::Result<T, Reason>;

/// Reads the JSON text of an array, a map or a record.
pub(super) fn parse(text: &str, column_type: ColumnType) -> ReadResult<Value> {
    match json_text::checked(text) {
        Ok(text) => of_text(text, column_type),
        Err(error) => {
            Err(format!("a value of type {column_type} is written in JSON: {}", error.message()))
        }
    }
}

/// The value of a type that a JSON text means.
fn of_text(text: &str, column_type: ColumnType) -> ReadResult<Value> {
    // JSON comes before NULL: in a document `null` is a value of its own. Text in quotes is read as
    // any text of its type, so long numbers keep their digits there.
    let broken = |error: Error| error.message().to_owned();
    match (JsonKind::of(text), column_type) {
        (_, ColumnType::Json) => Ok(Value::Json(text.to_owned())),
        (JsonKind::Null, _) => Ok(Value::Null),
        (JsonKind::Array, ColumnType::Array(element)) => {
            let items = json_text::items(text).map_err(broken)?;
            let items = items.into_iter().enumerate().map(|(place, item)| {
                of_text(item, element.column_type()).map_err(|reason| at_element(place, &reason))
            });
            items.collect::<ReadResult<_>>().map(Value::Array)
        }
        (JsonKind::Object, ColumnType::Map(element)) => {
            let members = json_text::all_members(text).map_err(broken)?;
            let mut names = HashSet::with_capacity(members.len());
            let members = members.iter().map(|(name, member)| {
                // JSON allows a name twice. Of two values either could be the one that counts.
                if !names.insert(name.as_str()) {
                    return Err(duplicate_error("key", name));
                }
                let value = of_text(member, element.column_type());
                value.map_err(|reason| at_field(name, &reason)).map(|value| (name.clone(), value))
            });
            members.collect::<ReadResult<_>>().map(Value::Map)
        }
        (JsonKind::Object, ColumnType::Record(fields)) => {
            record(json_text::all_members(text).map_err(broken)?, fields, of_text)
        }
        (JsonKind::String, column_type) => {
            read_given(&json_text::string(text).map_err(broken)?, column_type)
        }
        (JsonKind::Boolean, column_type) => Value::Boolean(text == "true").convert(column_type),
        (JsonKind::Number, column_type) => match text.parse() {
            Ok(whole) => Value::Long(whole).convert(column_type),
            Err(_) => read_given(text, column_type),
        },
        (JsonKind::Array, column_type) => Err(type_mismatch("ARRAY", column_type)),
        (JsonKind::Object, column_type) => Err(type_mismatch("MAP", column_type)),
    }
}

impl Value {
    /// The value for a column of that type that a number of JSON is. One of more than 15 digits
    /// that is not a whole number of 64 bits was rounded when it was read.
    ///
    /// # Errors
    /// `Invalid` for a number that does not fit the column, or that was rounded.
    pub fn parse_json_number(
        number: &serde_json::Number,
        column_type: ColumnType,
    ) -> Result<Value> {
        let digits = exact_digits(number, column_type).map_err(Error::invalid)?;
        Value::parse(&digits, column_type)
    }
}

/// The digits that a double is sure to keep, and so a number that was read as one.
const DIGITS_KEPT: usize = 15;

/// The digits of a number of JSON, which was read as a double.
fn exact_digits(number: &serde_json::Number, column_type: ColumnType) -> ReadResult<String> {
    let text = number.to_string();
    let is_double = matches!(column_type, ColumnType::Float | ColumnType::Double);
    let is_whole = number.is_i64() || number.is_u64();
    match is_double || is_whole || digits_in(&text) <= DIGITS_KEPT {
        true => Ok(text),
        false => Err(format!(
            "about {text}: a number of more than {DIGITS_KEPT} digits in JSON must stand in quotes"
        )),
    }
}

/// How many digits there are from the first to the last that is not a zero.
fn digits_in(number: &str) -> usize {
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').trim_end_matches('0').len()
}

#[cold]
fn type_mismatch(kind: &str, column_type: ColumnType) -> Reason {
    format!("a value of type {kind} does not fit a column of type {column_type}")
}

#[cold]
fn at_element(place: usize, reason: &str) -> Reason {
    format!("element {place}: {reason}")
}

#[cold]
fn at_field(name: &str, reason: &str) -> Reason {
    format!("'{}': {reason}", name.escape_debug())
}

#[cold]
fn duplicate_error(what: &str, name: &str) -> Reason {
    format!("the {what} '{}' is given twice", name.escape_debug())
}

/// A record out of members by name; fields without a member are NULL.
fn record<T>(
    members: impl IntoIterator<Item = (String, T)>,
    fields: RecordFields,
    read: impl Fn(T, ColumnType) -> ReadResult<Value>,
) -> ReadResult<Value> {
    let own = fields.fields();
    let mut values: Vec<Option<Value>> = vec![None; own.len()];
    for (name, member) in members {
        // A member without a field is an error: a record would lose it without a word.
        let place = fields.field_index(&name).ok_or_else(|| {
            let names: Vec<_> = own.iter().take(20).map(|field| field.name.as_str()).collect();
            format!(
                "the RECORD has no field '{}'; it has {}",
                name.escape_debug(),
                names.join(", ")
            )
        })?;
        let value =
            read(member, own[place].column_type).map_err(|reason| at_field(&name, &reason))?;
        if values[place].replace(value).is_some() {
            return Err(duplicate_error("field", &name));
        }
    }
    let named = own.iter().zip(values);
    let named = named.map(|(field, value)| (field.name.clone(), value.unwrap_or(Value::Null)));
    Ok(Value::Record(named.collect()))
}

/// A nested value as a column of a nested type holds it; nothing when it is none or the column's
/// is another.
pub(super) fn convert(value: &Value, column_type: ColumnType) -> ReadResult<Option<Value>> {
    let converted = match (value, column_type) {
        (Value::Array(items), ColumnType::Array(element)) => array(items, element)?,
        (Value::Map(members) | Value::Record(members), ColumnType::Map(element)) => {
            let members = members.iter().map(|(name, member)| {
                let value = member.convert(element.column_type());
                value.map_err(|reason| at_field(name, &reason)).map(|value| (name.clone(), value))
            });
            Value::Map(members.collect::<ReadResult<_>>()?)
        }
        (Value::Map(members) | Value::Record(members), ColumnType::Record(fields)) => {
            let members = members.iter().map(|(name, member)| (name.clone(), member));
            record(members, fields, |member: &Value, column_type| member.convert(column_type))?
        }
        _ => return Ok(None),
    };
    Ok(Some(converted))
}

fn array(items: &[Value], element: ElementType) -> ReadResult<Value> {
    let items = items.iter().enumerate().map(|(index, item)| {
        item.convert(element.column_type()).map_err(|reason| at_element(index, &reason))
    });
    items.collect::<ReadResult<_>>().map(Value::Array)
}

/// Writes a value as JSON. A number whose digits a reader of JSON might lose is quoted.
pub(super) fn write_json(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // JSON has no NaN and no infinity, so these fall through to the last arm and are quoted.
    match value {
        Value::Null => f.write_str("null"),
        Value::Boolean(_) | Value::Integer(_) | Value::Long(_) => write!(f, "{value}"),
        Value::Number { .. } | Value::WideNumber(_) => {
            let text = value.to_string();
            let quote = if digits_in(&text) > DIGITS_KEPT { "\"" } else { "" };
            write!(f, "{quote}{text}{quote}")
        }
        Value::Float(number) if number.is_finite() => write!(f, "{number:?}"),
        Value::Double(number) if number.is_finite() => write!(f, "{number:?}"),
        Value::Json(text) => f.write_str(text),
        Value::Array(items) => {
            f.write_char('[')?;
            for (place, item) in items.iter().enumerate() {
                f.write_str(if place > 0 { "," } else { "" })?;
                write_json(item, f)?;
            }
            f.write_char(']')
        }
        Value::Map(members) | Value::Record(members) => {
            f.write_char('{')?;
            for (place, (name, member)) in members.iter().enumerate() {
                let comma = if place > 0 { "," } else { "" };
                // A name may hold quotes and control characters, which serde_json escapes.
                write!(f, "{comma}{}:", Json::from(name.as_str()))?;
                write_json(member, f)?;
            }
            f.write_char('}')
        }
        other => write!(f, "{}", Json::from(other.to_string())),
    }
}

/// The value as a JSON value.
pub(super) fn to_json(value: &Value) -> Json {
    match value {
        Value::Array(items) => items.iter().map(Value::to_json).collect(),
        Value::Map(members) | Value::Record(members) => {
            members.iter().map(|(name, member)| (name.clone(), member.to_json())).collect()
        }
        other => other.to_json(),
    }
}
