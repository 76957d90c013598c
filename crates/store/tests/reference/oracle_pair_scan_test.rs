//! Oracle NoSQL, the pairs of `BulkGetTest`, `ParallelScanTest` and `BulkPutTest`.
//!
//! Users lie in groups and subgroups, `/group/GROUP/-/sub/SUB/USER`, one pair for each level.

use std::sync::{Arc, Mutex};

use rstest::rstest;
use tonnage::{
    BulkPutCallbacks, BulkPutOptions, Depth, Direction, ErrorKind, ExistingEntry, Key, KeyRange,
    OnExisting, PairGetOptions, Pairs, Result, pair_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure};

const GROUPS: usize = 3;
const SUBS: usize = 4;
const USERS: usize = 5;

fn group(group: usize) -> Key {
    Key::of_major(["group".to_owned(), group.to_string()])
}

fn sub(of: usize, sub: usize) -> Key {
    Key::new(["group".to_owned(), of.to_string()], [format!("s{sub}")])
}

fn user(of: usize, sub: usize, user: usize) -> Key {
    Key::new(["group".to_owned(), of.to_string()], [format!("s{sub}"), format!("u{user}")])
}

fn stocked(on: Backend) -> TestStore {
    let store = on.open();
    let mut pairs = Pairs::new();
    let mut push = |key: Key| pairs.push(&key, b"v").unwrap();
    for of in 0..GROUPS {
        push(group(of));
        for below in 0..SUBS {
            push(sub(of, below));
            (0..USERS).for_each(|number| push(user(of, below, number)));
        }
    }
    store.kv().bulk_put([Ok(pairs)], &BulkPutOptions::default()).unwrap();
    store
}

fn count(store: &TestStore, keys: Vec<Key>, options: &PairGetOptions) -> usize {
    let pairs = store.kv().bulk_get(keys, options).unwrap();
    pairs.map(|batch| batch.unwrap().len()).sum()
}

fn groups() -> Vec<Key> {
    (0..GROUPS).map(group).collect()
}

fn subs() -> Vec<Key> {
    (0..GROUPS).flat_map(|of| (0..SUBS).map(move |below| sub(of, below))).collect()
}

type Ends = (Option<(usize, bool)>, Option<(usize, bool)>);

fn range(prefix: &str, (start, end): Ends) -> KeyRange {
    let end_of =
        |(number, inclusive): (usize, bool)| (format!("{prefix}{number}").into_bytes(), inclusive);
    KeyRange { start: start.map(end_of), end: end.map(end_of), ..Default::default() }
}

/// How many of the numbers below `count` lie in the range.
fn within(count: usize, (start, end): Ends) -> usize {
    let is_in = |number: &usize| {
        start.is_none_or(|(from, inclusive)| *number > from || (inclusive && *number == from))
            && end.is_none_or(|(to, inclusive)| *number < to || (inclusive && *number == to))
    };
    (0..count).filter(is_in).count()
}

const RANGES: [Ends; 6] = [
    (None, None),
    (Some((1, true)), Some((2, true))),
    (Some((1, false)), Some((2, true))),
    (Some((1, true)), Some((2, false))),
    (Some((3, true)), None),
    (None, Some((0, false))),
];

fn expected(depth: Depth, children: usize, below_each: usize) -> usize {
    match depth {
        Depth::ParentOnly => 1,
        Depth::ChildrenOnly => children,
        Depth::DescendantsOnly => children * (1 + below_each),
        Depth::ParentAndChildren => 1 + children,
        Depth::ParentAndDescendants => 1 + children * (1 + below_each),
    }
}

