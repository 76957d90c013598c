//! Tracked ranges: a copy with the keys that a snapshot tells is what the snapshot shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Harness;
use super::fixture::{Fixture, entries, group_range, key, kind, scan_at_once};
use crate::header::NEVER_MS;
use crate::{
    Condition, Durability, Engine, ErrorKind, OnExisting, RangeChange, RangeChanges, Ranges,
    ScanOptions, Snapshot, SpaceId, TrackedRange, WriteBatch,
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
pub fn a_snapshot_shows_one_moment_and_refuses_writes(harness: &mut dyn Harness) {
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

/// Puts, deletes, loads and deletions of ranges are all told.
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
    // Behind the deletion its rows come again.
    check("a put into what was deleted");
    let everything = Ranges::whole_space();
    fixture.engine().delete_range(fixture.space, &everything, Durability::Write).unwrap();
    check("the deletion of everything");
}

/// The key of a refused write, if it is told, has the row that it had.
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
