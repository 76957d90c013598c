//! Whole and partial keys, and in which order their rows come.

use std::collections::BTreeSet;
use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use tonnage::{BulkGetOptions, Error, KeySource, Row, Value};

use super::{forward, get, key, keys_of, makers, reverse, rows, until_error};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, phone, phone_key, price_of};
use crate::common::{assert_error, row};

/// The phones of a maker in the order of their keys.
fn phones_of(maker: &str, count: i64) -> Vec<Row> {
    let mut phones: Vec<_> = (0..count).map(|id| (price_of(id), id)).collect();
    phones.sort_unstable();
    phones.into_iter().map(|(price, id)| phone(maker, price, id)).collect()
}

#[rstest]
fn a_partial_key_gives_all_rows_below_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 300);
    let found = rows(get(&store, makers(&["Nokia"]), &forward()));
    assert_eq!(found, phones_of("Nokia", 300));
}

/// Found by the model test: point reads had a queue of their own, so the only worker took a later
/// range first, filled its results and waited for the reader, who waited for a point read that no
/// worker took.
#[rstest]
fn whole_and_partial_keys_in_turn_come_in_order_with_one_worker(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 300);
    let options =
        BulkGetOptions { max_concurrent_requests: Some(1), batch_rows_max: 1, ..forward() };
    for _ in 0..20 {
        let whole = vec![Value::from("Apple"), Value::from(price_of(1)), Value::from(1_i64)];
        let keys = (0..6)
            .map(|turn| if turn % 2 == 0 { whole.clone() } else { vec![Value::from("Nokia")] });
        let found = rows(get(&store, KeySource::keys(keys.collect::<Vec<_>>()), &options));
        assert_eq!(found.len(), 3 * 301);
        assert!(found.chunks(301).all(|turn| turn[0] == phone("Apple", price_of(1), 1)
            && turn[1..] == phones_of("Nokia", 300)));
    }
}

#[rstest]
fn without_an_order_the_rows_of_a_maker_still_come_by_price(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 300);
    let found = rows(get(&store, makers(&["Apple", "Nokia"]), &BulkGetOptions::default()));
    for maker in ["Apple", "Nokia"] {
        let of_maker: Vec<_> =
            found.iter().filter(|row| row.get("maker") == Some(&maker.into())).cloned().collect();
        assert_eq!(of_maker, phones_of(maker, 300));
    }
    assert_eq!(found.len(), 600);
}

#[rstest]
fn ordered_reads_answer_keys_in_the_order_given(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 50);
    let order = ["Samsung", "Apple", "Nokia", "Motorola"];
    let expected: Vec<Row> = order.iter().flat_map(|maker| phones_of(maker, 50)).collect();
    assert_eq!(rows(get(&store, makers(&order), &forward())), expected);
    let expected: Vec<Row> =
        order.iter().flat_map(|maker| phones_of(maker, 50).into_iter().rev()).collect();
    assert_eq!(rows(get(&store, makers(&order), &reverse())), expected);
}

#[rstest]
fn whole_keys_give_their_rows_in_the_order_given(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1_000);
    let ids: Vec<i64> = (0..1_000).rev().collect();
    let keys: Vec<Row> = ids.iter().map(|id| phone_key("Nokia", price_of(*id), *id)).collect();
    let expected: Vec<Row> = ids.iter().map(|id| phone("Nokia", price_of(*id), *id)).collect();
    assert_eq!(rows(get(&store, KeySource::keys(keys), &forward())), expected);
}

#[rstest]
fn a_key_without_a_row_gives_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    assert_eq!(get(&store, makers(&["Siemens"]), &BulkGetOptions::default()), []);
    let found = rows(get(&store, makers(&["Apple", "Siemens", "Nokia"]), &forward()));
    assert_eq!(found.len(), 20);
    let keys = [phone_key("Apple", 1, 1), phone_key("Apple", price_of(3), 3)];
    assert_eq!(
        rows(get(&store, KeySource::keys(keys), &forward())),
        [phone("Apple", price_of(3), 3)]
    );
}

#[rstest]
fn no_keys_give_no_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    assert_eq!(get(&store, makers(&[]), &BulkGetOptions::default()), []);
}

#[rstest]
fn the_same_key_three_times_gives_its_rows_at_least_once(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 100);
    let found = rows(get(&store, makers(&["Nokia", "Nokia", "Nokia"]), &BulkGetOptions::default()));
    assert!(found.len() >= 100 && found.len() <= 300 && found.len().is_multiple_of(100));
    let distinct: BTreeSet<_> = found.iter().map(|row| format!("{row:?}")).collect();
    assert_eq!(distinct.len(), 100);
    let whole = phone_key("Nokia", price_of(3), 3);
    let found = rows(get(
        &store,
        KeySource::keys([whole.clone(), whole.clone(), whole]),
        &BulkGetOptions::default(),
    ));
    assert_eq!(
        found,
        [phone("Nokia", price_of(3), 3)],
        "the same key in one task is looked up once"
    );
}

