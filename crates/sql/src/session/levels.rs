//! The names of write and read levels, for SET and SHOW.

use std::time::Duration;

use tonnage::{Acks, Consistency, Error, Result, Store};

/// How many copies a write waits for, by name.
const ACKS: [(&str, Acks); 3] =
    [("none", Acks::None), ("majority", Acks::Majority), ("all", Acks::All)];

/// Reads how many copies a write waits for.
///
/// # Errors
/// `Invalid` for anything else; `Unsupported` for what the store cannot keep to.
pub(crate) fn acks(value: &str, store: &Store) -> Result<Acks> {
    let found = ACKS.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
    let (_, acks) = found.ok_or_else(|| {
        Error::invalid(format!("acks is none, majority or all: copies of a row, not '{value}'"))
    })?;
    let capability = store.capability();
    match acks {
        Acks::None if !capability.shared => Err(Error::unsupported(
            "acks = none: this store keeps one copy of each row, and a write has it when it is acknowledged. SET durability says whether it is on disk by then; acks goes with a store on a cluster",
        )),
        Acks::All if !capability.acks_all => Err(Error::unsupported(
            "acks = all: the engine of this store waits for a majority of the copies at most",
        )),
        _ => Ok(*acks),
    }
}

/// How SHOW names it.
pub(crate) fn name_of_acks(acks: Acks) -> &'static str {
    ACKS.iter().find(|(_, one)| *one == acks).map_or("", |(name, _)| name)
}

/// Reads how fresh rows must be, with times as `time` reads them.
///
/// # Errors
/// `Invalid` for anything else; `Unsupported` for what is not a choice in the store.
pub(crate) fn consistency(
    value: &str,
    store: &Store,
    time: impl Fn(&str) -> Option<Duration>,
) -> Result<Consistency> {
    let wrong = || {
        Error::invalid(format!(
            "consistency is none, a time with its unit such as '30s', 'version:N' or absolute, not '{value}'"
        ))
    };
    let lower = value.trim().to_ascii_lowercase();
    let has_unit = lower.ends_with(|character: char| character.is_ascii_alphabetic());
    let consistency = match lower.split_once(':') {
        Some(("version", number)) => match number.trim().parse() {
            Ok(version @ 1_u64..) => Consistency::Version(version),
            _ => return Err(wrong()),
        },
        _ if lower == "none" => Consistency::None,
        _ if lower == "absolute" => Consistency::Absolute,
        // Elsewhere a bare number is milliseconds, and `--consistency` takes it for seconds.
        _ => match time(&lower).filter(|time| has_unit && !time.is_zero()) {
            Some(lag) => Consistency::Time(lag),
            None => return Err(wrong()),
        },
    };
    // With one copy of each row, absolute and a version always hold: any store takes them.
    match consistency {
        Consistency::None | Consistency::Time(_) if !store.capability().shared => {
            Err(Error::unsupported(format!(
                "consistency = {}: this store keeps one copy of each row, so every query sees the latest; older rows are read on a cluster",
                name_of_consistency(consistency)
            )))
        }
        consistency => Ok(consistency),
    }
}

/// How SHOW names it.
pub(crate) fn name_of_consistency(consistency: Consistency) -> String {
    match consistency {
        Consistency::None => "none".to_owned(),
        Consistency::Time(lag) => format!("{lag:?}"),
        Consistency::Version(version) => format!("version:{version}"),
        Consistency::Absolute => "absolute".to_owned(),
    }
}
