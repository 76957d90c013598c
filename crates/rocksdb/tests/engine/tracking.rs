//! Snapshots and copies of ranges beside everything that writes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rstest::rstest;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, Maintenance,
    OnExisting, Projection, RangeChange, RangeChanges, Ranges, Rows, ScanOptions, Slices, Snapshot,
    SpaceId, TrackedRange, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::common::settings;

/// Shard keys of one byte.
const GROUPS: u8 = 6;
/// Rows under each.
const ROWS: u16 = 120;
const WRITERS: u64 = 3;
const TIME: Duration = Duration::from_secs(3);

type RowsByKey = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(root: &Path, directories: usize) -> (RocksEngine, SpaceId) {
    let data_directories = (0..directories).map(|disk| root.join(format!("disk-{disk}"))).collect();
    let settings = Settings { data_directories, ..settings() };
    let engine = RocksEngine::open(root.join("store"), settings).unwrap();
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
    (engine, space)
}

fn key(group: u8, row: u16) -> [u8; 3] {
    let [high, low] = row.to_be_bytes();
    [group, high, low]
}

fn rows_of(engine: &dyn Engine, space: SpaceId) -> RowsByKey {
    let mut scan = engine.scan(space, Ranges::whole_space(), ScanOptions::default()).unwrap();
    let (mut rows, mut all) = (Rows::new(), RowsByKey::new());
    while scan.next_batch(&mut rows).unwrap() {
        for row in 0..rows.len() {
            all.insert(rows.keys.get(row).into(), rows.values.get(row).into());
        }
    }
    all
}

/// A writer that uses every kind of write.
struct Writer<'a> {
    engine: &'a RocksEngine,
    space: SpaceId,
    random: SmallRng,
}

impl Writer<'_> {
    fn key(&mut self) -> [u8; 3] {
        key(self.random.random_range(0..GROUPS), self.random.random_range(0..ROWS))
    }

    fn value(&mut self) -> [u8; 8] {
        self.random.random::<u64>().to_le_bytes()
    }

    fn batch(&mut self) -> WriteBatch {
        let (group, value) = (self.random.random_range(0..GROUPS), self.value());
        let mut batch = WriteBatch::new(self.space);
        for _ in 0..self.random.random_range(1..6) {
            let key = key(group, self.random.random_range(0..ROWS));
            match self.random.random_ratio(1, 4) {
                true => batch.delete(&key, Condition::Always),
                false => batch.put(&key, &value, 0, Condition::Always),
            }
        }
        batch
    }

    /// A load with so many bytes in each row that it is written to the log, or to files.
    fn load(&mut self, rows: Range<u16>, bytes: usize) {
        let on_existing = [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace]
            [self.random.random_range(0..3)];
        let options = LoadOptions {
            on_existing,
            memory_bytes_max: 256 << 10,
            parallelism: 1,
            durability: Durability::None,
            ..LoadOptions::default()
        };
        let session = self.engine.load(options).unwrap();
        let mut entries = Entries::new();
        for (position, row) in (0..).zip(rows) {
            let mut value = vec![0; bytes];
            value[..8].copy_from_slice(&self.value());
            entries.push(&key(self.random.random_range(0..GROUPS), row), &value, position, 0);
        }
        session.push(self.space, 0, &entries).unwrap();
        session.finish().unwrap();
    }

    fn delete(&mut self, start: &[u8], end: &[u8]) {
        let mut ranges = Ranges::new();
        ranges.push(start, end);
        self.engine.delete_range(self.space, &ranges, Durability::None).unwrap();
    }

    fn write(&mut self) {
        match self.random.random_range(0..400) {
            0 => self.load(0..ROWS, 4_000),
            1 => self.delete(&[1], &[3]),
            2 => self.delete(&[], &[]),
            3..10 => {
                let first = self.random.random_range(0..ROWS - 20);
                self.load(first..first + 20, 8);
            }
            10..20 => {
                let [group, high, low] = self.key();
                self.delete(&[group, high, low], &[group, high, low.saturating_add(9)]);
            }
            20..60 => {
                let batches: Vec<_> = (0..8).map(|_| self.batch()).collect();
                for outcome in self.engine.write_many(&batches, Durability::None) {
                    outcome.unwrap();
                }
            }
            60..90 => {
                let (key, value) = (self.key(), self.value());
                let mut batch = WriteBatch::new(self.space);
                batch.put(&key, &value, 0, Condition::IfAbsent);
                self.engine.write(&batch, Durability::None).unwrap();
            }
            _ => {
                let batch = self.batch();
                self.engine.write(&batch, Durability::None).unwrap();
            }
        }
    }
}