#[rstest]
fn whole_and_partial_keys_may_mix(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 60);
    let keys = keys_of([
        vec!["Nokia".into(), price_of(7).into(), 7_i64.into()],
        vec!["Apple".into()],
        vec!["Samsung".into(), price_of(5).into()],
        vec!["Nokia".into(), price_of(8).into(), Value::Long(8)],
    ]);
    let mut expected = vec![phone("Nokia", price_of(7), 7)];
    expected.extend(phones_of("Apple", 60));
    expected.push(phone("Samsung", price_of(5), 5));
    expected.push(phone("Nokia", price_of(8), 8));
    assert_eq!(rows(get(&store, keys, &forward())), expected);
}

#[rstest]
fn keys_may_name_their_columns_in_any_order_and_case(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    let named = key(row! { "ID" => 4, "Maker" => "Apple", "price" => price_of(4) });
    assert_eq!(
        rows(get(&store, KeySource::keys([named]), &forward())),
        [phone("Apple", price_of(4), 4)]
    );
}

#[rstest]
fn a_failing_key_source_delivers_the_rows_of_the_keys_before_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 50);
    for options in [BulkGetOptions::default(), forward()] {
        let good = ["Apple", "Nokia", "Samsung"].map(|maker| Ok(vec![maker.into()].into()));
        let keys = KeySource::try_keys(
            good.into_iter()
                .chain([Err(Error::unavailable("the queue is closed"))])
                .collect::<Vec<_>>(),
        );
        let (found, error) = until_error(store.table("phones").unwrap().bulk_get(keys, &options));
        assert_eq!(found.len(), 150);
        assert_error(error, tonnage::ErrorKind::Unavailable, &["the queue is closed"]);
    }
}

#[rstest]
fn after_an_error_a_read_is_over(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 5);
    let keys = KeySource::try_keys(vec![
        Err(Error::unavailable("closed")),
        Ok(vec!["Apple".into()].into()),
    ]);
    let mut batches =
        store.table("phones").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    assert!(batches.next().unwrap().is_err());
    assert!(batches.next().is_none() && batches.next().is_none());
}

#[rstest]
fn record_batches_bring_a_hundred_thousand_whole_keys(#[values(Memory, RocksDb)] on: Backend) {
    const COUNT: i64 = 100_000;
    let store = shop::empty(on);
    shop::stock(&store, &["Nokia"], COUNT / 2);
    let batches = (0..COUNT / 10_000).map(|batch| {
        let ids = || batch * 10_000..(batch + 1) * 10_000;
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int64Array::from_iter_values(ids()))),
            ("maker", Arc::new(StringArray::from_iter_values(ids().map(|_| "Nokia")))),
            ("price", Arc::new(Int32Array::from_iter_values(ids().map(price_of)))),
        ];
        Ok(RecordBatch::try_from_iter(columns).unwrap())
    });
    let found = store
        .table("phones")
        .unwrap()
        .bulk_get(KeySource::batches(batches), &BulkGetOptions::default())
        .unwrap();
    let mut ids = BTreeSet::new();
    for batch in found {
        let batch = batch.unwrap();
        let column = batch
            .rows
            .column_by_name("id")
            .unwrap()
            .as_any()
            .downcast_ref::<Int64Array>()
            .unwrap()
            .clone();
        ids.extend(column.values().iter().copied());
    }
    assert_eq!(ids, (0..COUNT / 2).collect());
}

#[rstest]
fn a_null_in_a_record_batch_leaves_its_column_open(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 50);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("maker", Arc::new(StringArray::from(vec!["Apple", "Nokia"]))),
        ("price", Arc::new(Int32Array::from(vec![Some(price_of(9)), None]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let mut expected = vec![phone("Apple", price_of(9), 9)];
    expected.extend(phones_of("Nokia", 50));
    assert_eq!(rows(get(&store, KeySource::batches(vec![Ok(batch)]), &forward())), expected);
}

#[rstest]
fn a_key_source_that_panics_is_an_error_after_the_rows_before_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 30);
    for broken in [0, 2] {
        let keys = (0..4).map(move |number| {
            assert!(number != broken, "the source broke");
            Ok(vec![Value::from(shop::MAKERS[number])].into())
        });
        let get = store
            .table("phones")
            .unwrap()
            .bulk_get(KeySource::try_keys(keys), &BulkGetOptions::default());
        let (found, error) = until_error(get);
        assert_eq!(found.len(), 30 * broken);
        assert_error(error, tonnage::ErrorKind::Internal, &["source of keys panicked"]);
    }
}
