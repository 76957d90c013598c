//! Atomic writes.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Harness;
use super::fixture::{Fixture, group_range, key, kind, scan_at_once, shape};
use crate::{
    Condition, Durability, Engine, Error, ErrorKind, NEVER_MS, Projection, Rows, ScanOptions,
    Slices, SpaceId, WriteBatch, WriteOutcome,
};

/// A second put of a key replaces the first.
pub fn a_put_replaces_the_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.put(&key("a", "1"), b"first, and longer");
    fixture.put(&key("a", "1"), b"second");
    assert_eq!(fixture.value(&key("a", "1")).as_deref(), Some(&b"second"[..]));
    assert_eq!(fixture.all_names(), ["a/1"]);
}

/// A deleted row is gone from reads and scans; its neighbours stay.
pub fn a_delete_removes_the_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    fixture.delete(&key("a", "01"));
    assert_eq!(fixture.value(&key("a", "01")), None);
    assert_eq!(fixture.all_names(), ["a/00", "a/02"]);
}

/// Deleting what is not there succeeds.
pub fn deleting_a_missing_row_succeeds(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.delete(&key("a", "1"));
    assert!(fixture.all_names().is_empty());
}

/// All operations of a batch are carried out, and all rows put get the version that is answered.
pub fn a_batch_is_carried_out_as_a_whole(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    let mut batch = WriteBatch::new(fixture.space);
    batch.delete(&key("a", "00"), Condition::Always);
    batch.put(&key("a", "01"), b"new", 0, Condition::Always);
    batch.put(&key("a", "02"), b"", u64::MAX, Condition::Always);
    let version = fixture.write(&batch).version().unwrap();
    let rows = fixture.read(&[&key("a", "00"), &key("a", "01"), &key("a", "02")]);
    assert_eq!(rows.origins, [1, 2]);
    assert_eq!(rows.versions, [version, version]);
    assert_eq!(rows.values.iter().collect::<Vec<_>>(), [&b"new"[..], b""]);
    assert_eq!(rows.expiries_ms, [0, u64::MAX]);
}

/// Of two operations on one key the later one decides.
pub fn the_later_operation_on_a_key_decides(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "1"), b"first", 0, Condition::Always);
    batch.put(&key("a", "1"), b"second", 0, Condition::Always);
    batch.put(&key("a", "2"), b"put", 0, Condition::Always);
    batch.delete(&key("a", "2"), Condition::Always);
    batch.delete(&key("a", "3"), Condition::Always);
    batch.put(&key("a", "3"), b"back", 0, Condition::Always);
    fixture.write(&batch);
    assert_eq!(fixture.all_names(), ["a/1", "a/3"]);
    assert_eq!(fixture.value(&key("a", "1")).as_deref(), Some(&b"second"[..]));
}

/// A batch over more than one shard key is refused before anything is changed.
pub fn a_batch_over_several_shard_keys_is_invalid(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "1"), b"", 0, Condition::Always);
    batch.delete(&key("b", "1"), Condition::Always);
    assert_eq!(kind(fixture.engine().write(&batch, Durability::Write)), ErrorKind::Invalid);
    assert!(fixture.all_names().is_empty());
}

/// The largest batch is applied; one operation more is invalid, and nothing of it is stored.
pub fn a_batch_holds_as_many_operations_as_the_capability_says(harness: &mut dyn Harness) {
    const MANY: usize = 2_000;
    let fixture = Fixture::new(harness);
    let most = fixture.engine().capability().batch_operations_max;
    let mut batch = WriteBatch::new(fixture.space);
    for row in 0..most.min(MANY) {
        batch.put(&key("a", &format!("{row:05}")), b"", 0, Condition::IfAbsent);
    }
    assert!(fixture.write(&batch).version().is_some());
    assert_eq!(fixture.all_names().len(), batch.len());
    if batch.len() == most {
        batch.put(&key("a", "one more"), b"", 0, Condition::Always);
        assert_eq!(kind(fixture.engine().write(&batch, Durability::Write)), ErrorKind::Invalid);
        assert_eq!(fixture.value(&key("a", "one more")), None);
    }
}

/// A batch over more spaces than the capability says is unsupported, and nothing of it is stored.
pub fn a_batch_over_too_many_spaces_is_unsupported(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let second = fixture.engine().create_space("second", &shape()).unwrap();
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "1"), b"row", 0, Condition::Always);
    batch.switch_to(second);
    batch.put(&key("a", "1"), b"twin", 0, Condition::Always);
    let written = fixture.engine().write(&batch, Durability::Write);
    let rows = match fixture.engine().capability().spaces_per_batch {
        0 | 1 => {
            assert_eq!(kind(written), ErrorKind::Unsupported);
            0
        }
        _ => {
            assert!(written.unwrap().version().is_some());
            1
        }
    };
    for space in [fixture.space, second] {
        fixture.space = space;
        assert_eq!(fixture.all_names().len(), rows);
    }
}

