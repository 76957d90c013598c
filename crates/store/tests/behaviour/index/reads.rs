//! What an index gives.

use std::sync::atomic::{AtomicBool, Ordering};

use rstest::rstest;
use tonnage::{
    Direction, ErrorKind, FieldRange, IndexRange, IndexScanOptions, Value, WriteOptions,
};

use super::{car, cars, plate, plates, plates_in_order, rows};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};

/// Cars 0 to 99: every third is red, the others are blue or have no colour; years from 2000 to
/// 2009.
fn stocked(on: Backend) -> TestStore {
    let store = cars(on);
    let table = store.table("cars").unwrap();
    for plate in 0..100 {
        let colour =
            [Value::from("red"), Value::from("blue"), Value::Null][plate as usize % 3].clone();
        table
            .put(&car(plate, colour, (2000 + plate * 7 % 10) as i32), &WriteOptions::default())
            .unwrap();
    }
    store
}

#[rstest]
fn a_prefix_gives_the_rows_with_these_values(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let of = |range| plates(&store, "by_colour", range);
    assert_eq!(of(IndexRange::prefix(["red"])), (0..100).step_by(3).collect::<Vec<i64>>());
    assert_eq!(of(IndexRange::prefix([Value::Null])), (2..100).step_by(3).collect::<Vec<i64>>());
    assert_eq!(of(IndexRange::prefix([Value::from("red"), Value::from(2003)])), [9, 39, 69, 99]);
    assert_eq!(of(IndexRange::default()).len(), 100);
    assert!(of(IndexRange::prefix(["re"])).is_empty());
}

#[rstest]
fn a_range_narrows_the_next_column_and_holds_no_null(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let of = |range| plates(&store, "by_colour", range);
    let expected = |wanted: &dyn Fn(i64) -> bool| {
        (0..100).filter(|plate| wanted(*plate)).collect::<Vec<i64>>()
    };
    let year = |plate: i64| 2000 + plate * 7 % 10;
    let late = IndexRange::prefix(["blue"]).within(FieldRange::of("year").after(2003).to(2006));
    assert_eq!(of(late), expected(&|plate| plate % 3 == 1 && (2004..=2006).contains(&year(plate))));
    let coloured = IndexRange::default().within(FieldRange::of("colour"));
    assert_eq!(of(coloured), expected(&|plate| plate % 3 != 2));
    let to_blue = IndexRange::default().within(FieldRange::of("colour").to("blue"));
    assert_eq!(of(to_blue), expected(&|plate| plate % 3 == 1));
    assert!(of(IndexRange::default().within(FieldRange::of("colour").after("red"))).is_empty());
}

#[rstest]
fn rows_come_in_the_order_of_the_index(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let forward =
        plates_in_order(&store, "by_colour", IndexRange::prefix(["red"]), Direction::Forward);
    let mut expected: Vec<i64> = (0..100).step_by(3).collect();
    expected.sort_by_key(|plate| (plate * 7 % 10, *plate));
    assert_eq!(forward, expected);
    let reverse =
        plates_in_order(&store, "by_colour", IndexRange::prefix(["red"]), Direction::Reverse);
    assert!(reverse.iter().eq(forward.iter().rev()));
}

#[rstest]
fn a_limit_holds_for_all_rows_together(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    for direction in [Direction::Unordered, Direction::Forward, Direction::Reverse] {
        for limit in [1, 7, 500] {
            let options = IndexScanOptions {
                direction,
                limit: Some(limit),
                batch_rows_max: 4,
                ..Default::default()
            };
            assert_eq!(
                rows(&store, "by_colour", IndexRange::default(), &options).len(),
                limit.min(100) as usize
            );
        }
    }
    let latest =
        IndexScanOptions { direction: Direction::Reverse, limit: Some(1), ..Default::default() };
    assert_eq!(plate(&rows(&store, "by_colour", IndexRange::prefix(["red"]), &latest)[0]), 87);
}

