//! Deleting many rows by a partial key.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, DeleteOptions, Direction, ErrorKind, FieldRange, KeySource, Row, Store,
    TableScanOptions, WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, phone_key, price_of};
use crate::common::{assert_error, failure, row};

fn counts(store: &Store) -> (u64, u64) {
    (
        store.table("phones").unwrap().count().unwrap(),
        store.table("phones.images").unwrap().count().unwrap(),
    )
}

fn delete(
    store: &Store,
    key: Row,
    range: Option<FieldRange>,
    children: &[&str],
) -> tonnage::Result<u64> {
    let children: Vec<String> = children.iter().map(|child| child.to_string()).collect();
    let options = DeleteOptions { range, relatives: children, ..Default::default() };
    store.table("phones").unwrap().delete_range(&key, &options)
}

#[rstest]
fn a_partial_key_takes_its_rows_and_leaves_the_others(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 50);
    assert_eq!(delete(&store, row! { "maker" => "Nokia" }, None, &[]).unwrap(), 50);
    assert_eq!(counts(&store), (150, 400));
    assert_eq!(delete(&store, row! { "maker" => "Nokia" }, None, &[]).unwrap(), 0);
}

#[rstest]
fn a_range_takes_only_the_rows_within_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let cheap = FieldRange::of("price").before(111);
    assert_eq!(delete(&store, row! { "maker" => "Nokia" }, Some(cheap), &[]).unwrap(), 3);
    assert_eq!(counts(&store), (37, 80));
}

#[rstest]
fn child_rows_go_along_when_asked_for(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let dear = FieldRange::of("price").from(111);
    assert_eq!(
        delete(&store, row! { "maker" => "Nokia" }, Some(dear), &["phones.images"]).unwrap(),
        21
    );
    assert_eq!(counts(&store), (33, 66));
}

#[rstest]
fn a_whole_key_takes_one_row_and_its_children(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    assert_eq!(
        delete(&store, phone_key("Nokia", price_of(3), 3), None, &["phones.images"]).unwrap(),
        3
    );
    assert_eq!(counts(&store), (39, 78));
}

#[rstest]
fn more_rows_than_one_batch_holds_all_go(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    shop::stock(&store, &["Nokia"], 12_000);
    assert_eq!(
        delete(&store, row! { "maker" => "Nokia" }, None, &["phones.images"]).unwrap(),
        36_000
    );
    assert_eq!(counts(&store), (0, 0));
}

#[rstest]
fn a_key_without_the_shard_key_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    assert_error(
        failure(delete(&store, row! { "price" => 1 }, None, &[])),
        ErrorKind::Invalid,
        &["maker"],
    );
    assert_error(failure(delete(&store, Row::new(), None, &[])), ErrorKind::Invalid, &["maker"]);
    let late = Some(FieldRange::of("id").from(1_i64));
    assert_error(
        failure(delete(&store, row! { "maker" => "Nokia" }, late, &[])),
        ErrorKind::Invalid,
        &["price"],
    );
    assert_eq!(counts(&store), (8, 16));
}

#[rstest]
fn a_child_that_is_none_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    store.execute("CREATE TABLE ships (id LONG, PRIMARY KEY (id))").unwrap();
    assert_error(
        failure(delete(&store, row! { "maker" => "Nokia" }, None, &["ships"])),
        ErrorKind::Invalid,
        &["ships", "phones"],
    );
    assert_eq!(counts(&store), (8, 16));
}

/// Oracle's multiDelete with ancestors: the rows above those deleted go too, and no other.
#[rstest]
fn rows_above_go_along_where_they_are_asked_for(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let images = store.table("phones.images").unwrap();
    let options = DeleteOptions {
        relatives: vec!["phones".into()],
        range: Some(FieldRange::of("price").to(price_of(1))),
        ..Default::default()
    };
    let deleted = images.delete_range(&row! { "maker" => "Nokia" }, &options).unwrap();
    assert_eq!(deleted, 2 * 2 + 2, "two pictures of each of two phones, and the phones");
    assert_eq!(counts(&store), (12 - 2, 24 - 4));
}

#[rstest]
fn a_deletion_with_a_limit_goes_on_where_it_stopped(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let phones = store.table("phones").unwrap();
    let mut options = DeleteOptions {
        relatives: vec!["phones.images".into()],
        limit: Some(4),
        ..Default::default()
    };
    let mut steps = Vec::new();
    loop {
        let deleted = phones.delete_some(&row! { "maker" => "Nokia" }, &options).unwrap();
        steps.push(deleted.rows);
        options.start_after = deleted.rest;
        if options.start_after.is_none() {
            break;
        }
    }
    assert_eq!(steps, [12, 12, 6], "four phones at a time, each with two pictures");
    assert_eq!(counts(&store), (30, 60));
}

#[rstest]
fn a_deletion_that_goes_on_leaves_what_was_put_behind_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let phones = store.table("phones").unwrap();
    let nokia = row! { "maker" => "Nokia" };
    let some = DeleteOptions { limit: Some(4), ..Default::default() };
    let first = phones.delete_some(&nokia, &some).unwrap();
    let again = phone_key("Nokia", price_of(0), 0);
    phones.put(&again, &WriteOptions::default()).unwrap();
    let rest = DeleteOptions { start_after: first.rest, ..Default::default() };
    assert_eq!(phones.delete_some(&nokia, &rest).unwrap().rows, 6);
    assert!(phones.get(&again).unwrap().is_some());
}

#[rstest]
fn a_limit_needs_the_call_that_tells_where_to_go_on(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let phones = store.table("phones").unwrap();
    let nokia = row! { "maker" => "Nokia" };
    let options = |limit| DeleteOptions { limit: Some(limit), ..Default::default() };
    let refused = failure(phones.delete_range(&nokia, &options(1)));
    assert_error(refused, ErrorKind::Invalid, &["delete_some"]);
    assert_error(failure(phones.delete_some(&nokia, &options(0))), ErrorKind::Invalid, &["limit"]);
}

#[rstest]
fn a_deletion_goes_on_after_the_row_of_any_read(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let phones = store.table("phones").unwrap();
    let nokia = || row! { "maker" => "Nokia" };
    // A read of keys: after its fourth row.
    let by_keys = BulkGetOptions {
        direction: Direction::Forward,
        origins: true,
        ..BulkGetOptions::default()
    };
    let mut rows = phones.bulk_get(KeySource::keys([nokia()]), &by_keys).unwrap().into_rows();
    (0..4).for_each(|_| drop(rows.next().unwrap().unwrap()));
    let start_after = rows.position();
    assert!(start_after.is_some());
    let rest = DeleteOptions { start_after, ..Default::default() };
    assert_eq!(phones.delete_some(&nokia(), &rest).unwrap().rows, 6);
    // A scan: after its first row, which is of another maker or the first of this one.
    let scan = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    let mut rows = phones.scan(&scan).unwrap().into_rows();
    rows.next().unwrap().unwrap();
    let rest = DeleteOptions { start_after: rows.position(), ..Default::default() };
    let deleted = phones.delete_some(&nokia(), &rest).unwrap().rows;
    assert!(deleted == 3 || deleted == 4, "{deleted}");
    store.execute("CREATE TABLE other (id LONG, PRIMARY KEY (id))").unwrap();
    let other = store.table("other").unwrap();
    let refused = failure(other.delete_some(&row! { "id" => 1_i64 }, &rest));
    assert_error(refused, ErrorKind::Invalid, &["start_after", "another table"]);
}