/// A batch of nothing is applied.
pub fn an_empty_batch_is_applied(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    assert!(matches!(fixture.write(&WriteBatch::new(fixture.space)), WriteOutcome::Applied { .. }));
}

/// Every durability can be asked for; `sync` then keeps them all.
pub fn every_durability_can_be_asked_for(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    for (minor, durability) in
        [("1", Durability::None), ("2", Durability::Write), ("3", Durability::Fsync)]
    {
        let mut batch = WriteBatch::new(fixture.space);
        batch.put(&key("a", minor), b"", 0, Condition::Always);
        fixture.engine().write(&batch, durability).unwrap();
    }
    fixture.engine().sync().unwrap();
    fixture.reopen();
    assert_eq!(fixture.all_names(), ["a/1", "a/2", "a/3"]);
}

/// Threads that count up one row, each with the version it read, lose no step.
pub fn concurrent_counters_lose_nothing(harness: &mut dyn Harness) {
    const THREADS: u64 = 4;
    const STEPS: u64 = 50;
    let fixture = Fixture::new(harness);
    let (engine, space, key) = (fixture.engine(), fixture.space, key("counter", ""));
    fixture.put(&key, &0u64.to_le_bytes());
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| (0..STEPS).for_each(|_| while !count_up(engine, space, &key) {}));
        }
    });
    assert_eq!(fixture.value(&key), Some((THREADS * STEPS).to_le_bytes().to_vec()));
}

/// Adds one if the row was not written since it was read.
fn count_up(engine: &dyn Engine, space: SpaceId, key: &[u8]) -> bool {
    let keys = [key].into_iter().collect();
    let mut rows = Rows::new();
    engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
    let count = u64::from_le_bytes(rows.values.get(0).try_into().unwrap());
    let mut batch = WriteBatch::new(space);
    batch.put(key, &(count + 1).to_le_bytes(), 0, Condition::IfVersion(rows.versions[0]));
    matches!(engine.write(&batch, Durability::Write).unwrap(), WriteOutcome::Applied { .. })
}

/// Readers beside writers see all of a batch or nothing of it.
pub fn readers_see_a_batch_as_a_whole(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let keys = [key("a", "1"), key("a", "2")];
    let (engine, space) = (fixture.engine(), fixture.space);
    let write = |round: u64| {
        let mut batch = WriteBatch::new(space);
        keys.iter().for_each(|key| batch.put(key, &round.to_le_bytes(), 0, Condition::Always));
        engine.write(&batch, Durability::Write).unwrap();
    };
    write(0);
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| (1..300).for_each(write));
        while !writer.is_finished() {
            let rows =
                scan_at_once(engine, space, group_range("a"), ScanOptions::default()).unwrap();
            assert_eq!(rows.values.get(0), rows.values.get(1));
        }
    });
}

/// So do look-ups of many keys. An engine that took them in portions saw the rows of one batch in
/// two of them, half of it.
pub fn a_large_read_sees_a_batch_as_a_whole(harness: &mut dyn Harness) {
    const READS: usize = 60;
    let fixture = Fixture::new(harness);
    let (engine, space, pair) =
        (fixture.engine(), fixture.space, [key("a", "first"), key("a", "last")]);
    let write = |round: u64| {
        let mut batch = WriteBatch::new(space);
        pair.iter().for_each(|key| batch.put(key, &round.to_le_bytes(), 0, Condition::Always));
        engine.write(&batch, Durability::Write).unwrap();
    };
    write(0);
    // Out of order, so that no engine walks from one to the next.
    let others: Vec<Vec<u8>> = (0..3_000).rev().map(|row| key("b", &format!("{row:04}"))).collect();
    // In portions, for an engine may take few operations in one batch.
    for portion in others.chunks(100) {
        let mut batch = WriteBatch::new(space);
        portion.iter().for_each(|key| batch.put(key, key, NEVER_MS, Condition::Always));
        fixture.write(&batch);
    }
    let keys: Slices =
        [&pair[0]].into_iter().chain(&others).chain([&pair[1]]).map(|key| &key[..]).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| (1..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(write));
        let mut rows = Rows::new();
        let halves = (0..READS).try_fold(0, |halves, _| {
            engine.read(space, &keys, Projection::KeysAndValues, &mut rows)?;
            Ok::<_, Error>(
                halves + usize::from(rows.values.get(0) != rows.values.get(rows.len() - 1)),
            )
        });
        // Before the assertions: a writer without a signal to end never does, and the scope waits
        // for it.
        done.store(true, Ordering::Relaxed);
        assert_eq!(halves.unwrap(), 0, "so many of {READS} reads saw half a batch");
        assert_eq!(rows.len(), keys.len(), "each key has a row");
    });
}
