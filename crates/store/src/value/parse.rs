//! Parses values from text. Each function returns the reason when it fails. The same functions
//! serve single values and columns of text.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, i256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tonnage_engine::{Error, Result};

use super::decimal_text::DecimalText;
use super::reason::Reason;
use super::{Value, nested, time};
use crate::schema::{ColumnType, EnumSymbols};

impl Value {
    /// Reads the text of a value for a column of that type.
    ///
    /// ```
    /// use tonnage::{ColumnType, Value};
    /// assert_eq!(Value::parse("300", ColumnType::Integer).unwrap(), Value::Integer(300));
    /// assert!(Value::parse("3000000000", ColumnType::Integer).is_err());
    /// ```
    ///
    /// # Errors
    /// `Invalid`, quoting the text and saying what is wrong with it.
    pub fn parse(text: &str, column_type: ColumnType) -> Result<Value> {
        Value::read(text, column_type).map_err(Error::invalid)
    }

    pub(crate) fn read(text: &str, column_type: ColumnType) -> std::result::Result<Value, Reason> {
        // Columns of text are read by `cast_text` of the codec with the same readers, so a new type
        // must be added to both. A test compares them.
        Ok(match column_type {
            ColumnType::Integer => Value::Integer(parse_integer(text)?),
            ColumnType::Long => Value::Long(parse_long(text)?),
            ColumnType::Float => Value::Float(parse_float(text)?),
            ColumnType::Double => Value::Double(parse_double(text)?),
            ColumnType::Number { precision, scale } if column_type.is_wide() => {
                Value::number(parse_wide_number(text, precision, scale)?, scale)
            }
            ColumnType::Number { precision, scale } => {
                Value::Number { unscaled: parse_number(text, precision, scale)?, scale }
            }
            ColumnType::String => Value::String(text.to_owned()),
            ColumnType::Boolean => Value::Boolean(parse_boolean(text)?),
            ColumnType::Binary => Value::Binary(parse_binary(text)?),
            ColumnType::Timestamp(precision) => {
                Value::Timestamp { value: parse_timestamp(text, precision)?, precision }
            }
            ColumnType::Uuid => Value::Uuid(parse_uuid(text)?),
            ColumnType::Json => {
                // Looked at and kept as it was written: a parsed document would lose digits and
                // spaces.
                check_json(text)?;
                Value::Json(text.to_owned())
            }
            ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
                nested::parse(text, column_type)?
            }
            ColumnType::Date => Value::Date(parse_date(text)?),
            ColumnType::Time => Value::Time(parse_time(text)?),
            ColumnType::FixedBinary(width) => Value::Binary(of_width(parse_binary(text)?, width)?),
            ColumnType::Enum(symbols) => Value::String(parse_symbol(text, symbols)?.to_owned()),
        })
    }
}

/// The text for a message: long texts are cut.
fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("'{}...'", &text[..end]),
        None => format!("'{text}'"),
    }
}

#[cold]
fn parse_error(text: &str, what: &str, why: impl std::fmt::Display) -> Reason {
    format!("{} is not {what}: {why}", quoted(text))
}

#[cold]
fn out_of_range(
    text: &str,
    what: &str,
    low: impl std::fmt::Display,
    high: impl std::fmt::Display,
) -> Reason {
    format!("{} is out of range for {what} ({low} to {high})", quoted(text))
}

pub(crate) fn parse_integer(text: &str) -> std::result::Result<i32, Reason> {
    let value = parse_whole(text, "an INTEGER")?;
    value
        .and_then(|value| i32::try_from(value).ok())
        .ok_or_else(|| out_of_range(text, "INTEGER", i32::MIN, i32::MAX))
}

pub(crate) fn parse_long(text: &str) -> std::result::Result<i64, Reason> {
    parse_whole(text, "a LONG")?.ok_or_else(|| out_of_range(text, "LONG", i64::MIN, i64::MAX))
}

