//! One value as bytes: in a key, where byte order must be value order, and in a value, where speed
//! matters.
//!
//! | type | in a key | in a value |
//! |---|---|---|
//! | INTEGER, LONG, TIMESTAMP | big-endian, sign bit flipped | little-endian |
//! | FLOAT, DOUBLE | total order of IEEE 754, see [`key_f64`] | bits, little-endian |
//! | NUMBER | its digits at the column's scale as 16 bytes big-endian, 32 beyond a precision of 38, sign bit flipped | 16 or 32 bytes little-endian |
//! | BOOLEAN | one byte, 0 or 1 | the same |
//! | UUID, BINARY(n) | its bytes | the same |
//! | DATE, TIME | as INTEGER and LONG | the same |
//! | ENUM | the place of its symbol as 2 bytes big-endian | 2 bytes little-endian |
//! | STRING, BINARY, JSON | escaped: `00` stands as `00 FF`, and `00 01` ends it | as it is, its end kept apart |

use arrow::datatypes::i256;
use tonnage_engine::KeyPart;

use crate::schema::ColumnType;
use crate::value::{NANOSECONDS_PER_DAY, fits_wide};
use crate::value::{Value, ValueRef, WideNumberRef};

/// How a column delimits itself in a key.
pub(crate) fn key_part(column_type: ColumnType) -> KeyPart {
    match column_type.fixed_width() {
        Some(width) => KeyPart::Fixed(width as u16),
        None => KeyPart::Terminated,
    }
}

const SIGN_8: u8 = 1 << 7;
const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;
const SIGN_128: u128 = 1 << 127;

#[inline]
pub(crate) fn key_i32(value: i32) -> [u8; 4] {
    (value as u32 ^ SIGN_32).to_be_bytes()
}

#[inline]
pub(crate) fn key_i64(value: i64) -> [u8; 8] {
    (value as u64 ^ SIGN_64).to_be_bytes()
}

#[inline]
pub(crate) fn key_i128(value: i128) -> [u8; 16] {
    (value as u128 ^ SIGN_128).to_be_bytes()
}

#[inline]
pub(crate) fn key_i256(value: i256) -> [u8; 32] {
    let mut bytes = value.to_be_bytes();
    bytes[0] ^= SIGN_8;
    bytes
}

/// As [`key_f64`].
#[inline]
pub(crate) fn key_f32(value: f32) -> [u8; 4] {
    let bits = if value.is_nan() { f32::NAN.to_bits() } else { (value + 0.0).to_bits() };
    (if bits & SIGN_32 == 0 { bits ^ SIGN_32 } else { !bits }).to_be_bytes()
}

/// Numbers that compare equal must be one key, so -0.0 becomes 0.0 and every NaN the same one,
/// which sorts last.
#[inline]
pub(crate) fn key_f64(value: f64) -> [u8; 8] {
    let bits = if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() };
    (if bits & SIGN_64 == 0 { bits ^ SIGN_64 } else { !bits }).to_be_bytes()
}

#[inline]
pub(crate) fn unkey_i32(bytes: [u8; 4]) -> i32 {
    (u32::from_be_bytes(bytes) ^ SIGN_32) as i32
}

#[inline]
pub(crate) fn unkey_i64(bytes: [u8; 8]) -> i64 {
    (u64::from_be_bytes(bytes) ^ SIGN_64) as i64
}

#[inline]
pub(crate) fn unkey_i128(bytes: [u8; 16]) -> i128 {
    (u128::from_be_bytes(bytes) ^ SIGN_128) as i128
}

#[inline]
pub(crate) fn unkey_i256(mut bytes: [u8; 32]) -> i256 {
    bytes[0] ^= SIGN_8;
    i256::from_be_bytes(bytes)
}

#[inline]
pub(crate) fn unkey_f32(bytes: [u8; 4]) -> f32 {
    let bits = u32::from_be_bytes(bytes);
    f32::from_bits(if bits & SIGN_32 == 0 { !bits } else { bits ^ SIGN_32 })
}

#[inline]
pub(crate) fn unkey_f64(bytes: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(bytes);
    f64::from_bits(if bits & SIGN_64 == 0 { !bits } else { bits ^ SIGN_64 })
}

/// The bytes that end an escaped part of a key.
pub(crate) const TERMINATOR: [u8; 2] = [0, 1];

/// How many bytes text or bytes take in a key.
#[inline]
pub(crate) fn escaped_len(bytes: &[u8]) -> usize {
    bytes.len() + memchr::memchr_iter(0, bytes).count() + TERMINATOR.len()
}

