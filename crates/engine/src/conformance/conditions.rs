//! Conditions on writes.

use super::Harness;
use super::fixture::{Fixture, forward, group_range, key};
use crate::{Condition, WriteBatch, WriteOutcome};

/// `IfAbsent` stores a new row, and is refused with the version of the row that is there.
pub fn if_absent_stores_only_a_new_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let version = fixture.put_if(&key, b"first", Condition::IfAbsent).version().unwrap();
    let refused = WriteOutcome::Refused { operation: 0, current: Some(version) };
    assert_eq!(fixture.put_if(&key, b"second", Condition::IfAbsent), refused);
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"first"[..]));
}

/// `IfPresent` stores over a row, and is refused where there is none.
pub fn if_present_stores_only_over_a_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    assert_eq!(
        fixture.put_if(&key, b"first", Condition::IfPresent),
        WriteOutcome::Refused { operation: 0, current: None }
    );
    assert_eq!(fixture.value(&key), None);
    fixture.put(&key, b"first");
    assert!(fixture.put_if(&key, b"second", Condition::IfPresent).version().is_some());
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"second"[..]));
}

/// `IfVersion` stores over exactly that version, once.
pub fn if_version_stores_only_over_that_version(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let first = fixture.put(&key, b"first");
    let second = fixture.put_if(&key, b"second", Condition::IfVersion(first)).version().unwrap();
    let refused = WriteOutcome::Refused { operation: 0, current: Some(second) };
    assert_eq!(fixture.put_if(&key, b"third", Condition::IfVersion(first)), refused);
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"second"[..]));
}

/// `IfVersion` is refused for a row that is gone.
pub fn if_version_is_refused_for_a_missing_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let version = fixture.put(&key, b"");
    fixture.delete(&key);
    let refused = WriteOutcome::Refused { operation: 0, current: None };
    assert_eq!(fixture.put_if(&key, b"", Condition::IfVersion(version)), refused);
}

/// Deletes have conditions as puts have.
pub fn deletes_have_conditions_too(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let delete = |condition| {
        let mut batch = WriteBatch::new(fixture.space);
        batch.delete(&key, condition);
        fixture.write(&batch)
    };
    assert_eq!(delete(Condition::IfPresent), WriteOutcome::Refused { operation: 0, current: None });
    let version = fixture.put(&key, b"");
    assert_eq!(
        delete(Condition::IfVersion(version + 1)),
        WriteOutcome::Refused { operation: 0, current: Some(version) }
    );
    assert_eq!(
        delete(Condition::IfAbsent),
        WriteOutcome::Refused { operation: 0, current: Some(version) }
    );
    assert!(delete(Condition::IfVersion(version)).version().is_some());
    assert_eq!(fixture.value(&key), None);
}

/// A refused batch changes nothing, not even what comes before the operation that was refused.
pub fn a_refused_batch_leaves_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    let before = fixture.scan(group_range("a"), forward());
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "00"), b"changed", 0, Condition::IfPresent);
    batch.put(&key("a", "new"), b"", 0, Condition::IfAbsent);
    batch.delete(&key("a", "01"), Condition::Always);
    batch.put(&key("a", "02"), b"", 0, Condition::IfPresent);
    batch.put(&key("a", "03"), b"", 0, Condition::IfPresent);
    assert_eq!(fixture.write(&batch), WriteOutcome::Refused { operation: 3, current: None });
    assert_eq!(fixture.scan(group_range("a"), forward()), before);
}

/// Conditions are judged against what was stored before the batch, not against its earlier
/// operations.
pub fn conditions_are_judged_before_the_batch(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key, b"first", 0, Condition::IfAbsent);
    batch.put(&key, b"second", 0, Condition::IfAbsent);
    assert!(fixture.write(&batch).version().is_some());
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"second"[..]));
}