/// The rows of a range, kept up to date by what snapshots tell.
struct KeptCopy {
    range: TrackedRange,
    rows: RowsByKey,
    settled: u64,
    /// After the last ticket taken in.
    taken: u64,
}

/// What became of a copy at a snapshot.
#[derive(PartialEq, Eq)]
enum Told {
    Right,
    /// It took in what this snapshot may not show.
    TooNew,
    Unknown,
}

impl KeptCopy {
    /// Copies a part of a range; nothing where it is not tracked.
    fn make(
        engine: &RocksEngine,
        space: SpaceId,
        taken: &dyn Snapshot,
        range: TrackedRange,
    ) -> Option<Self> {
        let settled = taken.settled(space, range.shard).unwrap();
        let rows = part_of(engine, &range, &rows_of(taken.engine().as_ref(), space));
        let is_tracked = engine.track(space, &range, taken).unwrap();
        is_tracked.then_some(Self { range, rows, settled, taken: 0 })
    }

    /// Takes in what was written up to the snapshot, and is held against it.
    fn follow(&mut self, engine: &RocksEngine, space: SpaceId, taken: &dyn Snapshot) -> Told {
        if !taken.ranges(space).unwrap().contains(&self.range) {
            return Told::Unknown;
        }
        let settled = taken.settled(space, self.range.shard).unwrap();
        if self.taken > settled {
            return Told::TooNew;
        }
        let RangeChanges::Known(changes) = taken.changes(space, &self.range, self.settled).unwrap()
        else {
            return Told::Unknown;
        };
        let truth = part_of(engine, &self.range, &rows_of(taken.engine().as_ref(), space));
        for (ticket, change) in changes {
            self.taken = self.taken.max(ticket + 1);
            let is_meant = |key: &Vec<u8>| match &change {
                RangeChange::Key(changed) => key == changed,
                RangeChange::Deleted(start, end) => key >= start && (end.is_empty() || key < end),
            };
            self.rows.retain(|key, _| !is_meant(key));
            let shown = truth.iter().filter(|(key, _)| is_meant(key));
            self.rows.extend(shown.map(|(key, value)| (key.clone(), value.clone())));
        }
        assert!(self.rows == truth, "{:?}: the copy is not what the snapshot shows", self.range);
        self.settled = self.settled.max(settled);
        Told::Right
    }
}

