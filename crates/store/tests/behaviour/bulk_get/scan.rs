//! Scans of whole tables.

use rstest::rstest;
use tonnage::{Direction, Row, TableScanOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::order::in_key_order;
use crate::common::shop::{self, MAKERS, image, phone, price_of};
use crate::common::{TestStore, assert_error, failure, row};

fn scan(store: &TestStore, table: &str, options: &TableScanOptions) -> Vec<Row> {
    store
        .table(table)
        .unwrap()
        .scan(options)
        .unwrap()
        .into_rows()
        .map(|row| row.unwrap().row)
        .collect()
}

/// The phones of a scan from the first key or from the last, in key order.
fn phones(store: &TestStore, options: &TableScanOptions) -> Vec<Row> {
    let mut found = scan(store, "phones", options);
    if options.direction == Direction::Reverse {
        found.reverse();
    }
    in_key_order(store, "phones", found)
}

/// All phones in key order.
fn all_phones(count: i64) -> Vec<Row> {
    let mut makers = MAKERS;
    makers.sort_unstable();
    let mut ids: Vec<_> = (0..count).map(|id| (price_of(id), id)).collect();
    ids.sort_unstable();
    makers
        .iter()
        .flat_map(|maker| ids.iter().map(|(price, id)| phone(maker, *price, *id)))
        .collect()
}

#[rstest]
fn a_scan_gives_all_rows_in_key_order(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 200);
    let forward = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    assert_eq!(phones(&store, &forward), all_phones(200));
    let backward = TableScanOptions { direction: Direction::Reverse, ..Default::default() };
    assert_eq!(phones(&store, &backward), all_phones(200));
    assert_eq!(scan(&store, "phones", &TableScanOptions::default()).len(), 800);
}

#[rstest]
fn a_limit_per_shard_key_gives_the_latest_of_each(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    let options = TableScanOptions {
        direction: Direction::Reverse,
        limit_per_shard_key: Some(1),
        ..Default::default()
    };
    let expected: Vec<Row> =
        all_phones(20).chunks(20).map(|of_maker| of_maker[19].clone()).collect();
    assert_eq!(phones(&store, &options), expected);
    let options = TableScanOptions {
        direction: Direction::Forward,
        limit_per_shard_key: Some(2),
        ..Default::default()
    };
    let expected: Vec<Row> =
        all_phones(20).chunks(20).flat_map(|of_maker| of_maker[..2].to_vec()).collect();
    assert_eq!(phones(&store, &options), expected);
}

#[rstest]
fn a_limit_stops_the_scan(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    let options =
        TableScanOptions { direction: Direction::Forward, limit: Some(5), ..Default::default() };
    assert_eq!(scan(&store, "phones", &options), all_phones(20)[..5]);
    let options = TableScanOptions { limit: Some(5), ..Default::default() };
    assert_eq!(scan(&store, "phones", &options).len(), 5);
}

#[rstest]
fn a_scan_takes_relatives_along_and_projects(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let options = TableScanOptions {
        direction: Direction::Forward,
        relatives: vec!["phones.images".into()],
        limit: Some(1),
        columns: Some(vec!["name".into()]),
        ..Default::default()
    };
    let price = price_of(0);
    let expected =
        [row! { "name" => "Apple 0" }, image("Apple", price, 0, 1), image("Apple", price, 0, 2)];
    assert_eq!(scan(&store, "phones", &options), expected);
    let keys = TableScanOptions { keys_only: true, ..Default::default() };
    assert!(scan(&store, "phones.images", &keys).iter().all(|row| row.len() == 4));
}

