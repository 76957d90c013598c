//! Loads that find a row under the key of an entry: stored before, loaded twice, or written
//! meanwhile.

use std::sync::Arc;

use super::fixture::{Fixture, entries, group_range, key, kind, load_options};
use super::{Harness, LoadRecorder};
use crate::{
    Clock, Condition, Durability, Entries, Error, ErrorKind, LoadObserver, LoadOptions,
    LoadSession, OnExisting, Ranges, Result, ScanOptions, SpaceId, StoredRun, WriteBatch,
};

const ALL: [OnExisting; 4] =
    [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace, OnExisting::Fail];
const REPLACING: [OnExisting; 2] = [OnExisting::Replace, OnExisting::BlindReplace];

fn open(
    fixture: &Fixture,
    on_existing: OnExisting,
    recorder: &Arc<LoadRecorder>,
) -> Box<dyn LoadSession> {
    fixture.engine().load(load_options(on_existing, recorder)).unwrap()
}

fn push(fixture: &Fixture, session: &dyn LoadSession, stream: u32, key: &[u8], value: &[u8]) {
    push_at(fixture, session, stream, 0, key, value);
}

fn push_at(
    fixture: &Fixture,
    session: &dyn LoadSession,
    stream: u32,
    position: u64,
    key: &[u8],
    value: &[u8],
) {
    let mut batch = Entries::new();
    batch.push(key, value, position, 0);
    session.push(fixture.space, stream, &batch).unwrap();
}

/// Keep: the stored row stays, with its version; the entry is reported.
pub fn keep_leaves_the_stored_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (old, new) = (key("a", "old"), key("a", "new"));
    let version = fixture.put(&old, b"stored");
    let recorder =
        fixture.load(OnExisting::Keep, &entries(&[(&new, b"loaded"), (&old, b"loaded")])).unwrap();
    assert_eq!(recorder.counts(), (1, 0, 1));
    let existed = &recorder.existed()[0];
    assert_eq!(
        (existed.stream, existed.position, existed.space, &existed.key),
        (0, 1, fixture.space, &old)
    );
    assert_eq!(
        (fixture.value(&old).as_deref(), fixture.version(&old)),
        (Some(&b"stored"[..]), Some(version))
    );
    assert_eq!(fixture.value(&new).as_deref(), Some(&b"loaded"[..]));
}

/// Replace: the entry takes the place of the stored row and is counted as replaced; new keys count
/// as inserted.
pub fn replace_stores_over_the_stored_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (old, new) = (key("a", "old"), key("b", "new"));
    fixture.put_until(&old, b"stored", u64::MAX);
    let recorder = fixture
        .load(OnExisting::Replace, &entries(&[(&old, b"loaded"), (&new, b"loaded")]))
        .unwrap();
    assert_eq!(recorder.counts(), (1, 1, 0));
    let rows = fixture.read(&[&old, &new]);
    assert!(rows.values.iter().all(|value| value == b"loaded"));
    assert_eq!(rows.expiries_ms, [0, 0]);
}

/// BlindReplace: every entry takes the place of what is there, and all count as inserted, those that a
/// later one displaced too.
pub fn overwrite_stores_over_the_stored_row_and_tells_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (old, new) = (key("a", "old"), key("b", "new"));
    let version = fixture.put_until(&old, b"stored", u64::MAX);
    let recorder = fixture
        .load(
            OnExisting::BlindReplace,
            &entries(&[(&old, b"1"), (&new, b"1"), (&old, b"2"), (&new, b"2")]),
        )
        .unwrap();
    assert_eq!(recorder.counts(), (4, 0, 0));
    let rows = fixture.read(&[&old, &new]);
    assert!(rows.values.iter().all(|value| value == b"2"));
    assert_eq!(rows.expiries_ms, [0, 0]);
    assert!(fixture.version(&old).unwrap() > version);
}

