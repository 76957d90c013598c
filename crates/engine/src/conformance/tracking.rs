//! Tracked ranges: a copy with the keys that a snapshot tells is what the snapshot shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Harness;
use super::fixture::{
    Fixture, START_MS, entries, group_range, key, kind, load_options, reverse, scan, scan_at_once,
};
use super::recorder::LoadRecorder;
use crate::header::NEVER_MS;
use crate::{
    Condition, Durability, Engine, Entries, ErrorKind, LoadOptions, OnExisting, Projection,
    RangeChange, RangeChanges, Ranges, Rows, ScanOptions, Slices, Snapshot, SpaceId, TrackedRange,
    WriteBatch,
};

/// Rows by key.
type RowsByKey = BTreeMap<Vec<u8>, Vec<u8>>;

/// A snapshot that follows the space; nothing where the engine has none.
fn snapshot(engine: &dyn Engine, space: SpaceId) -> Option<Arc<dyn Snapshot>> {
    let taken = engine.snapshot(&[space]).unwrap();
    // An engine without snapshots has none of anything.
    let of_nothing = engine.snapshot(&[]).unwrap();
    assert_eq!(taken.is_some(), of_nothing.is_some());
    taken
}

fn rows_of(engine: &dyn Engine, space: SpaceId) -> RowsByKey {
    let rows = scan_at_once(engine, space, Ranges::whole_space(), ScanOptions::default()).unwrap();
    (0..rows.len()).map(|row| (rows.keys.get(row).into(), rows.values.get(row).into())).collect()
}

/// Copies of all ranges of a space, each tracked under an id of its own.
struct Copies {
    ranges: Vec<(TrackedRange, u64, RowsByKey)>,
}

impl Copies {
    /// Nothing where a range could not be tracked.
    fn make(engine: &dyn Engine, space: SpaceId, taken: &dyn Snapshot, id: u128) -> Option<Self> {
        let rows = rows_of(taken.engine().as_ref(), space);
        let mut ranges = Vec::new();
        for (number, found) in taken.ranges(space).unwrap().into_iter().enumerate() {
            let range = TrackedRange { id: Some(id + number as u128), ..found };
            let settled = taken.settled(space, range.shard).unwrap();
            if !engine.track(space, &range, taken).unwrap() {
                return None;
            }
            let holds =
                |key: &Vec<u8>| *key >= range.start && (range.end.is_empty() || *key < range.end);
            let rows = rows.iter().filter(|(key, _)| holds(key));
            let rows = rows
                .filter(|(key, _)| engine.shard_of(shard_key(key)) == range.shard)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            ranges.push((range, settled, rows));
        }
        Some(Self { ranges })
    }

    /// The copies with what was written since, as of a snapshot; nothing where that is not known.
    fn at(&self, space: SpaceId, taken: &dyn Snapshot) -> Option<RowsByKey> {
        let truth = rows_of(taken.engine().as_ref(), space);
        let known: Vec<_> = taken.ranges(space).unwrap();
        let mut all = RowsByKey::new();
        for (range, settled, rows) in &self.ranges {
            if !known.contains(range) {
                return None;
            }
            let RangeChanges::Known(changes) = taken.changes(space, range, *settled).unwrap()
            else {
                return None;
            };
            let mut rows = rows.clone();
            for (_, change) in changes {
                take_in(&mut rows, &truth, &change);
            }
            all.append(&mut rows);
        }
        Some(all)
    }
}

fn shard_key(key: &[u8]) -> &[u8] {
    let len = super::fixture::shape().shard_key_len(key).unwrap();
    &key[..len]
}

/// Has the rows of a change be those that the snapshot shows.
fn take_in(rows: &mut RowsByKey, truth: &RowsByKey, change: &RangeChange) {
    let is_meant = |key: &Vec<u8>| match change {
        RangeChange::Key(changed) => key == changed,
        RangeChange::Deleted(start, end) => key >= start && (end.is_empty() || key < end),
    };
    rows.retain(|key, _| !is_meant(key));
    let shown = truth.iter().filter(|(key, _)| is_meant(key));
    rows.extend(shown.map(|(key, value)| (key.clone(), value.clone())));
}