/// A whole number, or nothing when it is one but too large. `7.0` and `1e2` are such, too.
fn parse_whole(text: &str, what: &str) -> std::result::Result<Option<i64>, Reason> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match text.trim().parse() {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), PosOverflow | NegOverflow) => Ok(None),
        Err(_) => match DecimalText::of(text.trim()).filter(DecimalText::is_whole) {
            Some(number) => {
                let whole = number.narrow(DECIMAL128_MAX_PRECISION, 0);
                Ok(whole.and_then(|whole| whole.try_into().ok()))
            }
            None => Err(parse_error(text, what, "a whole number is needed")),
        },
    }
}

pub(crate) fn parse_float(text: &str) -> std::result::Result<f32, Reason> {
    let value: f32 =
        text.trim().parse().map_err(|_| parse_error(text, "a FLOAT", "a number is needed"))?;
    if value.is_infinite() && !names_infinity(text) {
        Err(out_of_range(text, "FLOAT", f32::MIN, f32::MAX))
    } else {
        Ok(value)
    }
}

pub(crate) fn parse_double(text: &str) -> std::result::Result<f64, Reason> {
    let value: f64 =
        text.trim().parse().map_err(|_| parse_error(text, "a DOUBLE", "a number is needed"))?;
    if value.is_infinite() && !names_infinity(text) {
        return Err(format!("{} is out of range for DOUBLE (-1.8e308 to 1.8e308)", quoted(text)));
    }
    Ok(value)
}

fn names_infinity(text: &str) -> bool {
    text.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'i'))
}

/// Reads a decimal number, with or without exponent, into its digits at that scale. Digits beyond
/// the scale are rounded, halves away from zero.
pub(crate) fn parse_number(
    text: &str,
    precision: u8,
    scale: i8,
) -> std::result::Result<i128, Reason> {
    decimal_of(text, precision, scale, |number| number.narrow(precision, scale))
}

/// The same for a precision of more than 38.
pub(crate) fn parse_wide_number(
    text: &str,
    precision: u8,
    scale: i8,
) -> std::result::Result<i256, Reason> {
    decimal_of(text, precision, scale, |number| number.wide(precision, scale))
}

fn decimal_of<'a, T>(
    text: &'a str,
    precision: u8,
    scale: i8,
    digits: impl FnOnce(DecimalText<'a>) -> Option<T>,
) -> std::result::Result<T, Reason> {
    let number = DecimalText::of(text.trim());
    let number = number.ok_or_else(|| parse_error(text, "a NUMBER", "a number is needed"))?;
    digits(number).ok_or_else(|| number_out_of_range(&quoted(text), precision, scale))
}

#[cold]
pub(crate) fn number_out_of_range(text: &str, precision: u8, scale: i8) -> Reason {
    format!(
        "{text} is out of range for NUMBER({precision}, {scale}): at most {} digits may stand before the point",
        i16::from(precision) - i16::from(scale)
    )
}

/// The digits at another scale, rounded, halves away from zero; nothing when they are more than the
/// precision allows.
pub(crate) fn rescale_number(digits: i128, from: i32, to: i8, precision: u8) -> Option<i128> {
    let shift = i32::from(to) - from;
    let value = if digits == 0 {
        0
    } else if shift >= 0 {
        digits.checked_mul(10_i128.checked_pow(shift as u32)?)?
    } else {
        match 10_i128.checked_pow(shift.unsigned_abs()) {
            Some(divisor) => {
                let (quotient, remainder) = (digits / divisor, digits % divisor);
                let away = remainder.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
                if away { quotient + digits.signum() } else { quotient }
            }
            None => 0,
        }
    };
    (value.unsigned_abs() < 10_u128.pow(u32::from(precision))).then_some(value)
}

pub(crate) fn parse_boolean(text: &str) -> std::result::Result<bool, Reason> {
    let text = text.trim();
    let is_any = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_any(&["true", "t", "yes", "y", "1"]) {
        Ok(true)
    } else if is_any(&["false", "f", "no", "n", "0"]) {
        Ok(false)
    } else {
        Err(parse_error(text, "a BOOLEAN", "true or false is needed"))
    }
}

