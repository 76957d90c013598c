//! What the threads of a round share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

use tonnage::internal::sync::lock;
use tonnage::{Row, Store, Value};

use super::history::{HistoryEvent, LearnedVersions};

/// How many objects are written to.
pub(super) const OBJECTS: u64 = 3;

/// What the threads of a round share.
pub(super) struct Round<'a> {
    pub(super) store: &'a Store,
    /// The first shard key of the round.
    pub(super) base: i64,
    pub(super) seed: u64,
    pub(super) clock: &'a AtomicU64,
    pub(super) writes: &'a AtomicU64,
    pub(super) objects: Vec<Mutex<ObjectHistory>>,
    pub(super) stop: AtomicBool,
    pub(super) loads: AtomicU64,
}

/// What is known of one object.
#[derive(Clone, Default)]
pub(super) struct ObjectHistory {
    pub(super) events: Vec<HistoryEvent>,
    pub(super) versions: LearnedVersions,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        store: &'a Store,
        base: i64,
        seed: u64,
        clock: &'a AtomicU64,
        writes: &'a AtomicU64,
    ) -> Self {
        let objects = (0..OBJECTS).map(|_| Mutex::default()).collect();
        let (stop, loads) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { store, base, seed, clock, writes, objects, stop, loads }
    }

    /// The next time.
    pub(super) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, SeqCst)
    }

    /// The number of a new write.
    pub(super) fn write(&self) -> u64 {
        self.writes.fetch_add(1, SeqCst)
    }

    pub(super) fn key(&self, object: u64, key: usize) -> Row {
        Row::new().with("s", self.base + object as i64).with("k", key as i64)
    }

    pub(super) fn row(&self, object: u64, key: usize, write: u64) -> Row {
        let pad = "p".repeat((write % 300) as usize);
        self.key(object, key).with("w", write as i64).with("pad", pad)
    }

    pub(super) fn note(&self, object: u64, event: HistoryEvent) {
        self.object(object).events.push(event);
    }

    /// A client learned which write has a version.
    pub(super) fn learn(&self, object: u64, key: usize, version: u64, write: u64) {
        self.object(object).versions.insert((key, version), write);
    }

    pub(super) fn object(&self, object: u64) -> MutexGuard<'_, ObjectHistory> {
        lock(&self.objects[object as usize])
    }
}

/// The write that a row shows.
pub(super) fn write_of(row: &Row) -> u64 {
    match row.get("w") {
        Some(Value::Long(write)) => *write as u64,
        _ => u64::MAX,
    }
}
