//! Versions over reopens, expired rows after compaction, copies, drops that a crash cut short.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tonnage_engine::{
    Condition, Durability, Engine, KeyPart, KeyShape, Maintenance, ManualClock, Projection, Rows,
    SpaceId, WriteBatch,
};
use tonnage_rocksdb::RocksEngine;
use tonnage_testkit::{copy_tree, wait_until};

use crate::common::{open, row_count, settings};

fn shape() -> KeyShape {
    KeyShape::new([KeyPart::Fixed(4)])
}

fn put(engine: &RocksEngine, space: SpaceId, key: u32, expires_at_ms: u64) -> u64 {
    let mut batch = WriteBatch::new(space);
    batch.put(&key.to_be_bytes(), &[7; 100], expires_at_ms, Condition::Always);
    engine.write(&batch, Durability::Write).unwrap().version().unwrap()
}

#[test]
fn versions_grow_over_reopens() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let (mut space, mut last) = (None, 0);
    for round in 0..5 {
        let engine = open(&root).unwrap();
        let space = *space.get_or_insert_with(|| engine.create_space("rows", &shape()).unwrap());
        for key in 0..10 {
            let version = put(&engine, space, key, 0);
            assert!(version > last, "round {round}: {version} after {last}");
            last = version;
        }
    }
}

/// The store's files are copied while it is open, as a crash would leave them.
#[test]
fn versions_grow_over_a_crash() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let engine = open(&root).unwrap();
    let space = engine.create_space("rows", &shape()).unwrap();
    let last = (0..100).map(|key| put(&engine, space, key, 0)).max().unwrap();
    let crashed = place.path().join("crashed");
    copy_tree(&root, &crashed);
    let engine = open(&crashed).unwrap();
    assert!(put(&engine, space, 0, 0) > last);
}

#[test]
fn expired_rows_leave_the_disk_with_compaction() {
    let place = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_000));
    let settings = tonnage_rocksdb::Settings { memtable_bytes: 256 << 10, ..settings() };
    let engine =
        RocksEngine::open_with_clock(place.path().join("store"), settings, Arc::clone(&clock) as _)
            .unwrap();
    let space = engine.create_space("rows", &shape()).unwrap();
    for key in 0..20_100 {
        put(&engine, space, key, if key < 20_000 { 2_000 } else { 0 });
    }
    assert_eq!(row_count(&engine, space), 20_100);
    clock.set_ms(2_000);
    assert_eq!(row_count(&engine, space), 100);
    // New rows over the same keys make compaction read the old ones.
    for round in 0..6 {
        for key in (round..20_000).step_by(6) {
            put(&engine, space, key, 2_001);
        }
        clock.set_ms(2_001 + u64::from(round));
    }
    engine.settle().unwrap();
    let left = engine.statistics().unwrap().rows_estimate();
    assert!(left < 20_000, "about {left} rows are left of 40,100 that were written");
    assert_eq!(row_count(&engine, space), 100);
}

#[test]
fn statistics_tell_whether_writes_are_held_up() {
    let place = tempfile::tempdir().unwrap();
    let engine = open(&place.path().join("store")).unwrap();
    let space = engine.create_space("rows", &shape()).unwrap();
    put(&engine, space, 1, 0);
    let shards = engine.statistics().unwrap().shards;
    for name in ["is_write_stopped", "actual_delayed_write_rate"] {
        assert!(
            shards[0].details.contains(&(name.to_owned(), 0)),
            "{name}: {:?}",
            shards[0].details
        );
    }
}

#[test]
fn a_dropped_space_gives_its_disk_back() {
    let place = tempfile::tempdir().unwrap();
    let settings = tonnage_rocksdb::Settings { memtable_bytes: 256 << 10, ..settings() };
    let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
    let [dropped, kept] =
        ["dropped", "kept"].map(|name| engine.create_space(name, &shape()).unwrap());
    for key in 0..20_000 {
        put(&engine, dropped, key, 0);
    }
    put(&engine, kept, 7, 0);
    engine.settle().unwrap();
    let before = engine.statistics().unwrap().disk_bytes();
    engine.drop_space(dropped).unwrap();
    wait_until("at most a tenth of its bytes is left", || {
        engine.statistics().unwrap().disk_bytes() <= before / 10
    });
    assert_eq!(row_count(&engine, kept), 1);
}

