//! Parses single values: numbers, booleans, UUIDs, bytes.
//!
//! Each function returns in words why a text is no such value. The words follow the text: "`abc` is
//! not a whole number".

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Why a text is not the value that is wanted.
pub(crate) type Reason = &'static str;

/// Whole numbers of all widths.
pub(crate) trait WholeNumber: Copy + Default {
    /// What is said of a number that is too large or too small.
    const OUT_OF_RANGE: Reason;
    /// The number, if it fits.
    fn from_i128(value: i128) -> Option<Self>;
}

macro_rules! whole_numbers {
    ($($type:ty: $words:literal),*) => {$(
        impl WholeNumber for $type {
            const OUT_OF_RANGE: Reason = concat!("is out of the range of ", $words);
            #[inline]
            fn from_i128(value: i128) -> Option<Self> {
                // `as` would wrap a number that does not fit.
                Self::try_from(value).ok()
            }
        }
    )*};
}

whole_numbers!(
    i8: "an 8-bit integer", i16: "a 16-bit integer", i32: "a 32-bit integer", i64: "a 64-bit integer",
    u8: "an unsigned 8-bit integer", u16: "an unsigned 16-bit integer", u32: "an unsigned 32-bit integer", u64: "an unsigned 64-bit integer"
);

/// A whole number in decimal digits, with an optional sign.
#[inline]
pub(crate) fn integer<T: WholeNumber>(text: &[u8]) -> Result<T, Reason> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    // A sign alone is not a number, and the loop below would take it for 0.
    if digits.is_empty() {
        return Err("is not a whole number");
    }
    // Eighteen digits fit a u64 whatever they are; nearly all numbers are that short.
    if digits.len() <= 18 {
        let mut value = 0_u64;
        for digit in digits {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                return Err("is not a whole number");
            }
            value = value * 10 + u64::from(digit);
        }
        let value = i128::from(value);
        return T::from_i128(if negative { -value } else { value }).ok_or(T::OUT_OF_RANGE);
    }
    long_integer(negative, digits)
}

#[cold]
fn long_integer<T: WholeNumber>(negative: bool, digits: &[u8]) -> Result<T, Reason> {
    let mut value = 0_i128;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return Err("is not a whole number");
        }
        value = value.saturating_mul(10).saturating_add(i128::from(digit));
    }
    T::from_i128(if negative { -value } else { value }).ok_or(T::OUT_OF_RANGE)
}

/// The powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A number with a point or an exponent; `NaN` and `inf` are numbers too.
///
/// Up to fifteen digits without an exponent are one exact integer divided by one exact power of
/// ten: a single rounding, so the nearest double (Clinger's fast path). The rest is left to the
/// standard library.
#[inline]
pub(crate) fn double(text: &[u8]) -> Result<f64, Reason> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        _ => (false, text),
    };
    // Fifteen digits and a point are the most that stay exact.
    if digits.is_empty() || digits.len() > 16 {
        return slow_double(text);
    }
    let (mut value, mut point, mut count) = (0_u64, None, 0);
    for (index, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + u64::from(digit);
            count += 1;
        } else if *byte == b'.' && point.is_none() {
            point = Some(index);
        } else {
            return slow_double(text);
        }
    }
    if count == 0 || count > 15 {
        return slow_double(text);
    }
    let decimals = point.map_or(0, |index| digits.len() - index - 1);
    let value = value as f64 / EXACT_POWERS[decimals];
    // The sign comes last, so that `-0` stays a negative zero.
    Ok(if negative { -value } else { value })
}

#[cold]
fn slow_double(text: &[u8]) -> Result<f64, Reason> {
    let value = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .ok_or("is not a number")?;
    if value.is_infinite() && text.iter().any(u8::is_ascii_digit) {
        return Err("is out of the range of a double");
    }
    if value == 0.0 && has_value(text) {
        return Err("is closer to 0 than a double can be");
    }
    Ok(value)
}

