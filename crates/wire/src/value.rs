//! One value of a row.

use arrow::datatypes::i256;
use prost::{Message, Oneof};
use tonnage::{Error, Result, Value};

/// A value, with the name that it has in its row, map or record.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CellMessage {
    /// Empty within an array.
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    /// Nothing for NULL.
    #[prost(oneof = "CellValue", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17")]
    pub(crate) value: Option<CellValue>,
}

/// A value by its type.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum CellValue {
    #[prost(bool, tag = "2")]
    Boolean(bool),
    #[prost(sint32, tag = "3")]
    Integer(i32),
    #[prost(sint64, tag = "4")]
    Long(i64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(double, tag = "6")]
    Double(f64),
    #[prost(message, tag = "7")]
    Number(DecimalMessage),
    #[prost(string, tag = "8")]
    String(String),
    #[prost(bytes = "vec", tag = "9")]
    Binary(Vec<u8>),
    #[prost(message, tag = "10")]
    Timestamp(TimestampMessage),
    #[prost(bytes = "vec", tag = "11")]
    Uuid(Vec<u8>),
    #[prost(string, tag = "12")]
    Json(String),
    /// Days since 1970-01-01.
    #[prost(sint32, tag = "13")]
    Date(i32),
    /// Nanoseconds since midnight.
    #[prost(sint64, tag = "14")]
    Time(i64),
    #[prost(message, tag = "15")]
    Array(CellsMessage),
    #[prost(message, tag = "16")]
    Map(CellsMessage),
    #[prost(message, tag = "17")]
    Record(CellsMessage),
}

/// Values in order.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CellsMessage {
    #[prost(message, repeated, tag = "1")]
    pub(crate) cells: Vec<CellMessage>,
}

/// `unscaled / 10^scale`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DecimalMessage {
    /// Two's complement, big-endian, of 1 to 32 bytes.
    #[prost(bytes = "vec", tag = "1")]
    unscaled: Vec<u8>,
    #[prost(sint32, tag = "2")]
    scale: i32,
}

/// A timestamp, counted from 1970-01-01T00:00:00Z.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TimestampMessage {
    #[prost(sint64, tag = "1")]
    value: i64,
    /// Digits behind the second. They choose the unit: 0 is seconds, 1 to 3 milliseconds, 4 to 6
    /// microseconds, 7 to 9 nanoseconds.
    #[prost(uint32, tag = "2")]
    precision: u32,
}

impl CellMessage {
    /// A value under a name.
    pub(crate) fn new(name: &str, value: &Value) -> Self {
        CellMessage { name: name.to_owned(), value: cell_value(value) }
    }

    /// The value, with its name.
    ///
    /// # Errors
    /// `Invalid` for bytes that are not a value of their type.
    pub(crate) fn into_value(self) -> Result<(String, Value)> {
        let value = match self.value {
            None => Value::Null,
            Some(value) => value.into_value().map_err(|error| match self.name.as_str() {
                "" => error,
                name => error.at(format!("column {name}")),
            })?,
        };
        Ok((self.name, value))
    }
}

fn cell_value(value: &Value) -> Option<CellValue> {
    Some(match value {
        // A cell without a value is NULL: proto3 has no other word for it.
        Value::Null => return None,
        Value::Boolean(value) => CellValue::Boolean(*value),
        Value::Integer(value) => CellValue::Integer(*value),
        Value::Long(value) => CellValue::Long(*value),
        Value::Float(value) => CellValue::Float(*value),
        Value::Double(value) => CellValue::Double(*value),
        Value::Number { unscaled, scale } => CellValue::Number(DecimalMessage {
            unscaled: shortest(&unscaled.to_be_bytes()),
            scale: (*scale).into(),
        }),
        // Readers need not know where 128 bits end: both forms look alike.
        Value::WideNumber(number) => CellValue::Number(DecimalMessage {
            unscaled: shortest(&number.unscaled().to_be_bytes()),
            scale: number.scale().into(),
        }),
        Value::String(text) => CellValue::String(text.clone()),
        Value::Binary(bytes) => CellValue::Binary(bytes.clone()),
        Value::Timestamp { value, precision } => {
            CellValue::Timestamp(TimestampMessage { value: *value, precision: (*precision).into() })
        }
        Value::Uuid(bytes) => CellValue::Uuid(bytes.to_vec()),
        Value::Json(text) => CellValue::Json(text.clone()),
        Value::Date(days) => CellValue::Date(*days),
        Value::Time(nanoseconds) => CellValue::Time(*nanoseconds),
        Value::Array(items) => CellValue::Array(CellsMessage {
            cells: items.iter().map(|item| CellMessage::new("", item)).collect(),
        }),
        Value::Map(entries) => CellValue::Map(CellsMessage::of(entries)),
        Value::Record(fields) => CellValue::Record(CellsMessage::of(fields)),
    })
}

