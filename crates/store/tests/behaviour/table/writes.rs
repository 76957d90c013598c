//! Single rows in and out.

use rstest::rstest;
use tonnage::{Durability, ErrorKind, Row, Value, WriteOptions, WriteResult};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, phone, phone_key};
use crate::common::{all_rows, assert_error, failure, row};

fn now() -> WriteOptions {
    WriteOptions::default()
}

#[rstest]
fn a_row_that_was_put_can_be_got(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Durability::None, Durability::Write, Durability::Fsync)] durability: Durability,
) {
    let store = shop::empty(on);
    let phones = store.table("phones").unwrap();
    assert_eq!(phones.get(&phone_key("Nokia", 300, 1)).unwrap(), None);
    let version =
        phones.put(&phone("Nokia", 300, 1), &WriteOptions { durability, ..now() }).unwrap();
    let stored = phones.get(&phone_key("Nokia", 300, 1)).unwrap().unwrap();
    assert_eq!(
        (stored.row, stored.version, stored.expires_at_ms),
        (phone("Nokia", 300, 1), version, 0)
    );
}

#[rstest]
fn versions_grow_with_each_write(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = shop::empty(on);
    let mut versions = Vec::new();
    for round in 0..3 {
        let phones = store.table("phones").unwrap();
        versions.push(phones.put(&phone("Nokia", 300, 1), &now()).unwrap());
        versions.push(phones.put(&phone("Nokia", 300, 2), &now()).unwrap());
        if round == 1 {
            phones.delete(&phone_key("Nokia", 300, 1), &now()).unwrap();
        }
        drop(phones);
        store.reopen();
    }
    let of_one_row: Vec<u64> = versions.iter().copied().step_by(2).collect();
    assert!(of_one_row.is_sorted_by(|a, b| a < b), "{of_one_row:?}");
}

#[rstest]
fn put_if_absent_stores_only_where_nothing_is(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let phones = store.table("phones").unwrap();
    let version = phones.put_if_absent(&phone("Nokia", 1, 1), &now()).unwrap().version().unwrap();
    let other = phone_key("Nokia", 1, 1).with("name", "other");
    assert_eq!(
        phones.put_if_absent(&other, &now()).unwrap(),
        WriteResult::ConditionFailed { operation: 0, current: Some(version) }
    );
    assert_eq!(all_rows(&store, "phones"), [phone("Nokia", 1, 1)]);
}

#[rstest]
fn put_if_present_stores_only_over_a_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let phones = store.table("phones").unwrap();
    assert_eq!(
        phones.put_if_present(&phone("Nokia", 1, 1), &now()).unwrap(),
        WriteResult::ConditionFailed { operation: 0, current: None }
    );
    phones.put(&phone("Nokia", 1, 1), &now()).unwrap();
    let other = phone_key("Nokia", 1, 1).with("name", "other");
    assert!(phones.put_if_present(&other, &now()).unwrap().is_stored());
    assert_eq!(all_rows(&store, "phones"), [other]);
}

#[rstest]
fn put_if_version_stores_only_over_that_version(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let phones = store.table("phones").unwrap();
    let first = phones.put(&phone("Nokia", 1, 1), &now()).unwrap();
    let second =
        phones.put_if_version(&phone("Nokia", 1, 1), first, &now()).unwrap().version().unwrap();
    let refused = phones.put_if_version(&phone("Nokia", 1, 1), first, &now()).unwrap();
    assert_eq!(refused, WriteResult::ConditionFailed { operation: 0, current: Some(second) });
}

#[rstest]
fn delete_tells_whether_there_was_a_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    let phones = store.table("phones").unwrap();
    assert!(phones.delete(&phone_key("Nokia", 0, 0), &now()).unwrap());
    assert!(!phones.delete(&phone_key("Nokia", 0, 0), &now()).unwrap());
    assert_eq!(phones.get(&phone_key("Nokia", 0, 0)).unwrap(), None);
    assert_eq!(phones.count().unwrap(), 7);
    assert_eq!(store.table("phones.images").unwrap().count().unwrap(), 16, "pictures stay");
}

#[rstest]
fn delete_if_version_deletes_only_that_version(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let phones = store.table("phones").unwrap();
    let key = phone_key("Nokia", 1, 1);
    let first = phones.put(&phone("Nokia", 1, 1), &now()).unwrap();
    let second = phones.put(&phone("Nokia", 1, 1), &now()).unwrap();
    assert_eq!(
        phones.delete_if_version(&key, first, &now()).unwrap(),
        WriteResult::ConditionFailed { operation: 0, current: Some(second) }
    );
    assert!(phones.delete_if_version(&key, second, &now()).unwrap().is_stored());
    assert_eq!(phones.count().unwrap(), 0);
}

#[rstest]
#[case::missing_key_column(row! { "maker" => "Nokia", "price" => 1 }, &["id", "phones"])]
#[case::null_in_the_key(phone_key("Nokia", 1, 1).with("price", Value::Null), &["price", "NULL"])]
#[case::unknown_column(phone("Nokia", 1, 1).with("colour", "red"), &["colour", "phones"])]
#[case::wrong_type(phone("Nokia", 1, 1).with("price", true), &["price", "BOOLEAN", "INTEGER"])]
#[case::out_of_range(phone("Nokia", 1, 1).with("price", 1_i64 << 40), &["price", "1099511627776"])]
fn a_row_that_does_not_fit_is_refused_naming_the_column(#[case] row: Row, #[case] named: &[&str]) {
    let store = shop::empty(Memory);
    assert_error(
        failure(store.table("phones").unwrap().put(&row, &now())),
        ErrorKind::Invalid,
        named,
    );
}

#[rstest]
#[case::partial(row! { "maker" => "Nokia" }, &["price"])]
#[case::empty(Row::new(), &["maker"])]
fn a_key_that_is_not_whole_is_refused_naming_the_column(#[case] key: Row, #[case] named: &[&str]) {
    let store = shop::empty(Memory);
    let phones = store.table("phones").unwrap();
    assert_error(failure(phones.get(&key)), ErrorKind::Invalid, named);
    assert_error(failure(phones.delete(&key, &now())), ErrorKind::Invalid, named);
}

#[test]
fn a_whole_row_serves_as_its_key() {
    let store = shop::stocked(Memory, 1);
    let phones = store.table("phones").unwrap();
    assert_eq!(phones.get(&phone("Nokia", 0, 0)).unwrap().unwrap().row, phone("Nokia", 0, 0));
    assert!(phones.delete(&phone("Nokia", 0, 0), &now()).unwrap());
}

#[test]
fn a_table_that_does_not_exist_is_named_with_one_like_it() {
    let store = shop::empty(Memory);
    assert_error(failure(store.table("phone")), ErrorKind::NotFound, &["phone", "phones"]);
}