/// Reads `0x` or `\x` and hexadecimal digits, or base64, which may begin with `0x` by chance.
pub(crate) fn parse_binary(text: &str) -> std::result::Result<Vec<u8>, Reason> {
    let text = text.trim();
    let digits_needed =
        || parse_error(text, "a BINARY", "pairs of hexadecimal digits are needed after 0x or \\x");
    // The second is how PostgreSQL writes bytes.
    if let Some(digits) = text.strip_prefix(r"\x") {
        return parse_hex(digits).ok_or_else(digits_needed);
    }
    let digits = text.strip_prefix("0x");
    if let Some(bytes) = digits.and_then(parse_hex) {
        return Ok(bytes);
    }
    BASE64.decode(text).map_err(|error| {
        if digits.is_some() {
            return digits_needed();
        }
        let needed =
            format_args!("base64, or hexadecimal digits after 0x or \\x, are needed ({error})");
        parse_error(text, "a BINARY", needed)
    })
}

pub(crate) fn parse_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(
            |pair| {
                if let [high, low] = pair { Some(digit(*high)? << 4 | digit(*low)?) } else { None }
            },
        )
        .collect()
}

pub(crate) fn parse_timestamp(text: &str, precision: u8) -> std::result::Result<i64, Reason> {
    time::parse(text, precision)
        .map_err(|why| parse_error(text, &format!("a TIMESTAMP({precision})"), why))
}

/// Reads a day; of a timestamp the time of day is cut off.
pub(crate) fn parse_date(text: &str) -> std::result::Result<i32, Reason> {
    time::parse_date(text).map_err(|why| parse_error(text, "a DATE", why))
}

pub(crate) fn parse_time(text: &str) -> std::result::Result<i64, Reason> {
    time::parse_time(text).map_err(|why| parse_error(text, "a TIME", why))
}

/// Bytes, if they are just so many.
pub(crate) fn of_width(bytes: Vec<u8>, width: u16) -> std::result::Result<Vec<u8>, Reason> {
    if bytes.len() == usize::from(width) {
        return Ok(bytes);
    }
    Err(format!("{} bytes do not fit BINARY({width}): just {width} are needed", bytes.len()))
}

pub(crate) fn parse_symbol(
    text: &str,
    symbols: EnumSymbols,
) -> std::result::Result<&'static str, Reason> {
    symbols
        .place(text)
        .and_then(|place| symbols.symbol(place))
        .ok_or_else(|| not_a_symbol(text, symbols))
}

#[cold]
pub(crate) fn not_a_symbol(text: &str, symbols: EnumSymbols) -> Reason {
    const SHOWN_MAX: usize = 20;
    let shown: Vec<_> = symbols.symbols().iter().take(SHOWN_MAX).map(String::as_str).collect();
    let more = if symbols.symbols().len() > SHOWN_MAX { ", ..." } else { "" };
    format!("{} is not in the ENUM: it has {}{more}", quoted(text), shown.join(", "))
}

/// Reads 32 hexadecimal digits, with or without hyphens and braces.
pub(crate) fn parse_uuid(text: &str) -> std::result::Result<[u8; 16], Reason> {
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
    let mut uuid = [0; 16];
    let mut digits = 0;
    for byte in inner.bytes().filter(|byte| *byte != b'-') {
        let digit = char::from(byte).to_digit(16).filter(|_| digits < 32);
        let Some(digit) = digit else { return Err(not_a_uuid(text)) };
        uuid[digits / 2] = uuid[digits / 2] << 4 | digit as u8;
        digits += 1;
    }
    if digits == 32 { Ok(uuid) } else { Err(not_a_uuid(text)) }
}

#[cold]
fn not_a_uuid(text: &str) -> Reason {
    parse_error(text, "a UUID", "32 hexadecimal digits are needed")
}

/// Whether text is one JSON value, without building it.
pub(crate) fn check_json(text: &str) -> std::result::Result<(), Reason> {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(parse_error(text, "JSON", error)),
    }
}
