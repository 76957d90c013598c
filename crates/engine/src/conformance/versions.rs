//! Versions grow with each write of a row, however it is written.

use std::sync::Arc;

use super::fixture::{Fixture, entries, key, load_options};
use super::{Harness, LoadRecorder};
use crate::{Durability, OnExisting, Ranges, ScanOptions};

/// Each put of a row has a greater version than the one before, and reads and scans tell it.
pub fn each_put_has_a_greater_version(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let mut last = 0;
    for round in 0..10u8 {
        let version = fixture.put(&key, &[round]);
        assert!(version > last, "{version} after {last}");
        assert_eq!(fixture.version(&key), Some(version));
        assert_eq!(fixture.scan(Ranges::whole_space(), ScanOptions::default()).versions, [version]);
        last = version;
    }
}

/// A row that was deleted, by key or by range, comes back with a greater version.
pub fn versions_grow_across_deletes(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let first = fixture.put(&key, b"");
    let deleted = fixture.delete(&key);
    let second = fixture.put(&key, b"");
    fixture
        .engine()
        .delete_range(fixture.space, &Ranges::whole_space(), Durability::Write)
        .unwrap();
    let third = fixture.put(&key, b"");
    assert!(
        first < deleted && deleted < second && second < third,
        "{first} {deleted} {second} {third}"
    );
}

/// A load over a row gives it a greater version, and a put after the load a still greater one.
pub fn versions_grow_across_loads(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let put = fixture.put(&key, b"put");
    fixture.load(OnExisting::Replace, &entries(&[(&key, b"load")])).unwrap();
    let loaded = fixture.version(&key).unwrap();
    let put_again = fixture.put(&key, b"put again");
    assert!(put < loaded && loaded < put_again, "{put} {loaded} {put_again}");
}

/// A row that a load writes again after a flush has a greater version.
pub fn versions_grow_across_flushes_of_one_load(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let session = fixture
        .engine()
        .load(load_options(OnExisting::Replace, &Arc::new(LoadRecorder::default())))
        .unwrap();
    session.push(fixture.space, 0, &entries(&[(&key, b"first")])).unwrap();
    session.flush().unwrap();
    let first = fixture.version(&key).unwrap();
    session.push(fixture.space, 0, &entries(&[(&key, b"second")])).unwrap();
    session.finish().unwrap();
    let second = fixture.version(&key).unwrap();
    assert!(first < second, "{first} {second}");
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"second"[..]));
}

/// Versions continue growing when the store is opened anew.
pub fn versions_grow_across_reopen(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let keys = [key("a", "1"), key("b", "1"), key("c", "1")];
    for _ in 0..3 {
        let before = keys.each_ref().map(|key| fixture.put(key, b""));
        fixture.load(OnExisting::Replace, &entries(&[(&keys[0], b"load")])).unwrap();
        let loaded = fixture.version(&keys[0]).unwrap();
        fixture.reopen();
        let after = keys.each_ref().map(|key| fixture.put(key, b""));
        assert!(
            before.iter().zip(&after).all(|(before, after)| before < after),
            "{before:?} {after:?}"
        );
        assert!(loaded < after[0]);
    }
}
