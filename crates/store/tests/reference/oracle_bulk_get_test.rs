//! Oracle NoSQL, `BulkGetTest`, `TableBulkGetTest` and `ParallelScanTest`.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Cancel, Direction, Error, ErrorKind, FieldRange, Key, KeySource,
    PairGetOptions, RelatedRow, ResumeToken, TableScanOptions, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS, price_of};
use crate::common::{TestStore, assert_error, failure};

fn makers(makers: &[&str]) -> KeySource {
    KeySource::keys(makers.iter().map(|maker| vec![Value::from(*maker)]).collect::<Vec<_>>())
}

fn get(store: &TestStore, keys: KeySource, options: &BulkGetOptions) -> Vec<RelatedRow> {
    let rows = store.table("phones").unwrap().bulk_get(keys, options).unwrap().into_rows();
    rows.map(|row| row.unwrap()).collect()
}

/// `List<Iterator<PrimaryKey>>`: several iterators drawn side by side.
#[rstest]
fn test_multiple_key_iterators(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 20);
    let sources = KeySource::side_by_side(MAKERS.map(|maker| makers(&[maker])));
    assert_eq!(get(&store, sources, &BulkGetOptions::default()).len(), 80);
}

#[rstest]
fn test_the_same_iterator_rules_hold_for_no_keys(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 2);
    assert_eq!(get(&store, makers(&[]), &BulkGetOptions::default()).len(), 0);
    let none = KeySource::side_by_side([]);
    assert_eq!(get(&store, none, &BulkGetOptions::default()).len(), 0);
}

#[rstest]
fn test_partial_keys_with_a_range_and_children(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 100);
    let options = BulkGetOptions {
        range: Some(FieldRange::of("price").from(200).to(500)),
        relatives: vec!["phones.images".into()],
        ..Default::default()
    };
    let wanted = (0..100).filter(|id| (200..=500).contains(&price_of(*id))).count();
    let found = get(&store, makers(&MAKERS), &options);
    let phones = found.iter().filter(|row| &*row.table == "phones").count();
    assert_eq!((phones, found.len()), (4 * wanted, 4 * wanted * 3));
    let mut parent = None;
    for row in found {
        let id = row.row.get("id").cloned();
        match &*row.table {
            "phones" => parent = id,
            _ => assert_eq!(id, parent, "each parent is followed by its children"),
        }
    }
}

#[rstest]
fn test_a_key_without_the_shard_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let keys = KeySource::keys([Vec::<Value>::new()]);
    let options = BulkGetOptions::default();
    let mut rows = store.table("phones").unwrap().bulk_get(keys, &options).unwrap();
    assert_error(failure(rows.next().unwrap()), ErrorKind::Invalid, &["maker", "key 0"]);
}

#[rstest]
fn test_a_failing_key_iterator(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let keys = [
        Ok(vec![Value::from(MAKERS[0])].into()),
        Ok(vec![Value::from(MAKERS[1])].into()),
        Err(Error::invalid("the keys broke")),
    ];
    let options = BulkGetOptions { direction: Direction::Forward, ..Default::default() };
    let get = store.table("phones").unwrap().bulk_get(KeySource::try_keys(keys), &options).unwrap();
    let mut rows = get.into_rows();
    assert!(rows.next().unwrap().is_ok() && rows.next().unwrap().is_ok());
    assert_error(failure(rows.next().unwrap()), ErrorKind::Invalid, &["the keys broke"]);
}

#[rstest]
fn test_bulk_get_of_pairs_from_a_failing_source(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let key = Key::new(["a"], [""; 0]);
    store.kv().put(&key, b"v", &Default::default()).unwrap();
    let keys = [Ok(key), Err(Error::invalid("the keys broke"))];
    let mut pairs = store.kv().try_bulk_get(keys, &PairGetOptions::default()).unwrap();
    assert_eq!(pairs.next().unwrap().unwrap().len(), 1);
    assert_error(failure(pairs.next().unwrap()), ErrorKind::Invalid, &["the keys broke"]);
}