/// All depths and ranges below keys that are major paths.
#[rstest]
fn run_test_key_range_depth(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] keys_only: bool,
    #[values(
        Depth::ChildrenOnly,
        Depth::DescendantsOnly,
        Depth::ParentAndChildren,
        Depth::ParentAndDescendants
    )]
    depth: Depth,
) {
    let store = stocked(on);
    for ends in RANGES {
        let range = Some(range("s", ends));
        let options = PairGetOptions { depth, range, keys_only, ..Default::default() };
        let wanted = GROUPS * expected(depth, within(SUBS, ends), USERS);
        assert_eq!(count(&store, groups(), &options), wanted, "{depth:?} {ends:?}");
    }
}

/// The same below keys that have a minor path.
#[rstest]
fn run_test_key_range_depth_key_with_minor_path(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] keys_only: bool,
    #[values(
        Depth::ChildrenOnly,
        Depth::DescendantsOnly,
        Depth::ParentAndChildren,
        Depth::ParentAndDescendants
    )]
    depth: Depth,
) {
    let store = stocked(on);
    for ends in RANGES {
        let range = Some(range("u", ends));
        let options = PairGetOptions { depth, range, keys_only, ..Default::default() };
        let wanted = GROUPS * SUBS * expected(depth, within(USERS, ends), 0);
        assert_eq!(count(&store, subs(), &options), wanted, "{depth:?} {ends:?}");
    }
}

/// A range of a prefix, `E/s1/`.
#[rstest]
fn run_test_key_range_of_a_prefix(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let range = Some(KeyRange { prefix: b"s1".to_vec(), ..Default::default() });
    let options = PairGetOptions { depth: Depth::DescendantsOnly, range, ..Default::default() };
    assert_eq!(count(&store, groups(), &options), GROUPS * (1 + USERS));
}

#[rstest]
fn do_test_basic_bulk_get(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(None, Some(1), Some(9))] requests: Option<usize>,
    #[values(false, true)] keys_only: bool,
) {
    let store = stocked(on);
    let options =
        PairGetOptions { max_concurrent_requests: requests, keys_only, ..Default::default() };
    assert_eq!(count(&store, subs(), &options), GROUPS * SUBS);
}

/// Keys of major and of minor paths in one call.
#[rstest]
fn do_test_children_of_keys_of_different_depths(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let options = PairGetOptions { depth: Depth::ChildrenOnly, ..Default::default() };
    assert_eq!(count(&store, vec![group(0), sub(1, 1)], &options), SUBS + USERS);
}

#[rstest]
fn do_test_basic_parallel_scan(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(None, Some(1), Some(9))] requests: Option<usize>,
    #[values(false, true)] keys_only: bool,
) {
    let store = stocked(on);
    let options =
        PairGetOptions { max_concurrent_requests: requests, keys_only, ..Default::default() };
    let found: usize = store.kv().scan(&options).unwrap().map(|batch| batch.unwrap().len()).sum();
    assert_eq!(found, GROUPS * (1 + SUBS * (1 + USERS)));
}

/// `storeIterator` below a partial major path, as the tests' own verify and delete do it.
#[rstest]
fn do_test_scan_below_a_partial_major_path(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    store.kv().put(&"/group".parse().unwrap(), b"v", &Default::default()).unwrap();
    store.kv().put(&"/grouped/0".parse().unwrap(), b"v", &Default::default()).unwrap();
    let each = 1 + SUBS * (1 + USERS);
    let scan = |range: Option<KeyRange>, direction| {
        let options = PairGetOptions { range, direction, ..Default::default() };
        let pairs = store.kv().scan_major(["group"], &options).unwrap();
        pairs.map(|batch| batch.unwrap().len()).sum::<usize>()
    };
    for direction in [Direction::Unordered, Direction::Forward, Direction::Reverse] {
        assert_eq!(scan(None, direction), GROUPS * each + 1);
        for ends in RANGES {
            let wanted = within(GROUPS, ends) * each;
            assert_eq!(scan(Some(range("", ends)), direction), wanted, "{ends:?}");
        }
    }
}

