//! Operations on one shard key that fail by themselves.

use rstest::rstest;
use tonnage::{
    Condition, ErrorKind, ExchangeResult, IndexRange, PairOperation, Row, RowOperation, Store,
    WriteOptions, WriteResult,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, all_rows, assert_error, failure, row};

fn open(on: Backend, is_indexed: bool) -> TestStore {
    let store = on.with_tables(
        "CREATE TABLE t (s LONG, k LONG, v LONG, PRIMARY KEY (SHARD(s), k));
         CREATE TABLE t.c (n LONG, PRIMARY KEY (n));
         CREATE TABLE other (s LONG, PRIMARY KEY (s))",
    );
    if is_indexed {
        store.execute("CREATE INDEX by_v ON t (v)").unwrap();
    }
    store
}

fn make(k: i64, v: i64) -> Row {
    row! { "s" => 1_i64, "k" => k, "v" => v }
}

fn put(k: i64, v: i64, condition: Condition) -> RowOperation {
    RowOperation::put("t", make(k, v)).when(condition)
}

fn delete(k: i64, condition: Condition) -> RowOperation {
    RowOperation::delete("t", row! { "s" => 1_i64, "k" => k }).when(condition)
}

fn write(store: &Store, operations: &[RowOperation]) -> Vec<ExchangeResult> {
    store.write_each(operations, &WriteOptions::default()).unwrap()
}

fn are_stored(answers: &[ExchangeResult]) -> Vec<bool> {
    answers.iter().map(|answer| answer.result.is_stored()).collect()
}

fn previous(answers: &[ExchangeResult]) -> Vec<Option<Row>> {
    answers.iter().map(|answer| answer.previous.as_ref().map(|row| row.row.clone())).collect()
}

#[rstest]
fn what_does_not_hold_leaves_the_others_alone(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] is_indexed: bool,
) {
    let store = open(on, is_indexed);
    write(&store, &[put(1, 10, Condition::Always), put(2, 20, Condition::Always)]);
    let child = row! { "s" => 1_i64, "k" => 1_i64, "n" => 5_i64 };
    let answers = write(
        &store,
        &[
            put(1, 11, Condition::IfAbsent),
            put(2, 21, Condition::IfPresent),
            put(3, 30, Condition::IfVersion(7)),
            put(4, 40, Condition::IfAbsent),
            delete(1, Condition::IfPresent),
            delete(9, Condition::IfPresent),
            RowOperation::put("t.c", child.clone()),
        ],
    );
    assert_eq!(are_stored(&answers), [false, true, false, true, true, false, true]);
    let [first, second] = [make(1, 10), make(2, 20)].map(Some);
    let expected = [first.clone(), second, None, None, first, None, None];
    assert_eq!(previous(&answers), expected);
    assert_eq!(all_rows(&store, "t"), [make(2, 21), make(4, 40)]);
    assert_eq!(all_rows(&store, "t.c"), [child]);
}

#[rstest]
fn an_answer_tells_the_version_that_its_condition_met(#[values(Memory, RocksDb)] on: Backend) {
    let store = open(on, false);
    let before = write(&store, &[put(1, 10, Condition::Always)])[0].result.version().unwrap();
    let answers = write(
        &store,
        &[
            put(2, 20, Condition::Always),
            put(1, 11, Condition::IfAbsent),
            delete(3, Condition::IfPresent),
        ],
    );
    let failed = |operation, current| WriteResult::ConditionFailed { operation, current };
    assert_eq!(answers[1].result, failed(1, Some(before)));
    assert_eq!(answers[1].previous.as_ref().unwrap().version, before);
    assert_eq!(answers[2].result, failed(2, None));
    let table = store.table("t").unwrap();
    let stored = table.get(&row! { "s" => 1_i64, "k" => 2_i64 }).unwrap().unwrap().version;
    assert_eq!(answers[0].result.version(), Some(stored));
}

#[rstest]
fn nothing_is_written_where_no_condition_holds(#[values(Memory, RocksDb)] on: Backend) {
    let store = open(on, false);
    let answers =
        write(&store, &[put(1, 1, Condition::IfPresent), delete(2, Condition::IfPresent)]);
    assert_eq!(are_stored(&answers), [false, false]);
    assert!(all_rows(&store, "t").is_empty());
}

