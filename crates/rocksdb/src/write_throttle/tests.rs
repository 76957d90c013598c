//! Writers while compaction lags.
//!
//! The bug's story: RocksDB slowed writers down, and charged those that it refused because they may
//! not wait inside. A batch of a mebibyte was refused for a minute and then given up, and what it
//! was charged kept all others out.

use std::sync::mpsc;
use std::thread;

use tonnage_engine::{
    Condition, Deadline, Durability, Engine, ErrorKind, KeyPart, KeyShape, Maintenance, Ranges,
    SpaceId, WriteBatch,
};

use super::*;
use crate::{RocksEngine, Settings};

const SOON: Duration = Duration::from_secs(60);
/// Late enough that a machine that pauses for 3 seconds reaches the wait before it.
const A_WHILE: Duration = Duration::from_secs(4);

fn open() -> (tempfile::TempDir, RocksEngine, SpaceId) {
    let place = tempfile::tempdir().unwrap();
    let settings = Settings { cache_bytes: 8 << 20, background_threads: 2, ..Settings::default() };
    let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    (place, engine, space)
}

fn put(engine: &RocksEngine, space: SpaceId, key: u64, bytes: usize) -> Result<()> {
    let mut batch = WriteBatch::new(space);
    batch.put(&key.to_be_bytes(), &vec![7; bytes], 0, Condition::Always);
    engine.write(&batch, Durability::Write).map(drop)
}

fn set(engine: &RocksEngine, options: &[(&str, &str)]) {
    let shard = &engine.store().shards()[0];
    shard.db().set_options_cf(shard.rows(), options).unwrap();
}

/// Leaves so many files at level 0 without compaction.
fn pile_up(engine: &RocksEngine, space: SpaceId, files: u64) {
    set(engine, &[("level0_file_num_compaction_trigger", "1000")]);
    let shard = &engine.store().shards()[0];
    for key in 0..files {
        put(engine, space, key, 100).unwrap();
        shard.db().flush_cf(shard.rows()).unwrap();
    }
    assert_eq!(CompactionBacklog::of(shard.db()).files, files);
}

#[test]
fn large_and_small_batches_get_through_while_writers_are_slowed_down() {
    let (_place, engine, space) = open();
    pile_up(&engine, space, STEADY.slow_files + 4);
    let throttle = &engine.store().shards()[0].throttle;
    throttle.next_check_us.store(0, Ordering::SeqCst);
    let rate = throttle.rate();
    assert!(rate > 0 && rate < RATE_MAX as u64, "{rate}");
    thread::scope(|threads| {
        for writer in 0..8 {
            let (engine, bytes) = (&engine, if writer < 2 { 1 << 20 } else { 1 << 10 });
            threads.spawn(move || {
                (0..5).for_each(|row| put(engine, space, writer << 32 | row, bytes).unwrap())
            });
        }
    });
    let details = &engine.statistics().unwrap().shards[0].details;
    assert!(details.contains(&("actual_delayed_write_rate".to_owned(), rate)), "{details:?}");
}

/// Stops writes for good, and lets the throttle know it.
fn stop(engine: &RocksEngine, space: SpaceId) {
    pile_up(engine, space, 1);
    set(engine, &[("level0_slowdown_writes_trigger", "1"), ("level0_stop_writes_trigger", "1")]);
    let throttle = &engine.store().shards()[0].throttle;
    throttle.next_check_us.store(0, Ordering::SeqCst);
    throttle.check_if_due();
    assert_eq!(throttle.state(), ThrottleState::Stopped);
}

/// Writers held their stripes and the gate while they waited for a minute, one after another: the
/// fourth of one stripe heard of a full disk after four minutes, and no load could store anything
/// meanwhile.
#[test]
fn whoever_waits_for_stopped_writes_holds_no_lock() {
    let (_place, engine, space) = open();
    stop(&engine, space);
    let shard = &engine.store().shards()[0];
    let (answers, heard) = mpsc::channel();
    thread::scope(|threads| {
        let _stripes = shard.all_stripes();
        let _gate = shard.gate.write();
        for key in 0..4_u64 {
            let (engine, answers) = (&engine, answers.clone());
            threads.spawn(move || {
                let mut batch = WriteBatch::new(space);
                batch.put(&key.to_be_bytes(), b"", 0, Condition::Always);
                let deadline = Deadline::after(A_WHILE);
                answers.send(engine.write_by(&batch, Durability::Write, deadline)).unwrap();
            });
        }
        for _ in 0..4 {
            let error = heard.recv_timeout(SOON).expect("refused without a lock").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert!(error.message().contains("disk is full"), "{error}");
        }
    });
}

