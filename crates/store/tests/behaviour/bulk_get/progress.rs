//! What is known of a read before and while it runs.

use rstest::rstest;
use tonnage::{BulkGetOptions, Direction, TableScanOptions};

use super::makers;
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS};

#[rstest]
fn the_columns_are_known_before_the_first_batch(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let options = BulkGetOptions {
        columns: Some(vec!["name".into(), "price".into()]),
        relatives: vec!["phones.images".into()],
        ..Default::default()
    };
    let get = store.table("phones").unwrap().bulk_get(makers(&["nobody"]), &options).unwrap();
    let names: Vec<_> = get.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["name", "price"]);
    let tables: Vec<_> = get.schemas().iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(tables, ["phones", "phones.images"]);
    assert_eq!(get.count(), 0, "and there are no rows");
}

#[rstest]
fn batches_have_the_columns_that_were_told(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let options = TableScanOptions { keys_only: true, ..Default::default() };
    let scan = store.table("phones").unwrap().scan(&options).unwrap();
    let schema = scan.schema().clone();
    for batch in scan {
        assert_eq!(batch.unwrap().rows.schema(), schema);
    }
}

#[rstest]
fn keys_rows_and_bytes_are_counted_while_the_read_runs(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 100);
    let options =
        BulkGetOptions { batch_rows_max: 10, direction: Direction::Forward, ..Default::default() };
    let mut get = store.table("phones").unwrap().bulk_get(makers(&MAKERS), &options).unwrap();
    let progress = get.progress();
    assert_eq!(progress.metrics(), Default::default());
    assert_eq!(get.next().unwrap().unwrap().rows.num_rows(), 10);
    let first = progress.metrics();
    assert!(first.rows >= 10 && first.keys >= 1 && first.batches >= 1, "{first:?}");
    let rest: usize = get.map(|batch| batch.unwrap().rows.num_rows()).sum();
    let whole = progress.metrics();
    assert_eq!((rest, whole.rows, whole.keys, whole.batches), (390, 400, 4, 40));
    assert!(whole.bytes > 400 * 10, "{whole:?}");
}
