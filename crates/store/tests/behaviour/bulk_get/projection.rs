//! What of the rows is read and given back.

use rstest::rstest;
use tonnage::{BulkGetOptions, Direction};

use super::{get, makers, rows};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::row;
use crate::common::shop::{self, image_key, phone_key, price_of};

#[rstest]
fn only_the_columns_asked_for_come_in_the_order_asked_for(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let options = BulkGetOptions {
        columns: Some(vec!["NAME".into(), "id".into()]),
        direction: Direction::Forward,
        ..Default::default()
    };
    let expected = [0, 1, 2].map(|id: i64| row! { "name" => format!("Nokia {id}"), "id" => id });
    assert_eq!(rows(get(&store, makers(&["Nokia"]), &options)), expected);
}

#[rstest]
fn no_columns_at_all_still_count_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 30);
    let options = BulkGetOptions { columns: Some(Vec::new()), ..Default::default() };
    let batches = store.table("phones").unwrap().bulk_get(makers(&["Nokia"]), &options).unwrap();
    assert_eq!(batches.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), 30);
}

#[rstest]
fn keys_only_gives_the_key_columns_of_rows_and_relatives(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let options = BulkGetOptions {
        keys_only: true,
        relatives: vec!["phones.images".into()],
        direction: Direction::Forward,
        ..Default::default()
    };
    let family = |id: i64| {
        let price = price_of(id);
        [
            phone_key("Nokia", price, id),
            image_key("Nokia", price, id, 1),
            image_key("Nokia", price, id, 2),
        ]
    };
    assert_eq!(
        rows(get(&store, makers(&["Nokia"]), &options)),
        [family(0), family(1), family(2)].concat()
    );
    let some =
        BulkGetOptions { columns: Some(vec!["id".into()]), keys_only: true, ..Default::default() };
    assert_eq!(
        rows(get(&store, makers(&["Nokia"]), &some)),
        [0, 1, 2].map(|id: i64| row! { "id" => id })
    );
}

#[rstest]
fn each_batch_names_its_table_and_gives_versions_and_expiries(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 3);
    let options = BulkGetOptions { relatives: vec!["phones.images".into()], ..Default::default() };
    let batches = store.table("phones").unwrap().bulk_get(makers(&["Nokia"]), &options).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for batch in batches {
        let batch = batch.unwrap();
        assert_eq!(
            (batch.versions.len(), batch.expiries_ms.len()),
            (batch.rows.num_rows(), batch.rows.num_rows())
        );
        assert!(batch.versions.iter().all(|version| *version > 0));
        assert!(batch.expiries_ms.iter().all(|expiry| *expiry == 0));
        *counts.entry(batch.table.to_string()).or_insert(0) += batch.rows.num_rows();
    }
    assert_eq!(counts, [("phones".to_string(), 3), ("phones.images".to_string(), 6)].into());
}

#[rstest]
fn batches_hold_about_as_many_rows_as_asked_for(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1_000);
    let options = BulkGetOptions { batch_rows_max: 10, ..Default::default() };
    let batches = store.table("phones").unwrap().bulk_get(makers(&["Nokia"]), &options).unwrap();
    let sizes: Vec<usize> = batches.map(|batch| batch.unwrap().rows.num_rows()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 1_000);
    assert!(sizes.iter().all(|size| *size <= 20), "{sizes:?}");
}
