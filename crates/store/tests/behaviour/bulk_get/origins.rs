//! Which key each row answers.

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use rstest::rstest;
use std::sync::Arc;
use tonnage::{BulkGetOptions, Direction, KeyOrigin, KeySource, Value, arrow};

use super::get;
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS, price_of};

const ANY: [Direction; 3] = [Direction::Unordered, Direction::Forward, Direction::Reverse];

fn traced(direction: Direction) -> BulkGetOptions {
    BulkGetOptions { direction, origins: true, ..Default::default() }
}

fn origin(source: u32, position: u64) -> Option<KeyOrigin> {
    Some(KeyOrigin { source, position })
}

#[rstest]
fn rows_of_partial_keys_name_the_place_of_their_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 5);
    for direction in ANY {
        let found = get(&store, super::makers(&["Nokia", "nobody", "Apple"]), &traced(direction));
        assert_eq!(found.len(), 10);
        for row in found {
            let of = if row.row.get("maker") == Some(&"Nokia".into()) { 0 } else { 2 };
            assert_eq!(row.origin, origin(0, of));
        }
    }
}

#[rstest]
fn a_whole_key_that_is_asked_twice_is_answered_twice(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let whole = |maker: &str| vec![Value::from(maker), price_of(0).into(), Value::Long(0)];
    let keys = || KeySource::keys([whole("Nokia"), whole("Apple"), whole("Nokia")]);
    for direction in ANY {
        let mut found: Vec<_> = get(&store, keys(), &traced(direction))
            .into_iter()
            .map(|row| (row.origin.unwrap().position, row.row.get("maker").cloned().unwrap()))
            .collect();
        found.sort_by_key(|(position, _)| *position);
        assert_eq!(found, [(0, "Nokia".into()), (1, "Apple".into()), (2, "Nokia".into())]);
    }
}

#[rstest]
fn without_being_asked_rows_name_no_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let found = get(&store, super::makers(&MAKERS), &BulkGetOptions::default());
    assert!(found.len() == 4 && found.iter().all(|row| row.origin.is_none()));
}

#[rstest]
fn keys_of_several_sources_name_source_and_place(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let batch = |makers: Vec<&str>| {
        let column: ArrayRef = Arc::new(StringArray::from(makers));
        RecordBatch::try_from_iter([("maker", column)]).unwrap()
    };
    for direction in ANY {
        let sources = KeySource::side_by_side([
            super::makers(&["nobody", "Nokia"]),
            KeySource::from(vec![batch(vec!["Apple"]), batch(vec!["nobody", "Samsung"])]),
        ]);
        let found = get(&store, sources, &traced(direction));
        assert_eq!(found.len(), 9);
        for row in found {
            let expected = match row.row.get("maker").unwrap() {
                Value::String(maker) if &**maker == "Nokia" => origin(0, 1),
                Value::String(maker) if &**maker == "Apple" => origin(1, 0),
                _ => origin(1, 2),
            };
            assert_eq!(row.origin, expected, "{:?}", row.row);
        }
    }
}

#[rstest]
fn children_name_the_key_of_their_parent(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 4);
    let options = BulkGetOptions {
        relatives: vec!["phones.images".into()],
        batch_rows_max: 3,
        ..traced(Direction::Unordered)
    };
    let found = get(&store, super::makers(&["Samsung", "Apple"]), &options);
    assert!(found.iter().any(|row| &*row.table == "phones.images"));
    for row in found {
        let of = if row.row.get("maker") == Some(&"Samsung".into()) { 0 } else { 1 };
        assert_eq!(row.origin, origin(0, of), "{:?}", row.row);
    }
}
