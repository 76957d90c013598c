//! Secondary indexes.

mod building;
mod checking;
mod cleaning;
mod ddl;
mod element_model;
mod elements;
mod geo;
mod index_only;
mod json;
mod loads;
mod model;
mod places;
mod reads;
mod writes;

use tonnage::{Direction, IndexRange, IndexScanOptions, Row, Store, Value};

use crate::common::{Backend, TestStore, clean_all, row};

/// Cars by number plate, with an index by colour and year.
pub(crate) fn cars(on: Backend) -> TestStore {
    on.with_tables(CARS)
}

pub(crate) const CARS: &str = "
    CREATE TABLE cars (plate LONG, colour STRING, year INTEGER, note STRING, PRIMARY KEY (plate));
    CREATE INDEX by_colour ON cars (colour, year)";

pub(crate) fn car(plate: i64, colour: impl Into<Value>, year: impl Into<Value>) -> Row {
    row! { "plate" => plate, "colour" => colour, "year" => year, "note" => format!("car {plate}") }
}

/// The plates that an index gives, in ascending order.
pub(crate) fn plates(store: &Store, index: &str, range: IndexRange) -> Vec<i64> {
    let mut plates = plates_in_order(store, index, range, Direction::Unordered);
    plates.sort_unstable();
    plates
}

/// The plates in the order in which they come.
pub(crate) fn plates_in_order(
    store: &Store,
    index: &str,
    range: IndexRange,
    direction: Direction,
) -> Vec<i64> {
    let options = IndexScanOptions { direction, ..Default::default() };
    rows(store, index, range, &options).iter().map(plate).collect()
}

pub(crate) fn plate(row: &Row) -> i64 {
    match row.get("plate") {
        Some(Value::Long(plate)) => *plate,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn rows(
    store: &Store,
    index: &str,
    range: IndexRange,
    options: &IndexScanOptions,
) -> Vec<Row> {
    let index = store.table("cars").unwrap().index(index).unwrap();
    let batches = index.scan(&range, options).unwrap().map(|batch| batch.unwrap().rows);
    batches
        .flat_map(|batch| {
            (0..batch.num_rows()).map(move |row| Row::from_batch(&batch, row).unwrap())
        })
        .collect()
}

/// Entries that lead to nothing, as `check` counts them; everything else must be sound.
#[track_caller]
pub(crate) fn stale_entries(store: &Store) -> u64 {
    let report = store.check().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    report.stale_index_entries
}

/// The same after writes, which leave none. On a cluster they leave some, and cleaning leaves none.
#[track_caller]
pub(crate) fn stale_after_writes(store: &Store) -> u64 {
    if store.capability().shared {
        let indexes = store.tables().into_iter().flat_map(|table| table.indexes().unwrap());
        for index in indexes {
            clean_all(store, &index);
        }
    }
    stale_entries(store)
}
