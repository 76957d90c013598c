//! Loads keep indexes up.

use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{Int32Array, Int64Array, RecordBatch, StringArray};
use tonnage::{
    BulkPutOptions, EntryBatch, EntryStream, IndexRange, OnExisting, Result, Store, WriteOptions,
};

use super::{car, cars, plates, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};

const COLOURS: [Option<&str>; 3] = [Some("red"), Some("blue"), None];

/// Cars as a record batch; the colours cycle from `first`.
fn batch(plates: std::ops::Range<i64>, first: usize) -> RecordBatch {
    let colours: StringArray =
        plates.clone().map(|plate| COLOURS[(plate as usize + first) % 3]).collect();
    let years: Int32Array = plates.clone().map(|plate| Some((plate % 50) as i32)).collect();
    RecordBatch::try_from_iter([
        ("plate", Arc::new(Int64Array::from_iter_values(plates)) as _),
        ("colour", Arc::new(colours) as _),
        ("year", Arc::new(years) as _),
    ])
    .unwrap()
}

fn load(store: &Store, batch: RecordBatch, on_existing: OnExisting) {
    let options = BulkPutOptions { on_existing, ..Default::default() };
    store.multi_put([("cars", batch)], &options).unwrap();
}

fn red(store: &Store) -> Vec<i64> {
    plates(store, "by_colour", IndexRange::prefix(["red"]))
}

fn with_remainder(plates: i64, remainder: i64) -> Vec<i64> {
    (0..plates).filter(|plate| plate % 3 == remainder).collect()
}

#[rstest]
fn loaded_rows_are_in_the_index(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1_000, 300_000)] count: i64,
) {
    let mut store = cars(on);
    load(&store, batch(0..count, 0), OnExisting::Keep);
    assert_eq!(red(&store), with_remainder(count, 0));
    store.reopen();
    assert_eq!(
        (red(&store).len() as i64, stale_entries(&store)),
        (with_remainder(count, 0).len() as i64, 0)
    );
}

#[rstest]
fn rows_that_existed_leave_stale_entries_that_nobody_sees(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    load(&store, batch(0..300, 0), OnExisting::Keep);
    load(&store, batch(0..300, 1), OnExisting::Keep);
    assert_eq!((red(&store), stale_entries(&store)), (with_remainder(300, 0), 300));
    load(&store, batch(0..300, 1), OnExisting::Replace);
    assert_eq!((red(&store), stale_entries(&store)), (with_remainder(300, 2), 300));
}

/// Gives one batch, makes an index while the load is open, and gives another.
struct Interrupted {
    store: Store,
    given: i64,
    made: Option<std::thread::JoinHandle<Result<Vec<tonnage::DdlOutcome>>>>,
}

impl EntryStream for Interrupted {
    fn name(&self) -> String {
        "interrupted".into()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        if self.given == 10 {
            let store = self.store.clone();
            self.made = Some(std::thread::spawn(move || {
                store.execute("CREATE INDEX by_year ON cars (year)")
            }));
        }
        let is_made = self.made.as_ref().is_some_and(|made| made.is_finished());
        if is_made || self.given > 100_000 {
            assert!(is_made, "the index is made while the load goes on");
            self.made.take().unwrap().join().unwrap()?;
            return Ok(None);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        self.given += 1;
        Ok(Some(EntryBatch::rows("cars", batch(self.given * 10..self.given * 10 + 10, 0))))
    }
}

#[rstest]
fn an_index_made_during_a_load_has_all_its_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    let stream = Interrupted { store: store.clone(), given: 0, made: None };
    let report = store.bulk_put(vec![Box::new(stream)], &BulkPutOptions::default()).unwrap();
    let found = plates(&store, "by_year", IndexRange::default());
    assert_eq!((found.len() as u64, stale_entries(&store)), (report.total.inserted, 0));
}

#[rstest]
fn writes_during_a_load_lose_no_entry(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    for round in 0..4 {
        std::thread::scope(|scope| {
            let store = &store;
            scope.spawn(move || load(store, batch(0..3_000, round), OnExisting::Replace));
            scope.spawn(move || {
                let table = store.table("cars").unwrap();
                for plate in 0..600 {
                    let colour = COLOURS[(plate as usize + round) % 3].unwrap_or("grey");
                    table.put(&car(plate, colour, 1), &WriteOptions::default()).unwrap();
                    table
                        .delete(&crate::common::row! { "plate" => plate }, &WriteOptions::default())
                        .unwrap();
                }
            });
        });
        stale_entries(&store);
        let found = plates(&store, "by_colour", IndexRange::default());
        assert_eq!(found.len() as u64, store.table("cars").unwrap().count().unwrap());
    }
}

#[rstest]
fn an_index_dropped_during_a_load_does_not_stop_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    std::thread::scope(|scope| {
        let store = &store;
        let loading = scope.spawn(move || {
            (0..20).for_each(|n| load(store, batch(n * 500..n * 500 + 500, 0), OnExisting::Keep))
        });
        while !loading.is_finished() {
            store
                .execute("CREATE INDEX brief ON cars (note, year); DROP INDEX brief ON cars")
                .unwrap();
        }
        loading.join().unwrap();
    });
    assert_eq!((red(&store), stale_entries(&store)), (with_remainder(10_000, 0), 0));
}
