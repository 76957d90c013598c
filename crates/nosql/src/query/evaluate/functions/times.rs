//! Functions of timestamps.

use super::arguments::{Arguments, or_null};
use super::durations::Duration;
use super::{time_arithmetic as arithmetic, time_format};
use crate::query::item::{Instant, Item, Sequence};
use crate::wire::Outcome;

type Given = Outcome<Sequence>;

const ISO: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSS";

/// A part of a timestamp, by the name of the function.
pub(super) fn part(of: &Arguments<'_>) -> Given {
    let Some(parts) = of.instant(0).map(Instant::parts) else { return Ok(Sequence::null()) };
    let number = match of.name {
        "year" => parts.year,
        "month" => parts.month,
        "day" | "day_of_month" => parts.day,
        "hour" => parts.hour,
        "minute" => parts.minute,
        "second" => parts.second,
        "millisecond" => parts.nanosecond / 1_000_000,
        "microsecond" => parts.nanosecond / 1_000,
        "nanosecond" => parts.nanosecond,
        // Weeks begin on Sunday, and the first one has January 1st.
        "week" => parts.week(7, 1),
        "isoweek" => parts.week(1, 4),
        "quarter" => (parts.month - 1) / 3 + 1,
        "day_of_week" => parts.day_of_week(),
        _ => parts.day_of_year(),
    };
    // All of them fit.
    Ok(Item::Integer(number as i32).into())
}

pub(super) fn now(of: &Arguments<'_>) -> Given {
    let ms = of.evaluator.now_ms;
    Ok(match of.name {
        "current_time_millis" => Item::Long(i64::try_from(ms).unwrap_or(i64::MAX)),
        _ => {
            let nanoseconds = i128::from(ms) * 1_000_000;
            Item::Timestamp(Instant { nanoseconds, precision: 3 })
        }
    }
    .into())
}

pub(super) fn add(of: &Arguments<'_>) -> Given {
    let (Some(instant), Some(text)) = (of.instant(0), of.text(1)) else {
        return Ok(Sequence::null());
    };
    let duration =
        Duration::parse(&text).ok_or_else(|| of.fault(&format!("Invalid duration: {text}")))?;
    match arithmetic::moved(instant, duration) {
        Some(moved) => Ok(Item::Timestamp(moved).into()),
        None => Err(of.fault("the timestamp is outside of the years -6383 to 9999")),
    }
}

/// In milliseconds.
pub(super) fn difference(of: &Arguments<'_>) -> Given {
    let pair = of.instant(0).zip(of.instant(1));
    let ms = |instant: Instant| instant.nanoseconds.div_euclid(1_000_000);
    or_null(pair.map(|(one, other)| {
        // Years are bounded: the difference fits.
        Item::Long(i64::try_from(ms(one) - ms(other)).unwrap_or(i64::MAX))
    }))
}

pub(super) fn duration_text(of: &Arguments<'_>) -> Given {
    or_null(of.whole(0).map(Duration::text_of_ms))
}

/// `timestamp_trunc`, `_floor`, `_ceil` and `_round` to a unit.
pub(super) fn cut(of: &Arguments<'_>) -> Given {
    let unit = if of.len() > 1 { of.text(1) } else { Some("day".to_owned()) };
    let (Some(instant), Some(unit)) = (of.instant(0), unit) else { return Ok(Sequence::null()) };
    let unit = unit.to_ascii_lowercase();
    let unknown = || of.fault(&format!("Invalid unit: {unit}"));
    let start = arithmetic::floor(instant, &unit).ok_or_else(unknown)?;
    let rounded = match of.name {
        "timestamp_ceil" | "timestamp_round" if start.nanoseconds < instant.nanoseconds => {
            let next = arithmetic::next(start, &unit).ok_or_else(unknown)?;
            let is_nearer =
                next.nanoseconds - instant.nanoseconds <= instant.nanoseconds - start.nanoseconds;
            if of.name == "timestamp_ceil" || is_nearer { next } else { start }
        }
        _ => start,
    };
    Ok(Item::Timestamp(rounded).into())
}

/// The start of the interval of a timestamp.
pub(super) fn bucket(of: &Arguments<'_>) -> Given {
    let interval = if of.len() > 1 { of.text(1) } else { Some("1 day".to_owned()) };
    let origin = match of.len() {
        3 => of.instant(2),
        _ => Some(Instant { nanoseconds: 0, precision: 9 }),
    };
    let (Some(instant), Some(interval), Some(origin)) = (of.instant(0), interval, origin) else {
        return Ok(Sequence::null());
    };
    let bad = || of.fault(&format!("Invalid interval: {interval}"));
    let duration = Duration::parse(&interval).filter(|duration| duration.months == 0);
    let duration = duration.ok_or_else(bad)?;
    let step = i128::from(duration.days) * 86_400_000_000_000 + duration.nanoseconds;
    if step <= 0 {
        return Err(bad());
    }
    let since = instant.nanoseconds - origin.nanoseconds;
    let nanoseconds = origin.nanoseconds + since.div_euclid(step) * step;
    Ok(Item::Timestamp(Instant { nanoseconds, precision: 9 }).into())
}

pub(super) fn last_day(of: &Arguments<'_>) -> Given {
    or_null(of.instant(0).and_then(arithmetic::last_day).map(Item::Timestamp))
}

pub(super) fn format(of: &Arguments<'_>) -> Given {
    let pattern = if of.len() > 1 { of.text(1) } else { Some(ISO.to_owned()) };
    let (Some(instant), Some(pattern)) = (of.instant(0), pattern) else {
        return Ok(Sequence::null());
    };
    match time_format::formatted(instant, &pattern) {
        Some(text) => Ok(Item::from(text).into()),
        None => Err(of.fault(&format!("Invalid pattern of a timestamp: {pattern}"))),
    }
}

pub(super) fn parse(of: &Arguments<'_>) -> Given {
    let Some(text) = of.text(0) else { return Ok(Sequence::null()) };
    let parsed = match of.len() {
        1 => Instant::parse(&text, 9).ok(),
        _ => match of.text(1) {
            Some(pattern) => time_format::parsed(&text, &pattern),
            None => return Ok(Sequence::null()),
        },
    };
    match parsed {
        Some(instant) => Ok(Item::Timestamp(instant).into()),
        None => Err(of.fault(&format!("Failed to parse the timestamp string '{text}'"))),
    }
}
