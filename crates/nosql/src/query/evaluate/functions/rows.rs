//! What is known of a row beside its columns.

use std::sync::Arc;

use super::arguments::Arguments;
use crate::query::item::{Instant, Item, Sequence};
use crate::wire::{Outcome, version_bytes};

const HOUR_MS: u64 = 3_600_000;

pub(super) fn of_row(of: &Arguments<'_>) -> Outcome<Sequence> {
    let facts = &of.scope.facts;
    let (now, expiry) = (of.evaluator.now_ms, facts.expires_at_ms);
    // A row that lives for ever has no hours left to tell.
    let remaining = |unit: u64| match expiry {
        0 => Item::Integer(-1),
        expiry => whole(expiry.saturating_sub(now) / unit),
    };
    let time = |ms: u64, precision| {
        Item::Timestamp(Instant { nanoseconds: i128::from(ms) * 1_000_000, precision })
    };
    Ok(match of.name {
        "version" => Item::Binary(Arc::from(&version_bytes(facts.version)[..])),
        "expiration_time" => time(expiry, 0),
        "expiration_time_millis" => Item::Long(i64::try_from(expiry).unwrap_or(i64::MAX)),
        "remaining_hours" => remaining(HOUR_MS),
        "remaining_days" => remaining(24 * HOUR_MS),
        "modification_time" => time(facts.modified_ms, 3),
        "creation_time" => time(0, 3),
        "creation_time_millis" => Item::Long(0),
        "row_storage_size" => whole(facts.bytes as u64),
        // All rows lie in one place.
        _ => Item::Integer(1),
    }
    .into())
}

fn whole(number: u64) -> Item {
    Item::Integer(i32::try_from(number).unwrap_or(i32::MAX))
}
