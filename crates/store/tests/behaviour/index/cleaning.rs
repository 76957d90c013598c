//! Stale entries are taken out.

use rstest::rstest;
use tonnage::{BulkPutOptions, IndexRange, OnExisting, Payload, Result, Store, WriteOptions};

use super::{car, cars, plates, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::row;
use crate::common::scripted::scripted;

fn load(store: &Store, count: i64, colour: &str) {
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    let rows: Vec<_> = (0..count).map(|plate| car(plate, colour, 7)).collect();
    store.multi_put([("cars", rows)], &options).unwrap();
}

fn clean(store: &Store) -> Result<u64> {
    store.table("cars").unwrap().index("by_colour").unwrap().clean()
}

#[rstest]
fn cleaning_takes_out_what_is_stale_and_nothing_else(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = cars(on);
    load(&store, 10_000, "red");
    load(&store, 6_000, "blue");
    assert_eq!(
        (stale_entries(&store), clean(&store).unwrap(), stale_entries(&store)),
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
    assert_eq!(clean(&store).unwrap(), 0);
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
    clean(&store).unwrap();
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
            assert_eq!(stale_entries(&other), 0);
            load(&other, 50, "red");
            load(&other, 50, "blue");
            assert_eq!(clean(&other).unwrap(), 51);
            None
        }
        _ => None,
    });
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!(stale_entries(&store), 0);
}
