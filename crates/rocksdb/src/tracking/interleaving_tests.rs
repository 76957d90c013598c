//! All interleavings of a writer, a copy and a reader, step by step over a store. A reader that finds
//! other rows than its snapshot shows has found a fault; the faults put in must be found.

use std::collections::BTreeMap;
use std::sync::Arc;

use rstest::rstest;
use tonnage_engine::{
    Condition, Durability, Engine, KeyPart, KeyShape, RangeChange, RangeChanges, Ranges, Rows,
    ScanOptions, Snapshot, SpaceId, TrackedRange, WriteBatch,
};

use super::books::NotedWrite;
use super::shard_snapshots::ShardSnapshots;
use super::snapshot::{FoundBooks, RocksSnapshot, complete, find};
use crate::open_store::OpenStore;
use crate::shard::{Shard, physical_key, space_end};
use crate::{RocksEngine, Settings, stall};

/// A mistake in the order of steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Keys are noted after RocksDB has them.
    LateNote,
    /// RocksDB's snapshot is taken before the books tell what is settled.
    EarlySnapshots,
    /// The books tell what is noted before RocksDB's snapshot is taken.
    EarlyNoted,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Put,
    Delete,
    DeleteRange,
}

#[derive(Clone, Copy)]
enum Role {
    Write,
    Copy,
    Read,
}

const STEPS: usize = 3;

type RowsByKey = BTreeMap<Vec<u8>, Vec<u8>>;

/// A snapshot that is being taken.
#[derive(Default)]
struct Look {
    step: usize,
    found: Vec<FoundBooks>,
    snapshots: Option<ShardSnapshots>,
}

/// What one interleaving works on.
struct World<'s> {
    engine: &'s RocksEngine,
    store: &'s Arc<OpenStore>,
    space: SpaceId,
    change: Change,
    fault: Fault,
    /// Of the new copy.
    id: u128,
    steps_written: usize,
    noted: Option<NotedWrite<'s>>,
    copying: Look,
    reading: Look,
    copy: Option<(TrackedRange, u64, RowsByKey)>,
    /// Whether the copy and its changes were what the snapshot showed; nothing where the reader did
    /// not know the copy.
    is_right: Option<bool>,
}

impl<'s> World<'s> {
    fn step(&mut self, role: Role) {
        match role {
            Role::Write => self.write(),
            Role::Copy => {
                let mut look = std::mem::take(&mut self.copying);
                if let Some(snapshot) = self.look(&mut look) {
                    self.copy(&snapshot);
                }
                self.copying = look;
            }
            Role::Read => {
                let mut look = std::mem::take(&mut self.reading);
                if let Some(snapshot) = self.look(&mut look) {
                    self.read(&snapshot);
                }
                self.reading = look;
            }
        }
    }

    fn shard(&self) -> &'s Shard {
        &self.store.shards()[0]
    }

    fn write(&mut self) {
        let is_late = self.fault == Fault::LateNote;
        match self.steps_written {
            0 if is_late => self.commit(),
            0 => self.note(),
            1 if is_late => self.note(),
            1 => self.commit(),
            _ => self.noted = None,
        }
        self.steps_written += 1;
    }

    fn keys(&self) -> [Vec<u8>; 2] {
        let mut key = Vec::new();
        physical_key(self.space, b"k", &mut key);
        [key, space_end(self.space).to_vec()]
    }

    fn note(&mut self) {
        let [key, end] = self.keys();
        let mut notes = self.shard().begin_notes();
        match self.change {
            Change::Put | Change::Delete => notes.add_key(&key),
            Change::DeleteRange => notes.add_deleted(&key, &end),
        }
        self.noted = self.shard().books.note(&notes);
        assert!(self.noted.is_some(), "the space is followed");
    }

    fn commit(&self) {
        let [key, end] = self.keys();
        let (shard, mut batch) = (self.shard(), rocksdb::WriteBatch::default());
        match self.change {
            Change::Put => batch.put_cf(shard.rows(), &key, stored_value(b"new")),
            Change::Delete => batch.delete_cf(shard.rows(), &key),
            Change::DeleteRange => batch.delete_range_cf(shard.rows(), &key, &end),
        }
        stall::attempt(shard.db(), false, batch).unwrap();
    }

    /// The next step of a snapshot; the last one gives it.
    fn look(&self, look: &mut Look) -> Option<RocksSnapshot> {
        let order = match self.fault {
            Fault::EarlySnapshots => ["snapshots", "find", "complete"],
            Fault::EarlyNoted => ["find", "complete", "snapshots"],
            _ => ["find", "snapshots", "complete"],
        };
        match order[look.step] {
            "find" => look.found = find(self.store),
            "snapshots" => look.snapshots = Some(ShardSnapshots::take(self.store)),
            _ => complete(self.store, &mut look.found),
        }
        look.step += 1;
        if look.step < STEPS {
            return None;
        }
        let found = std::mem::take(&mut look.found);
        look.snapshots.take().map(|snapshots| RocksSnapshot::new(found, snapshots))
    }

    fn copy(&mut self, snapshot: &RocksSnapshot) {
        let mut ranges = snapshot.ranges(self.space).unwrap();
        let range = TrackedRange { id: Some(self.id), ..ranges.remove(0) };
        assert!(ranges.is_empty(), "one range of all");
        if self.engine.track(self.space, &range, snapshot).unwrap() {
            let settled = snapshot.settled(self.space, range.shard).unwrap();
            self.copy = Some((range, settled, rows_of(snapshot, self.space)));
        }
    }

    fn read(&mut self, snapshot: &RocksSnapshot) {
        let Some((range, settled, rows)) = &self.copy else { return };
        if !snapshot.ranges(self.space).unwrap().contains(range) {
            return;
        }
        let truth = rows_of(snapshot, self.space);
        let RangeChanges::Known(changes) = snapshot.changes(self.space, range, *settled).unwrap()
        else {
            return;
        };
        let mut rows = rows.clone();
        for (_, change) in changes {
            let is_meant = |key: &Vec<u8>| match &change {
                RangeChange::Key(changed) => key == changed,
                RangeChange::Deleted(start, _) => key >= start,
            };
            rows.retain(|key, _| !is_meant(key));
            let shown = truth.iter().filter(|(key, _)| is_meant(key));
            rows.extend(shown.map(|(key, value)| (key.clone(), value.clone())));
        }
        self.is_right = Some(rows == truth);
    }
}