/// Fail: a stored row stops the load with `Conflict`; it stays as it is, and the load stays
/// stopped.
pub fn fail_stops_at_the_first_stored_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let old = key("a", "old");
    fixture.put(&old, b"stored");
    let recorder = Arc::new(LoadRecorder::default());
    let session = open(&fixture, OnExisting::Fail, &recorder);
    let stopped = session
        .push(fixture.space, 0, &entries(&[(&old, b"loaded")]))
        .and_then(|()| session.flush());
    assert_eq!(kind(stopped), ErrorKind::Conflict);
    assert_eq!(
        kind(session.push(fixture.space, 0, &entries(&[(&key("a", "new"), b"")]))),
        ErrorKind::Conflict
    );
    assert_eq!(kind(session.flush()), ErrorKind::Conflict);
    assert_eq!(kind(session.finish()), ErrorKind::Conflict);
    assert_eq!(recorder.existed().first().map(|existed| existed.key.clone()), Some(old.clone()));
    assert_eq!(fixture.value(&old).as_deref(), Some(&b"stored"[..]));
    assert_eq!(fixture.value(&key("a", "new")), None);
}

/// Fail: a key that comes twice in the load stops it too.
pub fn fail_stops_at_a_key_that_comes_twice(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let twice = key("a", "1");
    let loaded = fixture.load(
        OnExisting::Fail,
        &entries(&[(&twice, b"first"), (&key("a", "2"), b""), (&twice, b"second")]),
    );
    assert_eq!(kind(loaded), ErrorKind::Conflict);
    assert_ne!(fixture.value(&twice).as_deref(), Some(&b"second"[..]));
}

/// A load that has failed stores nothing afterwards: what is deleted then stays deleted.
///
/// The engine of a cluster sends parts of a load side by side. It once answered with the first error
/// while others were on their way, and their rows came back after the space had been emptied.
pub fn a_load_that_failed_stores_nothing_afterwards(harness: &mut dyn Harness) {
    const ROUNDS: usize = 5;
    const GROUPS: usize = 300;
    let fixture = Fixture::new(harness);
    for _ in 0..ROUNDS {
        let keys: Vec<Vec<u8>> =
            (0..GROUPS).map(|group| key(&format!("group {group}"), "1")).collect();
        for key in &keys[..10] {
            fixture.put(key, b"stored");
        }
        let rows: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"loaded"[..])).collect();
        assert_eq!(kind(fixture.load(OnExisting::Fail, &entries(&rows))), ErrorKind::Conflict);
        let all = Ranges::whole_space();
        fixture.engine().delete_range(fixture.space, &all, Durability::Write).unwrap();
        assert_eq!(fixture.all_names(), [""; 0]);
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(fixture.all_names(), [""; 0], "some time later");
    }
}

/// Fail: a load that meets nothing is a load like any other.
pub fn fail_loads_new_rows(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.put(&key("a", "1"), b"");
    let recorder = fixture
        .load(OnExisting::Fail, &entries(&[(&key("a", "2"), b""), (&key("b", "1"), b"")]))
        .unwrap();
    assert_eq!(recorder.counts(), (2, 0, 0));
    assert_eq!(fixture.all_names(), ["a/1", "a/2", "b/1"]);
}

/// Keep: of equal keys in one stream the first is stored, whether they come in one push or several,
/// before a flush or after.
pub fn keep_stores_the_first_of_a_stream(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (one, two) = (key("a", "1"), key("a", "2"));
    let recorder = Arc::new(LoadRecorder::default());
    let session = open(&fixture, OnExisting::Keep, &recorder);
    session
        .push(fixture.space, 0, &entries(&[(&two, b"first"), (&one, b"first"), (&one, b"second")]))
        .unwrap();
    push_at(&fixture, &*session, 0, 3, &two, b"second");
    push_at(&fixture, &*session, 0, 4, &one, b"third");
    session.flush().unwrap();
    push_at(&fixture, &*session, 0, 5, &one, b"fourth");
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (2, 0, 4));
    assert!(fixture.read(&[&one, &two]).values.iter().all(|value| value == b"first"));
}