#[test]
fn whoever_waits_at_the_door_goes_on_when_writes_do() {
    let (_place, engine, space) = open();
    stop(&engine, space);
    thread::scope(|threads| {
        let writer = threads.spawn(|| put(&engine, space, 7, 100));
        let deleter =
            threads.spawn(|| engine.delete_range(space, &Ranges::whole_space(), Durability::Write));
        set(
            &engine,
            &[("level0_stop_writes_trigger", "36"), ("level0_slowdown_writes_trigger", "36")],
        );
        writer.join().unwrap().unwrap();
        deleter.join().unwrap().unwrap();
    });
}

#[test]
fn slots_come_in_turn_at_the_rate() {
    let now = Instant::now();
    let mut slots = WriteSlots::new(now);
    let second = RATE_MAX as usize;
    let give = |slots: &mut WriteSlots, bytes| {
        slots.take(bytes, now, now + SOON).unwrap().saturating_duration_since(now)
    };
    assert_eq!(give(&mut slots, second), Duration::ZERO);
    assert_eq!(give(&mut slots, second / 2), Duration::from_secs(1));
    assert_eq!(give(&mut slots, 0), Duration::from_millis(1_500));
    assert_eq!(
        slots.take(0, now, now + Duration::from_secs(1)),
        None,
        "its slot is after its deadline"
    );
    let late = now + Duration::from_secs(5);
    assert_eq!(
        slots.take(0, late, late + SOON),
        Some(late - CREDIT),
        "time that nobody used is lost"
    );
}

#[test]
fn the_rate_follows_compaction() {
    let now = Instant::now();
    let mut slots = WriteSlots::new(now);
    let mut mebibytes = |files, gibibytes: u64| {
        let is_slow = slots.update_rate(CompactionBacklog { files, bytes: gibibytes << 30 }, now);
        is_slow.then(|| (slots.rate / f64::from(1 << 20)).round())
    };
    assert_eq!(mebibytes(19, 63), None, "within the limits");
    assert_eq!(mebibytes(20, 0), Some(128.0));
    assert_eq!(mebibytes(28, 0), Some(11.0), "half way to the stop");
    assert_eq!(mebibytes(36, 0), Some(1.0));
    assert_eq!(mebibytes(0, 160), Some(11.0));
    assert_eq!(mebibytes(28, 250), mebibytes(0, 250), "the longer way counts");
    assert_eq!(mebibytes(1_000, 1_000), Some(1.0));
    slots.limits = None;
    assert!(
        !slots.update_rate(CompactionBacklog { files: 1_000, bytes: 1 << 50 }, now),
        "while compaction rests"
    );
}

/// A call used to wait for a lock as long as others held it, whatever its caller had time for.
#[test]
fn a_deadline_ends_the_wait_for_a_lock_and_names_it() {
    let (_place, engine, space) = open();
    let shard = &engine.store().shards()[0];
    let mut batch = WriteBatch::new(space);
    batch.put(&7_u64.to_be_bytes(), b"late", 0, Condition::Always);
    let write = || {
        let soon = Deadline::after(A_WHILE);
        let one = engine.write_by(&batch, Durability::Write, soon).unwrap_err();
        let soon = Deadline::after(A_WHILE);
        let many = std::slice::from_ref(&batch);
        let many = engine.write_many_by(many, Durability::Write, soon).remove(0).unwrap_err();
        [one, many]
    };
    let waits: [(&str, &dyn Fn() -> [tonnage_engine::Error; 2]); 2] = [
        ("another write of the same rows", &|| {
            let _stripes = shard.all_stripes();
            thread::scope(|threads| threads.spawn(write).join().unwrap())
        }),
        ("a load or a deletion", &|| {
            let _gate = shard.gate.write();
            thread::scope(|threads| threads.spawn(write).join().unwrap())
        }),
    ];
    for (what, wait) in waits {
        for error in wait() {
            assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
            assert!(error.message().contains(what), "{error}");
        }
    }
    put(&engine, space, 7, 10).unwrap();
}
