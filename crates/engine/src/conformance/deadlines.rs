//! Deadlines: a call that has no time left says so, and leaves nothing behind.

use std::time::Duration;

use super::Harness;
use super::fixture::{Fixture, forward, group_range, key, kind};
use crate::header::NEVER_MS;
use crate::{
    Condition, Deadline, Durability, ErrorKind, Projection, ReadOptions, Rows, ScanOptions, Slices,
    WriteBatch,
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

/// A scan whose time is over ends; another one goes on from where it stood.
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
