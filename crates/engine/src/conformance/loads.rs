//! Load sessions store, report and keep what is pushed.

use std::sync::Arc;

use super::fixture::{Fixture, entries, forward, group_range, key, load_options, shape};
use super::{Harness, LoadRecorder};
use crate::{Durability, Entries, LoadOptions, OnExisting, Ranges, ScanOptions};

/// A key among many: rows of one load spread over a hundred groups.
fn nth_key(row: usize) -> Vec<u8> {
    key(&format!("g{:02}", row % 100), &format!("{row:08}"))
}

/// Entries for the rows of a range, at the positions of their rows.
fn nth_entries(rows: std::ops::Range<usize>, value: &[u8]) -> Entries {
    let mut entries = Entries::new();
    rows.for_each(|row| entries.push(&nth_key(row), value, row as u64, 0));
    entries
}

fn count(fixture: &Fixture) -> usize {
    fixture.scan(Ranges::whole_space(), ScanOptions::default()).len()
}

/// When `flush` returns, what was pushed can be read and is reported; the session continues.
pub fn a_flush_makes_rows_visible_and_reports_them(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let recorder = Arc::new(LoadRecorder::default());
    let session = fixture.engine().load(load_options(OnExisting::Keep, &recorder)).unwrap();
    for (round, group) in (1..).zip(["b", "a", "c"]) {
        session.push(fixture.space, 0, &entries(&[(&key(group, "1"), b"value")])).unwrap();
        session.flush().unwrap();
        assert_eq!(recorder.counts(), (round, 0, 0));
        assert_eq!(fixture.value(&key(group, "1")).as_deref(), Some(&b"value"[..]));
    }
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (3, 0, 0));
    assert_eq!(fixture.all_names(), ["a/1", "b/1", "c/1"]);
}

/// A load, and a flush, of nothing succeed.
pub fn a_load_of_nothing_succeeds(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let recorder = Arc::new(LoadRecorder::default());
    let session = fixture.engine().load(load_options(OnExisting::Fail, &recorder)).unwrap();
    session.push(fixture.space, 0, &Entries::new()).unwrap();
    session.flush().unwrap();
    session.flush().unwrap();
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (0, 0, 0));
}

/// What a push brings is copied: the caller may use its batch anew at once.
pub fn a_push_copies_its_entries(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    let mut batch = Entries::new();
    for row in 0..100 {
        batch.clear();
        batch.push(&nth_key(row), &row.to_le_bytes(), row as u64, 0);
        session.push(fixture.space, 0, &batch).unwrap();
    }
    session.finish().unwrap();
    assert!(
        (0..100).all(|row| fixture.value(&nth_key(row)).as_deref() == Some(&row.to_le_bytes()[..]))
    );
}

/// A session that is dropped keeps what it flushed, and harms nothing that comes after it.
pub fn a_dropped_session_keeps_what_it_flushed(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    session.push(fixture.space, 0, &entries(&[(&key("a", "flushed"), b"")])).unwrap();
    session.flush().unwrap();
    session.push(fixture.space, 0, &entries(&[(&key("a", "pushed"), b"")])).unwrap();
    drop(session);
    assert!(fixture.value(&key("a", "flushed")).is_some());
    fixture.load(OnExisting::Keep, &entries(&[(&key("a", "later"), b"")])).unwrap();
    assert!(fixture.value(&key("a", "later")).is_some());
}

/// `pending_bytes` says what was pushed since the last flush.
pub fn pending_bytes_are_those_since_the_last_flush(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    let batch = nth_entries(0..10, b"value");
    assert_eq!(session.pending_bytes(), 0);
    session.push(fixture.space, 0, &batch).unwrap();
    assert_eq!(session.pending_bytes(), batch.bytes() as u64);
    session.flush().unwrap();
    assert_eq!(session.pending_bytes(), 0);
    session.finish().unwrap();
}

