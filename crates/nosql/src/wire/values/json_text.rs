//! Documents as JSON text, which is what a JSON column holds.

use std::fmt::Write;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::nson::NsonView;

/// The JSON text of a value. Timestamps and bytes become text.
///
/// # Errors
/// What JSON has no form for.
pub(super) fn json_text(value: NsonView<'_>) -> Result<String, String> {
    let mut text = String::new();
    write(value, &mut text)?;
    Ok(text)
}

/// The JSON text of a map of some fields.
///
/// # Errors
/// What JSON has no form for.
pub(in crate::wire) fn json_object<'d>(
    fields: impl Iterator<Item = (&'d str, NsonView<'d>)>,
) -> Result<String, String> {
    let mut text = String::new();
    write_object(fields, &mut text)?;
    Ok(text)
}

fn write_object<'d>(
    fields: impl Iterator<Item = (&'d str, NsonView<'d>)>,
    out: &mut String,
) -> Result<(), String> {
    out.push('{');
    for (place, (name, field)) in fields.enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        quoted(name, out);
        out.push(':');
        write(field, out)?;
    }
    out.push('}');
    Ok(())
}

/// How deep values lie in each other was bounded when the document was read.
fn write(value: NsonView<'_>, out: &mut String) -> Result<(), String> {
    match value {
        NsonView::Array(items) => {
            out.push('[');
            for (place, item) in items.enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                write(item, out)?;
            }
            out.push(']');
        }
        NsonView::Map(fields) => write_object(fields, out)?,
        NsonView::Binary(bytes) => quoted(&BASE64_STANDARD.encode(bytes), out),
        NsonView::Boolean(truth) => out.push_str(if truth { "true" } else { "false" }),
        // With its point: 3.0 stays a DOUBLE. Writing to a string does not fail.
        NsonView::Double(number) if number.is_finite() => {
            let _ = write!(out, "{number:?}");
        }
        NsonView::Double(number) => {
            return Err(format!("JSON has no number {number}: give NULL or text"));
        }
        NsonView::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        NsonView::Long(number) => {
            let _ = write!(out, "{number}");
        }
        NsonView::Number(text) => match serde_json::from_str::<serde_json::Number>(text) {
            Ok(_) => out.push_str(text),
            Err(_) => return Err(format!("{text} is not a number of JSON")),
        },
        NsonView::String(text) => quoted(text, out),
        NsonView::Timestamp(text) => {
            // Documents name the zone, columns do not.
            let zone = if text.ends_with('Z') { "" } else { "Z" };
            quoted(&format!("{text}{zone}"), out);
        }
        NsonView::JsonNull | NsonView::Null | NsonView::Empty => out.push_str("null"),
    }
    Ok(())
}

fn quoted(text: &str, out: &mut String) {
    let _ = write!(out, "{}", serde_json::Value::from(text));
}
