//! Parses and writes timestamps, days and times, in the proleptic Gregorian calendar and without
//! leap seconds.

use std::fmt::{self, Write};

use super::calendar::{date_of, days_of_month, days_since_1970};

/// How many units of this precision make a second: 1, a thousand, a million or a milliard.
pub(crate) fn units_per_second(precision: u8) -> i64 {
    match precision {
        0 => 1,
        1..=3 => 1_000,
        4..=6 => 1_000_000,
        _ => 1_000_000_000,
    }
}

/// The timestamp counted in another unit; finer digits are cut off towards the past. Nothing when
/// it does not fit.
pub(crate) fn rescale(value: i64, from: u8, to: u8) -> Option<i64> {
    let (from, to) = (units_per_second(from), units_per_second(to));
    if from >= to { Some(value.div_euclid(from / to)) } else { value.checked_mul(to / from) }
}

/// Reads `2022-01-03`, `2022-01-03T06:00`, `2022-01-03 06:00:00.123456Z`,
/// `2022-01-03T06:00:00+02:00`; without an offset it is UTC. Digits beyond the precision are cut
/// off.
pub(crate) fn parse(text: &str, precision: u8) -> Result<i64, &'static str> {
    let (seconds, nanoseconds) =
        DateTimeParser { rest: text.trim().as_bytes() }.moment().ok_or(SHAPE)?;
    let units = units_per_second(precision);
    let fraction = i64::from(nanoseconds) / (1_000_000_000 / units);
    let value = i128::from(seconds) * i128::from(units) + i128::from(fraction);
    i64::try_from(value).map_err(|_| "it is too far from 1970 for this precision")
}

/// Reads the same as [`parse`] and keeps the day, in UTC, as days since 1970.
pub(crate) fn parse_date(text: &str) -> Result<i32, &'static str> {
    let (seconds, _) =
        DateTimeParser { rest: text.trim().as_bytes() }.moment().ok_or(DATE_SHAPE)?;
    day_of(seconds, 0).ok_or(DATE_SHAPE)
}

/// The day of a timestamp; nothing when it does not fit.
pub(crate) fn day_of(value: i64, precision: u8) -> Option<i32> {
    i32::try_from(value.div_euclid(units_per_second(precision) * SECONDS_PER_DAY)).ok()
}

/// Midnight at the beginning of a day; nothing when it does not fit.
pub(crate) fn midnight(days: i32, precision: u8) -> Option<i64> {
    (i64::from(days) * SECONDS_PER_DAY).checked_mul(units_per_second(precision))
}

/// The timestamp of a text in halves of a nanosecond, whatever its year. An odd one means further
/// digits, which no column keeps.
pub(crate) fn parse_exact(text: &str) -> Option<i128> {
    let (seconds, nanoseconds) = DateTimeParser { rest: text.trim().as_bytes() }.moment()?;
    let exact = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    Some(2 * exact + i128::from(has_more_than_nanoseconds(text)))
}

fn has_more_than_nanoseconds(text: &str) -> bool {
    let fraction = text.split_once(['.', ',']).map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit);
    digits.skip(9).any(|digit| digit != b'0')
}

/// Reads `06:00`, `06:00:00` or `06:00:00.123456789` as nanoseconds since midnight. Further digits
/// are refused unless they are zeros.
pub(crate) fn parse_time(text: &str) -> Result<i64, &'static str> {
    let mut cursor = DateTimeParser { rest: text.trim().as_bytes() };
    let (seconds, nanoseconds) =
        cursor.time_of_day().filter(|_| cursor.rest.is_empty()).ok_or(TIME_SHAPE)?;
    let digits = text.split(['.', ',']).nth(1).unwrap_or_default().trim_end();
    if digits.bytes().skip(9).any(|digit| digit != b'0') {
        return Err("it has a finer fraction of a second than nanoseconds");
    }
    Ok(seconds * 1_000_000_000 + i64::from(nanoseconds))
}

const SECONDS_PER_DAY: i64 = 86_400;

/// The nanoseconds of a day.
pub(crate) const NANOSECONDS_PER_DAY: i64 = SECONDS_PER_DAY * 1_000_000_000;

const DATE_SHAPE: &str = "a day like 2022-01-03 is needed";

const TIME_SHAPE: &str = "a time of day like 06:00:00, with or without fraction, is needed";

const SHAPE: &str =
    "a timestamp like 2022-01-03T06:00:00, with or without fraction and offset, is needed";

struct DateTimeParser<'a> {
    rest: &'a [u8],
}