/// A single-precision number, rounded from the text and not from a double.
pub(crate) fn float(text: &[u8]) -> Result<f32, Reason> {
    let value = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse::<f32>().ok())
        .ok_or("is not a number")?;
    if value.is_infinite() && text.iter().any(u8::is_ascii_digit) {
        return Err("is out of the range of a float");
    }
    if value == 0.0 && has_value(text) {
        return Err("is closer to 0 than a float can be");
    }
    Ok(value)
}

/// Whether a number has a digit other than 0 before its exponent.
fn has_value(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.into_iter().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// `true`, `false`, `t`, `f`, `1` or `0`, in any case.
pub(crate) fn boolean(text: &[u8]) -> Result<bool, Reason> {
    match text {
        b"1" | b"t" | b"T" => Ok(true),
        b"0" | b"f" | b"F" => Ok(false),
        _ if text.eq_ignore_ascii_case(b"true") => Ok(true),
        _ if text.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err("is neither true nor false"),
    }
}

/// A UUID: 32 hexadecimal digits, with or without hyphens in their places.
pub(crate) fn uuid(text: &[u8]) -> Result<[u8; 16], Reason> {
    const WRONG: Reason = "is not a UUID";
    let hyphens = text.len() == 36;
    if !hyphens && text.len() != 32 || hyphens && [8, 13, 18, 23].iter().any(|at| text[*at] != b'-')
    {
        return Err(WRONG);
    }
    let mut digits =
        text.iter().enumerate().filter(|(at, _)| !(hyphens && matches!(at, 8 | 13 | 18 | 23)));
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        for _ in 0..2 {
            let (_, digit) = digits.next().ok_or(WRONG)?;
            let value = (*digit as char).to_digit(16).ok_or(WRONG)?;
            *byte = *byte << 4 | value as u8;
        }
    }
    Ok(bytes)
}

