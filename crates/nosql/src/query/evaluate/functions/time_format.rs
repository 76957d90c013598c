//! Timestamps in the form that a pattern says: `dd/MM/yyyy HH:mm:ss.SSS`.

use crate::query::item::{Instant, InstantParts};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A part of a pattern: a letter and its count, or text.
enum FormatPart {
    Letter(char, usize),
    Text(String),
}

fn parts_of(pattern: &str) -> Option<Vec<FormatPart>> {
    let mut parts = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(first) = chars.next() {
        if first == '\'' {
            let text: String = chars.by_ref().take_while(|c| *c != '\'').collect();
            parts.push(FormatPart::Text(if text.is_empty() { "'".to_owned() } else { text }));
        } else if first.is_ascii_alphabetic() {
            let mut count = 1;
            while chars.next_if_eq(&first).is_some() {
                count += 1;
            }
            // No field of a timestamp is wider.
            if count > 19 {
                return None;
            }
            parts.push(FormatPart::Letter(first, count));
        } else if first != '[' && first != ']' {
            parts.push(FormatPart::Text(first.to_string()));
        }
    }
    Some(parts)
}

/// The text of a timestamp; nothing where the pattern is none.
pub(super) fn formatted(instant: Instant, pattern: &str) -> Option<String> {
    let parts = instant.parts();
    let mut out = String::new();
    for part in parts_of(pattern)? {
        match part {
            FormatPart::Text(text) => out.push_str(&text),
            FormatPart::Letter(letter, count) => out.push_str(&field(&parts, letter, count)?),
        }
    }
    Some(out)
}

fn field(parts: &InstantParts, letter: char, count: usize) -> Option<String> {
    let name = |names: &[&str], at: i64| -> Option<String> {
        let name = names.get(usize::try_from(at).ok()?)?;
        Some(if count == 3 { name[..3].to_owned() } else { (*name).to_owned() })
    };
    // The letters are those of the patterns of Java.
    let number = match letter {
        'y' | 'u' if count == 2 => parts.year.rem_euclid(100),
        'y' | 'u' | 'Y' => parts.year,
        'M' | 'L' if count > 2 => return name(&MONTHS, parts.month - 1),
        'M' | 'L' => parts.month,
        'd' => parts.day,
        'D' => parts.day_of_year(),
        'E' => {
            return if count == 4 {
                name(&DAYS, parts.day_of_week() - 1)
            } else {
                Some(DAYS[(parts.day_of_week() - 1) as usize][..3].to_owned())
            };
        }
        'Q' | 'q' => (parts.month - 1) / 3 + 1,
        'w' => parts.week(7, 1),
        'H' => parts.hour,
        'k' => {
            if parts.hour == 0 {
                24
            } else {
                parts.hour
            }
        }
        'K' => parts.hour % 12,
        'h' => (parts.hour + 11) % 12 + 1,
        'm' => parts.minute,
        's' => parts.second,
        'S' => {
            return Some(format!("{:09}", parts.nanosecond).chars().take(count.min(9)).collect());
        }
        'n' => parts.nanosecond,
        'a' => return Some(if parts.hour < 12 { "AM" } else { "PM" }.to_owned()),
        'X' => return Some("Z".to_owned()),
        'x' | 'Z' => return Some("+0000".to_owned()),
        'z' | 'V' | 'O' => return Some("UTC".to_owned()),
        _ => return None,
    };
    // The number of letters is the least number of digits.
    Some(format!("{number:0count$}"))
}

/// The timestamp of a text in that form.
pub(super) fn parsed(text: &str, pattern: &str) -> Option<Instant> {
    let mut parts = InstantParts { year: 1970, month: 1, day: 1, ..InstantParts::default() };
    let (mut rest, mut is_afternoon, mut offset) = (text, None, 0_i128);
    for part in parts_of(pattern)? {
        let (letter, count) = match part {
            FormatPart::Text(expected) => {
                rest = rest.strip_prefix(expected.as_str())?;
                continue;
            }
            FormatPart::Letter(letter, count) => (letter, count),
        };
        let names: &[&str] = if letter == 'E' { &DAYS } else { &MONTHS };
        match letter {
            'M' | 'L' | 'E' if count > 2 || letter == 'E' => {
                let is_there = |name: &&str| {
                    // Three letters are a short name, four a whole one.
                    let len = if count == 4 { name.len() } else { 3 };
                    let there = rest.get(..len)?;
                    there.eq_ignore_ascii_case(&name[..len]).then_some(len)
                };
                let found =
                    names.iter().enumerate().find_map(|(at, name)| Some((at, is_there(name)?)));
                let (at, len) = found?;
                rest = &rest[len..];
                if letter != 'E' {
                    parts.month = at as i64 + 1;
                }
            }
            'a' => {
                is_afternoon = Some(rest.get(..2)?.eq_ignore_ascii_case("PM"));
                rest = &rest[2..];
            }
            'X' | 'x' | 'Z' | 'z' | 'V' => (rest, offset) = zone(rest)?,
            _ => {
                let most = match letter {
                    'y' | 'u' if count != 2 => 4.max(count),
                    'S' => count,
                    'n' => 9,
                    _ => 2.max(count),
                };
                let len = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
                let (digits, behind) = rest.split_at(len);
                rest = behind;
                let number: i64 = digits.parse().ok()?;
                match letter {
                    'y' | 'u' if count == 2 => parts.year = 2000 + number,
                    'y' | 'u' => parts.year = number,
                    'M' | 'L' => parts.month = number,
                    'd' => parts.day = number,
                    'H' | 'h' | 'k' | 'K' => parts.hour = number,
                    'm' => parts.minute = number,
                    's' => parts.second = number,
                    'S' => parts.nanosecond = format!("{digits:0<9}").get(..9)?.parse().ok()?,
                    'n' => parts.nanosecond = number,
                    _ => return None,
                }
            }
        }
    }
    // Whether it is afternoon may follow the hour.
    if let Some(is_afternoon) = is_afternoon {
        parts.hour = parts.hour % 12 + if is_afternoon { 12 } else { 0 };
    }
    let is_whole = rest.is_empty()
        && parts.hour < 24
        && parts.minute < 60
        && parts.second < 60
        && (1..=12).contains(&parts.month);
    let instant =
        parts.instant(9).filter(|instant| is_whole && instant.parts().day == parts.day)?;
    Some(Instant { nanoseconds: instant.nanoseconds - offset, ..instant })
}

/// A zone at the front of a text, and its offset east in nanoseconds.
fn zone(text: &str) -> Option<(&str, i128)> {
    for name in ["Z", "UTC", "GMT"] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some((rest, 0));
        }
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours: i128 = text.get(1..3)?.parse().ok()?;
    let rest = text[3..].strip_prefix(':').unwrap_or(&text[3..]);
    let minutes = rest.get(..2).and_then(|digits| digits.parse::<i128>().ok());
    let rest = if minutes.is_some() { &rest[2..] } else { rest };
    Some((rest, sign * (hours * 60 + minutes.unwrap_or(0)) * 60_000_000_000))
}
