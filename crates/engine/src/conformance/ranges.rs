//! Deleting whole ranges.

use std::sync::Barrier;

use super::Harness;
use super::fixture::{Fixture, entries, forward, group, group_range, key, reverse, shape};
use crate::{
    Condition, Durability, Entries, LoadOptions, OnExisting, Ranges, ScanOptions, WriteBatch,
    WriteOutcome,
};

fn delete(fixture: &Fixture, ranges: &Ranges) {
    fixture.engine().delete_range(fixture.space, ranges, Durability::Write).unwrap();
}

/// The rows of the ranges are gone, from start to before end; the others stay.
pub fn a_deleted_range_is_gone_and_nothing_else(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 4);
    let mut ranges = group_range("b");
    ranges.push(&key("a", "01"), &key("a", "03"));
    ranges.push(&key("c", "02"), &key("c", "02"));
    ranges.push(&key("c", "03"), &key("c", "01"));
    delete(&fixture, &ranges);
    let left = ["a/00", "a/03", "c/00", "c/01", "c/02", "c/03"];
    assert_eq!(fixture.all_names(), left);
    assert_eq!(fixture.value(&key("b", "02")), None);
    fixture.reopen();
    assert_eq!(fixture.all_names(), left);
}

/// A whole space can be emptied, and filled again.
pub fn a_whole_space_can_be_emptied(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let emptied = fixture.space;
    let neighbour = fixture.engine().create_space("neighbour", &shape()).unwrap();
    fixture.fill(&["a", "b", "c"], 3);
    fixture.space = neighbour;
    fixture.fill(&["n"], 1);
    fixture.space = emptied;
    delete(&fixture, &Ranges::whole_space());
    assert!(fixture.all_names().is_empty());
    fixture.fill(&["b"], 1);
    assert_eq!(fixture.all_names(), ["b/00"]);
    fixture.space = neighbour;
    assert_eq!(fixture.all_names(), ["n/00"]);
}

/// Deleting no ranges, or ranges that hold nothing, succeeds.
pub fn deleting_nothing_succeeds(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 1);
    delete(&fixture, &Ranges::new());
    delete(&fixture, &group_range("b"));
    assert_eq!(fixture.all_names(), ["a/00"]);
}

/// Rows of a deleted range can be written and loaded again at once; a load finds them absent.
pub fn a_deleted_range_can_be_written_again(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 2);
    let mut ranges = Ranges::new();
    ranges.push_prefix(&group("a"));
    ranges.push_prefix(&group("b"));
    delete(&fixture, &ranges);
    fixture.put(&key("a", "00"), b"put again");
    let recorder = fixture
        .load(
            OnExisting::Keep,
            &entries(&[(&key("a", "01"), b"loaded"), (&key("b", "00"), b"loaded")]),
        )
        .unwrap();
    assert_eq!(recorder.counts(), (2, 0, 0));
    assert_eq!(fixture.all_names(), ["a/00", "a/01", "b/00"]);
    assert_eq!(fixture.value(&key("b", "00")).as_deref(), Some(&b"loaded"[..]));
}

/// Rows that a load stored are deleted by range as others are.
pub fn loaded_rows_are_deleted_by_range(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture
        .load(OnExisting::Keep, &entries(&[(&key("a", "1"), b""), (&key("b", "1"), b"")]))
        .unwrap();
    delete(&fixture, &group_range("a"));
    assert_eq!(fixture.all_names(), ["b/1"]);
}