/// Appends text or bytes as part of a key.
pub(crate) fn push_escaped(bytes: &[u8], key: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(zero) = memchr::memchr(0, rest) {
        key.extend_from_slice(&rest[..=zero]);
        key.push(0xFF);
        rest = &rest[zero + 1..];
    }
    key.extend_from_slice(rest);
    key.extend_from_slice(&TERMINATOR);
}

/// Appends the bytes that the escaped beginning of `part` means. Nothing when it does not end as it
/// should.
pub(crate) fn push_unescaped(part: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = part;
    loop {
        let zero = memchr::memchr(0, rest)?;
        out.extend_from_slice(&rest[..zero]);
        match rest.get(zero + 1)? {
            1 => return Some(()),
            0xFF => out.push(0),
            _ => return None,
        }
        rest = &rest[zero + 2..];
    }
}

/// Appends a value as part of a key. False, and nothing appended, when it is not of the column's
/// type.
pub(crate) fn push_key_value(
    value: ValueRef<'_>,
    column_type: ColumnType,
    key: &mut Vec<u8>,
) -> bool {
    // Only exact matches: the caller converts anything else first, and learns whether that lost
    // digits. Batches get the same bytes from `encode_keys::write_column`.
    match (value, column_type) {
        (ValueRef::Integer(value), ColumnType::Integer) => key.extend_from_slice(&key_i32(value)),
        (ValueRef::Long(value), ColumnType::Long) => key.extend_from_slice(&key_i64(value)),
        (ValueRef::Float(value), ColumnType::Float) => key.extend_from_slice(&key_f32(value)),
        (ValueRef::Double(value), ColumnType::Double) => key.extend_from_slice(&key_f64(value)),
        (ValueRef::Number { unscaled, scale }, ColumnType::Number { precision, scale: own })
            if scale == own && fits(unscaled, precision) =>
        {
            // The column decides the width, not the digits: keys of one column compare byte by
            // byte.
            match column_type.is_wide() {
                true => key.extend_from_slice(&key_i256(unscaled.into())),
                false => key.extend_from_slice(&key_i128(unscaled)),
            }
        }
        (ValueRef::WideNumber(number), ColumnType::Number { precision, scale })
            if is_wide_cell(number, precision, scale) =>
        {
            key.extend_from_slice(&key_i256(number.unscaled()));
        }
        (ValueRef::Boolean(value), ColumnType::Boolean) => key.push(u8::from(value)),
        (ValueRef::Timestamp { value, precision }, ColumnType::Timestamp(own))
            if precision == own =>
        {
            key.extend_from_slice(&key_i64(value))
        }
        (ValueRef::Uuid(value), ColumnType::Uuid) => key.extend_from_slice(&value),
        (ValueRef::String(text), ColumnType::String) => push_escaped(text.as_bytes(), key),
        (ValueRef::Binary(bytes), ColumnType::Binary) => push_escaped(bytes, key),
        (ValueRef::Binary(bytes), ColumnType::FixedBinary(width))
            if bytes.len() == usize::from(width) =>
        {
            key.extend_from_slice(bytes);
        }
        (ValueRef::Date(days), ColumnType::Date) => key.extend_from_slice(&key_i32(days)),
        (ValueRef::Time(nanoseconds), ColumnType::Time) if is_time(nanoseconds) => {
            key.extend_from_slice(&key_i64(nanoseconds));
        }
        (ValueRef::String(text), ColumnType::Enum(symbols)) => match symbols.place(text) {
            Some(place) => key.extend_from_slice(&place.to_be_bytes()),
            None => return false,
        },
        _ => return false,
    }
    true
}