/// Writes a UUID in lower case with hyphens.
pub(crate) fn write_uuid(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Bytes in base64 with padding, or in hexadecimal digits after `0x` or `\x`, as SQL reads them.
///
/// Digits alone after `0x` are hexadecimal, although they could be base64 too: [`write_bytes`]
/// never writes such base64.
pub(crate) fn bytes(text: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    let start = out.len();
    let base64 = |out: &mut Vec<u8>, wrong| STANDARD.decode_vec(text, out).map_err(|_| wrong);
    let read = match (text.strip_prefix(br"\x"), text.strip_prefix(b"0x")) {
        (Some(digits), _) => hexadecimal_bytes(digits, out),
        // Base64 may begin with `0x` by chance.
        (_, Some(digits)) => hexadecimal_bytes(digits, out).or_else(|reason| base64(out, reason)),
        _ => base64(out, "is not base64"),
    };
    if read.is_err() {
        // What was read of a text that is none would lie before the next value.
        out.truncate(start);
    }
    read
}

fn hexadecimal_bytes(digits: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    const WRONG: Reason = "needs pairs of hexadecimal digits after its beginning";
    let start = out.len();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    for pair in digits.chunks(2) {
        let byte = match pair {
            [high, low] => digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        let Some(byte) = byte else {
            // Base64 that begins with `0x` is read into the same place.
            out.truncate(start);
            return Err(WRONG);
        };
        out.push(byte);
    }
    Ok(())
}

/// Writes bytes in base64, with padding. Base64 that [`bytes`] would read as hexadecimal digits is
/// replaced by the digits of the bytes after `0x`.
pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // The room is exactly what base64 needs.
    let _ = STANDARD.encode_slice(bytes, &mut out[start..]);
    let digits = out[start..].strip_prefix(b"0x");
    if digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        out.truncate(start + 2);
        for byte in bytes {
            out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_numbers_know_their_range() {
        assert_eq!(integer::<i32>(b"-2147483648"), Ok(i32::MIN));
        assert_eq!(integer::<i32>(b"2147483648"), Err("is out of the range of a 32-bit integer"));
        assert_eq!(integer::<i64>(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(
            integer::<i64>(b"9223372036854775808"),
            Err("is out of the range of a 64-bit integer")
        );
        assert_eq!(integer::<u8>(b"-1"), Err("is out of the range of an unsigned 8-bit integer"));
        for text in ["", "-", "1.0", "1e3", " 1", "abc", "12345678901234567890x"] {
            assert_eq!(integer::<i64>(text.as_bytes()), Err("is not a whole number"), "{text}");
        }
    }

    #[test]
    fn a_uuid_is_read_with_and_without_hyphens() {
        let mut text = Vec::new();
        let value = uuid(b"550e8400-e29b-41d4-a716-446655440000").unwrap();
        write_uuid(&mut text, &value);
        assert_eq!(text, b"550e8400-e29b-41d4-a716-446655440000");
        assert_eq!(uuid(b"550E8400E29B41D4A716446655440000"), Ok(value));
        assert!(uuid(b"550e8400-e29b-41d4-a716-44665544000").is_err());
        assert!(uuid(b"550e8400-e29b-41d4-a716-44665544000g").is_err());
    }

    #[test]
    fn bytes_are_base64_or_hexadecimal_digits() {
        let read = |text: &str| {
            let mut out = vec![7];
            let told = bytes(text.as_bytes(), &mut out);
            told.map(|()| out.split_off(1)).map_err(|reason| (reason, out.len()))
        };
        for text in ["AP+r", "0x00ffab", "\\x00FFAB"] {
            assert_eq!(read(text), Ok(vec![0, 0xff, 0xab]), "{text}");
        }
        // Eight digits after 0x are base64 of other bytes.
        assert_eq!(read("0x000102"), Ok(vec![0, 1, 2]));
        assert_eq!(read("0x"), Ok(vec![]));
        // Base64 that begins with 0x by chance.
        assert_eq!(read("0xA="), Ok(vec![0xd3, 0x10]));
        assert_eq!(read("0xAz"), Ok(vec![0xd3, 0x10, 0x33]));
        assert!(read("no base64").is_err());
        for text in ["0x0", "0x0-g", "\\x00f", "\\xA="] {
            assert!(matches!(read(text), Err((_, 1))), "{text}");
        }
    }

    #[test]
    fn bytes_whose_base64_looks_like_hexadecimal_digits_come_back() {
        for text in ["0xAB", "0xffab", "0x12345678901234", "0xA=", "0xAB0123+/=="] {
            let Ok(value) = STANDARD.decode(text) else { continue };
            let (mut written, mut again) = (Vec::new(), Vec::new());
            write_bytes(&mut written, &value);
            assert_eq!(bytes(&written, &mut again), Ok(()), "{text}");
            assert_eq!(again, value, "{text}");
        }
        let mut written = Vec::new();
        write_bytes(&mut written, &[0xd3, 0x10, 0x01]);
        assert_eq!(written, b"0xd31001", "not 0xAB, which is one byte");
    }

    proptest! {
        #[test]
        fn doubles_are_read_as_the_standard_library_reads_them(text in "-?[0-9]{0,12}(\\.[0-9]{0,9})?(e-?[0-9]{1,3})?") {
            // Not as 0, though, what is closer to it than a double can be.
            let is_read = |value: &f64| {
                value.is_finite() && (*value != 0.0 || !has_value(text.as_bytes()))
            };
            let expected = text.parse::<f64>().ok().filter(is_read);
            prop_assert_eq!(double(text.as_bytes()).ok().map(f64::to_bits), expected.map(f64::to_bits));
        }

        #[test]
        fn doubles_written_in_the_shortest_form_read_back(value: f64) {
            let read = double(format!("{value:?}").as_bytes()).unwrap();
            prop_assert!(read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan());
        }

        #[test]
        fn bytes_read_back(value: Vec<u8>) {
            let (mut text, mut read) = (Vec::new(), Vec::new());
            write_bytes(&mut text, &value);
            prop_assert_eq!(bytes(&text, &mut read), Ok(()));
            prop_assert_eq!(read, value);
        }
    }
}