#[rstest]
fn of_two_operations_on_one_row_the_last_that_is_carried_out_decides(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] is_indexed: bool,
) {
    let store = open(on, is_indexed);
    let answers = write(
        &store,
        &[
            put(1, 10, Condition::IfAbsent),
            put(1, 11, Condition::IfAbsent),
            put(1, 12, Condition::IfPresent),
        ],
    );
    assert_eq!(are_stored(&answers), [true, true, false]);
    assert_eq!(all_rows(&store, "t"), [make(1, 11)]);
}

#[rstest]
fn rows_of_two_shard_keys_are_refused_whatever_holds_of_them(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = open(on, false);
    let far =
        RowOperation::put("t", row! { "s" => 2_i64, "k" => 1_i64 }).when(Condition::IfPresent);
    let group = [put(1, 10, Condition::Always), far];
    let refused = failure(store.write_each(&group, &WriteOptions::default()));
    assert_error(refused, ErrorKind::Invalid, &["operation 1", "shard key"]);
    let group = [put(1, 10, Condition::Always), RowOperation::put("other", row! { "s" => 1_i64 })];
    let refused = failure(store.write_each(&group, &WriteOptions::default()));
    assert_error(refused, ErrorKind::Invalid, &["t", "other", "relatives"]);
    let refused = failure(store.write_each(&[], &WriteOptions::default()));
    assert_error(refused, ErrorKind::Invalid, &["at least one operation"]);
    assert!(all_rows(&store, "t").is_empty());
}

/// Each of many threads adds one to the same row, from the answer before: no step is lost, and none
/// is taken twice.
#[rstest]
fn groups_beside_each_other_lose_no_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = open(on, true);
    let (threads, each) = (4, 50);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for step in 0..each {
                    let k = 10 + thread * each + step;
                    let group = [put(1, k, Condition::Always), put(k, k, Condition::IfAbsent)];
                    assert_eq!(are_stored(&write(store, &group)), [true, true]);
                }
            });
        }
    });
    let rows = (threads * each) as usize + 1;
    assert_eq!(all_rows(&store, "t").len(), rows);
    let index = store.table("t").unwrap().index("by_v").unwrap();
    let found = index.scan(&IndexRange::default(), &Default::default()).unwrap();
    assert_eq!(found.map(|batch| batch.unwrap().versions.len()).sum::<usize>(), rows);
}

#[rstest]
fn pairs_fail_by_themselves_too(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let key = |n: i64| format!("/a/-/{n}").parse::<tonnage::Key>().unwrap();
    let put = |n, value: &str, condition| PairOperation::Put {
        key: key(n),
        value: value.into(),
        condition,
    };
    let now = WriteOptions::default();
    let version = store.kv().put(&key(1), b"one", &now).unwrap();
    let group = [
        put(1, "uno", Condition::IfAbsent),
        put(2, "due", Condition::IfAbsent),
        PairOperation::Delete { key: key(1), condition: Condition::IfVersion(version) },
    ];
    let answers = store.kv().write_each(&group, &now).unwrap();
    let stored: Vec<_> = answers.iter().map(|answer| answer.result.is_stored()).collect();
    assert_eq!(stored, [false, true, true]);
    let previous =
        answers.iter().map(|answer| answer.previous.as_ref().map(|pair| &pair.value[..]));
    assert_eq!(previous.collect::<Vec<_>>(), [Some(&b"one"[..]), None, Some(b"one")]);
    assert_eq!(store.kv().get(&key(1)).unwrap(), None);
    assert_eq!(store.kv().get(&key(2)).unwrap().unwrap().value, b"due");
    let far =
        PairOperation::Delete { key: "/b/-/1".parse().unwrap(), condition: Condition::IfPresent };
    let refused = failure(store.kv().write_each(&[group[1].clone(), far], &now));
    assert_error(refused, ErrorKind::Invalid, &["operation 1", "shard key"]);
}
