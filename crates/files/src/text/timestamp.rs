//! Parses points in time: ISO 8601, with `T` or a space, with a fraction, with `Z` or an offset, or
//! the date alone.

use arrow::datatypes::TimeUnit;

const NANOSECONDS: i64 = 1_000_000_000;
pub(crate) const DAY_SECONDS: i64 = 86_400;

/// A point in time: seconds since 1970 in UTC, and the nanoseconds within the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedInstant {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: u32,
    /// How many digits the fraction was written with.
    pub(crate) fraction_digits: u32,
    /// Whether a time of day was written.
    pub(crate) has_time: bool,
}

/// Reads a point in time; a text without an offset is taken as UTC.
pub(crate) fn parse(text: &[u8]) -> Option<ParsedInstant> {
    let (year, rest) = parse_year(text)?;
    if rest.len() < 6 || rest[0] != b'-' || rest[3] != b'-' {
        return None;
    }
    let days = days_of(year, two_digits(rest, 1)?, two_digits(rest, 4)?)?;
    let mut instant = ParsedInstant {
        seconds: days.checked_mul(DAY_SECONDS)?,
        nanoseconds: 0,
        fraction_digits: 0,
        has_time: false,
    };
    if rest.len() == 6 {
        return Some(instant);
    }
    if !matches!(rest[6], b'T' | b't' | b' ') {
        return None;
    }
    parse_time(&rest[7..], &mut instant)?;
    Some(instant)
}

/// Whether a day begins at a point in time.
pub(crate) fn is_midnight(instant: &ParsedInstant) -> bool {
    instant.nanoseconds == 0 && instant.seconds.rem_euclid(DAY_SECONDS) == 0
}

/// The day of a point in time, counted from 1970.
pub(crate) fn day_of(instant: ParsedInstant) -> i64 {
    instant.seconds.div_euclid(DAY_SECONDS)
}

/// The ticks of a point in time in a unit, or why there are none.
pub(crate) fn to_ticks(instant: ParsedInstant, unit: TimeUnit) -> Result<i64, &'static str> {
    let per_second = ticks_per_second(unit);
    let tick_nanoseconds = 1_000_000_000 / per_second as u32;
    if !instant.nanoseconds.is_multiple_of(tick_nanoseconds) {
        return Err("has a finer fraction of a second than the column keeps");
    }
    let ticks = i128::from(instant.seconds) * i128::from(per_second)
        + i128::from(instant.nanoseconds / tick_nanoseconds);
    i64::try_from(ticks).map_err(|_| "is out of the range of the column")
}

/// The ticks that a text writes.
pub(crate) fn ticks(text: &[u8], unit: TimeUnit) -> Result<i64, &'static str> {
    let instant = parse(text).ok_or("is not a point in time such as 2022-01-03T00:00:00")?;
    to_ticks(instant, unit)
}

/// The day that a text writes, counted from 1970.
pub(crate) fn day(text: &[u8]) -> Result<i32, &'static str> {
    let day = parse(text).filter(is_midnight).ok_or("is not a day such as 2022-01-03")?;
    i32::try_from(day_of(day)).map_err(|_| "is out of the range of the column")
}

/// Writes ticks as `2022-01-03T00:00:00`, with as many digits of the fraction as are not zero.
pub(crate) fn write(out: &mut Vec<u8>, ticks: i64, unit: TimeUnit) {
    let per_second = ticks_per_second(unit);
    let seconds = ticks.div_euclid(per_second);
    write_date(out, seconds.div_euclid(DAY_SECONDS));
    out.push(b'T');
    let nanoseconds = ticks.rem_euclid(per_second) * (NANOSECONDS / per_second);
    write_time(out, seconds.rem_euclid(DAY_SECONDS) * NANOSECONDS + nanoseconds);
}

/// Writes a time of day, of which these nanoseconds are over, as `06:00:00.25`.
pub(crate) fn write_time(out: &mut Vec<u8>, nanoseconds: i64) {
    let seconds = nanoseconds.div_euclid(NANOSECONDS).rem_euclid(DAY_SECONDS) as u32;
    for (place, value) in [seconds / 3600, seconds / 60 % 60, seconds % 60].into_iter().enumerate()
    {
        if place > 0 {
            out.push(b':');
        }
        push_two(out, value);
    }
    write_fraction(out, nanoseconds.rem_euclid(NANOSECONDS) as u32);
}

/// Ticks in one second.
pub(crate) fn ticks_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => NANOSECONDS,
    }
}

/// Writes a day as `2022-01-03`.
pub(crate) fn write_date(out: &mut Vec<u8>, days: i64) {
    use std::io::Write;
    let (year, month, day) = date_of(days);
    // Writing to memory cannot fail.
    let _ = match year {
        0..=9999 => write!(out, "{year:04}"),
        _ => write!(out, "{year:+05}"),
    };
    out.push(b'-');
    push_two(out, month);
    out.push(b'-');
    push_two(out, day);
}

fn write_fraction(out: &mut Vec<u8>, nanoseconds: u32) {
    if nanoseconds == 0 {
        return;
    }
    let mut digits = [0; 9];
    let mut rest = nanoseconds;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let length = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    out.push(b'.');
    out.extend_from_slice(&digits[..length]);
}

