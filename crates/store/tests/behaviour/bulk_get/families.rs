//! Parents, their children and their ancestors stay together.

use rstest::rstest;
use tonnage::{BulkGetOptions, Direction, KeySource, RelatedRow, TableScanOptions, Value};

use super::{forward, get_from, reverse};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS, image, phone};
use crate::common::{TestStore, row};

/// Asserts that each row of `child` follows its row of `parent`, with nothing of another family
/// between.
#[track_caller]
fn assert_together(found: &[RelatedRow], parent: &str, child: &str, key: &[&str]) {
    let key_of =
        |row: &RelatedRow| key.iter().map(|name| row.row.get(name).cloned()).collect::<Vec<_>>();
    let mut current = None;
    for row in found {
        if &*row.table == parent {
            current = Some(key_of(row));
        } else if &*row.table == child {
            assert_eq!(
                Some(key_of(row)),
                current,
                "a row of {child} behind another row of {parent}"
            );
        }
    }
}

fn store_of_families(on: Backend, phones: i64, images: i32) -> TestStore {
    let store = shop::empty(on);
    let all = || MAKERS.iter().flat_map(move |maker| (0..phones).map(move |id| (*maker, id)));
    let pictures =
        all().flat_map(|(maker, id)| (0..images).map(move |number| image(maker, 1, id, number)));
    let streams = vec![
        shop::rows_of("phones", all().map(|(maker, id)| phone(maker, 1, id))),
        shop::rows_of("phones.images", pictures),
    ];
    store.bulk_put(streams, &Default::default()).unwrap();
    store
}

/// A chunk of a read ended in the middle of a family, and the next one in the queue was another
/// worker's: pictures followed another phone, now and then.
#[rstest]
#[case::families_that_fit_a_batch(60, 2, 7)]
#[case::families_larger_than_a_batch(15, 30, 20)]
fn children_stay_behind_their_parent_without_an_order(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] phones: i64,
    #[case] images: i32,
    #[case] batch_rows_max: usize,
) {
    let store = store_of_families(on, phones, images);
    let options = BulkGetOptions {
        batch_rows_max,
        relatives: vec!["phones.images".into()],
        max_concurrent_requests: Some(4),
        ..Default::default()
    };
    let keys = || {
        KeySource::keys((0..40).map(|key| vec![Value::from(MAKERS[key % 4])]).collect::<Vec<_>>())
    };
    let found = get_from(&store, "phones", keys(), &options);
    assert_eq!(found.len(), 10 * 4 * phones as usize * (1 + images as usize));
    assert_together(&found, "phones", "phones.images", &["maker", "id"]);
}

#[rstest]
fn families_stay_together_in_an_unordered_scan(#[values(Memory, RocksDb)] on: Backend) {
    let store = store_of_families(on, 50, 5);
    let options = TableScanOptions {
        batch_rows_max: 4,
        relatives: vec!["phones.images".into()],
        max_concurrent_requests: Some(4),
        ..Default::default()
    };
    let scan = store.table("phones").unwrap().scan(&options).unwrap();
    let found: Vec<_> = scan.into_rows().map(|row| row.unwrap()).collect();
    assert_eq!(found.len(), 4 * 50 * 6);
    assert_together(&found, "phones", "phones.images", &["maker", "id"]);
}

/// Likewise of rows after another row's ancestor.
#[rstest]
fn rows_stay_behind_their_ancestor_without_an_order(#[values(Memory, RocksDb)] on: Backend) {
    let store = store_of_families(on, 15, 30);
    let options = BulkGetOptions {
        batch_rows_max: 20,
        relatives: vec!["phones".into()],
        max_concurrent_requests: Some(4),
        ..Default::default()
    };
    let keys =
        KeySource::keys((0..40).map(|key| vec![Value::from(MAKERS[key % 4])]).collect::<Vec<_>>());
    let found = get_from(&store, "phones.images", keys, &options);
    assert_eq!(found.iter().filter(|row| &*row.table == "phones.images").count(), 10 * 4 * 15 * 30);
    assert_together(&found, "phones", "phones.images", &["maker", "id"]);
}

fn tree(on: Backend) -> TestStore {
    let store = on.with_tables(
        "CREATE TABLE a (k LONG, PRIMARY KEY (k));
         CREATE TABLE a.b (l LONG, PRIMARY KEY (l));
         CREATE TABLE a.b.c (m LONG, PRIMARY KEY (m))",
    );
    for k in 0..3_i64 {
        store.table("a").unwrap().put(&row! { "k" => k }, &Default::default()).unwrap();
        for l in 0..2_i64 {
            store
                .table("a.b")
                .unwrap()
                .put(&row! { "k" => k, "l" => l }, &Default::default())
                .unwrap();
            store
                .table("a.b.c")
                .unwrap()
                .put(&row! { "k" => k, "l" => l, "m" => 0_i64 }, &Default::default())
                .unwrap();
        }
    }
    store
}

fn names(found: &[RelatedRow]) -> Vec<String> {
    let columns = |row: &RelatedRow| {
        row.row.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join("/")
    };
    found.iter().map(|row| format!("{} {}", row.table, columns(row))).collect()
}

fn with(options: BulkGetOptions, relatives: &[&str]) -> BulkGetOptions {
    BulkGetOptions { relatives: relatives.iter().map(|path| path.to_string()).collect(), ..options }
}

/// What came last was remembered for each task only, and small tasks hold a key each.
#[rstest]
fn an_ancestor_comes_once_for_all_keys_in_a_row_that_share_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = tree(on);
    let key = |k: i64, l: i64| vec![Value::from(k), Value::from(l)];
    let keys = KeySource::keys([key(1, 0), key(1, 1), key(2, 0), key(1, 0)]);
    let found = get_from(&store, "a.b.c", keys, &with(forward(), &["a"]));
    let expected =
        ["a 1", "a.b.c 1/0/0", "a.b.c 1/1/0", "a 2", "a.b.c 2/0/0", "a 1", "a.b.c 1/0/0"];
    assert_eq!(names(&found), expected);
}

/// It preceded the row, but followed the children of that row, which come first in reverse.
#[rstest]
fn in_reverse_an_ancestor_comes_before_all_rows_below_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    let keys = KeySource::keys([vec![Value::from(1_i64)]]);
    let found = get_from(&store, "a.b", keys, &with(reverse(), &["a", "a.b.c"]));
    assert_eq!(names(&found), ["a 1", "a.b.c 1/1/0", "a.b 1/1", "a.b.c 1/0/0", "a.b 1/0"]);
}

/// Parts of a chunk were counted in a byte.
#[test]
fn hundreds_of_child_tables_come_along() {
    const TABLES: usize = 300;
    let store = Memory.with_tables("CREATE TABLE p (k LONG, PRIMARY KEY (k))");
    store.table("p").unwrap().put(&row! { "k" => 1_i64 }, &Default::default()).unwrap();
    for number in 0..TABLES {
        store.execute(&format!("CREATE TABLE p.c{number} (l LONG, PRIMARY KEY (l))")).unwrap();
        let child = store.table(&format!("p.c{number}")).unwrap();
        child.put(&row! { "k" => 1_i64, "l" => number as i64 }, &Default::default()).unwrap();
    }
    let relatives = (0..TABLES).map(|number| format!("p.c{number}")).collect();
    let options = BulkGetOptions { relatives, direction: Direction::Forward, ..Default::default() };
    let found = get_from(&store, "p", KeySource::keys([vec![Value::from(1_i64)]]), &options);
    assert_eq!(found.len(), TABLES + 1);
    assert_eq!(&*found[TABLES].table, format!("p.c{}", TABLES - 1));
}