/// A row that comes after its range was deleted is there for reads, and for scans of the range and
/// of the whole space in every direction. Nodes of a cluster failed to list partitions with such a
/// row as soon as it was in a file, which dropping any table brings about: no scan backwards found
/// any row.
pub fn a_row_put_into_a_deleted_range_is_found_every_way(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let neighbour = fixture.engine().create_space("neighbour", &shape()).unwrap();
    let (loaded, put) = (key("loaded", ""), key("put", ""));
    ["loaded", "put"].iter().for_each(|name| delete(&fixture, &group_range(name)));
    fixture.load(OnExisting::Keep, &entries(&[(&loaded, b"")])).unwrap();
    fixture.put(&put, b"");
    let check = || {
        assert_eq!(fixture.read(&[&loaded, &put]).len(), 2);
        for options in [ScanOptions::default(), forward(), reverse()] {
            assert_eq!(fixture.names(group_range("loaded"), options.clone()), ["loaded/"]);
            let mut names = fixture.names(Ranges::whole_space(), options);
            names.sort();
            assert_eq!(names, ["loaded/", "put/"]);
        }
    };
    check();
    fixture.engine().drop_space(neighbour).unwrap();
    check();
}

/// The row at the excluded end of a range stays, also where a file of a load ends with it. An
/// engine that drops whole files lost that row: it took the last key of the range for its end.
pub fn a_loaded_row_at_the_end_of_a_range_stays(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    for (number, last) in [key("z", "last"), key("z", "last\0"), group("z")].into_iter().enumerate()
    {
        fixture.space =
            fixture.engine().create_space(&format!("space {number}"), &shape()).unwrap();
        let session = fixture
            .engine()
            .load(LoadOptions { memory_bytes_max: 64 << 10, ..LoadOptions::default() })
            .unwrap();
        let mut rows = Entries::new();
        (0..400).for_each(|row| rows.push(&key(&format!("g{row:03}"), "1"), &[7; 400], row, 0));
        rows.push(&last, b"at the end", 400, 0);
        session.push(fixture.space, 0, &rows).unwrap();
        session.finish().unwrap();
        let mut ranges = Ranges::new();
        // Without a total order no range may cross shard keys, so each group has its own.
        if fixture.engine().capability().total_order {
            ranges.push(&[], &last);
        } else {
            (0..400).for_each(|row| ranges.push_prefix(&group(&format!("g{row:03}"))));
        }
        delete(&fixture, &ranges);
        assert_eq!(fixture.all_names().len(), 1, "the rows before the end are gone");
        assert_eq!(fixture.value(&last).as_deref(), Some(&b"at the end"[..]));
    }
}

/// A condition that holds for a row which is deleted meanwhile: the write comes first, and what it
/// stored is deleted, or the deletion comes first, and the write is refused. An engine judged the
/// condition, let the deletion pass, and stored the row.
pub fn a_deletion_and_a_conditional_write_take_turns(harness: &mut dyn Harness) {
    const ROUNDS: usize = 40;
    let fixture = Fixture::new(harness);
    let (engine, space) = (fixture.engine(), fixture.space);
    let others = 1_000.min(engine.capability().batch_operations_max - 1);
    for round in 0..ROUNDS {
        let version = fixture.put(&key("a", "0"), b"to be deleted");
        let mut batch = WriteBatch::new(space);
        batch.put(&key("a", "0"), b"stored again", 0, Condition::IfVersion(version));
        // Judging all of these takes a while, in which the deletion arrives.
        (0..others)
            .for_each(|row| batch.put(&key("a", &format!("1{row}")), b"", 0, Condition::IfAbsent));
        let together = Barrier::new(2);
        let outcome = std::thread::scope(|threads| {
            let writer = threads.spawn(|| {
                together.wait();
                engine.write(&batch, Durability::Write).unwrap()
            });
            together.wait();
            // Now and then a little later, so that the deletion comes at any time during the write.
            (0..round * 2_000).for_each(|step| _ = std::hint::black_box(step));
            engine.delete_range(space, &group_range("a"), Durability::Write).unwrap();
            writer.join().unwrap()
        });
        let is_first = matches!(outcome, WriteOutcome::Applied { .. });
        assert_eq!(
            fixture.all_names().len(),
            0,
            "round {round}: rows are left; the write came first: {is_first}"
        );
    }
}