/// Shards were copied one after another, while writers went on: a copy had rows without those that
/// were written before them, in other directories.
#[test]
fn a_checkpoint_over_three_directories_is_of_one_moment() {
    let place = tempfile::tempdir().unwrap();
    let data_directories = (0..3).map(|disk| place.path().join(format!("disk-{disk}"))).collect();
    let settings = tonnage_rocksdb::Settings { data_directories, ..settings() };
    let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
    let space = engine.create_space("rows", &shape()).unwrap();
    // A row of each shard, in their order.
    let keys = [0, 1, 2].map(|shard| {
        (0..1_000_u32).find(|key| engine.shard_of(&key.to_be_bytes()).0 == shard).unwrap()
    });
    let count = |count: u64| {
        for key in keys {
            let mut batch = WriteBatch::new(space);
            batch.put(&key.to_be_bytes(), &count.to_le_bytes(), 0, Condition::Always);
            engine.write(&batch, Durability::Write).unwrap();
        }
    };
    count(0);
    let done = AtomicBool::new(false);
    let copies = [0, 1, 2, 3, 4, 5].map(|number| place.path().join(format!("copy-{number}")));
    let copied = std::thread::scope(|threads| {
        threads.spawn(|| (1..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(count));
        let copied: Vec<_> = copies.iter().map(|copy| engine.checkpoint(copy)).collect();
        done.store(true, Ordering::Relaxed);
        copied
    });
    copied.into_iter().for_each(Result::unwrap);
    for copy in copies {
        let copy = open(&copy).unwrap();
        let [first, second, third] = keys.map(|key| {
            let mut rows = Rows::new();
            let keys = [&key.to_be_bytes()[..]].into_iter().collect();
            copy.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
            u64::from_le_bytes(rows.values.get(0).try_into().unwrap())
        });
        assert!(
            first >= second && second >= third && third + 1 >= first,
            "{first}, {second}, {third}"
        );
        assert_eq!(copy.verify().unwrap().damages, []);
    }
}

/// The store's files are copied, as a crash would leave them, over and over while a space is
/// dropped: whatever step the copy catches, afterwards the space is there with all its rows or gone
/// for good, and its number is not used again.
#[test]
fn a_drop_that_a_crash_cut_short_is_completed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let engine = open(&root).unwrap();
    let [kept, dropped] =
        ["kept", "dropped"].map(|name| engine.create_space(name, &shape()).unwrap());
    for key in 0..200 {
        put(&engine, kept, key, 0);
        put(&engine, dropped, key, 0);
    }
    let mut copies = vec![place.path().join("before")];
    copy_tree(&root, &copies[0]);
    std::thread::scope(|threads| {
        let drop_it = threads.spawn(|| engine.drop_space(dropped).unwrap());
        while !drop_it.is_finished() && copies.len() < 20 {
            let copied = place.path().join(format!("during-{}", copies.len()));
            copy_tree(&root, &copied);
            copies.push(copied);
        }
    });
    copies.push(place.path().join("after"));
    copy_tree(&root, copies.last().unwrap());
    drop(engine);

    let mut outcomes = HashMap::new();
    for copied in copies {
        let engine = open(&copied).unwrap();
        assert_eq!(row_count(&engine, kept), 200);
        let is_there = engine.spaces().unwrap().iter().any(|space| space.id == dropped);
        if is_there {
            assert_eq!(row_count(&engine, dropped), 200);
        } else {
            assert_eq!(engine.verify().unwrap().rows, 200, "nothing is left of it on the disk");
        }
        let new = engine.create_space("new", &shape()).unwrap();
        assert!(new > dropped);
        assert_eq!(row_count(&engine, new), 0);
        *outcomes.entry(is_there).or_insert(0) += 1;
    }
    assert!(outcomes[&true] >= 1 && outcomes[&false] >= 1, "{outcomes:?}");
}
