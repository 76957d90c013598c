//! Values that borrow their text or bytes.

use std::fmt;

use super::{Value, WideNumberRef};
use crate::schema::ColumnType;

/// A [`Value`] that borrows its text or bytes: what single rows hold that go in and out without a
/// copy of each cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ValueRef<'a> {
    /// No value.
    #[default]
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
    /// A decimal number whose digits 128 bits do not hold.
    WideNumber(WideNumberRef<'a>),
    /// Text.
    String(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
    /// A timestamp, counted from 1970-01-01T00:00:00Z, in units that the precision chooses.
    Timestamp {
        /// How many units.
        value: i64,
        /// Digits of the fraction of a second (0 to 9).
        precision: u8,
    },
    /// A universally unique identifier.
    Uuid([u8; 16]),
    /// JSON text.
    Json(&'a str),
    /// A day, counted from 1970-01-01.
    Date(i32),
    /// A time of day in nanoseconds since midnight.
    Time(i64),
    /// An array, a map or a record.
    Nested(NestedRef<'a>),
}

/// An array, a map or a record, borrowed in place.
#[derive(Clone, Copy)]
pub struct NestedRef<'a>(NestedSource<'a>);

#[derive(Clone, Copy)]
enum NestedSource<'a> {
    Value(&'a Value),
    /// The bytes of a stored value, which were looked at before, and who reads them.
    Stored(&'a [u8], ColumnType, ReadStored),
}

/// Reads the bytes of a stored value; nothing when they are none.
pub(crate) type ReadStored = fn(&[u8], ColumnType) -> Option<Value>;

impl<'a> NestedRef<'a> {
    /// The value that stored bytes are; nothing when they are none.
    pub(crate) fn of_stored(
        bytes: &'a [u8],
        column_type: ColumnType,
        read: ReadStored,
    ) -> Option<Self> {
        read(bytes, column_type)?;
        Some(Self(NestedSource::Stored(bytes, column_type, read)))
    }

    /// The value itself, when it is not stored bytes.
    pub(crate) fn as_value(&self) -> Option<&'a Value> {
        if let NestedSource::Value(value) = self.0 { Some(value) } else { None }
    }

    /// The value, read out.
    pub fn to_value(self) -> Value {
        match self.0 {
            NestedSource::Value(value) => value.clone(),
            NestedSource::Stored(bytes, column_type, read) => {
                read(bytes, column_type).unwrap_or(Value::Null)
            }
        }
    }
}

impl PartialEq for NestedRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.to_value() == other.to_value()
    }
}

impl fmt::Debug for NestedRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl ValueRef<'_> {
    /// The value with its own text or bytes.
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Boolean(value) => Value::Boolean(value),
            ValueRef::Integer(value) => Value::Integer(value),
            ValueRef::Long(value) => Value::Long(value),
            ValueRef::Float(value) => Value::Float(value),
            ValueRef::Double(value) => Value::Double(value),
            ValueRef::Number { unscaled, scale } => Value::Number { unscaled, scale },
            ValueRef::WideNumber(number) => Value::number(number.unscaled(), number.scale()),
            ValueRef::String(text) => Value::String(text.to_owned()),
            ValueRef::Binary(bytes) => Value::Binary(bytes.to_vec()),
            ValueRef::Timestamp { value, precision } => Value::Timestamp { value, precision },
            ValueRef::Uuid(bytes) => Value::Uuid(bytes),
            ValueRef::Json(text) => Value::Json(text.to_owned()),
            ValueRef::Date(days) => Value::Date(days),
            ValueRef::Time(nanoseconds) => Value::Time(nanoseconds),
            ValueRef::Nested(nested) => nested.to_value(),
        }
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        // The way back is `ValueRef::to_value`. Nested values are lent whole: `NestedRef` gives no
        // parts.
        match *value {
            Value::Null => ValueRef::Null,
            Value::Boolean(value) => ValueRef::Boolean(value),
            Value::Integer(value) => ValueRef::Integer(value),
            Value::Long(value) => ValueRef::Long(value),
            Value::Float(value) => ValueRef::Float(value),
            Value::Double(value) => ValueRef::Double(value),
            Value::Number { unscaled, scale } => ValueRef::Number { unscaled, scale },
            Value::WideNumber(ref number) => ValueRef::WideNumber(number.as_ref().into()),
            Value::String(ref text) => ValueRef::String(text),
            Value::Binary(ref bytes) => ValueRef::Binary(bytes),
            Value::Timestamp { value, precision } => ValueRef::Timestamp { value, precision },
            Value::Uuid(bytes) => ValueRef::Uuid(bytes),
            Value::Json(ref text) => ValueRef::Json(text),
            Value::Date(days) => ValueRef::Date(days),
            Value::Time(nanoseconds) => ValueRef::Time(nanoseconds),
            Value::Array(_) | Value::Map(_) | Value::Record(_) => {
                ValueRef::Nested(NestedRef(NestedSource::Value(value)))
            }
        }
    }
}

macro_rules! borrowed_from {
    ($($from:ty => $variant:ident),* $(,)?) => {
        $(impl<'a> From<$from> for ValueRef<'a> {
            fn from(value: $from) -> Self {
                ValueRef::$variant(value)
            }
        })*
    };
}

borrowed_from! {
    bool => Boolean, i32 => Integer, i64 => Long, f32 => Float, f64 => Double, &'a str => String, &'a [u8] => Binary,
    [u8; 16] => Uuid,
}