/// What is written later does not show, and nothing is written through a snapshot.
pub fn a_snapshot_shows_one_point_in_time_and_refuses_writes(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 3);
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let before = rows_of(taken.engine().as_ref(), fixture.space);
    assert_eq!(before.len(), 6);
    fixture.put(&key("a", "01"), b"later");
    fixture.put(&key("c", "00"), b"later");
    fixture.delete(&key("b", "02"));
    assert_eq!(rows_of(taken.engine().as_ref(), fixture.space), before);
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "01"), b"refused", NEVER_MS, Condition::Always);
    let written = taken.engine().write(&batch, Durability::None);
    assert_eq!(kind(written), ErrorKind::Invalid);
    let everything = Ranges::whole_space();
    let deleted = taken.engine().delete_range(fixture.space, &everything, Durability::None);
    assert_eq!(kind(deleted), ErrorKind::Invalid);
    assert_eq!(kind(taken.engine().drop_space(fixture.space)), ErrorKind::Invalid);
    assert_eq!(fixture.value(&key("a", "01")).unwrap(), b"later");
}

/// Look-ups of one key and of many, scans backwards, scans that are closed and released.
pub fn a_snapshot_is_read_in_every_way_at_its_point_in_time(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 40);
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let (engine, space) = (taken.engine().as_ref(), fixture.space);
    let names = |options: ScanOptions| -> Vec<Vec<u8>> {
        // So few that a scan is closed and released within each shard key.
        let options = ScanOptions { batch_rows_max: 7, ..options };
        let rows = scan(engine, space, Ranges::whole_space(), options).unwrap();
        rows.values.iter().map(<[u8]>::to_vec).collect()
    };
    let before = [names(ScanOptions::default()), names(reverse())];
    let keys: Slices = before[0].iter().map(Vec::as_slice).collect();
    fixture.engine().delete_range(space, &group_range("b"), Durability::Write).unwrap();
    fixture.put(&key("a", "01"), b"later");
    assert_eq!([names(ScanOptions::default()), names(reverse())], before);
    let mut rows = Rows::new();
    // Many keys are not looked up as one is.
    engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
    assert_eq!(rows.values, keys, "each value is its key, as it was put");
    let one: Slices = [key("a", "01").as_slice()].into_iter().collect();
    engine.read(space, &one, Projection::KeysAndValues, &mut rows).unwrap();
    assert_eq!(rows.values, one);
    let parts = engine.split(space, 4, crate::Cuts::Anywhere).unwrap();
    let mut count = 0;
    for part in parts {
        let mut scanner = engine.scan_part(space, &part, ScanOptions::default()).unwrap();
        while scanner.next_batch(&mut rows).unwrap() {
            count += rows.len();
        }
    }
    assert_eq!(count, keys.len());
}

/// Also when background work has removed what was deleted.
pub fn a_snapshot_keeps_what_is_deleted_behind_it(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 20);
    fixture.settle();
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let before = rows_of(taken.engine().as_ref(), fixture.space);
    let everything = Ranges::whole_space();
    fixture.engine().delete_range(fixture.space, &everything, Durability::Write).unwrap();
    fixture.settle();
    assert_eq!(fixture.all_names(), [""; 0]);
    assert_eq!(rows_of(taken.engine().as_ref(), fixture.space), before);
    drop(taken);
    fixture.settle();
    assert_eq!(fixture.all_names(), [""; 0], "nothing comes back");
}

/// As time passes, not as of the snapshot.
pub fn rows_expire_in_snapshots_too(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.put_until(&key("a", "00"), b"short", START_MS + 10);
    fixture.put(&key("a", "01"), b"long");
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let count = || rows_of(taken.engine().as_ref(), fixture.space).len();
    assert_eq!(count(), 2);
    fixture.clock.set_ms(START_MS + 11);
    assert_eq!(count(), 1);
    fixture.settle();
    assert_eq!(count(), 1);
}

