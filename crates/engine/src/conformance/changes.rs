//! Change counts: a reader that finds an equal count knows that what it has read still holds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Harness;
use super::fixture::{Fixture, entries, group_range, key, scan_at_once, shape};
use crate::header::NEVER_MS;
use crate::{
    Condition, Durability, Engine, LoadOptions, OnExisting, Ranges, Rows, ScanOptions, SpaceId,
    WriteBatch,
};

fn count(fixture: &Fixture<'_>, space: SpaceId) -> Option<u64> {
    fixture.engine().change_count(space).unwrap()
}

/// Every kind of change moves the count, once it can be read; a read moves nothing.
pub fn equal_counts_mean_that_nothing_changed(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let can_tell = count(&fixture, fixture.space).is_some();
    let second = fixture.engine().create_space("second", &shape()).unwrap();
    let changes = |what: &str, change: &dyn Fn()| {
        // Counted twice before the change: the count itself must move nothing.
        let before = count(&fixture, fixture.space);
        assert_eq!(before, count(&fixture, fixture.space), "before {what}");
        change();
        let after = count(&fixture, fixture.space);
        assert_eq!(after.is_some(), can_tell, "after {what}");
        assert_eq!(before != after, can_tell, "{what}: {before:?}, then {after:?}");
    };
    changes("a put", &|| {
        fixture.put(&key("a", "1"), b"one");
    });
    changes("a put over a row", &|| {
        fixture.put(&key("a", "1"), b"two");
    });
    changes("a put on a condition", &|| {
        let version = fixture.version(&key("a", "1")).unwrap();
        let put = fixture.put_if(&key("a", "1"), b"three", Condition::IfVersion(version));
        assert!(put.version().is_some());
    });
    changes("many batches at once", &|| {
        let batches = ["b", "c"].map(|group| {
            let mut batch = WriteBatch::new(fixture.space);
            batch.put(&key(group, "1"), b"many", NEVER_MS, Condition::Always);
            batch
        });
        let outcomes = fixture.engine().write_many(&batches, Durability::Write);
        assert!(outcomes.iter().all(Result::is_ok));
    });
    changes("a small load", &|| {
        fixture.load(OnExisting::Replace, &entries(&[(&key("d", "1"), b"loaded")])).unwrap();
    });
    // 10 MiB under one shard key: enough for files, where small loads go through a log.
    changes("a large load", &|| {
        let large = vec![b'x'; 1 << 20];
        let keys: Vec<Vec<u8>> = (0..10).map(|row| key("e", &row.to_string())).collect();
        let rows: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &large[..])).collect();
        fixture.load(OnExisting::Replace, &entries(&rows)).unwrap();
    });
    changes("a delete", &|| {
        fixture.delete(&key("a", "1"));
    });
    changes("the deletion of a group", &|| {
        let ranges = group_range("e");
        fixture.engine().delete_range(fixture.space, &ranges, Durability::Write).unwrap();
    });
    changes("the deletion of everything", &|| {
        let ranges = Ranges::whole_space();
        fixture.engine().delete_range(fixture.space, &ranges, Durability::Write).unwrap();
    });
    let before = count(&fixture, fixture.space);
    assert_eq!(fixture.all_names(), [""; 0]);
    fixture.settle();
    fixture.engine().sync().unwrap();
    assert_eq!(count(&fixture, fixture.space).is_some(), before.is_some());
    assert_eq!(count(&fixture, second).is_some(), can_tell);
}

/// Beside writers, reads between two equal counts are the same whenever the count is the same.
pub fn what_is_read_between_equal_counts_stays_true_beside_writers(harness: &mut dyn Harness) {
    const WRITES: usize = 60;
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 5);
    let is_over = AtomicBool::new(false);
    let mut known: HashMap<u64, Rows> = HashMap::new();
    let mut look = || {
        let Some(before) = count(&fixture, fixture.space) else { return };
        let options = ScanOptions::default();
        let rows =
            scan_at_once(fixture.engine(), fixture.space, Ranges::whole_space(), options).unwrap();
        // Where the counts differ a write came in between: such a read says nothing.
        if count(&fixture, fixture.space) == Some(before) {
            let first = known.entry(before).or_insert_with(|| rows.clone());
            assert_eq!(*first, rows, "rows changed at count {before}");
        }
    };
    let (engine, space) = (fixture.engine(), fixture.space);
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            (0..WRITES).for_each(|write| change(engine, space, write));
            is_over.store(true, Ordering::SeqCst);
        });
        // A writer that panics never says that it is over: then this loop must end all the same.
        while !is_over.load(Ordering::SeqCst) && !writer.is_finished() {
            look();
        }
    });
    look();
    look();
    let can_tell = count(&fixture, fixture.space).is_some();
    assert_eq!(!known.is_empty(), can_tell, "with nobody writing a count is told");
}

/// One change of the kind that its number says. Between some of them there is time to look.
fn change(engine: &dyn Engine, space: SpaceId, number: usize) {
    let (group, minor) = (["a", "b", "c"][number % 3], (number % 7).to_string());
    let mut batch = WriteBatch::new(space);
    match number % 5 {
        0 => batch.delete(&key(group, &minor), Condition::Always),
        1 => {
            let session = engine.load(LoadOptions::default()).unwrap();
            session.push(space, 0, &entries(&[(&key(group, &minor), b"loaded")])).unwrap();
            session.finish().unwrap();
        }
        2 => engine.delete_range(space, &group_range(group), Durability::None).unwrap(),
        _ => {
            let value = number.to_le_bytes();
            batch.put(&key(group, &minor), &value, NEVER_MS, Condition::Always);
        }
    }
    engine.write(&batch, Durability::None).unwrap();
    if number.is_multiple_of(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
