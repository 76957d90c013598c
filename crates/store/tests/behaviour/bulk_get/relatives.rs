//! Rows of ancestor and child tables that come along.

use rstest::rstest;
use tonnage::{BulkGetOptions, Direction, KeySource, RelatedRow, Row, Value};

use super::{forward, get, get_from, makers, rows};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::row;
use crate::common::shop::{self, image, image_key, phone, phone_key, price_of};

fn with_images(options: BulkGetOptions) -> BulkGetOptions {
    BulkGetOptions { relatives: vec!["PHONES.images".into()], ..options }
}

fn with_phones(options: BulkGetOptions) -> BulkGetOptions {
    BulkGetOptions { relatives: vec!["phones".into()], ..options }
}

fn names(found: &[RelatedRow]) -> Vec<String> {
    let name = |row: &RelatedRow| {
        let keys: Vec<String> = row
            .row
            .iter()
            .filter(|(name, _)| ["id", "image"].contains(name))
            .map(|(_, v)| v.to_string())
            .collect();
        format!("{} {}", row.table, keys.join("/"))
    };
    found.iter().map(name).collect()
}

#[rstest]
fn each_parent_is_followed_by_its_children(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let found = get(&store, makers(&["Nokia"]), &with_images(forward()));
    let expected: Vec<String> = (0..3)
        .flat_map(|id| {
            [
                format!("phones {id}"),
                format!("phones.images {id}/1"),
                format!("phones.images {id}/2"),
            ]
        })
        .collect();
    assert_eq!(names(&found), expected);
    assert_eq!(found[1].row, image("Nokia", price_of(0), 0, 1));
}

#[rstest]
fn in_reverse_each_parent_comes_after_its_children(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 3);
    let reverse = BulkGetOptions { direction: Direction::Reverse, ..Default::default() };
    let mut found = names(&get(&store, makers(&["Nokia"]), &with_images(reverse)));
    found.reverse();
    assert_eq!(found, names(&get(&store, makers(&["Nokia"]), &with_images(forward()))));
}

#[rstest]
fn families_stay_together_across_small_batches(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 500);
    let expected = names(&get(&store, makers(&["Nokia", "Apple"]), &with_images(forward())));
    assert_eq!(expected.len(), 3_000);
    let small = BulkGetOptions { batch_rows_max: 7, ..with_images(forward()) };
    assert_eq!(names(&get(&store, makers(&["Nokia", "Apple"]), &small)), expected);
}

#[rstest]
fn a_whole_key_gives_the_parent_and_its_children(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let keys = [
        phone_key("Nokia", price_of(3), 3),
        phone_key("Nokia", 1, 3),
        phone_key("Apple", price_of(1), 1),
    ];
    let found = rows(get(&store, KeySource::keys(keys), &with_images(forward())));
    let family = |maker, id| {
        [
            phone(maker, price_of(id), id),
            image(maker, price_of(id), id, 1),
            image(maker, price_of(id), id, 2),
        ]
    };
    assert_eq!(found, [family("Nokia", 3), family("Apple", 1)].concat());
}

#[rstest]
fn children_that_were_not_asked_for_stay_out(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    assert!(get(&store, makers(&["Nokia"]), &forward()).iter().all(|row| &*row.table == "phones"));
    let images = get_from(&store, "phones.images", makers(&["Nokia"]), &forward());
    assert_eq!(images.len(), 40);
    assert!(images.iter().all(|row| &*row.table == "phones.images"));
}

#[rstest]
fn orphans_come_without_their_parent(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    store
        .table("phones.images")
        .unwrap()
        .put(&image("Nokia", 5, 1, 1), &Default::default())
        .unwrap();
    assert_eq!(
        rows(get(&store, makers(&["Nokia"]), &with_images(forward()))),
        [image("Nokia", 5, 1, 1)]
    );
    let found = get_from(&store, "phones.images", makers(&["Nokia"]), &with_phones(forward()));
    assert_eq!(rows(found), [image("Nokia", 5, 1, 1)]);
}

#[rstest]
fn an_ancestor_comes_once_before_each_run_of_rows_that_share_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 10);
    let keys = || {
        let of = |id, image| image_key("Nokia", price_of(id), id, image);
        KeySource::keys([of(4, 1), of(4, 2), of(5, 2)])
    };
    for options in [forward(), BulkGetOptions::default()] {
        let found = rows(get_from(&store, "phones.images", keys(), &with_phones(options)));
        let expected = [
            phone("Nokia", price_of(4), 4),
            image("Nokia", price_of(4), 4, 1),
            image("Nokia", price_of(4), 4, 2),
            phone("Nokia", price_of(5), 5),
            image("Nokia", price_of(5), 5, 2),
        ];
        assert_eq!(found, expected);
    }
}

#[rstest]
fn an_ancestor_comes_once_even_when_its_rows_fill_several_batches(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::empty(on);
    let images = (0..100).map(|number| image("Nokia", 1, 1, number));
    store
        .bulk_put(
            vec![
                shop::rows_of("phones", [phone("Nokia", 1, 1)]),
                shop::rows_of("phones.images", images),
            ],
            &Default::default(),
        )
        .unwrap();
    let options = with_phones(BulkGetOptions { batch_rows_max: 8, ..forward() });
    let found = get_from(&store, "phones.images", makers(&["Nokia"]), &options);
    assert_eq!(found.len(), 101);
    assert_eq!(found.iter().filter(|row| &*row.table == "phones").count(), 1);
    assert_eq!(&*found[0].table, "phones");
}