/// Replace: of equal keys in one stream the last is stored. One of them counts as inserted, the
/// others as replaced.
pub fn replace_stores_the_last_of_a_stream(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (new, old) = (key("a", "new"), key("a", "old"));
    fixture.put(&old, b"stored");
    let recorder = Arc::new(LoadRecorder::default());
    let session = open(&fixture, OnExisting::Replace, &recorder);
    session.push(fixture.space, 0, &entries(&[(&new, b"1"), (&old, b"1"), (&new, b"2")])).unwrap();
    push_at(&fixture, &*session, 0, 3, &old, b"2");
    session.flush().unwrap();
    assert_eq!(recorder.counts(), (1, 3, 0));
    push_at(&fixture, &*session, 0, 4, &new, b"last");
    push_at(&fixture, &*session, 0, 5, &old, b"last");
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (1, 5, 0));
    assert!(fixture.read(&[&new, &old]).values.iter().all(|value| value == b"last"));
}

/// Order within a stream holds however often the session's memory fills up.
pub fn order_within_a_stream_holds_across_full_memory(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for (on_existing, group, winner) in [
        (OnExisting::Keep, "keep", 0u64),
        (OnExisting::Replace, "replace", 19),
        (OnExisting::BlindReplace, "over", 19),
    ] {
        let recorder = Arc::new(LoadRecorder::default());
        // Less than a few rounds take, so that the entries of a key lie in many runs.
        let options =
            LoadOptions { memory_bytes_max: 64 << 10, ..load_options(on_existing, &recorder) };
        let session = fixture.engine().load(options).unwrap();
        for round in 0..20u64 {
            let mut batch = Entries::new();
            (0..500).for_each(|row| {
                batch.push(
                    &key(group, &format!("{row:03}")),
                    &round.to_le_bytes(),
                    round * 500 + row,
                    0,
                )
            });
            session.push(fixture.space, 0, &batch).unwrap();
        }
        session.finish().unwrap();
        let rows = fixture.scan(group_range(group), ScanOptions::default());
        assert_eq!(rows.len(), 500);
        assert!(rows.values.iter().all(|value| value == winner.to_le_bytes()), "{on_existing:?}");
        let (inserted, replaced, existed) = recorder.counts();
        // `BlindReplace` tells no new rows from replaced ones: every entry counts as inserted.
        let told = if on_existing == OnExisting::BlindReplace { (10_000, 0) } else { (500, 9_500) };
        assert_eq!((inserted, replaced + existed), told, "{on_existing:?}");
        assert_eq!(replaced > 0, on_existing == OnExisting::Replace);
    }
}

/// Existing entries of one key and stream are reported in the order of the stream.
pub fn existing_entries_of_a_key_are_told_in_stream_order(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let keys = [key("a", "1"), key("b", "1")];
    let recorder = Arc::new(LoadRecorder::default());
    let session = open(&fixture, OnExisting::Keep, &recorder);
    for position in 0..200 {
        let mut batch = Entries::new();
        batch.push(&keys[position % 2], b"", position as u64, 0);
        session.push(fixture.space, 3, &batch).unwrap();
    }
    session.finish().unwrap();
    for (parity, key) in (0u64..).zip(&keys) {
        let told: Vec<u64> = recorder
            .existed()
            .iter()
            .filter(|entry| entry.key == *key)
            .map(|entry| entry.position)
            .collect();
        assert_eq!(told, (1..100).map(|place| place * 2 + parity).collect::<Vec<_>>());
    }
}