#[rstest]
fn do_test_scan_below_a_major_path_takes_no_depth(#[values(Memory, RocksDb)] on: Backend) {
    let options = PairGetOptions { depth: Depth::ChildrenOnly, ..Default::default() };
    let refused = stocked(on).kv().scan_major(["group"], &options);
    assert_error(failure(refused), ErrorKind::Invalid, &["depth"]);
}

#[rstest]
fn do_test_cancel_iteration(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let options = PairGetOptions {
        max_concurrent_requests: Some(3),
        batch_rows_max: Some(1),
        ..Default::default()
    };
    let mut pairs = store.kv().bulk_get(subs(), &options).unwrap();
    assert!(pairs.next().unwrap().is_ok());
    options.cancel.cancel();
    let end = pairs.find_map(|batch| batch.err());
    assert!(end.is_none_or(|error| error.kind() == ErrorKind::Cancelled));
    assert!(pairs.next().is_none());
}

/// The whole entries that lose, in the order of the stream.
#[derive(Default)]
struct Losers(Mutex<Vec<(u64, Vec<u8>)>>);

impl BulkPutCallbacks for Losers {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        let value = entry.pair().map(|(_, value)| value.to_vec()).unwrap_or_default();
        self.0.lock().unwrap().push((entry.position, value));
        Ok(())
    }
}

/// 13 pairs, 11 of them with one key: the ten that lose come back with their values, in order.
#[rstest]
fn test_invoke_key_exists_order(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let mut pairs = Pairs::new();
    let key = |number: usize| Key::of_major(["bulk".to_owned(), format!("key{number}")]);
    (0..3).for_each(|n| pairs.push(&key(n), n.to_string().as_bytes()).unwrap());
    (0..10).for_each(|n| pairs.push(&key(0), n.to_string().as_bytes()).unwrap());
    let losers = Arc::new(Losers::default());
    let options = BulkPutOptions {
        callbacks: losers.clone(),
        stream_parallelism: Some(1),
        ..Default::default()
    };
    store.bulk_put(vec![pair_stream("pairs", [Ok(pairs)])], &options).unwrap();
    let expected: Vec<_> = (0..10).map(|n: u64| (n + 3, n.to_string().into_bytes())).collect();
    assert_eq!(*losers.0.lock().unwrap(), expected);
}

/// `testKeyExists`: three rounds, over more and more pairs.
#[rstest]
fn test_key_exists_of_pairs(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let stream = |number: usize, count: usize| {
        let mut pairs = Pairs::new();
        let key = |n: usize| Key::new([format!("stream{number}")], [n.to_string()]);
        (0..count).for_each(|n| pairs.push(&key(n), b"v").unwrap());
        pair_stream(number.to_string(), [Ok(pairs)])
    };
    let put = |streams| store.bulk_put(streams, &BulkPutOptions::default()).unwrap();
    let existed = |report: &tonnage::BulkPutReport| -> Vec<u64> {
        report.streams.iter().map(|stream| stream.counts.existed).collect()
    };
    assert_eq!(existed(&put(vec![stream(0, 500)])), [0]);
    assert_eq!(existed(&put(vec![stream(0, 500), stream(1, 500)])), [500, 0]);
    assert_eq!(existed(&put(vec![stream(0, 900), stream(1, 900)])), [500, 500]);
}

#[rstest]
fn test_overwrite_of_pairs(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    for (on_existing, existed, value) in
        [(OnExisting::Keep, 0, "1"), (OnExisting::Keep, 1, "1"), (OnExisting::Replace, 1, "3")]
    {
        let mut pairs = Pairs::new();
        let new = if on_existing == OnExisting::Keep { "1" } else { "3" };
        pairs.push(&group(0), new.as_bytes()).unwrap();
        let options = BulkPutOptions { on_existing, ..Default::default() };
        let report = store.kv().bulk_put([Ok(pairs)], &options).unwrap();
        assert_eq!(report.total.existed, existed);
        assert_eq!(store.kv().get(&group(0)).unwrap().unwrap().value, value.as_bytes());
    }
}