fn push_two(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]);
}

/// The year (four digits, or a sign and up to six) and what follows it.
fn parse_year(text: &[u8]) -> Option<(i64, &[u8])> {
    match text.first()? {
        sign @ (b'+' | b'-') => {
            let length = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !(4..=12).contains(&length) {
                return None;
            }
            let year =
                text[1..=length].iter().fold(0, |year, digit| year * 10 + i64::from(digit - b'0'));
            Some((if *sign == b'-' { -year } else { year }, &text[1 + length..]))
        }
        _ if text.len() >= 10 => {
            Some((i64::from(two_digits(text, 0)? * 100 + two_digits(text, 2)?), &text[4..]))
        }
        _ => None,
    }
}

/// Reads `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`, and the offset after it.
fn parse_time(text: &[u8], instant: &mut ParsedInstant) -> Option<()> {
    if text.len() < 5 || text[2] != b':' {
        return None;
    }
    let (hour, minute) = (two_digits(text, 0)?, two_digits(text, 3)?);
    let mut rest = &text[5..];
    let mut second = 0;
    if rest.first() == Some(&b':') {
        second = two_digits(rest, 1)?;
        rest = parse_fraction(&rest[3..], instant)?;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    instant.has_time = true;
    let of_day = i64::from(hour * 3600 + minute * 60 + second) - parse_offset(rest)?;
    instant.seconds = instant.seconds.checked_add(of_day)?;
    Some(())
}

fn parse_fraction<'a>(text: &'a [u8], instant: &mut ParsedInstant) -> Option<&'a [u8]> {
    if !matches!(text.first(), Some(b'.' | b',')) {
        return Some(text);
    }
    let length = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text[1..].split_at(length);
    let (kept, beyond) = digits.split_at(length.min(9));
    if kept.is_empty() || beyond.iter().any(|digit| *digit != b'0') {
        return None;
    }
    instant.fraction_digits = kept.len() as u32;
    let value = kept.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    instant.nanoseconds = value * 10_u32.pow(9 - instant.fraction_digits);
    Some(rest)
}

/// Seconds east of Greenwich: nothing, `Z`, `+HH`, `+HHMM` or `+HH:MM`.
fn parse_offset(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let sign = match text.first() {
        None => return Some(0),
        Some(b'Z' | b'z') if text.len() == 1 => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return None,
    };
    let hours = two_digits(text, 1)?;
    let minutes = match text.len() {
        3 => 0,
        5 => two_digits(text, 3)?,
        6 if text[3] == b':' => two_digits(text, 4)?,
        _ => return None,
    };
    (hours <= 18 && minutes <= 59).then_some(sign * i64::from(hours * 3600 + minutes * 60))
}

#[inline]
fn two_digits(text: &[u8], at: usize) -> Option<u32> {
    let pair = text.get(at..at + 2)?;
    let (tens, ones) = (pair[0].wrapping_sub(b'0'), pair[1].wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
}

/// Days since 1970-01-01 in the Gregorian calendar; none if there is no such day.
///
/// Years are counted from March, so that the leap day comes last, in eras of 400 years.
fn days_of(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    Some(
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
            - 719_468,
    )
}

fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The inverse of [`days_of`].
fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month =
        if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(text: &str) -> Option<i64> {
        parse(text.as_bytes()).and_then(|instant| to_ticks(instant, TimeUnit::Millisecond).ok())
    }

    #[test]
    fn the_usual_ways_to_write_a_point_in_time_are_read() {
        let expected = Some(1_641_168_000_000);
        for text in [
            "2022-01-03",
            "2022-01-03T00:00",
            "2022-01-03T00:00:00",
            "2022-01-03 00:00:00",
            "2022-01-03T00:00:00.000Z",
            "2022-01-03T02:00:00+02:00",
            "2022-01-02 19:00:00 -0500",
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
        assert_eq!(millis("2022-01-03T00:00:00.25"), Some(1_641_168_000_250));
        assert_eq!(millis("1969-12-31T23:59:59.999"), Some(-1));
    }

    #[test]
    fn what_is_no_point_in_time_is_refused() {
        for text in [
            "",
            "2022",
            "2022-13-01",
            "2022-02-29",
            "1900-02-29",
            "2022-01-03T24:00:00",
            "2022-01-03T00:60:00",
            "2022-01-03x00:00:00",
            "2022-01-03T00:00:00.",
            "2022-01-03T00:00:00 noon",
            "2022-1-3",
            "2022-01-03T00:00:0",
            "20220103",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_fraction_that_the_unit_cannot_keep_is_refused_rather_than_cut() {
        let instant = parse(b"2022-01-03T00:00:00.0015").unwrap();
        assert!(to_ticks(instant, TimeUnit::Millisecond).is_err());
        assert!(to_ticks(instant, TimeUnit::Microsecond).is_ok());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(ticks: i64, unit in prop::sample::select(vec![
            TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond,
        ])) {
            let mut text = Vec::new();
            write(&mut text, ticks, unit);
            let instant = parse(&text).expect("readable");
            prop_assert_eq!(to_ticks(instant, unit), Ok(ticks));
        }
    }
}
