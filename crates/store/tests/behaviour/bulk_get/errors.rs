//! Keys and options that do not fit the table: the error says which key of the input, and names
//! columns and tables.

use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use tonnage::{BulkGetOptions, BulkKey, ErrorKind, KeySource, Row, Value};

use super::{forward, key, until_error};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, image_key, phone_key};
use crate::common::{assert_error, failure, row};

#[rstest]
#[case::without_the_shard_column(key(row! { "price" => 5 }), &["key 2", "maker"])]
#[case::empty(key(Row::new()), &["key 2", "maker", "phones"])]
#[case::no_values(BulkKey::Values(vec![]), &["key 2", "maker"])]
#[case::null_shard_column(BulkKey::Values(vec![Value::Null]), &["key 2", "maker"])]
#[case::a_gap(key(row! { "maker" => "Nokia", "id" => 5 }), &["key 2", "id", "price"])]
#[case::of_another_table(BulkKey::OfTable("ships".into(), row! { "maker" => "Nokia" }), &["key 2", "ships", "phones"])]
#[case::of_the_child_table(BulkKey::OfTable("phones.images".into(), image_key("Nokia", 1, 1, 1)), &["key 2", "phones.images", "phones"])]
#[case::columns_of_another_table(key(row! { "mmsi" => 5 }), &["key 2", "mmsi", "phones"])]
#[case::columns_of_the_child_table(key(image_key("Nokia", 1, 1, 1)), &["key 2", "image", "phones"])]
#[case::a_column_outside_the_key(key(phone_key("Nokia", 1, 1).with("name", "n")), &["key 2", "name"])]
#[case::too_many_values(BulkKey::Values(vec!["Nokia".into(), 1.into(), 1_i64.into(), 1.into()]), &["key 2", "4"])]
#[case::wrong_type(BulkKey::Values(vec!["Nokia".into(), true.into()]), &["key 2", "price", "BOOLEAN"])]
#[case::out_of_range(BulkKey::Values(vec!["Nokia".into(), 5_000_000_000_i64.into()]), &["key 2", "price", "5000000000"])]
fn a_bad_key_is_named_after_the_rows_of_the_keys_before_it(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] bad: BulkKey,
    #[case] named: &[&str],
) {
    let store = shop::stocked(on, 10);
    let keys = [BulkKey::Values(vec!["Apple".into()]), BulkKey::Values(vec!["Nokia".into()]), bad];
    let (found, error) =
        until_error(store.table("phones").unwrap().bulk_get(KeySource::keys(keys), &forward()));
    assert_eq!(found.len(), 20);
    assert_error(error, ErrorKind::Invalid, named);
}

#[test]
fn a_bad_key_of_a_record_batch_is_named() {
    let store = shop::stocked(Memory, 10);
    let table = store.table("phones").unwrap();
    let batch = |columns: Vec<(&str, ArrayRef)>| {
        Ok(RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap())
    };
    let makers = |makers: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(makers)) };
    let prices: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let cases = [
        (batch(vec![("price", prices.clone())]), vec!["maker"]),
        (
            batch(vec![("maker", makers(vec![Some("Nokia"), None])), ("price", prices.clone())]),
            vec!["key 1", "maker"],
        ),
        (
            batch(vec![("maker", makers(vec![Some("Nokia"), Some("A")])), ("colour", prices)]),
            vec!["colour", "phones"],
        ),
    ];
    for (keys, named) in cases {
        let (_, error) = until_error(table.bulk_get(KeySource::batches(vec![keys]), &forward()));
        assert_error(error, ErrorKind::Invalid, &named);
    }
}

#[rstest]
#[case::no_requests(BulkGetOptions { max_concurrent_requests: Some(0), ..Default::default() }, &["max_concurrent_requests", "1024"])]
#[case::too_many_requests(BulkGetOptions { max_concurrent_requests: Some(2_000), ..Default::default() }, &["max_concurrent_requests", "2000"])]
#[case::no_rows(BulkGetOptions { batch_rows_max: 0, ..Default::default() }, &["batch_rows_max", "1048576"])]
#[case::no_bytes(BulkGetOptions { batch_bytes_max: 0, ..Default::default() }, &["batch_bytes_max", "1024"])]
#[case::no_rows_per_key(BulkGetOptions { limit_per_key: Some(0), ..Default::default() }, &["limit_per_key"])]
#[case::unknown_column(BulkGetOptions { columns: Some(vec!["colour".into()]), ..Default::default() }, &["colour", "phones"])]
#[case::value_column_of_keys(BulkGetOptions { columns: Some(vec!["name".into()]), keys_only: true, ..Default::default() }, &["name", "keys only"])]
fn an_option_that_does_not_fit_is_refused_by_name(
    #[case] options: BulkGetOptions,
    #[case] named: &[&str],
) {
    let store = shop::stocked(Memory, 3);
    let get = store.table("phones").unwrap().bulk_get(KeySource::keys(Vec::<Row>::new()), &options);
    assert_error(failure(get), ErrorKind::Invalid, named);
}

#[test]
fn a_relative_that_is_none_is_refused_naming_both_tables() {
    let store = shop::stocked(Memory, 3);
    store.execute("CREATE TABLE ships (id LONG, PRIMARY KEY (id))").unwrap();
    let ask = |relative: &str| {
        let options = BulkGetOptions { relatives: vec![relative.into()], ..Default::default() };
        failure(
            store.table("phones").unwrap().bulk_get(KeySource::keys(Vec::<Row>::new()), &options),
        )
    };
    assert_error(ask("ships"), ErrorKind::Invalid, &["ships", "phones"]);
    assert_error(ask("phones"), ErrorKind::Invalid, &["phones"]);
    assert_error(ask("phones.sounds"), ErrorKind::NotFound, &["phones.sounds"]);
}

/// The rows of the good keys in its batch were lost with a bad one.
#[rstest]
fn the_keys_before_a_bad_one_in_a_record_batch_are_answered(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 10);
    let makers: ArrayRef =
        Arc::new(StringArray::from(vec![Some("Apple"), Some("Nokia"), None, Some("Samsung")]));
    let keys = || {
        KeySource::from(
            RecordBatch::try_from_iter_with_nullable([("maker", makers.clone(), true)]).unwrap(),
        )
    };
    for options in [BulkGetOptions::default(), forward()] {
        let (found, error) = until_error(store.table("phones").unwrap().bulk_get(keys(), &options));
        assert_eq!(found.len(), 20);
        assert_error(error, ErrorKind::Invalid, &["key 2", "maker"]);
    }
}
