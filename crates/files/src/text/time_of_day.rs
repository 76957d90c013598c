//! Parses times of day: `13:45`, `13:45:30`, `13:45:30.123456789`, `1:45 PM`.
//!
//! Arrow's own parser cuts off what follows the ninth digit of a second, and makes the next minute
//! of a 60th second.

use super::scalar::Reason;

const SHAPE: Reason = "is not a time of day such as 13:45:30";
const TOO_FINE: Reason =
    "has more than the nine digits of a second that a TIME keeps: round it, or keep it as STRING";

const NANOSECONDS: i64 = 1_000_000_000;
/// The digits of a second that are kept.
const DIGITS_KEPT: usize = 9;

/// The nanoseconds since midnight.
pub(crate) fn nanoseconds(text: &[u8]) -> Result<i64, Reason> {
    let (clock, half) = match text.split_last_chunk::<3>() {
        Some((clock, half)) if half.eq_ignore_ascii_case(b" am") => (clock, Some(0)),
        Some((clock, half)) if half.eq_ignore_ascii_case(b" pm") => (clock, Some(12)),
        _ => (text, None),
    };
    let (hour, rest) = number(clock, 1).ok_or(SHAPE)?;
    let (minute, rest) = rest.strip_prefix(b":").and_then(|rest| number(rest, 2)).ok_or(SHAPE)?;
    let (second, rest) = match rest.strip_prefix(b":") {
        Some(rest) => number(rest, 2).ok_or(SHAPE)?,
        None => (0, rest),
    };
    let hour = match (hour, half) {
        (0..=23, None) => hour,
        (1..=12, Some(half)) => hour % 12 + half,
        _ => return Err(SHAPE),
    };
    if minute > 59 || second > 59 {
        return Err(SHAPE);
    }
    Ok((hour * 3_600 + minute * 60 + second) * NANOSECONDS + fraction(rest)?)
}

/// One or two digits, of which there must be at least so many, and what follows them.
fn number(text: &[u8], digits_min: usize) -> Option<(i64, &[u8])> {
    let digits = text.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits).filter(|_| digits >= digits_min)?;
    Some((number.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')), rest))
}

/// The nanoseconds of `.25`; none of nothing.
fn fraction(text: &[u8]) -> Result<i64, Reason> {
    let digits = match text {
        [] => return Ok(0),
        [b'.' | b',', digits @ ..] if !digits.is_empty() => digits,
        _ => return Err(SHAPE),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(SHAPE);
    }
    if digits.iter().skip(DIGITS_KEPT).any(|digit| *digit != b'0') {
        return Err(TOO_FINE);
    }
    let kept = digits.iter().map(|digit| i64::from(digit - b'0')).chain(std::iter::repeat(0));
    Ok(kept.take(DIGITS_KEPT).fold(0, |value, digit| value * 10 + digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_ways_to_write_a_time_are_read() {
        let afternoon = (13 * 3_600 + 45 * 60) * NANOSECONDS;
        for (text, expected) in [
            ("13:45", afternoon),
            ("13:45:00", afternoon),
            ("1:45 PM", afternoon),
            ("01:45:00.000 pm", afternoon),
            ("13:45:00.5", afternoon + 500_000_000),
            ("13:45:00,000000001", afternoon + 1),
            ("13:45:00.123456789", afternoon + 123_456_789),
            ("12:00 AM", 0),
            ("12:30 pm", 45_000 * NANOSECONDS),
            ("23:59:59.999999999", 86_400 * NANOSECONDS - 1),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    /// Digits after the ninth were cut off, and 10:30:60 became 10:31:00, both without a word.
    #[test]
    fn what_would_be_changed_is_refused() {
        assert_eq!(nanoseconds(b"13:45:00.1234567891"), Err(TOO_FINE));
        assert_eq!(nanoseconds(b"13:45:00.12345678900"), nanoseconds(b"13:45:00.123456789"));
        for text in [
            "",
            "1",
            "13",
            "13:4",
            "13:45:6",
            "24:00",
            "13:60",
            "10:30:60",
            "13:45:00.",
            "0:15 AM",
            "13:45 PM",
            "13:45:00.1x",
            "13:45Z",
            "-1:00",
            "13:45:00.1234567891x",
            "é:00",
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), Err(SHAPE), "{text}");
        }
    }
}
