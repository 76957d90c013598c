//! Timestamps moved, and cut to units.

use tonnage::internal::calendar::days_of_month;

use super::durations::Duration;
use crate::query::item::{Instant, InstantParts};

const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// A timestamp moved by a duration: first by its months, then by its days, then by the rest.
pub(super) fn moved(instant: Instant, by: Duration) -> Option<Instant> {
    let mut here = instant;
    if by.months != 0 {
        let parts = here.parts();
        let months = parts.year * 12 + parts.month - 1 + by.months;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        here = InstantParts { year, month, ..parts }.instant(9)?;
    }
    let nanoseconds = here.nanoseconds + i128::from(by.days) * DAY_NANOSECONDS + by.nanoseconds;
    let moved = Instant { nanoseconds, precision: 9 };
    (-6383..=9999).contains(&moved.parts().year).then_some(moved)
}

/// The start of the unit of a timestamp.
pub(super) fn floor(instant: Instant, unit: &str) -> Option<Instant> {
    let parts = instant.parts();
    let day = InstantParts { hour: 0, minute: 0, second: 0, nanosecond: 0, ..parts };
    let weekday = parts.day_of_week();
    let cut = match unit {
        "year" => InstantParts { month: 1, day: 1, ..day },
        "iyear" => {
            // The year of weeks begins with the Monday of the week that has January 4th.
            let thursday = back(day, weekday - 4)?.parts();
            let fourth = InstantParts { month: 1, day: 4, ..day };
            let fourth = InstantParts { year: thursday.year, ..fourth };
            return back(fourth, fourth.day_of_week() - 1);
        }
        "quarter" => InstantParts { month: (parts.month - 1) / 3 * 3 + 1, day: 1, ..day },
        "month" => InstantParts { day: 1, ..day },
        // Weeks begin on Sunday, those of ISO on Monday.
        "week" => return back(day, weekday % 7),
        "iweek" => return back(day, weekday - 1),
        "day" => day,
        "hour" => InstantParts { minute: 0, second: 0, nanosecond: 0, ..parts },
        "minute" => InstantParts { second: 0, nanosecond: 0, ..parts },
        "second" => InstantParts { nanosecond: 0, ..parts },
        _ => return None,
    };
    cut.instant(0)
}

fn back(day: InstantParts, days: i64) -> Option<Instant> {
    let instant = day.instant(0)?;
    let nanoseconds = instant.nanoseconds - i128::from(days) * DAY_NANOSECONDS;
    Some(Instant { nanoseconds, ..instant })
}

/// The start of the unit after the one that begins there.
pub(super) fn next(start: Instant, unit: &str) -> Option<Instant> {
    let text = match unit {
        "iyear" => {
            let later = moved(start, Duration::parse("375 days")?)?;
            return floor(later, "iyear");
        }
        "iweek" => "1 week".to_owned(),
        unit => format!("1 {unit}"),
    };
    moved(start, Duration::parse(&text)?).map(|moved| Instant { precision: 0, ..moved })
}

pub(super) fn last_day(instant: Instant) -> Option<Instant> {
    let parts = floor(instant, "day")?.parts();
    InstantParts { day: days_of_month(parts.year, parts.month), ..parts }.instant(0)
}
