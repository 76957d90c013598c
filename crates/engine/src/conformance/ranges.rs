//! Deleting whole ranges.

use super::Harness;
use super::ground::{Ground, entries, group, group_range, key, shape};
use crate::{Durability, OnExisting, Ranges};

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
    let recorder =
        ground.load(OnExisting::Keep, &entries(&[(&key("a", "01"), b"loaded"), (&key("b", "00"), b"loaded")])).unwrap();
    assert_eq!(recorder.counts(), (2, 0, 0));
    assert_eq!(ground.all_names(), ["a/00", "a/01", "b/00"]);
    assert_eq!(ground.value(&key("b", "00")).as_deref(), Some(&b"loaded"[..]));
}

/// Rows that a load stored are deleted by range as others are.
pub fn loaded_rows_are_deleted_by_range(harness: &mut dyn Harness) {
    let ground = Ground::new(harness);
    ground.load(OnExisting::Keep, &entries(&[(&key("a", "1"), b""), (&key("b", "1"), b"")])).unwrap();
    delete(&ground, &group_range("a"));
    assert_eq!(ground.all_names(), ["b/1"]);
}
