//! Timestamps as text: read leniently, and written with just the digits that a column keeps.

use tonnage::Value;
use tonnage::internal::calendar::{date_of, days_of_month, days_since_1970};

const NANOSECONDS: i128 = 1_000_000_000;
const YEAR_MIN: i64 = -6383;
const YEAR_MAX: i64 = 9999;
const SECONDS_PER_DAY: i64 = 86_400;

/// The timestamp of a text for a column of that precision, rounded to it, halves up.
pub(super) fn parse_timestamp(text: &str, precision: u8) -> Result<Value, String> {
    of_nanoseconds(parse_nanoseconds(text)?, precision)
}

/// The nanoseconds since 1970 of a text.
///
/// # Errors
/// Why it is not a timestamp.
pub(crate) fn parse_nanoseconds(text: &str) -> Result<i128, String> {
    let fault = |why: &str| {
        format!(
            "Failed to parse the timestamp string '{text}' with the pattern: \
             uuuu-MM-dd['T'HH:mm:ss]: {why}"
        )
    };
    let parts =
        TimestampParser { rest: text.trim().as_bytes() }.read().map_err(|why| fault(&why))?;
    if !(YEAR_MIN..=YEAR_MAX).contains(&parts.year) {
        return Err(format!(
            "Invalid year, it should be in range from {YEAR_MIN} to {YEAR_MAX}: {}",
            parts.year
        ));
    }
    // A month that is none has no days.
    let days = (1..=12)
        .contains(&parts.month)
        .then(|| days_of_month(parts.year, parts.month))
        .filter(|days| (1..=*days).contains(&parts.day));
    if days.is_none() {
        return Err(format!(
            "Invalid timestamp components: Invalid date {}-{}-{}",
            parts.year, parts.month, parts.day
        ));
    }
    // Any timestamp of these years fits, in seconds and in 128 bits of nanoseconds.
    let midnight = days_since_1970(parts.year, parts.month, parts.day) * SECONDS_PER_DAY;
    let seconds = midnight + parts.second_of_day - parts.offset_seconds;
    Ok(i128::from(seconds) * NANOSECONDS + i128::from(parts.nanoseconds))
}

/// The timestamp of so many milliseconds since 1970.
pub(super) fn timestamp_of_ms(ms: i64, precision: u8) -> Result<Value, String> {
    of_nanoseconds(i128::from(ms) * 1_000_000, precision)
}

fn of_nanoseconds(nanoseconds: i128, precision: u8) -> Result<Value, String> {
    let step = NANOSECONDS / 10_i128.pow(u32::from(precision.min(9)));
    let rounded = (nanoseconds + step / 2).div_euclid(step) * step;
    let value = i64::try_from(rounded / (NANOSECONDS / units_per_second(precision)));
    let value = value
        .map_err(|_| format!("a TIMESTAMP({precision}) is between 1677-09-21 and 2262-04-11"))?;
    Ok(Value::Timestamp { value, precision })
}

/// How many units of the store make a second, at that precision.
fn units_per_second(precision: u8) -> i128 {
    match precision {
        0 => 1,
        1..=3 => 1_000,
        4..=6 => 1_000_000,
        _ => NANOSECONDS,
    }
}

/// A timestamp with the digits of its precision, and without a zone.
pub(super) fn timestamp_text(value: i64, precision: u8) -> String {
    let units = units_per_second(precision);
    shown_nanoseconds(i128::from(value) * (NANOSECONDS / units), precision)
}

/// The same of nanoseconds since 1970.
pub(crate) fn shown_nanoseconds(nanoseconds: i128, precision: u8) -> String {
    let seconds = i64::try_from(nanoseconds.div_euclid(NANOSECONDS)).unwrap_or(i64::MAX);
    let (days, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let digits = usize::from(precision.min(9));
    let fraction = format!("{:09}", nanoseconds.rem_euclid(NANOSECONDS));
    match digits {
        0 => text,
        digits => format!("{text}.{}", &fraction[..digits]),
    }
}

/// What a text says of a timestamp.
#[derive(Debug, Default)]
struct TimestampParts {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
    nanoseconds: u32,
    /// East of Greenwich.
    offset_seconds: i64,
}

struct TimestampParser<'t> {
    rest: &'t [u8],
}

impl<'t> TimestampParser<'t> {
    fn read(mut self) -> Result<TimestampParts, String> {
        let mut parts = TimestampParts::default();
        let is_before = self.eat(b'-');
        let year = self.number("year", 6)?;
        parts.year = if is_before { -year } else { year };
        let date = "the timestamp string must have at least the 3 date components";
        self.expect(b'-', date)?;
        parts.month = self.number("month", 2)?;
        self.expect(b'-', date)?;
        parts.day = self.number("day", 2)?;
        if self.eat(b'T') {
            self.time_of_day(&mut parts)?;
        }
        self.zone(&mut parts)?;
        match self.rest.first() {
            None => Ok(parts),
            Some(byte) => Err(format!("invalid character '{}'", byte.escape_ascii())),
        }
    }

