//! Writers of one shard key who wait for the disk do not wait for each other.
//!
//! The bug's story: a writer kept the stripe of its shard key until the log was synced, so that one
//! key was written once for each sync, a hundred times a second on a hard disk.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tonnage_engine::{
    Condition, Durability, Engine, KeyPart, KeyShape, Maintenance, Projection, Rows, SpaceId,
    WriteBatch, WriteOutcome,
};

use crate::{RocksEngine, Settings};

const WRITERS: u8 = 8;

fn open(place: &tempfile::TempDir) -> (RocksEngine, SpaceId) {
    let settings = Settings { cache_bytes: 8 << 20, ..Settings::default() };
    let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
    let space = engine.create_space("hot", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
    (engine, space)
}

/// A row of the only shard key.
fn put(space: SpaceId, row: u8, condition: Condition) -> WriteBatch {
    let mut batch = WriteBatch::new(space);
    batch.put(&[0, row], b"hot", 0, condition);
    batch
}

fn is_stored(engine: &RocksEngine, space: SpaceId, row: u8) -> bool {
    let mut rows = Rows::new();
    let keys = [&[0, row][..]].into_iter().collect();
    engine.read(space, &keys, Projection::KeysOnly, &mut rows).unwrap();
    rows.len() == 1
}

/// While the disk is busy with one sync all writers write their rows, and none is acknowledged.
#[test]
fn rows_of_one_shard_key_are_written_while_the_log_is_synced() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(&place);
    let shard = &engine.store().shards()[0];
    let (begun, begins) = mpsc::channel();
    let (let_go, goes) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let slow = || {
                begun.send(()).unwrap();
                goes.recv().unwrap();
                Ok(())
            };
            // Nothing that is written later is on the disk by this.
            shard.sync_with(slow).unwrap();
        });
        begins.recv().unwrap();
        let engine = &engine;
        let writers: Vec<_> = (0..WRITERS)
            .map(|row| {
                let batch = put(space, row, Condition::IfAbsent);
                scope.spawn(move || engine.write(&batch, Durability::Fsync).unwrap())
            })
            .collect();
        let began = Instant::now();
        while !(0..WRITERS).all(|row| is_stored(engine, space, row)) {
            assert!(began.elapsed().as_secs() < 60, "the writers wait for each other");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(writers.iter().all(|writer| !writer.is_finished()), "none is on the disk");
        let_go.send(()).unwrap();
        for writer in writers {
            assert!(writer.join().unwrap().version().is_some());
        }
    });
    assert!(shard.is_synced());
}

/// A condition that a row refuses which is not on the disk yet: a power failure must not make the
/// answer wrong.
#[test]
fn what_a_condition_was_refused_by_is_on_the_disk() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(&place);
    let shard = &engine.store().shards()[0];
    engine.write(&put(space, 1, Condition::Always), Durability::Write).unwrap();
    assert!(!shard.is_synced());
    let again = put(space, 1, Condition::IfAbsent);
    let outcome = engine.write(&again, Durability::Fsync).unwrap();
    assert!(matches!(outcome, WriteOutcome::Refused { .. }));
    assert!(shard.is_synced());
}

/// After a failed sync no writer that waited for it learns that its row is durable.
#[test]
fn a_failed_sync_fails_all_who_wait_for_it() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(&place);
    let shard = &engine.store().shards()[0];
    engine.write(&put(space, 1, Condition::Always), Durability::Write).unwrap();
    let failed = || Err(tonnage_engine::Error::unavailable("the disk failed"));
    shard.sync_with(failed).unwrap_err();
    let error = engine.sync().unwrap_err();
    assert!(error.message().contains("the disk failed"), "{error}");
    let later = engine.write(&put(space, 2, Condition::Always), Durability::Fsync);
    assert!(later.unwrap().version().is_some(), "it was written after the failure");
}