const TREE: &str = "CREATE TABLE a (k LONG, v LONG, PRIMARY KEY (k));
    CREATE TABLE a.b (l LONG, PRIMARY KEY (l));
    CREATE TABLE a.b.c (m STRING, PRIMARY KEY (m));
    CREATE TABLE a.d (n LONG, PRIMARY KEY (n))";

fn tree(on: Backend) -> crate::common::TestStore {
    let store = on.with_tables(TREE);
    let rows = |table: &str, rows: Vec<Row>| shop::rows_of(table, rows);
    let k = |k: i64| row! { "k" => k };
    let streams = vec![
        rows("a", (0..3).map(|n| k(n).with("v", n * 10)).collect()),
        rows(
            "a.b",
            (0..3).flat_map(|n| (0..2).map(move |l| row! { "k" => n, "l" => l as i64 })).collect(),
        ),
        rows(
            "a.b.c",
            (0..3)
                .flat_map(|n| (0..2).map(move |l| row! { "k" => n, "l" => l as i64, "m" => "x" }))
                .collect(),
        ),
        rows("a.d", (0..3).map(|n| row! { "k" => n as i64, "n" => 7_i64 }).collect()),
    ];
    store.bulk_put(streams, &Default::default()).unwrap();
    store
}

fn tables_of(store: &crate::common::TestStore, table: &str, relatives: &[&str]) -> Vec<String> {
    let relatives = relatives.iter().map(|path| path.to_string()).collect();
    let options = BulkGetOptions { relatives, ..forward() };
    let found = get_from(store, table, KeySource::keys([vec![Value::Long(1)]]), &options);
    found.iter().map(|row| row.table.to_string()).collect()
}

#[rstest]
fn ancestors_and_descendants_of_any_depth_come_along(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    assert_eq!(tables_of(&store, "a", &["a.b.c"]), ["a", "a.b.c", "a.b.c"]);
    assert_eq!(
        tables_of(&store, "a", &["a.d", "a.b", "a.b.c"]),
        ["a", "a.b", "a.b.c", "a.b", "a.b.c", "a.d"]
    );
    assert_eq!(tables_of(&store, "a.b", &["a.b.c", "a"]), ["a", "a.b", "a.b.c", "a.b", "a.b.c"]);
    assert_eq!(tables_of(&store, "a.b.c", &["a", "a.b"]), ["a", "a.b", "a.b.c", "a.b", "a.b.c"]);
    assert_eq!(tables_of(&store, "a.b.c", &["a"]), ["a", "a.b.c", "a.b.c"]);
    assert_eq!(tables_of(&store, "a.d", &[]), ["a.d"]);
}

#[rstest]
fn rows_of_a_dropped_child_table_never_come_back(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = shop::stocked(on, 5);
    store.execute("DROP TABLE phones.images").unwrap();
    let read = |store: &crate::common::TestStore| {
        let found = get(store, makers(&["Nokia"]), &forward());
        assert_eq!((found.len(), store.table("phones").unwrap().count().unwrap()), (5, 20));
        let whole = KeySource::keys([phone_key("Nokia", price_of(2), 2)]);
        assert_eq!(rows(get(store, whole, &forward())), [phone("Nokia", price_of(2), 2)]);
    };
    read(&store);
    store.reopen();
    read(&store);
    store.execute(shop::IMAGES).unwrap();
    read(&store);
    assert_eq!(get_from(&store, "phones.images", makers(&["Nokia"]), &forward()), []);
    assert_eq!(get(&store, makers(&["Nokia"]), &with_images(forward())).len(), 5);
    store
        .table("phones.images")
        .unwrap()
        .put(&image("Nokia", price_of(1), 1, 9), &Default::default())
        .unwrap();
    assert_eq!(get(&store, makers(&["Nokia"]), &with_images(forward())).len(), 6);
    let checked = store.check().unwrap();
    assert!(checked.is_sound());
    assert_eq!(checked.leftover_rows, 40);
}

#[rstest]
fn interleaved_batches_hold_the_same_rows_in_the_same_order(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::stocked(on, 300);
    let table = store.table("phones").unwrap();
    let small = BulkGetOptions { batch_rows_max: 64, ..forward() };
    for options in [with_images(small.clone()), small] {
        let expected = get(&store, makers(&["Nokia", "Apple"]), &options);
        let rows = table.bulk_get(makers(&["Nokia", "Apple"]), &options).unwrap();
        let mut found = Vec::new();
        for interleaved in rows.into_interleaved() {
            let interleaved = interleaved.unwrap();
            let mut taken = vec![0; interleaved.batches.len()];
            for batch in interleaved.order.iter().map(|batch| *batch as usize) {
                let of = &interleaved.batches[batch];
                found.push((of.table.clone(), Row::from_batch(&of.rows, taken[batch]).unwrap()));
                taken[batch] += 1;
            }
            let held = interleaved.batches.iter().map(|batch| batch.rows.num_rows());
            assert!(held.eq(taken), "each row is in the order once");
        }
        assert_eq!(found, expected.into_iter().map(|row| (row.table, row.row)).collect::<Vec<_>>());
    }
}
