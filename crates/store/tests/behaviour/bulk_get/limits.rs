//! At most so many rows a key: the latest of each.

use rstest::rstest;
use tonnage::{BulkGetOptions, Direction, FieldRange, Row};

use super::{get, makers, rows};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS, phone};

/// Phones whose price is their number, so that order is plain.
fn store(on: Backend) -> crate::common::TestStore {
    let store = shop::empty(on);
    let phones = MAKERS.iter().flat_map(|maker| (0..50).map(|id| phone(maker, id as i32, id)));
    let images = MAKERS.iter().flat_map(|maker| {
        (0..50).flat_map(|id| [1, 2].map(|n| shop::image(maker, id as i32, id, n)))
    });
    store
        .bulk_put(
            vec![shop::rows_of("phones", phones), shop::rows_of("phones.images", images)],
            &Default::default(),
        )
        .unwrap();
    store
}

fn limited(limit: u64, direction: Direction) -> BulkGetOptions {
    BulkGetOptions { limit_per_key: Some(limit), direction, ..Default::default() }
}

#[rstest]
fn descending_and_one_is_the_latest_of_each_key(#[values(Memory, RocksDb)] on: Backend) {
    let expected: Vec<Row> = MAKERS.iter().map(|maker| phone(maker, 49, 49)).collect();
    assert_eq!(rows(get(&store(on), makers(&MAKERS), &limited(1, Direction::Reverse))), expected);
}

#[rstest]
#[case(Direction::Forward, [0, 1, 2])]
#[case(Direction::Reverse, [49, 48, 47])]
fn the_limit_counts_from_the_end_where_the_read_begins(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] direction: Direction,
    #[case] ids: [i64; 3],
) {
    let expected: Vec<Row> = ["Nokia", "Apple"]
        .iter()
        .flat_map(|maker| ids.map(|id| phone(maker, id as i32, id)))
        .collect();
    assert_eq!(
        rows(get(&store(on), makers(&["Nokia", "Apple"]), &limited(3, direction))),
        expected
    );
}

#[rstest]
fn the_limit_holds_within_a_range(#[values(Memory, RocksDb)] on: Backend) {
    let range = Some(FieldRange::of("price").before(20));
    let options = BulkGetOptions { range, ..limited(2, Direction::Reverse) };
    assert_eq!(
        rows(get(&store(on), makers(&["Nokia"]), &options)),
        [phone("Nokia", 19, 19), phone("Nokia", 18, 18)]
    );
}

#[rstest]
#[case(Direction::Forward, 2, &["phones 0", "phones.images 0/1", "phones.images 0/2", "phones 1", "phones.images 1/1", "phones.images 1/2"])]
#[case(Direction::Reverse, 1, &["phones.images 49/2", "phones.images 49/1", "phones 49"])]
#[case(Direction::Reverse, 2, &["phones.images 49/2", "phones.images 49/1", "phones 49", "phones.images 48/2", "phones.images 48/1", "phones 48"])]
fn children_come_along_without_counting(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] direction: Direction,
    #[case] limit: u64,
    #[case] expected: &[&str],
) {
    let options =
        BulkGetOptions { relatives: vec!["phones.images".into()], ..limited(limit, direction) };
    let found = get(&store(on), makers(&["Nokia"]), &options);
    let names: Vec<String> = found
        .iter()
        .map(|row| {
            let number = row.row.get("image").map_or(String::new(), |image| format!("/{image}"));
            format!("{} {}{number}", row.table, row.row.get("id").unwrap())
        })
        .collect();
    assert_eq!(names, expected);
}
