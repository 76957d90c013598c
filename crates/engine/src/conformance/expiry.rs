//! Rows past their expiry do not exist.

use super::Harness;
use super::fixture::{Fixture, START_MS, entries, forward, group_range, key, reverse};
use crate::header::NEVER_MS;
use crate::{Clock, Condition, Entries, OnExisting, WriteOutcome};

const EXPIRES_MS: u64 = START_MS + 100;

/// A row lives until just before its expiry, and is then gone from reads and scans.
pub fn a_row_is_gone_once_its_time_has_come(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.put(&key("a", "1"), b"");
    fixture.put_until(&key("a", "2"), b"", EXPIRES_MS);
    fixture.put(&key("a", "3"), b"");
    fixture.clock.set_ms(EXPIRES_MS - 1);
    assert_eq!(fixture.all_names(), ["a/1", "a/2", "a/3"]);
    fixture.clock.set_ms(EXPIRES_MS);
    assert_eq!(fixture.value(&key("a", "2")), None);
    assert_eq!(fixture.all_names(), ["a/1", "a/3"]);
    assert_eq!(fixture.names(group_range("a"), forward()), ["a/1", "a/3"]);
    assert_eq!(fixture.names(group_range("a"), reverse()), ["a/3", "a/1"]);
}

/// Reads and scans tell when a row expires.
pub fn the_expiry_is_told(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.put_until(&key("a", "1"), b"", EXPIRES_MS);
    fixture.put(&key("a", "2"), b"");
    assert_eq!(fixture.read(&[&key("a", "1"), &key("a", "2")]).expiries_ms, [EXPIRES_MS, NEVER_MS]);
    assert_eq!(fixture.scan(group_range("a"), forward()).expiries_ms, [EXPIRES_MS, NEVER_MS]);
}

/// To a condition, an expired row is absent.
pub fn conditions_take_an_expired_row_for_absent(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let version = fixture.put_until(&key, b"old", EXPIRES_MS);
    fixture.clock.set_ms(EXPIRES_MS);
    let refused = WriteOutcome::Refused { operation: 0, current: None };
    assert_eq!(fixture.put_if(&key, b"new", Condition::IfPresent), refused);
    assert_eq!(fixture.put_if(&key, b"new", Condition::IfVersion(version)), refused);
    assert!(fixture.put_if(&key, b"new", Condition::IfAbsent).version().unwrap() > version);
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"new"[..]));
}

/// A later write sets the expiry anew, or takes it away.
pub fn a_later_write_sets_the_expiry_anew(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.put_until(&key("a", "forever"), b"", EXPIRES_MS);
    fixture.put(&key("a", "forever"), b"");
    fixture.put(&key("a", "mortal"), b"");
    fixture.put_until(&key("a", "mortal"), b"", EXPIRES_MS);
    fixture.clock.set_ms(EXPIRES_MS);
    assert_eq!(fixture.all_names(), ["a/forever"]);
}

/// Loaded rows expire as others do, side by side with rows that live for ever.
pub fn loaded_rows_expire(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let mut entries = Entries::new();
    entries.push(&key("a", "1"), b"forever", 0, NEVER_MS);
    entries.push(&key("a", "2"), b"mortal", 1, EXPIRES_MS);
    entries.push(&key("a", "3"), b"forever", 2, NEVER_MS);
    fixture.load(OnExisting::Keep, &entries).unwrap();
    assert_eq!(
        fixture.scan(group_range("a"), forward()).expiries_ms,
        [NEVER_MS, EXPIRES_MS, NEVER_MS]
    );
    fixture.clock.set_ms(EXPIRES_MS);
    assert_eq!(fixture.all_names(), ["a/1", "a/3"]);
}

/// To a load, an expired row is absent: its key is inserted, whatever becomes of existing ones.
pub fn a_load_takes_an_expired_row_for_absent(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in
        [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace, OnExisting::Fail]
    {
        let key = key(&format!("{on_existing:?}"), "1");
        let now_ms = fixture.clock.now_ms();
        let version = fixture.put_until(&key, b"old", now_ms + 100);
        fixture.clock.set_ms(now_ms + 100);
        let recorder = fixture.load(on_existing, &entries(&[(&key, b"new")])).unwrap();
        assert_eq!(recorder.counts(), (1, 0, 0), "{on_existing:?}");
        assert_eq!(fixture.value(&key).as_deref(), Some(&b"new"[..]));
        assert!(fixture.version(&key).unwrap() > version);
    }
}

/// Cleaning up and opening anew bring no expired row back, and take no other.
pub fn expired_rows_stay_gone(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    fixture.put_until(&key("a", "01"), b"", EXPIRES_MS);
    fixture.clock.set_ms(EXPIRES_MS);
    fixture.settle();
    assert_eq!(fixture.all_names(), ["a/00", "a/02"]);
    fixture.reopen();
    assert_eq!(fixture.all_names(), ["a/00", "a/02"]);
}
