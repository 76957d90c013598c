//! When rows expire: at whole hours or days, as the unit of their time to live says.

use tonnage::{Clock, TableSchema};

use super::failure::{Failure, Outcome};
use super::field;
use crate::nson::NsonFields;

const HOUR_MS: u64 = 3_600_000;
pub(super) const DAY_MS: u64 = 24 * HOUR_MS;

/// What a put says of how long its row lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowLife {
    /// Nothing: a row that is replaced lives on as the other would have.
    Kept,
    /// Until then, in milliseconds since 1970; 0 is for ever.
    Until(u64),
}

impl RowLife {
    pub(super) fn read(
        payload: NsonFields<'_>,
        schema: &TableSchema,
        clock: &dyn Clock,
    ) -> Outcome<RowLife> {
        if let Some(text) = payload.get(field::TTL).and_then(|given| given.text()) {
            return ttl_expiry_ms(text, clock.now_ms()).map(RowLife::Until);
        }
        let updates = payload.get(field::UPDATES_TTL).and_then(|given| given.truth());
        Ok(match updates {
            Some(true) => RowLife::Until(default_expiry_ms(schema, clock)),
            _ => RowLife::Kept,
        })
    }
}

/// When a new row expires that says nothing of it; 0 is never.
pub(crate) fn default_expiry_ms(schema: &TableSchema, clock: &dyn Clock) -> u64 {
    schema.ttl_ms.map_or(0, |ttl_ms| expiry_ms(clock.now_ms(), ttl_ms, unit_ms(ttl_ms)))
}

/// The unit of a time to live: days where it is whole days.
pub(super) fn unit_ms(ttl_ms: u64) -> u64 {
    if ttl_ms.is_multiple_of(DAY_MS) { DAY_MS } else { HOUR_MS }
}

/// `3 DAYS`, `5 HOURS`.
pub(super) fn ttl_text(ttl_ms: u64) -> String {
    match unit_ms(ttl_ms) {
        DAY_MS => format!("{} DAYS", ttl_ms / DAY_MS),
        _ => format!("{} HOURS", ttl_ms.div_ceil(HOUR_MS)),
    }
}

/// When a row expires whose put says how long it lives; 0 is never.
///
/// # Errors
/// Why the text says none.
pub(crate) fn ttl_expiry_ms(text: &str, now_ms: u64) -> Outcome<u64> {
    let bad = || Failure::argument(format!("Bad TTL format: {text}"));
    let (number, unit) = text.trim().split_once(' ').ok_or_else(bad)?;
    let number: i64 = number.parse().map_err(|_| bad())?;
    let number = u64::try_from(number)
        .map_err(|_| Failure::argument("TimeToLive does not support negative time periods"))?;
    let unit_ms = match unit.trim().to_ascii_uppercase().as_str() {
        "HOURS" | "HOUR" => HOUR_MS,
        "DAYS" | "DAY" => DAY_MS,
        other => {
            return Err(Failure::argument(format!(
                "Invalid TimeUnit ({other}) in TimeToLive construction.Must be DAYS or HOURS."
            )));
        }
    };
    match number {
        0 => Ok(0),
        number => Ok(expiry_ms(now_ms, number.saturating_mul(unit_ms), unit_ms)),
    }
}

/// The next whole unit after that time.
fn expiry_ms(now_ms: u64, ttl_ms: u64, unit_ms: u64) -> u64 {
    now_ms.saturating_add(ttl_ms).checked_next_multiple_of(unit_ms).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-28T15:57:49.020Z.
    const NOW_MS: u64 = 1_795_881_469_020;

    #[test]
    fn expiries_round_up_to_a_whole_unit() {
        let expiry = |text| ttl_expiry_ms(text, NOW_MS).unwrap();
        assert_eq!(expiry("1 HOURS"), 1_795_885_200_000);
        assert_eq!(expiry("5 HOURS") % HOUR_MS, 0);
        assert_eq!(expiry("1 DAYS") % DAY_MS, 0);
        assert_eq!((expiry("1 DAYS") - NOW_MS) / HOUR_MS, 32);
        assert_eq!((expiry("48 HOURS") - NOW_MS) / HOUR_MS, 48);
        assert_eq!(expiry("0 DAYS"), 0);
        assert_eq!(ttl_expiry_ms("9223372036854775807 DAYS", NOW_MS), Ok(u64::MAX));
    }

    #[test]
    fn what_is_no_time_to_live_is_refused_in_the_words_of_the_protocol() {
        for (text, part) in [
            ("-1 DAYS", "negative"),
            ("5 MINUTES", "Invalid TimeUnit (MINUTES)"),
            ("5", "Bad TTL format: 5"),
            ("many DAYS", "Bad TTL format"),
        ] {
            let message = ttl_expiry_ms(text, NOW_MS).unwrap_err().message;
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