#[rstest]
fn only_the_columns_asked_for_come(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let options = IndexScanOptions { columns: Some(vec!["note".into()]), ..Default::default() };
    let rows = rows(
        &store,
        "by_colour",
        IndexRange::prefix([Value::from("red"), Value::from(2003)]),
        &options,
    );
    assert!(
        rows.iter().all(|row| row.len() == 1) && rows[0].get("note") == Some(&"car 9".into()),
        "{rows:?}"
    );
}

#[rstest]
fn many_keys_are_asked_for_at_once(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let index = store.table("cars").unwrap().index("by_colour").unwrap();
    let keys = (0..5_000).map(|n| IndexRange::prefix([Value::from("red"), Value::from(2_000 + n)]));
    for direction in [Direction::Unordered, Direction::Forward] {
        let options = IndexScanOptions { direction, ..Default::default() };
        let found: usize = index
            .bulk_get(keys.clone(), &options)
            .unwrap()
            .map(|batch| batch.unwrap().rows.num_rows())
            .sum();
        assert_eq!(found, 34);
    }
}

#[rstest]
fn entries_are_counted_up_to_a_bound(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let index = store.table("cars").unwrap().index("by_colour").unwrap();
    let red = IndexRange::prefix(["red"]);
    assert_eq!(
        (index.count_entries(&red, 10).unwrap(), index.count_entries(&red, 1_000).unwrap()),
        (10, 34)
    );
}

#[rstest]
fn a_request_that_does_not_fit_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let index = store.table("cars").unwrap().index("by_colour").unwrap();
    let refused = |range: IndexRange, options: IndexScanOptions| {
        failure(index.scan(&range, &options).map(drop))
    };
    let three = IndexRange::prefix([Value::from("red"), Value::from(1), Value::from(2)]);
    assert_error(
        refused(three, IndexScanOptions::default()),
        ErrorKind::Invalid,
        &["3 values", "colour, year"],
    );
    let late = IndexRange::default().within(FieldRange::of("year"));
    assert_error(
        refused(late, IndexScanOptions::default()),
        ErrorKind::Invalid,
        &["'year'", "0 values"],
    );
    let text = IndexRange::prefix([Value::from("red"), Value::from("soon")]);
    assert_error(
        refused(text, IndexScanOptions::default()),
        ErrorKind::Invalid,
        &["by_colour", "'year'"],
    );
    let columns = IndexScanOptions { columns: Some(vec!["wheels".into()]), ..Default::default() };
    assert_error(refused(IndexRange::default(), columns), ErrorKind::Invalid, &["wheels"]);
    let none = IndexScanOptions { limit: Some(0), ..Default::default() };
    assert_error(refused(IndexRange::default(), none), ErrorKind::Invalid, &["limit"]);
}

#[rstest]
fn a_child_table_has_indexes_of_its_own(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (k LONG, x LONG, PRIMARY KEY (k)); CREATE TABLE t.c (n LONG, x LONG, PRIMARY KEY (n));
         CREATE INDEX i ON t.c (x); CREATE INDEX i ON t (x)",
    );
    let put =
        |table: &str, row| store.table(table).unwrap().put(&row, &WriteOptions::default()).unwrap();
    for k in 0..5_i64 {
        put("t", crate::common::row! { "k" => k, "x" => k });
        for n in 0..3_i64 {
            put("t.c", crate::common::row! { "k" => k, "n" => n, "x" => k * n });
        }
    }
    let count = |table: &str, x: i64| {
        let index = store.table(table).unwrap().index("i").unwrap();
        let found = index.scan(&IndexRange::prefix([x]), &IndexScanOptions::default()).unwrap();
        found.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>()
    };
    assert_eq!((count("t", 2), count("t.c", 2), count("t.c", 0)), (1, 2, 7));
    store.execute("CREATE INDEX later ON t.c (n)").unwrap();
    assert_eq!(super::stale_entries(&store), 0);
}