/// Reads the part of a key that begins `part`, which holds the whole part.
pub(crate) fn read_key_value(part: &[u8], column_type: ColumnType) -> Option<Value> {
    // The inverse of `push_key_value`. Bytes from a store are not trusted: what cannot be read is
    // nothing, and the caller names the key.
    Some(match column_type {
        ColumnType::Integer => Value::Integer(unkey_i32(*part.first_chunk()?)),
        ColumnType::Long => Value::Long(unkey_i64(*part.first_chunk()?)),
        ColumnType::Float => Value::Float(unkey_f32(*part.first_chunk()?)),
        ColumnType::Double => Value::Double(unkey_f64(*part.first_chunk()?)),
        ColumnType::Number { scale, .. } if column_type.is_wide() => {
            // Digits that 128 bits hold come back in the short form, whatever the width of the
            // column.
            Value::number(unkey_i256(*part.first_chunk()?), scale)
        }
        ColumnType::Number { scale, .. } => {
            Value::Number { unscaled: unkey_i128(*part.first_chunk()?), scale }
        }
        ColumnType::Boolean => Value::Boolean(read_boolean(*part.first()?)?),
        ColumnType::Timestamp(precision) => {
            Value::Timestamp { value: unkey_i64(*part.first_chunk()?), precision }
        }
        ColumnType::Uuid => Value::Uuid(*part.first_chunk()?),
        ColumnType::String | ColumnType::Json => {
            Value::String(String::from_utf8(unescaped(part)?).ok()?)
        }
        ColumnType::Binary => Value::Binary(unescaped(part)?),
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => return None,
        ColumnType::FixedBinary(width) => Value::Binary(part.get(..usize::from(width))?.to_vec()),
        ColumnType::Date => Value::Date(unkey_i32(*part.first_chunk()?)),
        ColumnType::Time => Value::Time(unkey_time(*part.first_chunk()?)?),
        ColumnType::Enum(symbols) => {
            Value::String(symbols.symbol(u16::from_be_bytes(*part.first_chunk()?))?.to_owned())
        }
    })
}

/// Whether a count of nanoseconds is within a day.
#[inline]
pub(crate) fn is_time(nanoseconds: i64) -> bool {
    (0..NANOSECONDS_PER_DAY).contains(&nanoseconds)
}

#[inline]
fn unkey_time(bytes: [u8; 8]) -> Option<i64> {
    Some(unkey_i64(bytes)).filter(|nanoseconds| is_time(*nanoseconds))
}

fn unescaped(part: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    push_unescaped(part, &mut bytes)?;
    Some(bytes)
}