/// With any number of workers, and with any cut of the engine.
#[rstest]
fn several_workers_give_the_same_rows(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 2, 5)] workers: usize,
) {
    let store = shop::stocked(on, 200);
    let options = |direction| TableScanOptions {
        direction,
        max_concurrent_requests: Some(workers),
        ..Default::default()
    };
    assert_eq!(phones(&store, &options(Direction::Forward)), all_phones(200));
    assert_eq!(phones(&store, &options(Direction::Reverse)), all_phones(200));
    let latest = TableScanOptions { limit_per_shard_key: Some(1), ..options(Direction::Reverse) };
    assert_eq!(scan(&store, "phones", &latest).len(), MAKERS.len());
    let family =
        TableScanOptions { relatives: vec!["phones.images".into()], ..options(Direction::Forward) };
    let family = scan(&store, "phones", &family);
    assert_eq!(family.len(), 3 * 800);
    assert!(
        family
            .chunks(3)
            .all(|rows| rows.iter().map(|row| row.get("image").is_some()).eq([false, true, true]))
    );
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 800);
    assert_eq!(store.table("phones.images").unwrap().count().unwrap(), 1_600);
}

#[rstest]
fn parts_of_a_scan_follow_one_another(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 3, 2_000)] parts: usize,
) {
    let store = shop::stocked(on, 100);
    let options = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    let parts_read = store.table("phones").unwrap().scan_parts(&options, parts).unwrap();
    assert!((1..=parts).contains(&parts_read.len()));
    let rows: Vec<Row> = parts_read
        .into_iter()
        .flat_map(|part| part.into_rows().map(|row| row.unwrap().row))
        .collect();
    assert_eq!(in_key_order(&store, "phones", rows), all_phones(100));
}

#[rstest]
fn an_empty_table_gives_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    assert_eq!(scan(&store, "phones", &TableScanOptions::default()), []);
    assert_eq!(store.table("phones.images").unwrap().count().unwrap(), 0);
}

#[test]
fn a_scan_over_several_directories_gives_all_rows_ordered_under_each_shard_key() {
    let directory = tempfile::tempdir().unwrap();
    let disks = (0..3).map(|disk| directory.path().join(format!("disk-{disk}")));
    let settings =
        tonnage::RocksDbSettings { data_directories: disks.collect(), ..crate::common::settings() };
    let url = directory.path().join("store").display().to_string();
    let store = tonnage::Store::builder(&url).rocksdb_settings(settings).open().unwrap();
    store.execute(&format!("{}; {}", shop::PHONES, shop::IMAGES)).unwrap();
    shop::stock(&store, &MAKERS, 100);
    drop(store);
    let store = tonnage::Store::open(&url).unwrap();
    let latest = TableScanOptions {
        direction: Direction::Reverse,
        limit_per_shard_key: Some(1),
        ..Default::default()
    };
    let mut found: Vec<Row> = store
        .table("phones")
        .unwrap()
        .scan(&latest)
        .unwrap()
        .into_rows()
        .map(|row| row.unwrap().row)
        .collect();
    found.sort_by_key(|row| row.get("maker").unwrap().to_string());
    let expected: Vec<Row> =
        all_phones(100).chunks(100).map(|of_maker| of_maker[99].clone()).collect();
    assert_eq!(found, expected);
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 400);
}

#[rstest]
#[case(TableScanOptions { limit: Some(0), ..Default::default() }, "limit is 0")]
#[case(TableScanOptions { limit_per_shard_key: Some(0), ..Default::default() }, "limit_per_shard_key is 0")]
#[case(TableScanOptions { max_concurrent_requests: Some(0), ..Default::default() }, "max_concurrent_requests")]
#[case(TableScanOptions { batch_rows_max: 0, ..Default::default() }, "batch_rows_max")]
#[case(TableScanOptions { columns: Some(vec!["colour".into()]), ..Default::default() }, "colour")]
fn an_option_that_does_not_fit_is_refused_by_name(
    #[case] options: TableScanOptions,
    #[case] named: &str,
) {
    let store = shop::empty(Memory);
    let scan = store.table("phones").unwrap().scan(&options);
    assert_error(failure(scan), tonnage::ErrorKind::Invalid, &[named]);
}
