//! Parses the values of options: sizes, percentages, durations and choices.

use std::time::Duration;

use clap::{Args, ValueEnum};
use tonnage::{Consistency, ErrorsMax, OnExisting};

/// `--durability`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    /// Lost when the process dies
    None,
    /// Survives the process, not the machine
    #[default]
    Write,
    /// On the disk
    Fsync,
}

impl From<Durability> for tonnage::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::None => tonnage::Durability::None,
            Durability::Write => tonnage::Durability::Write,
            Durability::Fsync => tonnage::Durability::Fsync,
        }
    }
}

/// `--acks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Acks {
    /// One copy has it when it counts as stored
    None,
    /// More than half of them
    Majority,
    /// All of them: it fails while one of their nodes is down
    All,
}

impl From<Acks> for tonnage::Acks {
    fn from(acks: Acks) -> Self {
        match acks {
            Acks::None => tonnage::Acks::None,
            Acks::Majority => tonnage::Acks::Majority,
            Acks::All => tonnage::Acks::All,
        }
    }
}

/// `none`, `30s`, `version:17` or `absolute`.
pub(crate) fn consistency(text: &str) -> Result<Consistency, String> {
    match text.split_once(':') {
        Some(("version", number)) => match number.parse() {
            Ok(version @ 1..) => Ok(Consistency::Version(version)),
            _ => {
                Err(format!("'{number}' is not a version: give the one that a write has answered"))
            }
        },
        _ if text == "none" => Ok(Consistency::None),
        _ if text == "absolute" => Ok(Consistency::Absolute),
        _ => duration(text).map(Consistency::Time).map_err(|_| {
            format!(
                "'{text}' is no freshness: write none, a time such as 30s, version:N or absolute"
            )
        }),
    }
}

/// `--direction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Direction {
    /// The fastest order
    #[default]
    Unordered,
    /// Keys in the order given, rows ascending
    Forward,
    /// Keys in the order given, rows descending
    Reverse,
}

/// `--direction`, and `--reverse` for one of its values.
#[derive(Args)]
pub(crate) struct DirectionArgs {
    /// Order of what is returned; a scan keeps it under each shard key alone
    #[arg(long, value_enum, default_value_t)]
    direction: Direction,
    /// Means --direction reverse: what many try first
    #[arg(long, alias = "desc", hide = true, conflicts_with = "direction")]
    reverse: bool,
}

impl DirectionArgs {
    pub(crate) fn direction(&self) -> tonnage::Direction {
        match self.reverse {
            true => tonnage::Direction::Reverse,
            false => self.direction.into(),
        }
    }
}

impl From<Direction> for tonnage::Direction {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Unordered => tonnage::Direction::Unordered,
            Direction::Forward => tonnage::Direction::Forward,
            Direction::Reverse => tonnage::Direction::Reverse,
        }
    }
}

/// `--on-existing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExistingPolicy {
    /// Keep the stored row
    #[default]
    Keep,
    /// Replace it with the new row
    Replace,
    /// Replace without looking it up: fastest into a large store
    Blind,
    /// Stop the load
    Fail,
}

impl From<ExistingPolicy> for OnExisting {
    fn from(existing: ExistingPolicy) -> Self {
        match existing {
            ExistingPolicy::Keep => OnExisting::Keep,
            ExistingPolicy::Replace => OnExisting::Replace,
            ExistingPolicy::Blind => OnExisting::BlindReplace,
            ExistingPolicy::Fail => OnExisting::Fail,
        }
    }
}

/// How bytes stand in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BytesAs {
    /// As they are: UTF-8
    #[default]
    Text,
    /// In base64
    Base64,
}

/// `1000` or `2%`.
pub(crate) fn errors_max(text: &str) -> Result<ErrorsMax, String> {
    let wrong = || {
        format!(
            "'{text}' is neither a number of entries, such as 1000, nor a share of them, such as 2%"
        )
    };
    match text.strip_suffix('%') {
        Some(share) => {
            let percent = share.trim().parse().map_err(|_| wrong())?;
            if (0.0..=100.0).contains(&percent) {
                Ok(ErrorsMax::Percent(percent))
            } else {
                Err(wrong())
            }
        }
        None => text.parse().map(ErrorsMax::Count).map_err(|_| wrong()),
    }
}

/// `512M`, `2G`, `64KiB` or a plain number of bytes; all units are powers of 1,024.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let wrong = || {
        format!(
            "'{text}' is not a size: write a number of bytes, or one followed by K, M, G or T, such as 512M"
        )
    };
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let count: usize = text[..digits].parse().map_err(|_| wrong())?;
    let shift = match text[digits..]
        .trim()
        .to_ascii_lowercase()
        .trim_end_matches('b')
        .trim_end_matches('i')
    {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(wrong()),
    };
    count.checked_mul(1 << shift).ok_or_else(wrong)
}

/// The number of a backup.
pub(crate) fn backup_number(text: &str) -> Result<u64, String> {
    let wrong = |_| {
        format!("'{text}' is not a number of a backup: `tonnage backup BACKUPS --list` shows them")
    };
    text.parse().map_err(wrong)
}

/// `200ms`, `90s`, `15m`, `12h`, `30d`, `0.5` or a plain number of seconds, more than zero.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match duration_or_zero(text)? {
        Duration::ZERO => {
            Err(format!("'{text}' is not a duration: give more than zero, such as 30s"))
        }
        duration => Ok(duration),
    }
}