/// An opening begins anew: copies from before are not known.
pub fn nothing_is_tracked_after_an_opening(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let copies = Copies::make(fixture.engine(), fixture.space, taken.as_ref(), 1).unwrap();
    drop(taken);
    if !fixture.reopen() {
        return;
    }
    let unfollowed = fixture.engine().snapshot(&[]).unwrap().unwrap();
    assert_eq!(unfollowed.ranges(fixture.space).unwrap(), []);
    let now = snapshot(fixture.engine(), fixture.space).unwrap();
    assert_eq!(copies.at(fixture.space, now.as_ref()), None);
    assert!(now.ranges(fixture.space).unwrap().iter().all(|range| range.id.is_none()));
    assert_eq!(rows_of(now.engine().as_ref(), fixture.space).len(), 2);
}

/// Of one batch, and of several in one call.
pub fn each_space_of_a_batch_is_told(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (engine, first) = (fixture.engine(), fixture.space);
    // An engine may take batches of one space only.
    let second = engine.create_space("second", &super::fixture::shape()).unwrap();
    if snapshot(engine, first).is_none() || engine.capability().spaces_per_batch < 2 {
        return;
    }
    let spaces = [first, second];
    let taken = engine.snapshot(&spaces).unwrap().unwrap();
    let copies = spaces.map(|space| Copies::make(engine, space, taken.as_ref(), 1).unwrap());
    let check = |what: &str| {
        let taken = engine.snapshot(&spaces).unwrap().unwrap();
        for (space, copies) in spaces.into_iter().zip(&copies) {
            let truth = rows_of(taken.engine().as_ref(), space);
            assert_eq!(copies.at(space, taken.as_ref()), Some(truth), "{what}");
        }
    };
    let both = |group: &str, value: &[u8]| {
        let mut batch = WriteBatch::new(first);
        batch.put(&key(group, "1"), value, NEVER_MS, Condition::Always);
        batch.switch_to(second);
        batch.put(&key(group, "2"), value, NEVER_MS, Condition::Always);
        batch.switch_to(first);
        batch.delete(&key(group, "3"), Condition::Always);
        batch
    };
    // Of each space the batch names rows twice, with another in between.
    fixture.write(&both("a", b"one"));
    check("a batch over two spaces");
    let batches = [both("a", b"two"), both("b", b"three")];
    engine.write_many(&batches, Durability::None).into_iter().for_each(|outcome| {
        assert!(outcome.unwrap().version().is_some());
    });
    check("batches in one call");
}

/// What does not fit into the memory of a session may be stored as files.
pub fn what_a_large_load_stores_is_told_or_the_range_is_unknown(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 3);
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let copies = Copies::make(fixture.engine(), fixture.space, taken.as_ref(), 1).unwrap();
    for on_existing in [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace] {
        let options = load_options(on_existing, &Arc::new(LoadRecorder::default()));
        let options = LoadOptions { memory_bytes_max: 256 << 10, parallelism: 2, ..options };
        let session = fixture.engine().load(options).unwrap();
        let mut rows = Entries::new();
        for number in 0..400 {
            let key = key(["a", "b", "c"][number as usize % 3], &format!("{number:03}"));
            rows.push(&key, &[number as u8; 2_000], number, NEVER_MS);
        }
        session.push(fixture.space, 0, &rows).unwrap();
        session.finish().unwrap();
        let now = snapshot(fixture.engine(), fixture.space).unwrap();
        let truth = rows_of(now.engine().as_ref(), fixture.space);
        assert!(truth.len() >= 400);
        if let Some(rows) = copies.at(fixture.space, now.as_ref()) {
            assert_eq!(rows, truth, "{on_existing:?}");
        }
    }
}