/// Of equal keys in two streams one is stored; the other is reported, each with its own stream.
pub fn of_two_streams_with_one_key_one_wins(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in [OnExisting::Keep, OnExisting::Replace] {
        let key = key(&format!("{on_existing:?}"), "1");
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        push(&fixture, &*session, 1, &key, b"1");
        push(&fixture, &*session, 2, &key, b"2");
        session.finish().unwrap();
        assert_eq!(recorder.inserted(), 1);
        assert_eq!(recorder.replaced() + recorder.existed().len() as u64, 1);
        let value = fixture.value(&key).unwrap();
        if on_existing == OnExisting::Keep {
            let winner = u32::from(value[0] - b'0');
            assert_eq!(recorder.of_stream(winner), (1, 0));
            assert_eq!(recorder.existed()[0].stream, 3 - winner);
        } else {
            let counted = [1, 2]
                .map(|stream| recorder.of_stream(stream))
                .map(|(inserted, replaced)| inserted + replaced);
            assert_eq!(counted, [1, 1]);
        }
    }
}

/// An observer that has seen enough stops the load with its own error.
pub fn the_error_of_an_observer_stops_the_load(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 10);
    let recorder = Arc::new(LoadRecorder::stopping_after(3));
    let session = open(&fixture, OnExisting::Keep, &recorder);
    let mut batch = Entries::new();
    (0..10).for_each(|row| batch.push(&key("a", &format!("{row:02}")), b"", row, 0));
    let stopped = session.push(fixture.space, 0, &batch).and_then(|()| session.flush());
    assert_eq!(stopped.unwrap_err().message(), "the observer has seen enough");
    assert_eq!(kind(session.push(fixture.space, 0, &batch)), ErrorKind::Unavailable);
    assert_eq!(kind(session.finish()), ErrorKind::Unavailable);
}

/// Of a process that may not write any more.
struct HaltedObserver;

impl LoadObserver for HaltedObserver {
    fn stored(&self, run: StoredRun) {
        panic!("{run:?}");
    }

    fn existed(&self, stream: u32, _: u64, _: SpaceId, _: &[u8]) -> Result<()> {
        panic!("an entry of stream {stream}");
    }

    fn check_may_send(&self) -> Result<()> {
        Err(Error::unavailable("others have gone on without this process"))
    }
}

/// Where several processes have a store, one that paused must not continue where it was.
pub fn a_load_that_may_not_go_on_stores_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    if !fixture.engine().capability().shared {
        return;
    }
    for on_existing in ALL {
        let options = LoadOptions {
            on_existing,
            observer: Arc::new(HaltedObserver),
            ..LoadOptions::default()
        };
        let session = fixture.engine().load(options).unwrap();
        let mut batch = Entries::new();
        ["a", "b", "c"].iter().for_each(|group| batch.push(&key(group, "1"), b"", 0, 0));
        let stored = session.push(fixture.space, 0, &batch).and_then(|()| session.flush());
        assert!(stored.unwrap_err().message().contains("without this process"));
        assert_eq!(kind(session.finish()), ErrorKind::Unavailable);
        ["a", "b", "c"].iter().for_each(|group| assert!(fixture.value(&key(group, "1")).is_none()));
    }
}

/// Among rows that were put, replaced and deleted by small writes, a load sees exactly those that
/// exist.
pub fn a_load_sees_the_rows_of_small_writes(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 10);
    for row in 0..5 {
        fixture.delete(&key("a", &format!("{row:02}")));
        fixture.put(&key("b", &format!("{row:02}")), b"replaced");
    }
    let mut batch = Entries::new();
    let keys = ["a", "b", "c", "d"]
        .into_iter()
        .flat_map(|group| (0..10).map(move |row| key(group, &format!("{row:02}"))));
    (0..).zip(keys).for_each(|(position, key)| batch.push(&key, b"loaded", position, 0));
    let recorder = fixture.load(OnExisting::Keep, &batch).unwrap();
    assert_eq!(recorder.counts(), (15, 0, 25));
    assert_eq!(fixture.value(&key("a", "00")).as_deref(), Some(&b"loaded"[..]));
    assert_eq!(fixture.value(&key("b", "00")).as_deref(), Some(&b"replaced"[..]));
    let recorder = fixture.load(OnExisting::Replace, &batch).unwrap();
    assert_eq!(recorder.counts(), (0, 40, 0));
    assert_eq!(fixture.value(&key("b", "00")).as_deref(), Some(&b"loaded"[..]));
}

