//! Timestamps.

use tonnage::internal::calendar::{date_of, days_of_month, days_since_1970};

use crate::wire::{parse_nanoseconds, shown_nanoseconds};

pub(crate) const NANOSECONDS: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A point in time, and the number of digits of its fraction of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    /// Since 1970.
    pub(crate) nanoseconds: i128,
    pub(crate) precision: u8,
}

/// The parts of a timestamp on the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InstantParts {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) nanosecond: i64,
}

impl Instant {
    /// The timestamp of a text, rounded to so many digits.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn parse(text: &str, precision: u8) -> Result<Self, String> {
        let nanoseconds = parse_nanoseconds(text)?;
        Ok(Self { nanoseconds, precision: 9 }.rounded(precision))
    }

    /// The same with so many digits, halves up.
    pub(crate) fn rounded(self, precision: u8) -> Self {
        let step = 10_i128.pow(u32::from(9 - precision.min(9)));
        let nanoseconds = (self.nanoseconds + step / 2).div_euclid(step) * step;
        Self { nanoseconds, precision }
    }

    /// As columns show it, without a zone.
    pub(crate) fn text(self) -> String {
        shown_nanoseconds(self.nanoseconds, self.precision)
    }

    pub(crate) fn parts(self) -> InstantParts {
        let seconds = self.nanoseconds.div_euclid(NANOSECONDS);
        // Years are bounded when texts are read: this fits.
        let seconds = i64::try_from(seconds).unwrap_or_default();
        let (days, second) =
            (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
        let (year, month, day) = date_of(days);
        InstantParts {
            year,
            month,
            day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            nanosecond: self.nanoseconds.rem_euclid(NANOSECONDS) as i64,
        }
    }
}

impl InstantParts {
    /// The timestamp of these parts. A day that its month lacks is the last one of it.
    pub(crate) fn instant(self, precision: u8) -> Option<Instant> {
        if !(-6383..=9999).contains(&self.year) || !(1..=12).contains(&self.month) {
            return None;
        }
        let day = self.day.clamp(1, days_of_month(self.year, self.month));
        let days = days_since_1970(self.year, self.month, day);
        let second = self.hour * 3_600 + self.minute * 60 + self.second;
        let seconds = i128::from(days * SECONDS_PER_DAY + second);
        let nanoseconds = seconds * NANOSECONDS + i128::from(self.nanosecond);
        Some(Instant { nanoseconds, precision })
    }

    /// Days since 1970.
    pub(crate) fn days(self) -> i64 {
        days_since_1970(self.year, self.month, self.day)
    }

    /// The day of the week, from 1 for Monday.
    pub(crate) fn day_of_week(self) -> i64 {
        (self.days() + 3).rem_euclid(7) + 1
    }

    pub(crate) fn day_of_year(self) -> i64 {
        self.days() - days_since_1970(self.year, 1, 1) + 1
    }

    /// The week of the year. Weeks begin on that day of the week, 1 for Monday, and the first has
    /// so many days of its year at least.
    pub(crate) fn week(self, first_day: i64, days_min: i64) -> i64 {
        // The week belongs to the year of its day number `days_min`.
        let start = self.days() - (self.day_of_week() - first_day).rem_euclid(7);
        let (year, _, _) = date_of(start + 7 - days_min);
        (start + 7 - days_min - days_since_1970(year, 1, 1)) / 7 + 1
    }
}
