//! Oracle NoSQL, `TableMultiRowOptionsTest`, `TableTest` and the proxy's `MultiDeleteTest`.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Condition, DeleteOptions, Direction, ErrorKind, KeySource, Value, WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, image_key, phone, phone_key, price_of};
use crate::common::{assert_error, failure, row};

#[rstest]
fn test_ancestors_come_once_for_a_run_of_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let key = |image: i32| image_key("Nokia", price_of(1), 1, image);
    let options = BulkGetOptions {
        relatives: vec!["phones".into()],
        direction: Direction::Forward,
        ..Default::default()
    };
    let keys = KeySource::keys([key(1), key(2)]);
    let images = store.table("phones.images").unwrap();
    let tables: Vec<String> = images
        .bulk_get(keys, &options)
        .unwrap()
        .into_rows()
        .map(|row| row.unwrap().table.to_string())
        .collect();
    assert_eq!(tables, ["phones", "phones.images", "phones.images"]);
}

#[rstest]
fn test_a_relative_that_is_none(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    store.execute("CREATE TABLE ships (k LONG, PRIMARY KEY (k))").unwrap();
    let options = BulkGetOptions { relatives: vec!["ships".into()], ..Default::default() };
    let keys = KeySource::keys([vec![Value::from("Nokia")]]);
    let refused = store.table("phones").unwrap().bulk_get(keys, &options);
    assert_error(failure(refused), ErrorKind::Invalid, &["ships", "phones"]);
}

/// Cases 1 to 3: rows, and rows with their children.
#[rstest]
fn test_multi_delete_with_children(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 4);
    let options = DeleteOptions { relatives: vec!["phones.images".into()], ..Default::default() };
    let phones = store.table("phones").unwrap();
    assert_eq!(phones.delete_range(&row! { "maker" => "Nokia" }, &options).unwrap(), 4 * 3);
    assert_eq!(store.table("phones.images").unwrap().count().unwrap(), 3 * 4 * 2);
}

/// Cases 4 to 6: rows with their ancestors.
#[rstest]
fn test_multi_delete_with_ancestors(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 4);
    let options = DeleteOptions { relatives: vec!["phones".into()], ..Default::default() };
    let images = store.table("phones.images").unwrap();
    let key = phone_key("Nokia", price_of(2), 2);
    assert_eq!(images.delete_range(&key, &options).unwrap(), 2 + 1);
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 15);
}

/// `ReturnRow.Choice.ALL` of put, putIfAbsent, putIfPresent, putIfVersion and delete.
#[rstest]
fn test_return_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let phones = store.table("phones").unwrap();
    let (now, stored) = (WriteOptions::default(), phone("Nokia", price_of(0), 0));
    let changed = stored.clone().with("name", "changed");
    let version = phones.get(&stored).unwrap().unwrap().version;
    for (condition, is_stored) in [
        (Condition::IfAbsent, false),
        (Condition::IfVersion(version + 1_000_000_000), false),
        (Condition::IfVersion(version), true),
    ] {
        let put = phones.put_returning(&changed, condition, &now).unwrap();
        assert_eq!(put.result.is_stored(), is_stored, "{condition:?}");
        assert_eq!(put.previous.unwrap().row, stored);
    }
    let gone = phones.delete_returning(&changed, Condition::IfPresent, &now).unwrap();
    assert_eq!(gone.previous.unwrap().row, changed);
}

/// `TableEvolveTest`: an older handle gives rows in its own view.
#[rstest]
fn test_evolve(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let old = store.table("phones").unwrap();
    store.execute("ALTER TABLE phones ADD COLUMN colour STRING").unwrap();
    let row = phone("Nokia", price_of(0), 0).with("colour", "red");
    store.table("phones").unwrap().put(&row, &WriteOptions::default()).unwrap();
    let seen = old.get(&row).unwrap_err();
    assert_error(seen, ErrorKind::Invalid, &["colour"]);
    let seen = old.get(&phone_key("Nokia", price_of(0), 0)).unwrap().unwrap().row;
    assert_eq!(seen, phone("Nokia", price_of(0), 0));
}