fn stored_value(payload: &[u8]) -> Vec<u8> {
    let mut stored = Vec::new();
    tonnage_engine::Header { version: 1, expires_at_ms: 0 }.append_to(&mut stored);
    stored.extend_from_slice(payload);
    stored
}

fn rows_of(snapshot: &RocksSnapshot, space: SpaceId) -> RowsByKey {
    let options = ScanOptions::default();
    let mut scan = snapshot.engine().scan(space, Ranges::whole_space(), options).unwrap();
    let (mut rows, mut all) = (Rows::new(), RowsByKey::new());
    while scan.next_batch(&mut rows).unwrap() {
        all.extend(
            (0..rows.len()).map(|row| (rows.keys.get(row).into(), rows.values.get(row).into())),
        );
    }
    all
}

/// All orders of the steps of the three.
fn schedules() -> Vec<Vec<Role>> {
    fn extend(before: &mut Vec<Role>, left: [usize; 3], all: &mut Vec<Vec<Role>>) {
        if left == [0; 3] {
            all.push(before.clone());
        }
        for (index, role) in [Role::Write, Role::Copy, Role::Read].into_iter().enumerate() {
            if left[index] > 0 {
                let mut left = left;
                left[index] -= 1;
                before.push(role);
                extend(before, left, all);
                before.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), [STEPS; 3], &mut all);
    all
}

/// How many interleavings gave the right answer, and how many a wrong one.
fn explore(change: Change, fault: Fault) -> [usize; 2] {
    let place = tempfile::tempdir().unwrap();
    let settings = Settings { cache_bytes: 8 << 20, ..Settings::default() };
    let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
    drop(engine.snapshot(&[space]).unwrap());
    let mut answers = [0, 0];
    for (number, schedule) in schedules().into_iter().enumerate() {
        let mut batch = WriteBatch::new(space);
        batch.put(b"k", b"old", 0, Condition::Always);
        engine.write(&batch, Durability::None).unwrap();
        let mut world = World {
            engine: &engine,
            store: engine.store(),
            space,
            change,
            fault,
            id: number as u128 + 1,
            steps_written: 0,
            noted: None,
            copying: Look::default(),
            reading: Look::default(),
            copy: None,
            is_right: None,
        };
        schedule.into_iter().for_each(|role| world.step(role));
        if let Some(is_right) = world.is_right {
            answers[usize::from(!is_right)] += 1;
        }
    }
    answers
}

#[rstest]
fn no_interleaving_gives_a_stale_answer(
    #[values(Change::Put, Change::Delete, Change::DeleteRange)] change: Change,
) {
    let [right, wrong] = explore(change, Fault::None);
    assert_eq!(wrong, 0, "{change:?}");
    assert!(right >= 84, "the reader comes behind the copy in 84 of all: {right}");
}

#[rstest]
fn each_fault_put_in_is_found(
    #[values(Fault::LateNote, Fault::EarlySnapshots, Fault::EarlyNoted)] fault: Fault,
) {
    let [right, wrong] = explore(Change::Put, fault);
    assert!(wrong > 0 && right > 0);
}