/// Each stream is counted by itself, and the bytes stored are those of its keys and values.
pub fn each_stream_is_counted_by_itself(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let recorder = Arc::new(LoadRecorder::default());
    let session = fixture.engine().load(load_options(OnExisting::Keep, &recorder)).unwrap();
    let (first, second) = (nth_entries(0..70, b"first"), nth_entries(70..100, b"second"));
    session.push(fixture.space, 5, &first).unwrap();
    session.push(fixture.space, 1_000_000, &second).unwrap();
    session.finish().unwrap();
    assert_eq!(recorder.of_stream(5), (70, 0));
    assert_eq!(recorder.of_stream(1_000_000), (30, 0));
    assert_eq!(recorder.bytes(), (first.bytes() + second.bytes()) as u64);
}

/// Several threads push at once; every entry is stored and reported once.
pub fn several_threads_push_at_once(harness: &mut dyn Harness) {
    const PUSHES: usize = 40;
    let fixture = Fixture::new(harness);
    let recorder = Arc::new(LoadRecorder::default());
    let options =
        LoadOptions { memory_bytes_max: 1 << 20, ..load_options(OnExisting::Keep, &recorder) };
    let session = fixture.engine().load(options).unwrap();
    std::thread::scope(|threads| {
        for stream in 0..4 {
            let (session, space) = (&session, fixture.space);
            threads.spawn(move || {
                for push in (0..PUSHES).map(|push| (push * 4 + stream) * 250) {
                    session
                        .push(space, stream as u32, &nth_entries(push..push + 250, b"value"))
                        .unwrap();
                }
            });
        }
    });
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (40_000, 0, 0));
    assert!((0..4).all(|stream| recorder.of_stream(stream) == (10_000, 0)));
    assert_eq!(count(&fixture), 40_000);
}

/// One session loads several spaces; the same key in two of them is two rows.
pub fn one_session_loads_several_spaces(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let second = fixture.engine().create_space("second", &shape()).unwrap();
    let recorder = Arc::new(LoadRecorder::default());
    let session = fixture.engine().load(load_options(OnExisting::Fail, &recorder)).unwrap();
    for start in [0, 100] {
        session.push(fixture.space, 0, &nth_entries(start..start + 100, b"first")).unwrap();
        session.push(second, 0, &nth_entries(start..start + 50, b"second")).unwrap();
    }
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (300, 0, 0));
    assert_eq!(count(&fixture), 200);
    assert_eq!(fixture.value(&nth_key(0)).as_deref(), Some(&b"first"[..]));
    fixture.space = second;
    assert_eq!(count(&fixture), 100);
    assert_eq!(fixture.value(&nth_key(0)).as_deref(), Some(&b"second"[..]));
}

/// Twenty thousand rows pass through 64 KiB of memory, one of them larger than all of that.
pub fn a_small_memory_limit_holds_any_load(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let recorder = Arc::new(LoadRecorder::default());
    let options =
        LoadOptions { memory_bytes_max: 64 << 10, ..load_options(OnExisting::Keep, &recorder) };
    let session = fixture.engine().load(options).unwrap();
    let giant = vec![b'g'; 300 << 10];
    for start in (0..20_000).step_by(1_000) {
        session
            .push(fixture.space, 0, &nth_entries(start..start + 1_000, b"value of a row"))
            .unwrap();
        if start == 7_000 {
            session.push(fixture.space, 1, &entries(&[(&key("giant", "1"), &giant)])).unwrap();
        }
    }
    session.finish().unwrap();
    assert_eq!(recorder.counts(), (20_001, 0, 0));
    assert_eq!(count(&fixture), 20_001);
    assert_eq!(fixture.value(&key("giant", "1")), Some(giant));
    assert_eq!(fixture.value(&nth_key(19_999)).as_deref(), Some(&b"value of a row"[..]));
}

