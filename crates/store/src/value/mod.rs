//! One value of a column.
//!
//! Bulk paths never see a [`Value`]: they move Arrow arrays. Values serve single rows, keys given
//! by hand, defaults in DDL and the ends of field ranges.

mod array;
mod borrowed;
pub mod calendar;
mod convert;
mod decimal_text;
mod display;
mod exact;
pub mod json_text;
mod nested;
mod number;
mod parse;
mod reason;
mod time;
mod wide;

pub(crate) use array::{array_of, timestamps};
pub use borrowed::{NestedRef, ValueRef};
pub(crate) use exact::moment;
pub(crate) use parse::{
    check_json, of_width, parse_binary, parse_boolean, parse_date, parse_double, parse_float,
    parse_integer, parse_long, parse_number, parse_symbol, parse_time, parse_timestamp, parse_uuid,
    parse_wide_number,
};
pub(crate) use reason::Reason;
pub(crate) use time::{
    NANOSECONDS_PER_DAY, rescale as rescale_timestamp, units_per_second as timestamp_units,
};
pub(crate) use wide::fits_wide;
pub use wide::{WideNumber, WideNumberRef};

use serde::{Deserialize, Serialize};

/// One value of a column, or the absence of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number of 32 bits.
    Integer(i32),
    /// A whole number of 64 bits.
    Long(i64),
    /// A floating-point number of 32 bits.
    Float(f32),
    /// A floating-point number of 64 bits.
    Double(f64),
    /// A decimal number: `unscaled / 10^scale`.
    Number {
        /// The digits.
        unscaled: i128,
        /// The number of them after the point.
        scale: i8,
    },
    /// A decimal number whose digits 128 bits do not hold. [`Value::number`] makes both forms, and
    /// [`Value::as_number`] reads both.
    WideNumber(Box<WideNumber>),
    /// Text.
    String(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// A timestamp, counted from 1970-01-01T00:00:00Z.
    Timestamp {
        /// How many units.
        value: i64,
        /// Digits of the fraction of a second. They choose the unit: 0 is seconds, 1 to 3
        /// milliseconds, 4 to 6 microseconds, 7 to 9 nanoseconds.
        precision: u8,
    },
    /// A universally unique identifier.
    Uuid([u8; 16]),
    /// JSON text.
    Json(String),
    /// A day, counted from 1970-01-01.
    Date(i32),
    /// A time of day in nanoseconds since midnight.
    Time(i64),
    /// Values in order.
    Array(Vec<Value>),
    /// Values by name.
    Map(Vec<(String, Value)>),
    /// Values by the names of fields, in the order of the fields.
    Record(Vec<(String, Value)>),
}

impl Value {
    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether it is an array, a map or a record.
    pub fn is_nested(&self) -> bool {
        matches!(self, Value::Array(_) | Value::Map(_) | Value::Record(_))
    }

    /// What kind of value it is, as DDL names it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "NULL",
            Value::Boolean(_) => "BOOLEAN",
            Value::Integer(_) => "INTEGER",
            Value::Long(_) => "LONG",
            Value::Float(_) => "FLOAT",
            Value::Double(_) => "DOUBLE",
            Value::Number { .. } | Value::WideNumber(_) => "NUMBER",
            Value::String(_) => "STRING",
            Value::Binary(_) => "BINARY",
            Value::Timestamp { .. } => "TIMESTAMP",
            Value::Uuid(_) => "UUID",
            Value::Json(_) => "JSON",
            Value::Date(_) => "DATE",
            Value::Time(_) => "TIME",
            Value::Array(_) => "ARRAY",
            Value::Map(_) => "MAP",
            Value::Record(_) => "RECORD",
        }
    }
}

macro_rules! value_from {
    ($($from:ty => $variant:ident),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Value::$variant(value.into())
            }
        })*
    };
}

value_from! {
    bool => Boolean, i32 => Integer, i16 => Integer, i8 => Integer, u8 => Integer, u16 => Integer, i64 => Long, u32 => Long,
    f32 => Float, f64 => Double, String => String, &str => String, Vec<u8> => Binary, &[u8] => Binary, [u8; 16] => Uuid,
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        Value::Json(value.to_string())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(test)]
mod tests;
