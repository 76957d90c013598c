//! A compaction filter that drops rows past their expiry.

use std::sync::Arc;

use rocksdb::{CompactionDecision, Options};
use tonnage_engine::{Clock, Header, NEVER_MS};

/// Lets compaction drop expired rows. Where RocksDB drops a row it leaves a tombstone while older
/// versions may lie below, so none of them comes back.
pub(crate) fn drop_expired(options: &mut Options, clock: Arc<dyn Clock>) {
    options.set_compaction_filter("tonnage.expired", move |_level, _key, value| {
        if is_expired(value, clock.as_ref()) {
            CompactionDecision::Remove
        } else {
            CompactionDecision::Keep
        }
    });
}

/// A value that cannot be read is not expired: it is damaged, and stays so that readers see it. The
/// clock is asked only for rows that expire at all.
fn is_expired(value: &[u8], clock: &dyn Clock) -> bool {
    match Header::split(value) {
        Ok((header, _)) => header.expires_at_ms != NEVER_MS && !header.is_live(clock.now_ms()),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonnage_engine::ManualClock;

    #[test]
    fn only_rows_past_their_expiry_are_dropped() {
        let clock = ManualClock::new(100);
        let value = |expires_at_ms| {
            let mut value = Vec::new();
            Header { version: 1, expires_at_ms }.append_to(&mut value);
            value
        };
        assert!(is_expired(&value(100), &clock) && is_expired(&value(1), &clock));
        assert!(!is_expired(&value(101), &clock) && !is_expired(&value(NEVER_MS), &clock));
        assert!(
            !is_expired(b"", &clock) && !is_expired(&[0x81, 1, 2], &clock),
            "what cannot be read stays"
        );
    }
}
