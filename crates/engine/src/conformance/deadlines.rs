//! Deadlines: a call whose time is over returns `TimedOut` and leaves nothing.

use std::time::Duration;

use super::Harness;
use super::fixture::{Fixture, forward, group_range, key, kind};
use crate::header::NEVER_MS;
use crate::{
    Condition, Deadline, Durability, Entries, ErrorKind, KeyPart, KeyShape, LoadOptions,
    LoadSession, Projection, ReadOptions, Rows, ScanOptions, Slices, WriteBatch,
};

fn batch(fixture: &Fixture<'_>, group: &str) -> WriteBatch {
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key(group, "1"), b"late", NEVER_MS, Condition::Always);
    batch
}

/// A write whose time is over stores nothing.
pub fn a_write_after_its_deadline_stores_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let over = Deadline::after(Duration::ZERO);
    let (engine, late) = (fixture.engine(), batch(&fixture, "a"));
    assert_eq!(kind(engine.write_by(&late, Durability::Write, over)), ErrorKind::TimedOut);
    let outcomes = engine.write_many_by(&[late, batch(&fixture, "b")], Durability::Write, over);
    assert_eq!(outcomes.len(), 2);
    for outcome in outcomes {
        assert_eq!(kind(outcome), ErrorKind::TimedOut);
    }
    assert!(fixture.all_names().is_empty());
}

/// A write within its time is carried out.
pub fn a_write_before_its_deadline_is_carried_out(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let hour = Deadline::after(Duration::from_secs(3_600));
    let written = fixture.engine().write_by(&batch(&fixture, "a"), Durability::Write, hour);
    assert!(written.unwrap().version().is_some());
    assert_eq!(fixture.all_names(), ["a/1"]);
}

/// A read whose time is over finds nothing, and says why.
pub fn a_read_after_its_deadline_times_out(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    let keys: Slices = [&key("a", "00")[..]].into_iter().collect();
    let options = ReadOptions {
        projection: Projection::KeysAndValues,
        keys: 0..1,
        bytes_max: usize::MAX,
        deadline: Deadline::after(Duration::ZERO),
    };
    let mut rows = Rows::new();
    let read = fixture.engine().read_some(fixture.space, &keys, &options, &mut rows);
    assert_eq!(kind(read), ErrorKind::TimedOut);
    assert!(rows.is_empty());
}

/// A scan whose time is over ends; another one continues from its position.
pub fn a_scan_after_its_deadline_can_be_resumed(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 20);
    let options = ScanOptions { batch_rows_max: 5, ..forward() };
    let mut scanner =
        fixture.engine().scan(fixture.space, group_range("a"), options.clone()).unwrap();
    let mut rows = Rows::new();
    assert!(scanner.next_batch(&mut rows).unwrap());
    let given = rows.len();
    let resume = Some(scanner.position().unwrap());
    scanner.set_deadline(Deadline::after(Duration::ZERO));
    assert_eq!(kind(scanner.next_batch(&mut rows)), ErrorKind::TimedOut);
    assert!(rows.is_empty() && !scanner.next_batch(&mut rows).unwrap(), "it is over");
    let options = ScanOptions { resume, ..options };
    assert_eq!(given + fixture.scan(group_range("a"), options).len(), 20);
}

/// A verification whose time is over reports nothing; another one has all its time.
pub fn a_verification_after_its_deadline_gives_no_report(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    assert_eq!(kind(fixture.engine().verify_by(passed_deadline())), ErrorKind::TimedOut);
    let hour = Deadline::after(Duration::from_secs(3_600));
    assert_eq!(fixture.engine().verify_by(hour).unwrap().rows, 3);
}

/// A settling whose time is over says so; background work can be waited for again.
pub fn a_settling_after_its_deadline_may_be_tried_again(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    if !fixture.engine().capability().settle {
        return;
    }
    assert_eq!(kind(fixture.engine().settle_by(passed_deadline())), ErrorKind::TimedOut);
    fixture.engine().settle_by(Deadline::after(Duration::from_secs(3_600))).unwrap();
    assert_eq!(fixture.all_names().len(), 3);
}

fn passed_deadline() -> Deadline {
    Deadline::after(Duration::ZERO)
}

fn entry(group: &str) -> Entries {
    let mut entries = Entries::new();
    entries.push(&key(group, "1"), b"pushed", 0, NEVER_MS);
    entries
}

fn load(fixture: &Fixture<'_>) -> Box<dyn LoadSession> {
    fixture.engine().load(LoadOptions::default()).unwrap()
}

/// A push whose time is over brings nothing, and the load continues.
pub fn a_push_after_its_deadline_takes_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = load(&fixture);
    assert_eq!(
        kind(session.push_by(fixture.space, 0, &entry("a"), passed_deadline())),
        ErrorKind::TimedOut
    );
    assert_eq!(session.pending_bytes(), 0);
    session.push(fixture.space, 0, &entry("b")).unwrap();
    session.finish().unwrap();
    assert_eq!(fixture.all_names(), ["b/1"]);
}

/// A flush whose time is over before it begins stores nothing and loses nothing.
pub fn a_flush_after_its_deadline_may_be_tried_again(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = load(&fixture);
    session.push(fixture.space, 0, &entry("a")).unwrap();
    assert_eq!(kind(session.flush_by(passed_deadline())), ErrorKind::TimedOut);
    assert!(fixture.all_names().is_empty());
    session.flush_by(Deadline::after(Duration::from_secs(3_600))).unwrap();
    assert_eq!(fixture.all_names(), ["a/1"]);
}

/// A load that is out of time at its end is given up.
pub fn a_load_that_ends_after_its_deadline_stores_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = load(&fixture);
    session.push(fixture.space, 0, &entry("a")).unwrap();
    assert_eq!(kind(session.finish_by(passed_deadline())), ErrorKind::TimedOut);
    assert!(fixture.all_names().is_empty());
}

/// A deletion whose time is over before it begins leaves every row, under one shard key and across.
pub fn a_deletion_after_its_deadline_deletes_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    for ranges in [group_range("a"), crate::Ranges::whole_space()] {
        let deleted = fixture.engine().delete_range_by(
            fixture.space,
            &ranges,
            Durability::Write,
            passed_deadline(),
        );
        assert_eq!(kind(deleted), ErrorKind::TimedOut);
    }
    assert_eq!(fixture.all_names(), ["a/00", "a/01"]);
}

/// Spaces come and go in time or not at all.
pub fn a_space_is_neither_made_nor_dropped_after_a_deadline(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let before = fixture.engine().spaces().unwrap();
    let shape = KeyShape::new([KeyPart::Terminated]);
    assert_eq!(
        kind(fixture.engine().create_space_by("late", &shape, passed_deadline())),
        ErrorKind::TimedOut
    );
    assert_eq!(
        kind(fixture.engine().drop_space_by(fixture.space, passed_deadline())),
        ErrorKind::TimedOut
    );
    assert_eq!(fixture.engine().spaces().unwrap(), before);
}
