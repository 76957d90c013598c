//! Deleting whole ranges.

use std::sync::Barrier;

use super::Harness;
use super::ground::{Ground, entries, group, group_range, key, shape};
use crate::{
    Condition, Durability, Entries, LoadOptions, OnExisting, Ranges, WriteBatch, WriteOutcome,
};

fn delete(ground: &Ground, ranges: &Ranges) {
    ground.engine().delete_range(ground.space, ranges, Durability::Write).unwrap();
}

/// The rows of the ranges are gone, from start to before end; the others stay.
pub fn a_deleted_range_is_gone_and_nothing_else(harness: &mut dyn Harness) {
    let mut ground = Ground::new(harness);
    ground.fill(&["a", "b", "c"], 4);
    let mut ranges = group_range("b");
    ranges.push(&key("a", "01"), &key("a", "03"));
    ranges.push(&key("c", "02"), &key("c", "02"));
    ranges.push(&key("c", "03"), &key("c", "01"));
    delete(&ground, &ranges);
    let left = ["a/00", "a/03", "c/00", "c/01", "c/02", "c/03"];
    assert_eq!(ground.all_names(), left);
    assert_eq!(ground.value(&key("b", "02")), None);
    ground.reopen();
    assert_eq!(ground.all_names(), left);
}

/// A whole space can be emptied, and filled again.
pub fn a_whole_space_can_be_emptied(harness: &mut dyn Harness) {
    let mut ground = Ground::new(harness);
    let emptied = ground.space;
    let neighbour = ground.engine().create_space("neighbour", &shape()).unwrap();
    ground.fill(&["a", "b", "c"], 3);
    ground.space = neighbour;
    ground.fill(&["n"], 1);
    ground.space = emptied;
    delete(&ground, &Ranges::whole_space());
    assert!(ground.all_names().is_empty());
    ground.fill(&["b"], 1);
    assert_eq!(ground.all_names(), ["b/00"]);
    ground.space = neighbour;
    assert_eq!(ground.all_names(), ["n/00"]);
}

/// Deleting no ranges, or ranges that hold nothing, succeeds.
pub fn deleting_nothing_succeeds(harness: &mut dyn Harness) {
    let ground = Ground::new(harness);
    ground.fill(&["a"], 1);
    delete(&ground, &Ranges::new());
    delete(&ground, &group_range("b"));
    assert_eq!(ground.all_names(), ["a/00"]);
}

/// Rows of a deleted range can be written and loaded again at once; a load finds them absent.
pub fn a_deleted_range_can_be_written_again(harness: &mut dyn Harness) {
    let ground = Ground::new(harness);
    ground.fill(&["a", "b"], 2);
    let mut ranges = Ranges::new();
    ranges.push_prefix(&group("a"));
    ranges.push_prefix(&group("b"));
    delete(&ground, &ranges);
    ground.put(&key("a", "00"), b"put again");
    let recorder = ground
        .load(
            OnExisting::Keep,
            &entries(&[(&key("a", "01"), b"loaded"), (&key("b", "00"), b"loaded")]),
        )
        .unwrap();
    assert_eq!(recorder.counts(), (2, 0, 0));
    assert_eq!(ground.all_names(), ["a/00", "a/01", "b/00"]);
    assert_eq!(ground.value(&key("b", "00")).as_deref(), Some(&b"loaded"[..]));
}

/// Rows that a load stored are deleted by range as others are.
pub fn loaded_rows_are_deleted_by_range(harness: &mut dyn Harness) {
    let ground = Ground::new(harness);
    ground
        .load(OnExisting::Keep, &entries(&[(&key("a", "1"), b""), (&key("b", "1"), b"")]))
        .unwrap();
    delete(&ground, &group_range("a"));
    assert_eq!(ground.all_names(), ["b/1"]);
}

/// The row at the excluded end of a range stays, also where a file of a load ends with it. An
/// engine that drops whole files lost that row: it took the last key of the range for its end.
pub fn a_loaded_row_at_the_end_of_a_range_stays(harness: &mut dyn Harness) {
    let mut ground = Ground::new(harness);
    for (number, last) in [key("z", "last"), key("z", "last\0"), group("z")].into_iter().enumerate()
    {
        ground.space = ground.engine().create_space(&format!("space {number}"), &shape()).unwrap();
        let session = ground
            .engine()
            .load(LoadOptions { memory_bytes_max: 64 << 10, ..LoadOptions::default() })
            .unwrap();
        let mut rows = Entries::new();
        (0..400).for_each(|row| rows.push(&key(&format!("g{row:03}"), "1"), &[7; 400], row, 0));
        rows.push(&last, b"at the end", 400, 0);
        session.push(ground.space, 0, &rows).unwrap();
        session.finish().unwrap();
        let mut ranges = Ranges::new();
        if ground.engine().capability().total_order {
            ranges.push(&[], &last);
        } else {
            (0..400).for_each(|row| ranges.push_prefix(&group(&format!("g{row:03}"))));
        }
        delete(&ground, &ranges);
        assert_eq!(ground.all_names().len(), 1, "the rows before the end are gone");
        assert_eq!(ground.value(&last).as_deref(), Some(&b"at the end"[..]));
    }
}

/// A condition that holds for a row which is deleted meanwhile: the write comes first, and what it
/// stored is deleted, or the deletion comes first, and the write is refused. An engine judged the
/// condition, let the deletion pass, and stored the row.
pub fn a_deletion_and_a_conditional_write_take_turns(harness: &mut dyn Harness) {
    const ROUNDS: usize = 40;
    let ground = Ground::new(harness);
    let (engine, space) = (ground.engine(), ground.space);
    for round in 0..ROUNDS {
        let version = ground.put(&key("a", "0"), b"to be deleted");
        let mut batch = WriteBatch::new(space);
        batch.put(&key("a", "0"), b"stored again", 0, Condition::IfVersion(version));
        // Judging all of these takes a while, in which the deletion arrives.
        (0..1_000)
            .for_each(|row| batch.put(&key("a", &format!("1{row}")), b"", 0, Condition::IfAbsent));
        let together = Barrier::new(2);
        let outcome = std::thread::scope(|threads| {
            let writer = threads.spawn(|| {
                together.wait();
                engine.write(&batch, Durability::Write).unwrap()
            });
            together.wait();
            // Now and then a little later, so that the deletion comes at any moment of the write.
            (0..round * 2_000).for_each(|step| _ = std::hint::black_box(step));
            engine.delete_range(space, &group_range("a"), Durability::Write).unwrap();
            writer.join().unwrap()
        });
        let is_first = matches!(outcome, WriteOutcome::Applied { .. });
        assert_eq!(
            ground.all_names().len(),
            0,
            "round {round}: rows are left; the write came first: {is_first}"
        );
    }
}
