//! Items as text.

use super::kinds::Item;
use crate::wire::decimal_digits_text;

/// The text of an item, as casts and joined texts have it.
pub(crate) fn item_text(item: &Item) -> String {
    match item {
        Item::String(text) => text.to_string(),
        Item::Timestamp(instant) => format!("{}Z", instant.text()),
        other => json_text_of(other),
    }
}

/// An item as JSON. What JSON has no form for is text in it.
pub(crate) fn json_text_of(item: &Item) -> String {
    let mut out = String::new();
    write_json(item, &mut out);
    out
}

/// Items lie no deeper in each other than documents and statements let them.
fn write_json(item: &Item, out: &mut String) {
    match item {
        Item::Null | Item::JsonNull => out.push_str("null"),
        Item::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Item::Integer(number) => out.push_str(&number.to_string()),
        Item::Long(number) => out.push_str(&number.to_string()),
        // Digits and exponents are as the language shows them, not as Rust does.
        Item::Float(number) => out.push_str(&float_text(*number)),
        Item::Double(number) => out.push_str(&double_text(*number)),
        Item::Number(number) => out.push_str(&decimal_digits_text(number)),
        Item::String(text) => quoted(text, out),
        Item::Binary(bytes) => {
            use base64::Engine as _;
            quoted(&base64::prelude::BASE64_STANDARD.encode(bytes), out);
        }
        // Documents name the zone, columns do not.
        Item::Timestamp(instant) => quoted(&format!("{}Z", instant.text()), out),
        Item::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                write_json(item, out);
            }
            out.push(']');
        }
        Item::Map(members) | Item::Record(members) => {
            out.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                quoted(name, out);
                out.push(':');
                write_json(member, out);
            }
            out.push('}');
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// A double as the language writes it: `1.0`, `1.0E20`.
pub(crate) fn double_text(number: f64) -> String {
    scientific(&format!("{number:?}"), &format!("{number:e}"), number.abs())
}

/// The same for a single.
pub(crate) fn float_text(number: f32) -> String {
    scientific(&format!("{number:?}"), &format!("{number:e}"), f64::from(number.abs()))
}

fn scientific(plain: &str, exponential: &str, size: f64) -> String {
    match () {
        () if size.is_nan() => "NaN".to_owned(),
        () if size.is_infinite() => {
            if plain.starts_with('-') {
                "-Infinity".to_owned()
            } else {
                "Infinity".to_owned()
            }
        }
        // Plain digits from a thousandth to ten million.
        () if size == 0.0 || (1e-3..1e7).contains(&size) => match plain.contains('.') {
            true => plain.to_owned(),
            false => format!("{plain}.0"),
        },
        () => {
            let (digits, exponent) = exponential.split_once('e').unwrap_or((exponential, "0"));
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{digits}{point}E{exponent}")
        }
    }
}
