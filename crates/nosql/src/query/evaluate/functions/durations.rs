//! Durations: `1 month 2 days`.

/// A duration. Months and days depend on the calendar, the rest does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Duration {
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) nanoseconds: i128,
}

/// The units of durations: months, days and nanoseconds of each.
const UNITS: [(&str, i64, i64, i128); 10] = [
    ("year", 12, 0, 0),
    ("quarter", 3, 0, 0),
    ("month", 1, 0, 0),
    ("week", 0, 7, 0),
    ("day", 0, 1, 0),
    ("hour", 0, 0, 3_600_000_000_000),
    ("minute", 0, 0, 60_000_000_000),
    ("second", 0, 0, 1_000_000_000),
    ("millisecond", 0, 0, 1_000_000),
    ("nanosecond", 0, 0, 1),
];

/// How large a number of a duration may be.
const NUMBER_MAX: i64 = i32::MAX as i64;

impl Duration {
    /// The duration of a text; nothing where it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (rest, sign) = match text.trim().strip_prefix('-') {
            Some(rest) => (rest, -1),
            None => (text.trim(), 1),
        };
        let mut duration = Duration::default();
        let mut words = rest.split_whitespace();
        let mut first = words.next();
        while let Some(number) = first {
            let number: i64 =
                number.parse().ok().filter(|number| (0..=NUMBER_MAX).contains(number))?;
            let unit = words.next()?.to_ascii_lowercase();
            let unit = unit.strip_suffix('s').unwrap_or(&unit);
            let (_, months, days, nanoseconds) = UNITS.iter().find(|(name, ..)| *name == unit)?;
            duration.months += sign * number * months;
            duration.days += sign * number * days;
            duration.nanoseconds += i128::from(sign * number) * nanoseconds;
            first = words.next();
        }
        (!rest.is_empty()).then_some(duration)
    }

    /// So many milliseconds as text.
    pub(super) fn text_of_ms(ms: i64) -> String {
        if ms == 0 {
            return "0 milliseconds".to_owned();
        }
        let (mut left, mut parts) = (ms.unsigned_abs(), Vec::new());
        for (unit, size) in [
            ("day", 86_400_000),
            ("hour", 3_600_000),
            ("minute", 60_000),
            ("second", 1_000),
            ("millisecond", 1),
        ] {
            let count = left / size;
            left %= size;
            match count {
                0 => {}
                1 => parts.push(format!("1 {unit}")),
                count => parts.push(format!("{count} {unit}s")),
            }
        }
        format!("{}{}", if ms < 0 { "-" } else { "" }, parts.join(" "))
    }
}
