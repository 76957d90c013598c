//! A range of the first key column that the keys leave open.

use rstest::rstest;
use tonnage::{BulkGetOptions, ErrorKind, FieldRange, KeySource, Row, Value};

use super::{forward, get, keys_of, makers, reverse, rows, until_error};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::assert_error;
use crate::common::shop::{self, MAKERS, phone, price_of};

fn prices(found: &[Row]) -> Vec<i32> {
    let price = |row: &Row| {
        if let Some(Value::Integer(price)) = row.get("price") { *price } else { panic!("{row:?}") }
    };
    found.iter().map(price).collect()
}

fn between(range: FieldRange) -> BulkGetOptions {
    BulkGetOptions { range: Some(range), ..forward() }
}

#[rstest]
fn four_makers_with_a_price_range_and_their_pictures(#[values(Memory, RocksDb)] on: Backend) {
    const PHONES: i64 = 3_000;
    let store = shop::stocked(on, PHONES);
    let options = BulkGetOptions {
        range: Some(FieldRange::of("price").from(200).to(500)),
        relatives: vec!["phones.images".into()],
        ..Default::default()
    };
    let found = get(&store, makers(&MAKERS), &options);
    let expected = (0..PHONES).filter(|id| (200..=500).contains(&price_of(*id))).count();
    let phones: Vec<Row> =
        found.iter().filter(|row| &*row.table == "phones").map(|row| row.row.clone()).collect();
    assert_eq!(phones.len(), 4 * expected);
    assert_eq!(found.len(), 3 * 4 * expected);
    for maker in MAKERS {
        let of_maker: Vec<Row> =
            phones.iter().filter(|row| row.get("maker") == Some(&maker.into())).cloned().collect();
        let prices = prices(&of_maker);
        assert!(prices.is_sorted() && prices[0] == 200 && prices[prices.len() - 1] == 500);
        let mut ids: Vec<String> =
            of_maker.iter().map(|row| row.get("id").unwrap().to_string()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), expected, "no phone comes twice");
    }
    for family in found.chunks(3) {
        assert_eq!(
            [&*family[0].table, &*family[1].table, &*family[2].table],
            ["phones", "phones.images", "phones.images"]
        );
        for picture in &family[1..] {
            assert_eq!(picture.row.get("id"), family[0].row.get("id"));
            assert_eq!(picture.row.get("maker"), family[0].row.get("maker"));
        }
    }
}

#[rstest]
#[case::both_inclusive(FieldRange::of("price").from(37).to(111), &[37, 74, 111])]
#[case::both_exclusive(FieldRange::of("price").after(37).before(111), &[74])]
#[case::from(FieldRange::of("PRICE").from(296), &[296, 333])]
#[case::before(FieldRange::of("price").before(74), &[0, 37])]
#[case::empty(FieldRange::of("price").from(100).to(50), &[])]
#[case::one(FieldRange::of("price").from(74).to(74), &[74])]
#[case::none_at_all(FieldRange::of("price").after(74).before(74), &[])]
#[case::beyond(FieldRange::of("price").from(1_000), &[])]
#[case::to_the_end(FieldRange::of("price").from(333).to(i32::MAX), &[333])]
#[case::everything(FieldRange::of("price"), &[0, 37, 74, 111, 148, 185, 222, 259, 296, 333])]
#[case::past_the_last(FieldRange::of("price").after(i32::MAX), &[])]
fn a_range_has_ends_that_belong_to_it_or_not(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] range: FieldRange,
    #[case] expected: &[i32],
) {
    let store = shop::stocked(on, 10);
    assert_eq!(prices(&rows(get(&store, makers(&["Nokia"]), &between(range.clone())))), expected);
    let backward = BulkGetOptions { range: Some(range), ..reverse() };
    let mut found = prices(&rows(get(&store, makers(&["Nokia"]), &backward)));
    found.reverse();
    assert_eq!(found, expected);
}

#[rstest]
fn a_range_on_the_last_key_column_follows_all_columns_before_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::empty(on);
    shop::stock(&store, &["Nokia"], 3_000);
    let keys = keys_of([vec!["Nokia".into(), 37.into()], vec!["Nokia".into(), 74.into()]]);
    let found = rows(get(&store, keys, &between(FieldRange::of("id").from(1_000_i64))));
    let expected = [(37, 1_001), (37, 2_001), (74, 1_002), (74, 2_002)]
        .map(|(price, id)| phone("Nokia", price, id));
    assert_eq!(found, expected);
}

#[rstest]
#[case::whole_keys(vec![vec!["Nokia".into(), 37.into(), 1_i64.into()]], "price", &["key 0", "price", "extra"])]
#[case::one_column_too_many(vec![vec!["Nokia".into(), 37.into()]], "price", &["key 0", "price", "extra"])]
#[case::missing_before_it(vec![vec!["Nokia".into()]], "id", &["key 0", "price", "missing"])]
#[case::outside_the_key(vec![vec!["Nokia".into()]], "name", &["name", "primary key"])]
#[case::unknown(vec![vec!["Nokia".into()]], "colour", &["colour", "phones"])]
#[case::different_lengths(vec![vec!["Nokia".into()], vec!["Apple".into(), 5.into()]], "price", &["key 1", "2 columns"])]
fn a_range_that_does_not_fit_the_keys_is_an_error(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] keys: Vec<Vec<Value>>,
    #[case] column: &str,
    #[case] named: &[&str],
) {
    let store = shop::stocked(on, 3);
    let options = between(FieldRange::of(column).from(1));
    let (_, error) =
        until_error(store.table("phones").unwrap().bulk_get(KeySource::keys(keys), &options));
    assert_error(error, ErrorKind::Invalid, named);
}

#[rstest]
#[case::wrong_type(FieldRange::of("price").from(true), &["price", "BOOLEAN"])]
#[case::out_of_range(FieldRange::of("price").to(3_000_000_000_i64), &["price", "3000000000"])]
#[case::null(FieldRange::of("price").from(Value::Null), &["price", "NULL"])]
fn an_end_that_does_not_fit_its_column_is_an_error(
    #[case] range: FieldRange,
    #[case] named: &[&str],
) {
    let store = shop::stocked(Memory, 3);
    let (_, error) =
        until_error(store.table("phones").unwrap().bulk_get(makers(&["Nokia"]), &between(range)));
    assert_error(error, ErrorKind::Invalid, named);
}