/// A row that is written after its entry was pushed, and before the load ends, keeps what was
/// written: the entry existed, or was overtaken.
pub fn a_write_after_the_push_is_not_lost(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in ALL {
        let (new, old) =
            (key(&format!("{on_existing:?}"), "new"), key(&format!("{on_existing:?}"), "old"));
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        // For a load that keeps, a row stored before the push just exists: that is another test.
        if REPLACING.contains(&on_existing) {
            fixture.put(&old, b"stored");
            push(&fixture, &*session, 0, &old, b"loaded");
        }
        push(&fixture, &*session, 0, &new, b"loaded");
        let version = fixture.put(&new, b"written");
        fixture.put(&old, b"written");
        let finished = session.finish();
        assert_eq!(fixture.value(&new).as_deref(), Some(&b"written"[..]), "{on_existing:?}");
        assert_eq!(fixture.value(&old).as_deref(), Some(&b"written"[..]), "{on_existing:?}");
        assert!(fixture.version(&new).unwrap() >= version);
        // A load that keeps or fails may store the entry before the write, or meet its row: both
        // orders are sound.
        match on_existing {
            OnExisting::Keep => {
                assert_eq!(recorder.inserted() + recorder.existed().len() as u64, 1)
            }
            OnExisting::Replace | OnExisting::BlindReplace => {
                assert_eq!(
                    (recorder.counts(), recorder.overtaken()),
                    ((0, 0, 0), 2),
                    "{on_existing:?}"
                );
            }
            OnExisting::Fail => assert!(
                finished.is_ok()
                    || finished.is_err_and(|error| error.kind() == ErrorKind::Conflict)
            ),
        }
    }
}

/// An entry replaces what was written before it was pushed, however long the session is open:
/// before the first flush and after.
///
/// The bug's story: everything written since the session was opened won over all of its entries,
/// also over those pushed long after it. A stream that put a row by itself and then yielded a newer
/// one ended with the older.
pub fn an_entry_replaces_what_was_written_before_its_push(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for (on_existing, counts) in
        [(OnExisting::Replace, (1, 2, 0)), (OnExisting::BlindReplace, (3, 0, 0))]
    {
        let (first, second) =
            (key(&format!("{on_existing:?}"), "1"), key(&format!("{on_existing:?}"), "2"));
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        fixture.put(&first, b"A");
        push(&fixture, &*session, 0, &first, b"B");
        push(&fixture, &*session, 0, &second, b"loaded");
        session.flush().unwrap();
        assert_eq!(fixture.value(&first).as_deref(), Some(&b"B"[..]), "{on_existing:?}");
        let version = fixture.put(&second, b"A");
        push_at(&fixture, &*session, 0, 1, &second, b"B");
        session.finish().unwrap();
        assert_eq!(fixture.value(&second).as_deref(), Some(&b"B"[..]), "{on_existing:?}");
        assert!(fixture.version(&second).unwrap() > version);
        assert_eq!((recorder.counts(), recorder.overtaken()), (counts, 0), "{on_existing:?}");
    }
}