fn part_of(engine: &RocksEngine, range: &TrackedRange, rows: &RowsByKey) -> RowsByKey {
    let is_in = |key: &[u8]| {
        key >= &range.start[..]
            && (range.end.is_empty() || key < &range.end[..])
            && engine.shard_of(&key[..1]) == range.shard
    };
    let rows = rows.iter().filter(|(key, _)| is_in(key));
    rows.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The ranges of copies: all groups of each shard in three parts.
fn parts(taken: &dyn Snapshot, space: SpaceId, id: &mut u128) -> Vec<TrackedRange> {
    let mut shards: Vec<_> =
        taken.ranges(space).unwrap().into_iter().map(|range| range.shard).collect();
    shards.dedup();
    let mut parts = Vec::new();
    for shard in shards {
        for [start, end] in [[&[][..], &[2]], [&[2], &[2, 0, 60]], [&[2, 0, 60], &[]]] {
            *id += 1;
            parts.push(TrackedRange { shard, start: start.into(), end: end.into(), id: Some(*id) });
        }
    }
    parts
}

/// Each copy, kept up by what snapshots tell, is what every one of them shows, or is known to be of
/// no use any more.
#[rstest]
fn copies_stay_right_beside_all_that_writes(#[values(0, 3)] directories: usize) {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(place.path(), directories);
    let is_over = AtomicBool::new(false);
    let (mut right, mut unknown, mut id) = (0, 0, 0);
    thread::scope(|threads| {
        for writer in 0..WRITERS {
            let (engine, is_over) = (&engine, &is_over);
            threads.spawn(move || {
                let random = SmallRng::seed_from_u64(writer);
                let mut writer = Writer { engine, space, random };
                while !is_over.load(Ordering::SeqCst) {
                    writer.write();
                }
            });
        }
        // A reader that panics ends the writers all the same.
        let _over = OnDrop(&is_over);
        let (began, mut kept) = (Instant::now(), Vec::<KeptCopy>::new());
        while began.elapsed() < TIME {
            let taken = engine.snapshot(&[space]).unwrap().unwrap();
            kept.retain_mut(|copy| match copy.follow(&engine, space, taken.as_ref()) {
                Told::Right => {
                    right += 1;
                    true
                }
                Told::TooNew => true,
                Told::Unknown => {
                    unknown += 1;
                    false
                }
            });
            for range in parts(taken.as_ref(), space, &mut id) {
                let is_kept = kept
                    .iter()
                    .any(|copy| copy.range.shard == range.shard && copy.range.start == range.start);
                if !is_kept {
                    kept.extend(KeptCopy::make(&engine, space, taken.as_ref(), range));
                }
            }
        }
    });
    assert!(right > 100 && unknown < right, "{right} right, {unknown} unknown");
}

/// Ends those who ask.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// However it is read, and however often.
#[rstest]
fn a_snapshot_gives_the_same_rows_again_beside_all_that_writes(#[values(0, 3)] directories: usize) {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(place.path(), directories);
    let keys: Vec<_> =
        (0..GROUPS).flat_map(|group| (0..ROWS).map(move |row| key(group, row))).collect();
    let keys: Slices = keys.iter().map(<[u8; 3]>::as_slice).collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        for writer in 0..WRITERS {
            let (engine, is_over) = (&engine, &is_over);
            threads.spawn(move || {
                let random = SmallRng::seed_from_u64(100 + writer);
                let mut writer = Writer { engine, space, random };
                while !is_over.load(Ordering::SeqCst) {
                    writer.write();
                }
            });
        }
        let _over = OnDrop(&is_over);
        let began = Instant::now();
        while began.elapsed() < TIME {
            let taken = engine.snapshot(&[]).unwrap().unwrap();
            let first = rows_of(taken.engine().as_ref(), space);
            thread::sleep(Duration::from_millis(2));
            assert!(rows_of(taken.engine().as_ref(), space) == first);
            let mut rows = Rows::new();
            taken.engine().read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
            let looked_up: RowsByKey = (0..rows.len())
                .map(|row| (rows.keys.get(row).to_vec(), rows.values.get(row).to_vec()))
                .collect();
            assert!(looked_up == first);
        }
    });
}