impl CellsMessage {
    fn of(named: &[(String, Value)]) -> Self {
        Self { cells: named.iter().map(|(name, value)| CellMessage::new(name, value)).collect() }
    }

    fn into_named(self) -> Result<Vec<(String, Value)>> {
        self.cells.into_iter().map(CellMessage::into_value).collect()
    }
}

impl CellValue {
    fn into_value(self) -> Result<Value> {
        Ok(match self {
            CellValue::Boolean(value) => Value::Boolean(value),
            CellValue::Integer(value) => Value::Integer(value),
            CellValue::Long(value) => Value::Long(value),
            CellValue::Float(value) => Value::Float(value),
            CellValue::Double(value) => Value::Double(value),
            CellValue::Number(number) => number.into_value()?,
            CellValue::String(text) => Value::String(text),
            CellValue::Binary(bytes) => Value::Binary(bytes),
            CellValue::Timestamp(TimestampMessage { value, precision }) => {
                // Beyond 9 digits there is no unit that `value` could count.
                let precision = u8::try_from(precision).ok().filter(|digits| *digits <= 9);
                let precision = precision.ok_or_else(|| {
                    Error::invalid("a timestamp has at most 9 digits after the second")
                })?;
                Value::Timestamp { value, precision }
            }
            CellValue::Uuid(bytes) => Value::Uuid(bytes.try_into().map_err(|bytes: Vec<u8>| {
                Error::invalid(format!("a UUID has 16 bytes, not {}", bytes.len()))
            })?),
            CellValue::Json(text) => Value::Json(text),
            CellValue::Date(days) => Value::Date(days),
            CellValue::Time(nanoseconds) => Value::Time(nanoseconds),
            CellValue::Array(items) => {
                // The items of an array have no names.
                let items = items.cells.into_iter().map(CellMessage::into_value);
                Value::Array(items.map(|item| Ok(item?.1)).collect::<Result<_>>()?)
            }
            CellValue::Map(entries) => Value::Map(entries.into_named()?),
            CellValue::Record(fields) => Value::Record(fields.into_named()?),
        })
    }
}

impl DecimalMessage {
    fn into_value(self) -> Result<Value> {
        let wrong =
            || Error::invalid("a NUMBER has digits of 1 to 32 bytes, and a scale from -128 to 127");
        let scale = i8::try_from(self.scale).map_err(|_| wrong())?;
        let first = *self.unscaled.first().ok_or_else(wrong)?;
        let start = 32_usize.checked_sub(self.unscaled.len()).ok_or_else(wrong)?;
        // The sign fills what is in front.
        let mut bytes = [if first >= 0x80 { 0xff } else { 0 }; 32];
        bytes[start..].copy_from_slice(&self.unscaled);
        Ok(Value::number(i256::from_be_bytes(bytes), scale))
    }
}

/// The fewest bytes in two's complement, at least one.
fn shortest(bytes: &[u8]) -> Vec<u8> {
    let is_spare = |pair: &[u8]| matches!(pair, [0, 0..0x80] | [0xff, 0x80..=0xff]);
    let spare = bytes.windows(2).take_while(|pair| is_spare(pair)).count();
    bytes[spare..].to_vec()
}