/// For each further type an indexed column may be of, values in ascending order.
#[rstest]
#[case("DATE", &[Value::Null, Value::Date(-1), Value::Date(0), Value::Date(19_000)])]
#[case("TIME", &[Value::Null, Value::Time(0), Value::Time(1), Value::Time(86_399_999_999_999)])]
#[case("BINARY(2)", &[Value::Null, vec![0_u8, 0].into(), vec![0_u8, 255].into(), vec![1_u8, 0].into()])]
#[case("ENUM(red, green, blue)", &[Value::Null, "red".into(), "green".into(), "blue".into()])]
#[case("UUID", &[Value::Null, [0_u8; 16].into(), [7_u8; 16].into(), [255_u8; 16].into()])]
fn an_index_orders_each_type_as_its_keys_do(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] column_type: &str,
    #[case] ascending: &[Value],
) {
    let store = on.with_tables(&format!(
        "CREATE TABLE cars (plate LONG, v {column_type}, PRIMARY KEY (plate))"
    ));
    let table = store.table("cars").unwrap();
    let put = |places: &mut dyn Iterator<Item = usize>| {
        for place in places {
            let row = row! { "plate" => place as i64, "v" => ascending[place].clone() };
            table.put(&row, &WriteOptions::default()).unwrap();
        }
    };
    // Some rows are there when the index is created, the others come later.
    put(&mut (0..2));
    store.execute("CREATE INDEX by_v ON cars (v)").unwrap();
    put(&mut (2..4).rev());
    let forward = plates_in_order(&store, "by_v", IndexRange::default(), Direction::Forward);
    assert_eq!(forward, [0, 1, 2, 3]);
    for (place, value) in (0..).zip(ascending) {
        let point = IndexRange::prefix([value.clone()]);
        assert_eq!(plates(&store, "by_v", point), [place]);
    }
    let from_second = FieldRange::of("v").after(ascending[1].clone()).to(ascending[3].clone());
    assert_eq!(plates(&store, "by_v", IndexRange::default().within(from_second)), [2, 3]);
    assert!(store.check().unwrap().is_sound());
}

fn once() -> IndexScanOptions {
    IndexScanOptions { exactly_once: true, ..Default::default() }
}

/// A scan of the index lacked such a row in 40 of 100 rounds.
#[rstest]
fn a_row_that_moves_within_the_range_comes_exactly_once(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let reds = |year: i32| car(0, "red", year);
    let range = || IndexRange::prefix(["red"]).within(FieldRange::of("year").from(1000).to(3000));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let table = store.table("cars").unwrap();
            for round in 0.. {
                let year = if round % 2 == 0 { 1001 } else { 2999 };
                table.put(&reds(year), &WriteOptions::default()).unwrap();
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let found: Vec<_> = (0..100)
            .map(|_| {
                let found = rows(&store, "by_colour", range(), &once());
                (found.len(), found.iter().filter(|row| plate(row) == 0).count())
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(found, vec![(34, 1); 100]);
    });
}

#[rstest]
fn rows_of_ranges_that_overlap_come_once_when_asked_for(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let years = |from: i32, to: i32| {
        IndexRange::prefix(["red"]).within(FieldRange::of("year").from(from).to(to))
    };
    let ranges = [years(2004, 2006), IndexRange::prefix(["blue"]), years(2005, 2009)];
    let index = store.table("cars").unwrap().index("by_colour").unwrap();
    let batches = index.bulk_get(ranges, &once()).unwrap();
    let found: usize = batches.map(|batch| batch.unwrap().rows.num_rows()).sum();
    let year = |plate: i64| 2000 + plate * 7 % 10;
    let is_wanted = |plate: &i64| plate % 3 == 1 || (plate % 3 == 0 && year(*plate) >= 2004);
    assert_eq!(found, (0..100).filter(is_wanted).count());
}

#[rstest]
fn rows_that_come_exactly_once_have_no_order(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let index = store.table("cars").unwrap().index("by_colour").unwrap();
    let options = IndexScanOptions { direction: Direction::Forward, ..once() };
    let refused = failure(index.scan(&IndexRange::prefix(["red"]), &options));
    assert_error(refused, ErrorKind::Invalid, &["exactly_once", "unordered"]);
}
