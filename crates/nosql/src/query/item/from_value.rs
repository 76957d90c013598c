//! Items of stored values.

use std::sync::Arc;

use tonnage::Value;

use super::document::item_of_json;
use super::instant::{Instant, NANOSECONDS};
use super::kinds::{Item, Members};
use super::number::decimal;
use crate::wire::decimal_text;

/// The item of a stored value.
pub(crate) fn item_of_value(value: &Value) -> Item {
    match value {
        Value::Null => Item::Null,
        Value::Boolean(truth) => Item::Boolean(*truth),
        Value::Integer(number) => Item::Integer(*number),
        Value::Long(number) => Item::Long(*number),
        Value::Float(number) => Item::Float(*number),
        Value::Double(number) => Item::Double(*number),
        Value::Number { .. } | Value::WideNumber(_) => {
            let number = decimal_text(value).and_then(|text| decimal(&text));
            number.map_or(Item::Null, |number| Item::Number(Arc::new(number)))
        }
        Value::String(text) => Item::from(text.as_str()),
        Value::Binary(bytes) => Item::Binary(bytes.as_slice().into()),
        // The store counts in the unit that the digits choose.
        Value::Timestamp { value, precision } => {
            let unit = match precision {
                0 => NANOSECONDS,
                1..=3 => 1_000_000,
                4..=6 => 1_000,
                _ => 1,
            };
            let nanoseconds = i128::from(*value) * unit;
            Item::Timestamp(Instant { nanoseconds, precision: *precision })
        }
        // Read anew for each row: columns that are not asked for are not read at all.
        Value::Json(text) => item_of_json(text),
        Value::Array(items) => items.iter().map(item_of_value).collect::<Vec<_>>().into(),
        Value::Map(members) => Item::Map(Arc::new(members_of(members))),
        Value::Record(fields) => Item::Record(Arc::new(members_of(fields))),
        // The language has no kinds for these.
        Value::Uuid(_) | Value::Date(_) | Value::Time(_) => Item::from(value.to_string()),
    }
}

fn members_of(members: &[(String, Value)]) -> Members {
    members.iter().map(|(name, value)| (Arc::from(name.as_str()), item_of_value(value))).collect()
}