/// Puts, deletes, loads and deletions of ranges are all reported.
pub fn every_write_since_a_copy_is_told(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 4);
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let copies = Copies::make(fixture.engine(), fixture.space, taken.as_ref(), 1).unwrap();
    let check = |what: &str| {
        let taken = snapshot(fixture.engine(), fixture.space).unwrap();
        let truth = rows_of(taken.engine().as_ref(), fixture.space);
        assert_eq!(copies.at(fixture.space, taken.as_ref()), Some(truth), "{what}");
    };
    // Each kind of write is judged by the same copies.
    check("nothing");
    fixture.put(&key("a", "01"), b"changed");
    check("a put");
    fixture.put(&key("d", "00"), b"new");
    check("a new row");
    fixture.delete(&key("b", "03"));
    check("a delete");
    fixture.load(OnExisting::Replace, &entries(&[(&key("b", "01"), b"loaded")])).unwrap();
    check("a load");
    let ranges = group_range("c");
    fixture.engine().delete_range(fixture.space, &ranges, Durability::Write).unwrap();
    check("the deletion of a group");
    fixture.put(&key("c", "01"), b"again");
    // After the deletion its rows come again.
    check("a put into what was deleted");
    let everything = Ranges::whole_space();
    fixture.engine().delete_range(fixture.space, &everything, Durability::Write).unwrap();
    check("the deletion of everything");
}

/// The key of a refused write, if it is reported, has the row that it had.
pub fn a_refused_write_may_be_told_and_changes_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    let Some(taken) = snapshot(fixture.engine(), fixture.space) else { return };
    let copies = Copies::make(fixture.engine(), fixture.space, taken.as_ref(), 1).unwrap();
    let refused = fixture.put_if(&key("a", "01"), b"refused", Condition::IfAbsent);
    assert!(refused.version().is_none());
    let now = snapshot(fixture.engine(), fixture.space).unwrap();
    let before = rows_of(taken.engine().as_ref(), fixture.space);
    assert_eq!(copies.at(fixture.space, now.as_ref()), Some(before));
}

/// The newer copy stays until it is untracked.
pub fn a_copy_that_is_older_than_another_is_not_tracked(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    let (engine, space) = (fixture.engine(), fixture.space);
    let Some(older) = snapshot(engine, space) else { return };
    fixture.put(&key("a", "00"), b"between");
    let newer = snapshot(engine, space).unwrap();
    assert!(Copies::make(engine, space, newer.as_ref(), 1).is_some());
    assert!(Copies::make(engine, space, older.as_ref(), 101).is_none(), "a newer copy is there");
    let now = snapshot(engine, space).unwrap();
    let ids: Vec<_> = now.ranges(space).unwrap().into_iter().map(|range| range.id).collect();
    assert!(ids.iter().all(|id| id.is_some_and(|id| id < 101)), "{ids:?}");
    for id in ids {
        engine.untrack(space, id.unwrap()).unwrap();
    }
    let untracked = snapshot(engine, space).unwrap().ranges(space).unwrap();
    assert!(untracked.iter().all(|range| range.id.is_none()));
}

/// Beside a writer each snapshot is either told wholly or not at all.
pub fn copies_beside_writers_stay_right(harness: &mut dyn Harness) {
    const WRITES: usize = 400;
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 5);
    let (engine, space) = (fixture.engine(), fixture.space);
    if snapshot(engine, space).is_none() {
        return;
    }
    let is_over = AtomicBool::new(false);
    // A snapshot may come between two copies: then it is not told.
    let mut told = 0;
    let mut look = |id: u128| {
        let taken = snapshot(engine, space).unwrap();
        let Some(copies) = Copies::make(engine, space, taken.as_ref(), id) else { return };
        for _ in 0..3 {
            let now = snapshot(engine, space).unwrap();
            let truth = rows_of(now.engine().as_ref(), space);
            if let Some(rows) = copies.at(space, now.as_ref()) {
                assert_eq!(rows, truth);
                told += 1;
            }
        }
    };
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            for write in 0..WRITES {
                let mut batch = WriteBatch::new(space);
                let key = key(["a", "b"][write % 2], &format!("{:02}", write % 7));
                match write % 5 {
                    0 => batch.delete(&key, Condition::Always),
                    _ => batch.put(&key, &write.to_le_bytes(), NEVER_MS, Condition::Always),
                }
                engine.write(&batch, Durability::None).unwrap();
            }
            is_over.store(true, Ordering::SeqCst);
        });
        // A writer that panics never says that it is over.
        let mut round = 1;
        while !is_over.load(Ordering::SeqCst) && !writer.is_finished() {
            look(round * 1_000);
            round += 1;
        }
    });
    look(u128::from(u64::MAX));
    assert!(told >= 3, "with nobody writing all is told");
}
