//! Stale entries are taken out.

use std::time::{Duration, Instant};

use rstest::rstest;
use tempfile::TempDir;
use tonnage::{
    BulkPutOptions, Index, IndexRange, OnExisting, Payload, Result, Store, WriteOptions,
};

use super::{CARS, car, cars, plates, stale_after_writes, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::scripted::scripted;
use crate::common::{builder, clean_all, row};

fn load(store: &Store, count: i64, colour: &str) {
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    let rows: Vec<_> = (0..count).map(|plate| car(plate, colour, 7)).collect();
    store.multi_put([("cars", rows)], &options).unwrap();
}

fn by_colour(store: &Store) -> Index {
    store.table("cars").unwrap().index("by_colour").unwrap()
}

fn clean(store: &Store) -> Result<u64> {
    by_colour(store).clean()
}

#[rstest]
fn cleaning_takes_out_what_is_stale_and_nothing_else(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = cars(on);
    load(&store, 10_000, "red");
    load(&store, 6_000, "blue");
    assert_eq!(
        (stale_entries(&store), clean_all(&store, &by_colour(&store)), stale_entries(&store)),
        (6_000, 6_000, 0)
    );
    store.reopen();
    assert_eq!(
        plates(&store, "by_colour", IndexRange::prefix(["red"])),
        (6_000..10_000).collect::<Vec<_>>()
    );
    assert_eq!(
        plates(&store, "by_colour", IndexRange::prefix(["blue"])),
        (0..6_000).collect::<Vec<_>>()
    );
    assert_eq!(clean_all(&store, &by_colour(&store)), 0);
}

#[rstest]
fn rows_written_while_an_index_is_cleaned_stay_in_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    load(&store, 3_000, "red");
    load(&store, 3_000, "blue");
    std::thread::scope(|scope| {
        let store = &store;
        let writing = scope.spawn(move || {
            let table = store.table("cars").unwrap();
            for plate in 0..2_000 {
                // The very entry that was stale becomes true again.
                table.put(&car(plate, "red", 7), &WriteOptions::default()).unwrap();
                if plate % 3 == 0 {
                    table.delete(&row! { "plate" => plate }, &WriteOptions::default()).unwrap();
                }
            }
        });
        while !writing.is_finished() {
            clean(store).unwrap();
        }
        writing.join().unwrap();
    });
    clean_all(&store, &by_colour(&store));
    assert_eq!(stale_entries(&store), 0);
    let red: Vec<i64> = (0..2_000).filter(|plate| plate % 3 != 0).collect();
    assert_eq!(plates(&store, "by_colour", IndexRange::prefix(["red"])), red);
}

/// A load into another table used to hold up the cleaning of all indexes, and to keep single writes
/// from removing entries.
#[rstest]
fn a_load_into_another_table_is_in_nobodys_way(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    store.execute("CREATE TABLE ships (id LONG, year INTEGER, PRIMARY KEY (id)); CREATE INDEX by_year ON ships (year)").unwrap();
    let other = (*store).clone();
    let stream = scripted(move |step| match step {
        0 => Some(
            Payload::Rows {
                table: "ships".into(),
                rows: vec![row! { "id" => 1_i64, "year" => 1990 }],
            }
            .into(),
        ),
        1 => {
            let table = other.table("cars").unwrap();
            for (colour, year) in ["red", "blue"]
                .into_iter()
                .flat_map(|colour| (0..100).map(move |year| (colour, year)))
            {
                table.put(&car(1, colour, year), &WriteOptions::default()).unwrap();
            }
            assert_eq!(stale_after_writes(&other), 0);
            load(&other, 50, "red");
            load(&other, 50, "blue");
            assert_eq!(clean_all(&other, &by_colour(&other)), 51);
            None
        }
        _ => None,
    });
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!(stale_entries(&store), 0);
}

/// A store that cleans its indexes by itself.
fn cleaning_by_itself(on: Backend, directory: &TempDir) -> Store {
    let url = match on {
        Memory => "memory:".to_owned(),
        RocksDb => directory.path().join("store").display().to_string(),
    };
    let store = builder(&url).clean_in_background(true).open().unwrap();
    store.execute(CARS).unwrap();
    store
}

/// Waits until the stale entries are so few.
#[track_caller]
fn wait_for_stale(store: &Store, at_most: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while stale_entries(store) > at_most {
        assert!(Instant::now() < deadline, "{} entries are still stale", stale_entries(store));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Stale entries stayed until a caller asked for their removal.
#[rstest]
fn what_loads_leave_is_cleaned_in_the_background(#[values(Memory, RocksDb)] on: Backend) {
    let directory = tempfile::tempdir().unwrap();
    let store = cleaning_by_itself(on, &directory);
    load(&store, 4_000, "red");
    load(&store, 3_000, "blue");
    wait_for_stale(&store, 0);
    let blue = plates(&store, "by_colour", IndexRange::prefix(["blue"]));
    assert_eq!(blue, (0..3_000).collect::<Vec<_>>());
}

#[rstest]
fn what_writes_beside_a_load_leave_is_cleaned_after_it(#[values(Memory, RocksDb)] on: Backend) {
    let directory = tempfile::tempdir().unwrap();
    let store = cleaning_by_itself(on, &directory);
    let options = BulkPutOptions { flush_interval: None, ..Default::default() };
    let load = store.load(&options).unwrap();
    let stream = load.stream("cars");
    let rows = Payload::Rows { table: "cars".into(), rows: vec![car(9_999, "green", 1)] };
    load.push(stream, rows).unwrap();
    let table = store.table("cars").unwrap();
    while stale_entries(&store) == 0 {
        // Until the load holds the row that was pushed.
        table.put(&car(1, "red", 1), &WriteOptions::default()).unwrap();
        table.put(&car(1, "blue", 2), &WriteOptions::default()).unwrap();
    }
    for year in 0..1_500 {
        table.put(&car(1, "red", year), &WriteOptions::default()).unwrap();
    }
    load.finish().unwrap();
    wait_for_stale(&store, 0);
    assert_eq!(plates(&store, "by_colour", IndexRange::default()), [1, 9_999]);
}

#[rstest]
fn a_store_that_cleans_closes_at_once(#[values(RocksDb)] on: Backend) {
    let directory = tempfile::tempdir().unwrap();
    let store = cleaning_by_itself(on, &directory);
    load(&store, 20_000, "red");
    load(&store, 20_000, "blue");
    drop(store);
    let store = cleaning_by_itself_again(&directory);
    assert_eq!(store.table("cars").unwrap().count().unwrap(), 20_000);
}

fn cleaning_by_itself_again(directory: &TempDir) -> Store {
    let url = directory.path().join("store").display().to_string();
    builder(&url).clean_in_background(true).open().expect("the store was closed")
}