#[rstest]
fn test_small_batch_size(#[values(Memory, RocksDb)] on: Backend, #[values(1, 3, 7)] rows: usize) {
    let store = on.open();
    for n in 0..50 {
        let key = Key::new(["a"], [format!("{n:02}")]);
        store.kv().put(&key, b"v", &Default::default()).unwrap();
    }
    let options = PairGetOptions {
        depth: tonnage::Depth::DescendantsOnly,
        batch_rows_max: Some(rows),
        ..Default::default()
    };
    let pairs = store.kv().bulk_get([Key::new(["a"], [""; 0])], &options).unwrap();
    let sizes: Vec<usize> = pairs.map(|batch| batch.unwrap().len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 50);
    assert!(sizes.iter().all(|size| *size <= rows), "{sizes:?}");
}

#[rstest]
fn test_close_early(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 500);
    let options = BulkGetOptions { batch_rows_max: 5, ..Default::default() };
    let mut rows = store.table("phones").unwrap().bulk_get(makers(&MAKERS), &options).unwrap();
    assert!(rows.next().is_some());
    drop(rows);
    assert_eq!(get(&store, makers(&["Nokia"]), &options).len(), 500);
}

#[rstest]
fn test_iterator_metrics(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 30);
    let options = TableScanOptions::default();
    let scan = store.table("phones").unwrap().scan(&options).unwrap();
    let progress = scan.progress();
    let rows: usize = scan.map(|batch| batch.unwrap().rows.num_rows()).sum();
    let metrics = progress.metrics();
    assert_eq!((rows, metrics.rows, metrics.keys), (120, 120, 0));
    assert!(metrics.bytes > 0 && metrics.batches > 0);
}

#[rstest]
fn test_timeout_and_cancel(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 1);
    let cancel = Cancel::new();
    cancel.cancel();
    let options = BulkGetOptions { cancel, ..Default::default() };
    let mut rows = store.table("phones").unwrap().bulk_get(makers(&MAKERS), &options).unwrap();
    assert_error(failure(rows.next().unwrap()), ErrorKind::Cancelled, &[]);
    let zero = BulkGetOptions { timeout: Some(std::time::Duration::ZERO), ..Default::default() };
    let refused = store.table("phones").unwrap().bulk_get(makers(&MAKERS), &zero);
    assert_error(failure(refused), ErrorKind::Invalid, &["timeout"]);
}

/// `testResumeIteration`: a scan resumes after any row.
#[rstest]
fn test_resume_iteration(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Forward, Direction::Reverse)] direction: Direction,
) {
    let store = shop::stocked(on, 3);
    let table = store.table("phones").unwrap();
    let options = TableScanOptions { direction, ..Default::default() };
    let all: Vec<_> = table.scan(&options).unwrap().into_rows().map(|row| row.unwrap()).collect();
    for taken in 1..all.len() {
        let mut first = table.scan(&options).unwrap().into_rows();
        first.by_ref().take(taken).for_each(drop);
        let token = ResumeToken::from_bytes(first.position().unwrap().as_bytes());
        let options = TableScanOptions { start_after: Some(token), ..options.clone() };
        let rest = table.scan(&options).unwrap().into_rows();
        assert_eq!(rest.map(|row| row.unwrap()).collect::<Vec<_>>(), all[taken..]);
    }
}

/// `testIteration`, `testReverseIteration`: an iteration over a range of the shard key.
#[rstest]
fn test_iteration_over_a_range_of_the_shard_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 5);
    for direction in [Direction::Forward, Direction::Reverse] {
        let range = Some(FieldRange::of("maker").from("B").to("Nokia"));
        let options = TableScanOptions { direction, range, ..Default::default() };
        let rows = store.table("phones").unwrap().scan(&options).unwrap().into_rows();
        let mut found: Vec<String> =
            rows.map(|row| row.unwrap().row.get("maker").unwrap().to_string()).collect();
        found.dedup();
        let mut expected = vec!["Motorola", "Nokia"];
        if direction == Direction::Reverse {
            expected.reverse();
        }
        assert_eq!(found, expected);
    }
}

/// A range whose start is after its end is empty here; Oracle refuses it.
#[rstest]
fn test_a_range_of_nothing_deviates(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 5);
    let range = Some(FieldRange::of("price").from(500).to(200));
    let options = BulkGetOptions { range, ..Default::default() };
    assert_eq!(get(&store, makers(&MAKERS), &options).len(), 0);
}
