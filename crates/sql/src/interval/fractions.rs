//! Fractions of years, months and weeks in the text of intervals.
//!
//! The library cuts a fraction of a year after the month, and one of a month after the day. It
//! takes one of a week for hours. As in PostgreSQL a year has whole months, rounded, a month has 30
//! days, and a week has 7.

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// What a unit is built from.
enum UnitLength {
    Months(i128),
    Days(i128),
    Nanoseconds(i128),
}

/// The parts of an interval, each with a sign of its own.
#[derive(Default)]
struct IntervalParts {
    months: i128,
    days: i128,
    nanoseconds: i128,
}

/// A text with a fraction of a year, a month or a week, in months, days and seconds; nothing for
/// another one.
pub(crate) fn in_whole_units(text: &str) -> Option<String> {
    if !text.contains('.') {
        return None;
    }
    let (mut parts, mut rest, mut is_cut) = (IntervalParts::default(), text.trim(), false);
    while !rest.is_empty() {
        let sign = if rest.starts_with('-') { -1 } else { 1 };
        let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let (number, behind) = split(unsigned, |c| c.is_ascii_digit() || c == '.');
        let (name, behind) = split(behind.trim_start(), char::is_alphabetic);
        let unit = unit(name)?;
        is_cut |=
            number.contains('.') && matches!(unit, UnitLength::Months(_) | UnitLength::Days(7));
        parts.add(sign, number, &unit)?;
        rest = behind.trim_start();
    }
    is_cut.then(|| parts.to_text())
}

/// A text before and from the first character that does not belong.
fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

fn unit(name: &str) -> Option<UnitLength> {
    Some(match name.to_ascii_lowercase().as_str() {
        "millennium" | "millennia" => UnitLength::Months(12_000),
        "century" | "centuries" => UnitLength::Months(1_200),
        "decade" | "decades" => UnitLength::Months(120),
        "y" | "yr" | "yrs" | "year" | "years" => UnitLength::Months(12),
        "mon" | "mons" | "month" | "months" => UnitLength::Months(1),
        "w" | "week" | "weeks" => UnitLength::Days(7),
        "d" | "day" | "days" => UnitLength::Days(1),
        "h" | "hr" | "hrs" | "hour" | "hours" => UnitLength::Nanoseconds(3_600 * SECOND),
        "m" | "min" | "mins" | "minute" | "minutes" => UnitLength::Nanoseconds(60 * SECOND),
        "s" | "sec" | "secs" | "second" | "seconds" => UnitLength::Nanoseconds(SECOND),
        _ => return None,
    })
}

impl IntervalParts {
    /// Adds a number of units. What is not a whole number of them is given to the smaller ones.
    fn add(&mut self, sign: i128, number: &str, unit: &UnitLength) -> Option<()> {
        // Digits over a power of ten, not a double, so that 0.1 is exact. An overflow is `None`,
        // which leaves the text to the library.
        let (digits, fraction) = number.split_once('.').unwrap_or((number, ""));
        let power = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let count: i128 = format!("{digits}{fraction}").parse().ok()?;
        // Halves are rounded up, and the sign comes on top: away from zero on both sides. The rest
        // is not doubled, since `power` may have as many digits as there is room for.
        let nearest = |parts: i128| {
            let rest = parts % power;
            parts / power + i128::from(rest >= power - rest)
        };
        let add = |part: &mut i128, more: i128| {
            *part = part.checked_add(sign * more)?;
            Some(())
        };
        match unit {
            UnitLength::Months(1) => {
                let days = (count % power).checked_mul(30)?;
                add(&mut self.months, count / power)?;
                add(&mut self.days, days / power)?;
                add(&mut self.nanoseconds, nearest((days % power).checked_mul(DAY)?))
            }
            UnitLength::Months(months) => {
                add(&mut self.months, nearest(count.checked_mul(*months)?))
            }
            UnitLength::Days(days) => {
                let days = count.checked_mul(*days)?;
                add(&mut self.days, days / power)?;
                add(&mut self.nanoseconds, nearest((days % power).checked_mul(DAY)?))
            }
            UnitLength::Nanoseconds(each) => {
                add(&mut self.nanoseconds, nearest(count.checked_mul(*each)?))
            }
        }
    }

    fn to_text(&self) -> String {
        let Self { months, days, nanoseconds } = self;
        let sign = if *nanoseconds < 0 { "-" } else { "" };
        let (seconds, part) = (nanoseconds.abs() / SECOND, nanoseconds.abs() % SECOND);
        format!("{months} months {days} days {sign}{seconds}.{part:09} seconds")
    }
}

#[cfg(test)]
mod tests {
    use super::in_whole_units;

    #[test]
    fn years_have_months_and_weeks_have_days() {
        let written = |text| in_whole_units(text).unwrap();
        assert_eq!(written("0.05 month"), "0 months 1 days 43200.000000000 seconds");
        assert_eq!(written("0.05 years"), "1 months 0 days 0.000000000 seconds");
        assert_eq!(written("2.7year 3 days"), "32 months 3 days 0.000000000 seconds");
        assert_eq!(written("1 day -1.5 weeks"), "0 months -9 days -43200.000000000 seconds");
        assert_eq!(written("0.1 decades 1.75 mons"), "13 months 22 days 43200.000000000 seconds");
        assert_eq!(written("1.5 weeks 1.5 days"), "0 months 11 days 86400.000000000 seconds");
    }

    /// With 38 digits after the point the rounding overflowed, and gave no month.
    #[test]
    fn a_fraction_of_many_digits_is_rounded_as_a_short_one() {
        let padded = |fraction: &str, digits: usize| format!("0.{fraction:0<digits$} years");
        for digits in [2, 37, 38] {
            let written = in_whole_units(&padded("07", digits)).unwrap();
            assert_eq!(written, "1 months 0 days 0.000000000 seconds", "{digits} digits");
            let written = in_whole_units(&padded("04", digits)).unwrap();
            assert_eq!(written, "0 months 0 days 0.000000000 seconds", "{digits} digits");
        }
        assert!(in_whole_units(&padded("07", 39)).is_none());
    }

    #[test]
    fn what_is_whole_or_smaller_stays() {
        for text in ["1 year", "1.5 days", "2.", "x", "", "1.5", "01:02:03.5", "P1.5Y"] {
            assert!(in_whole_units(text).is_none(), "{text}");
        }
        assert!(in_whole_units("99999999999999999999999999999999999999.5 years").is_none());
        assert!(in_whole_units("1..5 years").is_none() && in_whole_units(".years").is_none());
    }
}