#[inline]
pub(crate) fn read_boolean(byte: u8) -> Option<bool> {
    match byte {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Hands the bytes of a value outside the key to `write`. False, and `write` not called, when it is
/// not of the column's type, or of a nested one.
#[inline]
pub(super) fn with_plain_bytes(
    value: ValueRef<'_>,
    column_type: ColumnType,
    write: impl FnOnce(&[u8]),
) -> bool {
    // Only exact matches: a cell of another width would shift all columns after it. Batches get the
    // same bytes from `encode::write_fixed` and `encode::write_variable`.
    match (value, column_type) {
        (ValueRef::Integer(value), ColumnType::Integer) => write(&value.to_le_bytes()),
        (ValueRef::Long(value), ColumnType::Long) => write(&value.to_le_bytes()),
        (ValueRef::Float(value), ColumnType::Float) => write(&value.to_le_bytes()),
        (ValueRef::Double(value), ColumnType::Double) => write(&value.to_le_bytes()),
        (ValueRef::Number { unscaled, scale }, ColumnType::Number { precision, scale: own })
            if scale == own && fits(unscaled, precision) =>
        {
            // Sign-extended: the bytes are those of a `WideNumber` with the same digits.
            match column_type.is_wide() {
                true => write(&i256::from_i128(unscaled).to_le_bytes()),
                false => write(&unscaled.to_le_bytes()),
            }
        }
        (ValueRef::WideNumber(number), ColumnType::Number { precision, scale })
            if is_wide_cell(number, precision, scale) =>
        {
            write(&number.unscaled().to_le_bytes());
        }
        (ValueRef::Boolean(value), ColumnType::Boolean) => write(&[u8::from(value)]),
        (ValueRef::Timestamp { value, precision }, ColumnType::Timestamp(own))
            if precision == own =>
        {
            write(&value.to_le_bytes())
        }
        (ValueRef::Uuid(value), ColumnType::Uuid) => write(&value),
        (ValueRef::String(text), ColumnType::String) => write(text.as_bytes()),
        (ValueRef::Json(text), ColumnType::Json) => write(text.as_bytes()),
        (ValueRef::Binary(bytes), ColumnType::Binary) => write(bytes),
        (ValueRef::Binary(bytes), ColumnType::FixedBinary(width))
            if bytes.len() == usize::from(width) =>
        {
            write(bytes);
        }
        (ValueRef::Date(days), ColumnType::Date) => write(&days.to_le_bytes()),
        (ValueRef::Time(nanoseconds), ColumnType::Time) if is_time(nanoseconds) => {
            write(&nanoseconds.to_le_bytes());
        }
        (ValueRef::String(text), ColumnType::Enum(symbols)) => match symbols.place(text) {
            Some(place) => write(&place.to_le_bytes()),
            None => return false,
        },
        _ => return false,
    }
    true
}

/// Reads the bytes of a value outside the key; nothing for nested ones.
pub(super) fn read_plain(bytes: &[u8], column_type: ColumnType) -> Option<ValueRef<'_>> {
    // The inverse of `with_plain_bytes`. Bytes from a store are not trusted: a wrong width is
    // nothing, never a panic.
    Some(match column_type {
        ColumnType::Integer => ValueRef::Integer(i32::from_le_bytes(bytes.try_into().ok()?)),
        ColumnType::Long => ValueRef::Long(i64::from_le_bytes(bytes.try_into().ok()?)),
        ColumnType::Float => ValueRef::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
        ColumnType::Double => ValueRef::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        ColumnType::Number { scale, .. } if column_type.is_wide() => {
            // Borrowed in place: only a number that fits 128 bits is read out.
            let bytes: &[u8; 32] = bytes.try_into().ok()?;
            match i256::from_le_bytes(*bytes).to_i128() {
                Some(unscaled) => ValueRef::Number { unscaled, scale },
                None => ValueRef::WideNumber(WideNumberRef::of_stored(bytes, scale)),
            }
        }
        ColumnType::Number { scale, .. } => {
            ValueRef::Number { unscaled: i128::from_le_bytes(bytes.try_into().ok()?), scale }
        }
        ColumnType::Boolean => ValueRef::Boolean(read_boolean(*bytes.first()?)?),
        ColumnType::Timestamp(precision) => {
            ValueRef::Timestamp { value: i64::from_le_bytes(bytes.try_into().ok()?), precision }
        }
        ColumnType::Uuid => ValueRef::Uuid(bytes.try_into().ok()?),
        ColumnType::String => ValueRef::String(std::str::from_utf8(bytes).ok()?),
        ColumnType::Json => ValueRef::Json(std::str::from_utf8(bytes).ok()?),
        ColumnType::Binary => ValueRef::Binary(bytes),
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => return None,
        ColumnType::FixedBinary(width) => {
            ValueRef::Binary(Some(bytes).filter(|bytes| bytes.len() == usize::from(width))?)
        }
        ColumnType::Date => ValueRef::Date(i32::from_le_bytes(bytes.try_into().ok()?)),
        ColumnType::Time => {
            let nanoseconds = i64::from_le_bytes(bytes.try_into().ok()?);
            ValueRef::Time(Some(nanoseconds).filter(|nanoseconds| is_time(*nanoseconds))?)
        }
        ColumnType::Enum(symbols) => {
            ValueRef::String(symbols.symbol(u16::from_le_bytes(bytes.try_into().ok()?))?)
        }
    })
}

/// Whether a NUMBER has no more digits than its column allows.
fn fits(unscaled: i128, precision: u8) -> bool {
    // All that 128 bits hold has at most 39 digits.
    10_u128.checked_pow(precision.into()).is_none_or(|limit| unscaled.unsigned_abs() < limit)
}

/// Whether a column of these digits holds a number as it is.
fn is_wide_cell(number: WideNumberRef<'_>, precision: u8, scale: i8) -> bool {
    number.scale() == scale && fits_wide(number.unscaled(), precision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_floats_are_one_key_and_nan_sorts_last() {
        assert_eq!(key_f64(-0.0), key_f64(0.0));
        assert_eq!(key_f64(f64::NAN), key_f64(-f64::NAN));
        assert!(key_f64(f64::NAN) > key_f64(f64::INFINITY));
        assert!(key_f32(f32::NEG_INFINITY) < key_f32(f32::MIN) && key_f32(-1.0) < key_f32(0.0));
        assert_eq!(unkey_f64(key_f64(-2.5)), -2.5);
        assert_eq!(unkey_f32(key_f32(2.5)), 2.5);
    }

    #[test]
    fn text_with_zero_bytes_is_read_back_and_keeps_its_order() {
        let texts: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"\0a", b"a", b"a\0"];
        let keys = texts.map(|text| {
            let mut key = Vec::new();
            push_escaped(text, &mut key);
            assert_eq!(key.len(), escaped_len(text));
            assert_eq!(unescaped(&key).unwrap(), text);
            key
        });
        assert!(keys.is_sorted(), "{keys:?}");
    }
}
