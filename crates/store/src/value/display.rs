//! Values as text.

use std::fmt::{self, Write};

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{Value, nested, time};

/// Timestamps, days and times as ISO 8601, UUIDs with hyphens, bytes as base64 (as `0x` and
/// hexadecimal digits, where that base64 looks like them), nested values as JSON, everything else
/// as it is.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Long(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value}"),
            Value::Number { unscaled, scale } => {
                write_number(*unscaled < 0, &unscaled.unsigned_abs().to_string(), *scale, f)
            }
            Value::WideNumber(number) => {
                let digits = number.unscaled().to_string();
                let magnitude = digits.strip_prefix('-');
                write_number(magnitude.is_some(), magnitude.unwrap_or(&digits), number.scale(), f)
            }
            Value::String(text) | Value::Json(text) => f.write_str(text),
            Value::Binary(bytes) => write_bytes(bytes, f),
            Value::Timestamp { value, precision } => time::write(*value, *precision, f),
            Value::Uuid(bytes) => write_uuid(bytes, f),
            Value::Array(_) | Value::Map(_) | Value::Record(_) => nested::write_json(self, f),
            Value::Date(days) => time::write_date(*days, f),
            Value::Time(nanoseconds) => time::write_time(*nanoseconds, f),
        }
    }
}

/// Writes base64, or hexadecimal digits after `0x` where that base64 would be read as such digits.
fn write_bytes(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // The first bytes of all base64 that begins with 0x: only then is the rest looked at.
    if let [0xd3, second, ..] = bytes
        && second >> 4 == 1
        && bytes.len().is_multiple_of(3)
    {
        let base64 = BASE64.encode(bytes);
        if base64[2..].bytes().all(|byte| byte.is_ascii_hexdigit()) {
            f.write_str("0x")?;
            return bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
    }
    write!(f, "{}", Base64Display::new(bytes, &BASE64))
}

/// Writes digits, of which `scale` follow the point.
fn write_number(
    is_negative: bool,
    digits: &str,
    scale: i8,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let sign = if is_negative { "-" } else { "" };
    if scale <= 0 {
        write!(f, "{sign}{digits}")?;
        return (0..if digits == "0" { 0 } else { scale.unsigned_abs() })
            .try_for_each(|_| f.write_char('0'));
    }
    let scale = scale.unsigned_abs() as usize;
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    match fraction.trim_end_matches('0') {
        "" => write!(f, "{sign}{whole}"),
        fraction => write!(f, "{sign}{whole}.{fraction}"),
    }
}

fn write_uuid(bytes: &[u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            f.write_char('-')?;
        }
        write!(f, "{byte:02x}")?;
    }
    Ok(())
}