    /// Minutes and seconds may be left out.
    fn time_of_day(&mut self, parts: &mut TimestampParts) -> Result<(), String> {
        let limits = [("hour", 23, 3_600), ("minute", 59, 60), ("second", 59, 1)];
        for (place, (name, most, seconds)) in limits.into_iter().enumerate() {
            if place > 0 && !self.eat(b':') {
                return Ok(());
            }
            let number = self.number(name, 2)?;
            if number > most {
                return Err(format!("the {name} is {number}: it is at most {most}"));
            }
            parts.second_of_day += number * seconds;
        }
        if self.eat(b'.') {
            let digits = self.digits(9);
            let fraction = std::str::from_utf8(digits).ok().filter(|digits| !digits.is_empty());
            let fraction = fraction.ok_or("there are no digits after the point")?;
            parts.nanoseconds = format!("{fraction:0<9}").parse().unwrap_or_default();
        }
        Ok(())
    }

    fn zone(&mut self, parts: &mut TimestampParts) -> Result<(), String> {
        let sign = match self.rest.first() {
            Some(b'Z') => {
                self.eat(b'Z');
                return Ok(());
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Ok(()),
        };
        self.rest = &self.rest[1..];
        let hours = self.number("offset", 2)?;
        self.eat(b':');
        let minutes = if self.rest.is_empty() { 0 } else { self.number("offset", 2)? };
        if hours > 18 || minutes > 59 {
            return Err("the offset is more than 18 hours".to_owned());
        }
        parts.offset_seconds = sign * (hours * 3_600 + minutes * 60);
        Ok(())
    }

    /// A number of at most so many digits.
    fn number(&mut self, component: &str, digits_max: usize) -> Result<i64, String> {
        let digits = self.digits(digits_max);
        match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
            Some(number) => Ok(number),
            None => Err(match self.rest.first() {
                Some(byte) => format!(
                    "invalid character '{}' while parsing component {component}",
                    byte.escape_ascii()
                ),
                None => format!("it ends before component {component}"),
            }),
        }
    }

    fn digits(&mut self, most: usize) -> &'t [u8] {
        let count = self.rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        digits
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.rest.first() == Some(&byte);
        self.rest = &self.rest[usize::from(is_there)..];
        is_there
    }

    fn expect(&mut self, byte: u8, otherwise: &str) -> Result<(), String> {
        if self.eat(byte) { Ok(()) } else { Err(otherwise.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, precision: u8) -> String {
        match parse_timestamp(text, precision) {
            Ok(Value::Timestamp { value, precision }) => timestamp_text(value, precision),
            Ok(other) => panic!("{other} is not a timestamp"),
            Err(why) => why,
        }
    }

    #[test]
    fn timestamps_round_half_up_and_have_the_digits_of_their_column() {
        let (text, late) = ("2020-01-02T03:04:05.123456789", "2020-12-31T23:59:59.987654321");
        for (precision, rounded, rounded_late) in [
            (0, "2020-01-02T03:04:05", "2021-01-01T00:00:00"),
            (1, "2020-01-02T03:04:05.1", "2021-01-01T00:00:00.0"),
            (2, "2020-01-02T03:04:05.12", "2020-12-31T23:59:59.99"),
            (3, "2020-01-02T03:04:05.123", "2020-12-31T23:59:59.988"),
            (6, "2020-01-02T03:04:05.123457", "2020-12-31T23:59:59.987654"),
            (9, "2020-01-02T03:04:05.123456789", "2020-12-31T23:59:59.987654321"),
        ] {
            assert_eq!(
                (told(text, precision), told(late, precision)),
                (rounded.into(), rounded_late.into())
            );
        }
        assert_eq!(told("1969-12-31T23:59:59.5", 0), "1970-01-01T00:00:00");
    }

    #[test]
    fn parts_may_be_left_out_and_offsets_count() {
        for (text, timestamp) in [
            ("2020-01-02", "2020-01-02T00:00:00.000"),
            ("2020-1-2", "2020-01-02T00:00:00.000"),
            ("2020-01-02T03", "2020-01-02T03:00:00.000"),
            ("2020-01-02T03:04", "2020-01-02T03:04:00.000"),
            ("2020-01-02T03:04:05+02:00", "2020-01-02T01:04:05.000"),
            ("2020-01-02T03:04:05.5Z", "2020-01-02T03:04:05.500"),
            ("-0001-01-01", "-001-01-01T00:00:00.000"),
            ("-6383-01-01T00:00:00", "-6383-01-01T00:00:00.000"),
            ("9999-12-31T23:59:59.999", "9999-12-31T23:59:59.999"),
        ] {
            assert_eq!(told(text, 3), timestamp);
        }
    }

    #[test]
    fn what_is_no_timestamp_is_refused() {
        for (text, part) in [
            ("2020", "at least the 3 date components"),
            ("2020-01", "at least the 3 date components"),
            ("2020-01-02 03:04:05", "invalid character ' '"),
            ("2020-02-30", "Invalid date"),
            ("2020-13-01", "Invalid date"),
            ("10000-01-01", "Invalid year"),
            ("x", "invalid character 'x' while parsing component year"),
            ("", "ends before component year"),
            ("2020-01-02T25", "hour is 25"),
            ("2020-01-02T01:02:03.", "no digits"),
        ] {
            assert!(told(text, 3).contains(part), "{text}: {}", told(text, 3));
        }
        assert!(told("9999-12-31", 9).contains("2262"));
    }
}
