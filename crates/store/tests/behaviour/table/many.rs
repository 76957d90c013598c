//! Many single rows in one call, each with an outcome of its own.

use rstest::rstest;
use tonnage::{Condition, ErrorKind, Row, WriteOptions, WriteResult};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{all_rows, assert_error, row};

#[rstest]
fn each_row_has_an_outcome_of_its_own(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] is_indexed: bool,
) {
    let store = on.with_tables("CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k))");
    if is_indexed {
        store.execute("CREATE INDEX by_v ON t (v)").unwrap();
    }
    let table = store.table("t").unwrap();
    let make = |k: i64| row! { "k" => k, "v" => k * 10 };
    let version = table.put(&make(2), &WriteOptions::default()).unwrap();
    let rows: [Row; 4] = [make(1), make(2), row! { "v" => 1_i64 }, make(3)];
    let mut outcomes =
        table.put_many(&rows, Condition::IfAbsent, &WriteOptions::default()).into_iter();
    assert!(outcomes.next().unwrap().unwrap().is_stored());
    let existing = WriteResult::ConditionFailed { operation: 0, current: Some(version) };
    assert_eq!(outcomes.next().unwrap().unwrap(), existing);
    assert_error(outcomes.next().unwrap().unwrap_err(), ErrorKind::Invalid, &["'k'"]);
    assert!(outcomes.next().unwrap().unwrap().is_stored());
    assert!(outcomes.next().is_none());
    assert_eq!(all_rows(&store, "t"), [make(1), make(2), make(3)]);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn a_later_row_sees_what_an_earlier_one_left(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k))");
    let rows = [row! { "k" => 1_i64, "v" => 1_i64 }, row! { "k" => 1_i64, "v" => 2_i64 }];
    let table = store.table("t").unwrap();
    let outcomes = table.put_many(&rows, Condition::IfAbsent, &WriteOptions::default());
    let stored: Vec<bool> = outcomes.into_iter().map(|row| row.unwrap().is_stored()).collect();
    assert_eq!(stored, [true, false]);
    assert_eq!(all_rows(&store, "t"), [rows[0].clone()]);
}

#[rstest]
fn rows_of_a_dropped_table_fail_each(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (k LONG, PRIMARY KEY (k))");
    let table = store.table("t").unwrap();
    store.execute("DROP TABLE t").unwrap();
    let rows = [row! { "k" => 1_i64 }, row! { "k" => 2_i64 }];
    for outcome in table.put_many(&rows, Condition::Always, &WriteOptions::default()) {
        assert_error(outcome.unwrap_err(), ErrorKind::NotFound, &["t"]);
    }
}
