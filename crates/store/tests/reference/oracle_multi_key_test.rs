//! Oracle NoSQL, `MultiKeyTest`, and the previous value of `OperationExecutionTest`.

use rstest::rstest;
use tonnage::{
    Condition, Depth, Direction, ErrorKind, Key, KeyRange, PairGetOptions, PairOperation,
    WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure};

/// `/u`, then `/u/-/a`, `/u/-/a/x`, `/u/-/b`, `/u/-/b/y`, `/u/-/c`; and another major path.
fn tree(on: Backend) -> TestStore {
    let store = on.open();
    let minors: [&[&str]; 6] = [&[], &["a"], &["a", "x"], &["b"], &["b", "y"], &["c"]];
    for major in ["u", "other"] {
        for minor in minors {
            let key = Key::new([major], minor.iter().copied());
            store.kv().put(&key, b"v", &WriteOptions::default()).unwrap();
        }
    }
    store
}

fn parent() -> Key {
    Key::new(["u"], [""; 0])
}

fn found(store: &TestStore, options: &PairGetOptions) -> Vec<String> {
    let pairs = store.kv().get_subtree(&parent(), options).unwrap();
    pairs.into_iter().map(|pair| pair.key.to_string()).collect()
}

#[rstest]
#[case(Depth::ParentOnly, &["/u"])]
#[case(Depth::ChildrenOnly, &["/u/-/a", "/u/-/b", "/u/-/c"])]
#[case(Depth::ParentAndChildren, &["/u", "/u/-/a", "/u/-/b", "/u/-/c"])]
#[case(Depth::DescendantsOnly, &["/u/-/a", "/u/-/a/x", "/u/-/b", "/u/-/b/y", "/u/-/c"])]
#[case(Depth::ParentAndDescendants, &["/u", "/u/-/a", "/u/-/a/x", "/u/-/b", "/u/-/b/y", "/u/-/c"])]
fn basic_tests(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] depth: Depth,
    #[case] expected: &[&str],
) {
    let store = tree(on);
    let options = PairGetOptions { depth, direction: Direction::Forward, ..Default::default() };
    assert_eq!(found(&store, &options), expected);
}

#[rstest]
fn test_a_sub_range(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    let options = PairGetOptions {
        depth: Depth::DescendantsOnly,
        range: Some(KeyRange { start: Some((b"b".to_vec(), true)), ..Default::default() }),
        direction: Direction::Forward,
        ..Default::default()
    };
    assert_eq!(found(&store, &options), ["/u/-/b", "/u/-/b/y", "/u/-/c"]);
}

#[rstest]
fn test_multi_delete(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    let pairs = store.kv();
    let deleted =
        pairs.delete_subtree(&parent(), Depth::ChildrenOnly, None, Default::default()).unwrap();
    assert_eq!(deleted, 3);
    let options = PairGetOptions {
        depth: Depth::ParentAndDescendants,
        direction: Direction::Forward,
        ..Default::default()
    };
    assert_eq!(found(&store, &options), ["/u", "/u/-/a/x", "/u/-/b/y"]);
    assert_eq!(pairs.count().unwrap(), 9, "other majors stay");
}

#[rstest]
fn test_big_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    let big = Key::new(["x".repeat(436_520)], [""; 0]);
    assert_error(failure(store.kv().get(&big)), ErrorKind::Invalid, &["limit"]);
    let options = PairGetOptions { depth: Depth::DescendantsOnly, ..Default::default() };
    assert_error(failure(store.kv().get_subtree(&big, &options)), ErrorKind::Invalid, &["limit"]);
}

/// `ReturnRow.Choice`: put and delete give the previous value.
#[rstest]
fn test_return_previous_value(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    let (pairs, now) = (store.kv(), WriteOptions::default());
    let put = pairs.put_returning(&parent(), b"w", Condition::Always, &now).unwrap();
    assert_eq!(put.previous.unwrap().value, b"v");
    let absent = pairs.put_returning(&parent(), b"x", Condition::IfAbsent, &now).unwrap();
    assert_eq!((absent.result.is_stored(), absent.previous.unwrap().value), (false, b"w".to_vec()));
    let gone = pairs.delete_returning(&parent(), Condition::IfPresent, &now).unwrap();
    assert_eq!(gone.previous.unwrap().value, b"w");
}

/// `execute`: one failed condition undoes the group.
#[rstest]
fn test_execute_aborts_the_group(#[values(Memory, RocksDb)] on: Backend) {
    let store = tree(on);
    let put = |minor: &str, condition| PairOperation::Put {
        key: Key::new(["u"], [minor]),
        value: b"new".to_vec(),
        condition,
    };
    let group = [put("d", Condition::IfAbsent), put("a", Condition::IfAbsent)];
    let written = store.kv().write(&group, &WriteOptions::default()).unwrap();
    assert!(!written.is_stored());
    assert_eq!(store.kv().get(&Key::new(["u"], ["d"])).unwrap(), None);
}