/// Of the entries of one key in two streams those that were pushed before a write of others give
/// way to it, and those after do not.
pub fn a_write_between_two_pushes_parts_them(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for (on_existing, streams) in [
        (OnExisting::Replace, [1, 2]),
        (OnExisting::Replace, [2, 1]),
        (OnExisting::BlindReplace, [2, 1]),
    ] {
        let key = key(&format!("{on_existing:?}"), &format!("{streams:?}"));
        let session = open(&fixture, on_existing, &Arc::new(LoadRecorder::default()));
        push(&fixture, &*session, streams[0], &key, b"before");
        fixture.put(&key, b"written");
        push(&fixture, &*session, streams[1], &key, b"after");
        session.finish().unwrap();
        assert_eq!(
            fixture.value(&key).as_deref(),
            Some(&b"after"[..]),
            "{on_existing:?} {streams:?}"
        );
    }
}

/// What another load stored after the push is not lost; what it stored before is replaced. Before
/// the first flush and after.
pub fn a_load_during_the_load_is_not_lost(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in REPLACING {
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        for round in 0..2 {
            let [lost, won] = ["lost", "won"]
                .map(|name| key(&format!("{on_existing:?}"), &format!("{name}{round}")));
            push_at(&fixture, &*session, 0, 2 * round, &lost, b"loaded");
            fixture.load(on_existing, &entries(&[(&lost, b"other"), (&won, b"other")])).unwrap();
            push_at(&fixture, &*session, 0, 2 * round + 1, &won, b"loaded");
            session.flush().unwrap();
            assert_eq!(fixture.value(&lost).as_deref(), Some(&b"other"[..]), "{on_existing:?}");
            assert_eq!(fixture.value(&won).as_deref(), Some(&b"loaded"[..]), "{on_existing:?}");
        }
        session.finish().unwrap();
        assert_eq!(
            (recorder.overtaken(), recorder.inserted() + recorder.replaced()),
            (2, 2),
            "{on_existing:?}"
        );
    }
}

/// A write on a condition is judged without what a load has not stored yet, so the load comes after
/// it: its entry is stored, with a greater version.
///
/// The bug's story: a counter was read and put back on condition of its version while a load
/// brought a new value. The condition held, and the load's value vanished, though it was reported
/// as stored: no order of the two explains that.
pub fn a_load_comes_after_the_conditional_writes_beside_it(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in REPLACING {
        let [changed, made, deleted] =
            ["changed", "made", "deleted"].map(|name| key(&format!("{on_existing:?}"), name));
        let version = fixture.put(&changed, b"stored");
        let deleted_version = fixture.put(&deleted, b"stored");
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        for (position, key) in (0..).zip([&changed, &made, &deleted]) {
            push_at(&fixture, &*session, 0, position, key, b"loaded");
        }
        // After the pushes and before the end: these conditions hold only for who does not see the
        // entries.
        let versions = [
            fixture.put_if(&changed, b"written", Condition::IfVersion(version)).version().unwrap(),
            fixture.put_if(&made, b"written", Condition::IfAbsent).version().unwrap(),
        ];
        let mut batch = WriteBatch::new(fixture.space);
        batch.delete(&deleted, Condition::IfVersion(deleted_version));
        fixture.write(&batch).version().unwrap();
        session.finish().unwrap();
        // Where an engine cannot keep all such writes in mind they overtake, but three must fit.
        assert_eq!(recorder.overtaken(), 0, "{on_existing:?}");
        let rows = fixture.read(&[&changed, &made, &deleted]);
        assert_eq!(rows.len(), 3, "{on_existing:?}");
        assert!(rows.values.iter().all(|value| value == b"loaded"), "{on_existing:?}");
        assert!(
            rows.versions.iter().zip(&versions).all(|(loaded, written)| loaded > written),
            "{on_existing:?}"
        );
    }
}

/// A load that keeps what is there stores on a condition, too: another load that replaces, and was
/// pushed before, comes after it.
pub fn a_load_comes_after_the_keeping_loads_beside_it(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in REPLACING {
        let key = key(&format!("{on_existing:?}"), "1");
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        push(&fixture, &*session, 0, &key, b"replaces");
        assert_eq!(
            fixture.load(OnExisting::Keep, &entries(&[(&key, b"keeps")])).unwrap().counts(),
            (1, 0, 0)
        );
        let kept = fixture.version(&key).unwrap();
        session.finish().unwrap();
        assert_eq!(fixture.value(&key).as_deref(), Some(&b"replaces"[..]), "{on_existing:?}");
        assert!(fixture.version(&key).unwrap() > kept);
        assert_eq!(recorder.overtaken(), 0);
    }
}

