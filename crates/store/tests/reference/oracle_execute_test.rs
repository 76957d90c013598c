//! Oracle NoSQL, `ExecuteTest`.

use rstest::rstest;
use tonnage::{Condition, Key, PairOperation, WriteOptions, WriteResult};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::TestStore;

fn put(key: &str, value: &str, condition: Condition) -> PairOperation {
    PairOperation::Put { key: key.parse().unwrap(), value: value.into(), condition }
}

fn value(store: &TestStore, key: &str) -> Option<Vec<u8>> {
    store.kv().get(&key.parse::<Key>().unwrap()).unwrap().map(|pair| pair.value)
}

/// `abortIfUnsuccessful` is false: the operation that fails is left out, the others continue.
#[rstest]
fn test_an_unsuccessful_operation_does_not_abort(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let now = WriteOptions::default();
    store.kv().put(&"/m/-/1".parse().unwrap(), b"old", &now).unwrap();
    let group =
        [put("/m/-/1", "new", Condition::IfAbsent), put("/m/-/2", "new", Condition::Always)];
    let answers = store.kv().write_each(&group, &now).unwrap();
    assert_eq!([0, 1].map(|answer| answers[answer].result.is_stored()), [false, true]);
    assert_eq!(answers[0].previous.as_ref().unwrap().value, b"old");
    assert_eq!(value(&store, "/m/-/1").unwrap(), b"old");
    assert_eq!(value(&store, "/m/-/2").unwrap(), b"new");
}

/// `abortIfUnsuccessful` is true: nothing is carried out, and the answer names the operation.
#[rstest]
fn test_an_unsuccessful_operation_aborts(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let now = WriteOptions::default();
    let version = store.kv().put(&"/m/-/1".parse().unwrap(), b"old", &now).unwrap();
    let group =
        [put("/m/-/2", "new", Condition::Always), put("/m/-/1", "new", Condition::IfAbsent)];
    let aborted = WriteResult::ConditionFailed { operation: 1, current: Some(version) };
    assert_eq!(store.kv().write(&group, &now).unwrap(), aborted);
    assert_eq!(value(&store, "/m/-/2"), None);
}