/// Like [`duration`]; zero is one too.
pub(crate) fn duration_or_zero(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "'{text}' is not a duration: write a number followed by ms, s, m, h or d, such as 30s"
        )
    };
    let unit = text.find(|character: char| character.is_ascii_alphabetic()).unwrap_or(text.len());
    let count: f64 = text[..unit].trim().parse().map_err(|_| wrong())?;
    let seconds = match &text[unit..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(count * seconds).map_err(|_| wrong())
}

/// A number that K, M or G (thousands, millions, thousands of millions) may follow: `10M`, `250k`,
/// `1_000_000`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a number: write one such as 1000000, 1_000_000 or 1M");
    let digits = text
        .find(|character: char| !character.is_ascii_digit() && character != '_')
        .unwrap_or(text.len());
    let count: u64 = text[..digits].replace('_', "").parse().map_err(|_| wrong())?;
    let unit = match text[digits..].to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" | "b" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    count.checked_mul(unit).ok_or_else(wrong)
}

/// A number of records, or `all`.
pub(crate) fn sample(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => match count(text) {
            Ok(records @ 1..) => usize::try_from(records).map_err(|error| error.to_string()),
            _ => Err(format!(
                "'{text}' is neither a number of records, such as 100000 or 1M, nor all"
            )),
        },
    }
}

/// A part of a whole: `50%`, or from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| {
        format!("'{text}' is not a percentage: give one from 0% to 100%, such as 50%")
    })
}

/// One ASCII character, or `tab` (also as `\t`).
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text.eq_ignore_ascii_case("tab") || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err(format!("'{text}' is not a delimiter: give one ASCII character, or tab")),
    }
}

/// `--quote`: the character around fields of CSV, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CsvQuote(pub(crate) Option<u8>);

pub(crate) fn quote(text: &str) -> Result<CsvQuote, String> {
    if text.is_empty() || text.eq_ignore_ascii_case("none") {
        return Ok(CsvQuote(None));
    }
    csv_character(text, "a quote", ", or none").map(|byte| CsvQuote(Some(byte)))
}

/// `--escape`.
pub(crate) fn escape(text: &str) -> Result<u8, String> {
    csv_character(text, "an escape", "")
}

fn csv_character(text: &str, what: &str, or: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | 0) => Ok(*byte),
        _ => Err(format!("'{text}' is not {what}: give one ASCII character{or}")),
    }
}

/// A count with thousands set apart: `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted: `1 file`, `1,234 files`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("2g"), Ok(2 << 30));
        assert_eq!(bytes("64KiB"), Ok(64 << 10));
        assert_eq!(bytes("4096"), Ok(4096));
        for wrong in ["", "G", "5x", "-1", "99999999999999999999", "9999999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_and_shares_of_errors() {
        assert_eq!(errors_max("0"), Ok(ErrorsMax::Count(0)));
        assert_eq!(errors_max("2.5%"), Ok(ErrorsMax::Percent(2.5)));
        for wrong in ["", "%", "101%", "-1", "x"] {
            assert!(errors_max(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn freshness_is_a_time_a_version_or_a_word() {
        assert_eq!(consistency("none"), Ok(Consistency::None));
        assert_eq!(consistency("absolute"), Ok(Consistency::Absolute));
        assert_eq!(consistency("30s"), Ok(Consistency::Time(Duration::from_secs(30))));
        assert_eq!(consistency("version:17"), Ok(Consistency::Version(17)));
        for wrong in ["", "latest", "version:", "version:0", "version:x", "0s"] {
            assert!(consistency(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_numbers_with_a_unit() {
        for read in [duration, duration_or_zero] {
            assert_eq!(read("30s"), Ok(Duration::from_secs(30)));
            assert_eq!(read("90"), Ok(Duration::from_secs(90)));
            assert_eq!(read("0.5"), Ok(Duration::from_millis(500)));
            assert_eq!(read("200ms"), Ok(Duration::from_millis(200)));
            assert_eq!(read("2m"), Ok(Duration::from_secs(120)));
            assert_eq!(read("30d"), Ok(Duration::from_secs(30 * 86_400)));
            for wrong in ["", "d", "-1", "3w", "1e99", "99999999999999999999d"] {
                assert!(read(wrong).is_err(), "{wrong}");
            }
        }
    }

    #[test]
    fn only_some_durations_may_be_zero() {
        assert!(duration("0s").is_err());
        assert_eq!(duration_or_zero("0s"), Ok(Duration::ZERO));
    }

    #[test]
    fn shares_are_percentages_or_fractions() {
        assert_eq!(share("50%"), Ok(0.5));
        assert_eq!(share("0.5"), Ok(0.5));
        for wrong in ["", "%", "101%", "-1%", "2", "x"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("1000"), Ok(1_000));
        assert_eq!(count("1_000"), Ok(1_000));
        assert_eq!(count("10M"), Ok(10_000_000));
        assert_eq!(count("1g"), Ok(1_000_000_000));
        for wrong in ["", "M", "-1", "1.5M", "1x", "99999999999G"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            ["0", "999", "1,000", "12,345,678"],
            [0, 999, 1_000, 12_345_678].map(grouped).each_ref().map(String::as_str)
        );
    }
}