/// Rows come in in any order and go out in key order.
pub fn rows_pushed_in_any_order_are_stored_in_key_order(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture
        .engine()
        .load(LoadOptions { memory_bytes_max: 64 << 10, ..LoadOptions::default() })
        .unwrap();
    let minors: Vec<String> = (0..2_000).map(|row| format!("{:04}", row * 7_919 % 2_000)).collect();
    for chunk in minors.chunks(300) {
        let keys: Vec<Vec<u8>> = chunk.iter().map(|minor| key("a", minor)).collect();
        let rows: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
        session.push(fixture.space, 0, &entries(&rows)).unwrap();
    }
    session.finish().unwrap();
    let expected: Vec<String> = (0..2_000).map(|row| format!("a/{row:04}")).collect();
    assert_eq!(fixture.names(group_range("a"), forward()), expected);
}

/// Two sessions at once store their rows side by side.
pub fn two_sessions_load_side_by_side(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let recorders = [Arc::new(LoadRecorder::default()), Arc::new(LoadRecorder::default())];
    let sessions = recorders
        .each_ref()
        .map(|recorder| fixture.engine().load(load_options(OnExisting::Keep, recorder)).unwrap());
    for start in (0..1_000).step_by(100) {
        sessions[start / 100 % 2]
            .push(fixture.space, 0, &nth_entries(start..start + 100, b""))
            .unwrap();
    }
    sessions.into_iter().for_each(|session| session.finish().unwrap());
    assert_eq!(recorders.map(|recorder| recorder.counts()), [(500, 0, 0), (500, 0, 0)]);
    assert_eq!(count(&fixture), 1_000);
}

/// Every durability can be asked for, and what was loaded with it is there when the store is opened
/// anew.
pub fn loaded_rows_are_the_same_after_reopen(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    for (durability, start) in
        [(Durability::Write, 0), (Durability::Fsync, 500), (Durability::None, 1_000)]
    {
        let session =
            fixture.engine().load(LoadOptions { durability, ..LoadOptions::default() }).unwrap();
        session.push(fixture.space, 0, &nth_entries(start..start + 500, b"value")).unwrap();
        session.finish().unwrap();
    }
    fixture.engine().sync().unwrap();
    let before = fixture.read(&[&nth_key(3), &nth_key(503), &nth_key(1_003)]);
    fixture.reopen();
    assert_eq!(fixture.read(&[&nth_key(3), &nth_key(503), &nth_key(1_003)]), before);
    assert_eq!((before.len(), count(&fixture)), (3, 1_500));
}

/// A second load of the same rows finds each of them existing, at its position.
pub fn a_second_load_of_the_same_rows_finds_all_existing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let batch = nth_entries(0..1_000, b"value");
    assert_eq!(fixture.load(OnExisting::Keep, &batch).unwrap().counts(), (1_000, 0, 0));
    let again = fixture.load(OnExisting::Keep, &batch).unwrap();
    assert_eq!(again.counts(), (0, 0, 1_000));
    let mut existed = again.existed();
    existed.sort_by_key(|entry| entry.position);
    assert!(
        (0..1_000)
            .all(|row| existed[row].key == nth_key(row) && existed[row].position == row as u64)
    );
    assert!(existed.iter().all(|entry| entry.stream == 0 && entry.space == fixture.space));
    assert_eq!(count(&fixture), 1_000);
}

/// A load borrows nothing of the engine, and is finished when the engine is gone.
pub fn a_load_outlives_its_engine(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let recorder = Arc::new(LoadRecorder::default());
    let session = fixture.engine().load(load_options(OnExisting::Keep, &recorder)).unwrap();
    session.push(fixture.space, 0, &entries(&[(&key("a", "1"), b"before")])).unwrap();
    fixture.drop_engine();
    session.push(fixture.space, 0, &nth_entries(1..3, b"after")).unwrap();
    session.finish().unwrap();
    assert_eq!(recorder.inserted(), 3);
}
