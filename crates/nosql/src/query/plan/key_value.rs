//! Items as values that keys and indexes are looked up by.

use tonnage::{ColumnType, Value};

use crate::query::item::{Instant, Item};

/// What a column holds that equals an item.
pub(crate) enum KeyValue {
    /// This value.
    Value(Value),
    /// No value equals it.
    Never,
    /// That is hard to decide: rows are read.
    Unknown,
}

pub(crate) fn key_value(item: &Item, column_type: ColumnType) -> KeyValue {
    let or_never = |value: Option<Value>| value.map_or(KeyValue::Never, KeyValue::Value);
    // A comparison with either is true of no value of a column.
    if matches!(item, Item::Null | Item::JsonNull) && column_type != ColumnType::Json {
        return KeyValue::Never;
    }
    match column_type {
        ColumnType::Integer => match whole(item) {
            Whole::Number(number) => or_never(i32::try_from(number).ok().map(Value::Integer)),
            Whole::Fraction => KeyValue::Never,
            Whole::Unknown => KeyValue::Unknown,
        },
        ColumnType::Long => match whole(item) {
            Whole::Number(number) => KeyValue::Value(Value::Long(number)),
            Whole::Fraction => KeyValue::Never,
            Whole::Unknown => KeyValue::Unknown,
        },
        ColumnType::Double => match item {
            // Zeros of both signs are equal, and two keys.
            Item::Integer(number) if *number != 0 => {
                KeyValue::Value(Value::Double((*number).into()))
            }
            Item::Double(number) if *number != 0.0 => KeyValue::Value(Value::Double(*number)),
            _ => KeyValue::Unknown,
        },
        ColumnType::String | ColumnType::Enum(_) => {
            or_never(item.text().map(|text| Value::String(text.to_owned())))
        }
        ColumnType::Boolean => match item {
            Item::Boolean(truth) => KeyValue::Value(Value::Boolean(*truth)),
            _ => KeyValue::Never,
        },
        ColumnType::Uuid => {
            or_never(item.text().and_then(|text| Value::parse(text, column_type).ok()))
        }
        ColumnType::Timestamp(precision) => timestamp(item, precision),
        _ => KeyValue::Unknown,
    }
}

enum Whole {
    Number(i64),
    Fraction,
    Unknown,
}

fn whole(item: &Item) -> Whole {
    match item {
        Item::Integer(number) => Whole::Number((*number).into()),
        Item::Long(number) => Whole::Number(*number),
        // Beyond that a double equals several whole numbers.
        Item::Double(number) if number.abs() < 9_007_199_254_740_992.0 => {
            if number.fract() == 0.0 {
                Whole::Number(*number as i64)
            } else {
                Whole::Fraction
            }
        }
        Item::Double(_) | Item::Float(_) | Item::Number(_) => Whole::Unknown,
        _ => Whole::Fraction,
    }
}

fn timestamp(item: &Item, precision: u8) -> KeyValue {
    let instant = match item {
        Item::Timestamp(instant) => *instant,
        Item::String(text) => match Instant::parse(text, 9) {
            Ok(instant) => instant,
            Err(_) => return KeyValue::Never,
        },
        _ => return KeyValue::Never,
    };
    let unit = match precision {
        0 => 1_000_000_000,
        1..=3 => 1_000_000,
        4..=6 => 1_000,
        _ => 1,
    };
    let value = i64::try_from(instant.nanoseconds / unit);
    match value.ok().filter(|_| instant.nanoseconds % unit == 0) {
        Some(value) => KeyValue::Value(Value::Timestamp { value, precision }),
        None => KeyValue::Unknown,
    }
}