/// A write that is acknowledged before another begins is visible whenever that is.
#[test]
fn the_snapshots_of_several_shards_are_of_one_point_in_time() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(place.path(), 3);
    let is_over = AtomicBool::new(false);
    let snapshots = AtomicU64::new(0);
    let put = |group: u8, number: u64| {
        let mut batch = WriteBatch::new(space);
        batch.put(&key(group, 0), &number.to_be_bytes(), 0, Condition::Always);
        engine.write(&batch, Durability::None).unwrap();
    };
    const GROUPS: u8 = 24;
    (0..GROUPS).for_each(|group| put(group, 0));
    let shards: std::collections::BTreeSet<_> =
        (0..GROUPS).map(|group| engine.shard_of(&[group])).collect();
    assert_eq!(shards.len(), 3, "the groups lie in all shards");
    thread::scope(|threads| {
        threads.spawn(|| {
            for number in 1.. {
                (0..GROUPS).for_each(|group| put(group, number));
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        let _over = OnDrop(&is_over);
        let began = Instant::now();
        while began.elapsed() < TIME / 2 {
            let taken = engine.snapshot(&[]).unwrap().unwrap();
            let numbers: Vec<_> = rows_of(taken.engine().as_ref(), space).into_values().collect();
            assert!(numbers.iter().rev().is_sorted(), "{numbers:?}");
            snapshots.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(snapshots.into_inner() > 100);
}

/// A snapshot keeps the store open, and what it showed stays as it is.
#[test]
fn a_snapshot_outlives_its_engine() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(place.path(), 0);
    let mut batch = WriteBatch::new(space);
    batch.put(&key(1, 1), b"row", 0, Condition::Always);
    engine.write(&batch, Durability::Write).unwrap();
    let taken: Arc<dyn Snapshot> = engine.snapshot(&[space]).unwrap().unwrap();
    drop(engine);
    assert_eq!(rows_of(taken.engine().as_ref(), space).len(), 1);
    drop(taken);
    let engine = RocksEngine::open(place.path().join("store"), settings()).unwrap();
    assert_eq!(rows_of(&engine, space).len(), 1);
}

/// RocksDB drops files within a range for holders of snapshots, too.
#[test]
fn a_wide_deletion_leaves_the_files_that_a_snapshot_shows() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(place.path(), 0);
    let mut loader = Writer { engine: &engine, space, random: SmallRng::seed_from_u64(7) };
    // Files of loads go below level 0, whose files are not dropped.
    loader.load(0..ROWS, 4_000);
    let taken = engine.snapshot(&[]).unwrap().unwrap();
    let before = rows_of(taken.engine().as_ref(), space);
    assert_eq!(before.len(), usize::from(ROWS));
    loader.delete(&[], &[]);
    assert_eq!(rows_of(&engine, space).len(), 0);
    assert!(rows_of(taken.engine().as_ref(), space) == before);
    engine.settle().unwrap();
    assert!(rows_of(taken.engine().as_ref(), space) == before);
    drop(taken);
    engine.settle().unwrap();
    assert_eq!(rows_of(&engine, space).len(), 0);
}

/// It cannot be found, so its files may be removed beside any snapshots.
#[test]
fn a_space_that_is_dropped_is_gone_for_snapshots_too() {
    let place = tempfile::tempdir().unwrap();
    let (engine, space) = open(place.path(), 0);
    let mut batch = WriteBatch::new(space);
    batch.put(&key(1, 1), b"row", 0, Condition::Always);
    engine.write(&batch, Durability::Write).unwrap();
    let taken = engine.snapshot(&[space]).unwrap().unwrap();
    let range = TrackedRange { id: Some(1), ..taken.ranges(space).unwrap().remove(0) };
    assert!(engine.track(space, &range, taken.as_ref()).unwrap());
    engine.drop_space(space).unwrap();
    let not_found = tonnage_engine::ErrorKind::NotFound;
    let scan = taken.engine().scan(space, Ranges::whole_space(), ScanOptions::default());
    assert_eq!(scan.err().unwrap().kind(), not_found);
    assert_eq!(taken.changes(space, &range, 0).unwrap_err().kind(), not_found);
    assert_eq!(engine.track(space, &range, taken.as_ref()).unwrap_err().kind(), not_found);
    assert_eq!(engine.snapshot(&[space]).err().unwrap().kind(), not_found);
}