impl DateTimeParser<'_> {
    /// Seconds since 1970 and nanoseconds within the second.
    fn moment(mut self) -> Option<(i64, u32)> {
        let negative_year = self.eat(b'-');
        let year =
            if negative_year || self.eat(b'+') { self.number(4, 6)? } else { self.number(4, 4)? };
        let year = if negative_year { -year } else { year };
        self.expect(b'-')?;
        let month = self.number(2, 2)?;
        self.expect(b'-')?;
        let day = self.number(2, 2)?;
        if !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
            return None;
        }
        let midnight = days_since_1970(year, month, day) * 86_400;
        if self.rest.is_empty() {
            return Some((midnight, 0));
        }
        if !(self.eat(b'T') || self.eat(b't') || self.eat(b' ')) {
            return None;
        }
        let (seconds, nanoseconds) = self.time_of_day()?;
        let offset = self.offset()?;
        self.rest.is_empty().then_some((midnight + seconds - offset, nanoseconds))
    }

    fn time_of_day(&mut self) -> Option<(i64, u32)> {
        let hour = self.number(2, 2)?;
        self.expect(b':')?;
        let minute = self.number(2, 2)?;
        let second = if self.eat(b':') { self.number(2, 2)? } else { 0 };
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let nanoseconds = if self.eat(b'.') || self.eat(b',') { self.fraction()? } else { 0 };
        Some((hour * 3_600 + minute * 60 + second, nanoseconds))
    }

    /// Seconds east of Greenwich.
    fn offset(&mut self) -> Option<i64> {
        if self.rest.first() == Some(&b' ') && self.rest.len() > 1 {
            self.rest = &self.rest[1..];
        }
        if self.rest.is_empty() || self.eat(b'Z') || self.eat(b'z') {
            return Some(0);
        }
        let sign = if self.eat(b'-') { -1 } else { self.expect(b'+').map(|()| 1)? };
        let hours = self.number(2, 2)?;
        self.eat(b':');
        let minutes = if self.rest.is_empty() { 0 } else { self.number(2, 2)? };
        (hours <= 18 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
    }

    /// One to any number of digits; those after the ninth are cut off.
    fn fraction(&mut self) -> Option<u32> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let kept = &self.rest[..digits.min(9)];
        let value = kept.iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
        self.rest = &self.rest[digits..];
        (digits > 0).then(|| value * 10_u32.pow(9 - kept.len() as u32))
    }

    fn number(&mut self, digits_min: usize, digits_max: usize) -> Option<i64> {
        let digits =
            self.rest.iter().take(digits_max).take_while(|byte| byte.is_ascii_digit()).count();
        if digits < digits_min {
            return None;
        }
        let value =
            self.rest[..digits].iter().fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
        self.rest = &self.rest[digits..];
        Some(value)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }
}

/// Writes the timestamp as ISO 8601 without offset, with all digits of its unit.
pub(crate) fn write(value: i64, precision: u8, out: &mut impl Write) -> fmt::Result {
    let units = units_per_second(precision);
    let (seconds, fraction) = (value.div_euclid(units), value.rem_euclid(units));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    write_day(days, out)?;
    write!(out, "T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)?;
    match units {
        1 => Ok(()),
        1_000 => write!(out, ".{fraction:03}"),
        1_000_000 => write!(out, ".{fraction:06}"),
        _ => write!(out, ".{fraction:09}"),
    }
}

fn write_day(days: i64, out: &mut impl Write) -> fmt::Result {
    let (year, month, day) = date_of(days);
    match year {
        0..=9_999 => write!(out, "{year:04}")?,
        _ => write!(out, "{year:+05}")?,
    }
    write!(out, "-{month:02}-{day:02}")
}

/// Writes the day as ISO 8601.
pub(crate) fn write_date(days: i32, out: &mut impl Write) -> fmt::Result {
    write_day(days.into(), out)
}

/// Writes the time of day as ISO 8601, with three, six or nine digits of a fraction if it has one.
pub(crate) fn write_time(nanoseconds: i64, out: &mut impl Write) -> fmt::Result {
    let (second, fraction) =
        (nanoseconds.div_euclid(1_000_000_000), nanoseconds.rem_euclid(1_000_000_000));
    write!(out, "{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)?;
    match fraction {
        0 => Ok(()),
        _ if fraction % 1_000_000 == 0 => write!(out, ".{:03}", fraction / 1_000_000),
        _ if fraction % 1_000 == 0 => write!(out, ".{:06}", fraction / 1_000),
        _ => write!(out, ".{fraction:09}"),
    }
}