/// A write without a condition overtakes an entry though writes on conditions came before it.
pub fn the_last_write_beside_a_load_decides(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in REPLACING {
        let key = key(&format!("{on_existing:?}"), "1");
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        push(&fixture, &*session, 0, &key, b"loaded");
        fixture.put_if(&key, b"first", Condition::IfAbsent).version().unwrap();
        fixture.put(&key, b"second");
        session.finish().unwrap();
        assert_eq!(fixture.value(&key).as_deref(), Some(&b"second"[..]), "{on_existing:?}");
        assert_eq!((recorder.counts(), recorder.overtaken()), ((0, 0, 0), 1), "{on_existing:?}");
    }
}

/// A row that was written after the push is later though it has expired: an older entry does not
/// take its place.
pub fn a_later_row_that_expired_is_later(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace] {
        let key = key(&format!("{on_existing:?}"), "1");
        let recorder = Arc::new(LoadRecorder::default());
        let session = open(&fixture, on_existing, &recorder);
        push(&fixture, &*session, 0, &key, b"loaded");
        let now_ms = fixture.clock.now_ms();
        fixture.put_until(&key, b"written", now_ms + 100);
        fixture.clock.set_ms(now_ms + 100);
        session.finish().unwrap();
        assert_eq!(fixture.value(&key), None, "{on_existing:?}");
        assert_eq!((recorder.inserted(), recorder.replaced()), (0, 0), "{on_existing:?}");
        assert_eq!(recorder.overtaken() + recorder.existed().len() as u64, 1, "{on_existing:?}");
    }
}

/// Small writes that race with the storing of a load of the same keys are never lost, and neither
/// is an entry of the load: it wins over writes on conditions, whichever of the two comes first.
pub fn writes_that_race_with_a_load_are_not_lost(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for on_existing in REPLACING {
        (0..10).for_each(|round| race(&fixture, on_existing, round));
    }
}

fn race(fixture: &Fixture, on_existing: OnExisting, round: u32) {
    const ROWS: usize = 300;
    let keys: Vec<Vec<u8>> = (0..ROWS)
        .map(|row| key(&format!("{on_existing:?}{round}"), &format!("{row:03}")))
        .collect();
    let rows: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"loaded"[..])).collect();
    let recorder = Arc::new(LoadRecorder::default());
    let session = open(fixture, on_existing, &recorder);
    let (engine, space) = (fixture.engine(), fixture.space);
    let write = |key: &Vec<u8>, condition| {
        let mut batch = WriteBatch::new(space);
        batch.put(key, b"written", 0, condition);
        engine.write(&batch, Durability::Write).unwrap();
    };
    session.push(space, 0, &entries(&rows)).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            // The third row of three is left to the load, to tell its own faults from those of the
            // race.
            for pair in keys.chunks_exact(3) {
                write(&pair[0], Condition::Always);
                write(&pair[1], Condition::IfAbsent);
            }
        });
        session.flush().unwrap();
    });
    session.finish().unwrap();
    for (row, key) in keys.iter().enumerate() {
        let expected = if row % 3 == 0 { &b"written"[..] } else { b"loaded" };
        assert_eq!(fixture.value(key).as_deref(), Some(expected), "row {row}");
    }
    let (inserted, replaced, existed) = recorder.counts();
    assert_eq!((inserted + replaced + recorder.overtaken(), existed), (ROWS as u64, 0));
    // Not always a third: an entry that was stored before the write came is not overtaken.
    assert!(recorder.overtaken() <= ROWS as u64 / 3);
}
