//! Oracle NoSQL, `TableTest`: keys, names, and iterations.

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Direction, ErrorKind, FieldRange, ResumeToken, Row, TableScanOptions, Value,
    WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, all_rows, assert_error, failure, row};
use crate::users::{self, address, user};

#[rstest]
fn test_boolean_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (b BOOLEAN, id LONG, PRIMARY KEY (SHARD(b), id))");
    let rows = [(false, 1_i64), (false, 2), (true, 1)];
    let rows = rows.map(|(b, id)| row! { "b" => b, "id" => id });
    store.multi_put([("t", rows.to_vec())], &BulkPutOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "t"), rows);
    let options = tonnage::DeleteOptions::default();
    assert_eq!(
        store.table("t").unwrap().delete_range(&row! { "b" => false }, &options).unwrap(),
        2
    );
}

#[rstest]
fn test_case_sensitivity(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    assert_error(
        failure(store.execute("CREATE TABLE USER (x LONG, PRIMARY KEY (x))")),
        ErrorKind::Conflict,
        &["exists"],
    );
    let emails = store.table("user.ADDRESS.email").unwrap();
    assert_eq!(emails.path(), "User.Address.Email", "names are told as they were declared");
    let key = row! { "ID" => 1, "ADDRID" => 1, "EmailAddress" => "e1" };
    assert!(emails.get(&key).unwrap().is_some());
}

/// `testCaseSensitivity1`: text of keys tells case apart.
#[rstest]
fn test_case_sensitivity_of_keys(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (name STRING, PRIMARY KEY (name))");
    let rows = ["Joe", "joe"].map(|name| row! { "name" => name });
    store.multi_put([("t", rows.to_vec())], &BulkPutOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "t"), rows);
}

#[rstest]
fn test_missing_primary_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let addresses = store.table("User.Address").unwrap();
    for missing in [user(1), row! { "addrId" => 1 }, Row::new()] {
        let put = failure(addresses.put(&missing, &WriteOptions::default()));
        assert_error(put, ErrorKind::Invalid, &["key column"]);
        assert_error(failure(addresses.get(&missing)), ErrorKind::Invalid, &["key column"]);
    }
    let null = row! { "id" => Value::Null };
    let put = failure(store.table("User").unwrap().put(&null, &WriteOptions::default()));
    assert_error(put, ErrorKind::Invalid, &["'id'", "NULL"]);
}

#[rstest]
fn test_null_table_name_is_not_fatal(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    for name in ["", "User.", ".User", "User.Nothing", "Nothing.User"] {
        assert_error(failure(store.table(name)), ErrorKind::NotFound, &["there is no table"]);
    }
}

/// `testFindTargetTable`: each row is given back under its own table.
#[rstest]
fn test_find_target_table(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let relatives = ["User.Address", "User.Address.Email", "User.Info"].map(String::from).to_vec();
    let options = TableScanOptions { relatives, ..Default::default() };
    let rows = store.table("User").unwrap().scan(&options).unwrap().into_rows();
    for row in rows.map(|row| row.unwrap()) {
        let has = |column: &str| row.row.get(column).is_some();
        let table = match (has("emailAddress"), has("addrId"), has("myid")) {
            (true, true, false) => "User.Address.Email",
            (false, true, false) => "User.Address",
            (false, false, true) => "User.Info",
            _ => "User",
        };
        assert_eq!(&*row.table, table);
    }
}

/// Rows under several shard keys of two columns.
fn resumable(on: Backend) -> TestStore {
    let store = on
        .with_tables("CREATE TABLE t (s1 LONG, s2 STRING, p LONG, PRIMARY KEY (SHARD(s1, s2), p))");
    let rows = (0..3_i64).flat_map(|s1| {
        (0..3).flat_map(move |s2| {
            (0..4_i64).map(move |p| row! { "s1" => s1, "s2" => format!("k{s2}"), "p" => p })
        })
    });
    store.multi_put([("t", rows.collect::<Vec<_>>())], &BulkPutOptions::default()).unwrap();
    store
}

/// `testResumeIteration`: over all rows, a shard key, and ranges, after any row, in both
/// directions.
#[rstest]
fn test_resume_iteration(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Forward, Direction::Reverse)] direction: Direction,
    #[values(None, Some((0, 1)), Some((1, 2)))] range: Option<(i64, i64)>,
    #[values(false, true)] keys_only: bool,
) {
    let store = resumable(on);
    let table = store.table("t").unwrap();
    let range = range.map(|(from, to)| FieldRange::of("s1").from(from).to(to));
    let options = TableScanOptions { direction, range, keys_only, ..Default::default() };
    let all: Vec<_> = table.scan(&options).unwrap().into_rows().map(|row| row.unwrap()).collect();
    for taken in [1, 5, all.len() - 1] {
        let mut first = table.scan(&options).unwrap().into_rows();
        first.by_ref().take(taken).for_each(drop);
        let token = ResumeToken::from_bytes(first.position().unwrap().as_bytes());
        let options = TableScanOptions { start_after: Some(token), ..options.clone() };
        let rest = table.scan(&options).unwrap().into_rows();
        assert_eq!(rest.map(|row| row.unwrap()).collect::<Vec<_>>(), all[taken..]);
    }
}

#[rstest]
fn test_iteration(#[values(Memory, RocksDb)] on: Backend) {
    let store = resumable(on);
    let table = store.table("t").unwrap();
    let count = |options: TableScanOptions| table.scan(&options).unwrap().into_rows().count();
    assert_eq!(count(TableScanOptions::default()), 36);
    for (range, expected) in [
        (FieldRange::of("s1").from(1_i64), 24),
        (FieldRange::of("s1").after(0_i64).before(2_i64), 12),
        (FieldRange::of("s1").from(5_i64), 0),
    ] {
        assert_eq!(count(TableScanOptions { range: Some(range), ..Default::default() }), expected);
    }
}

#[rstest]
fn test_reverse_iteration(#[values(Memory, RocksDb)] on: Backend) {
    let store = resumable(on);
    let rows = |direction| {
        let options = TableScanOptions { direction, ..Default::default() };
        let scan = store.table("t").unwrap().scan(&options).unwrap().into_rows();
        scan.map(|row| row.unwrap().row).collect::<Vec<_>>()
    };
    let mut forward = rows(Direction::Forward);
    forward.reverse();
    assert_eq!(rows(Direction::Reverse), forward);
}

/// `testBadParameters`: names that there are not.
#[rstest]
fn test_bad_parameters(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let users = store.table("User").unwrap();
    let unknown = user(1).with("nothing", 1);
    let put = failure(users.put(&unknown, &WriteOptions::default()));
    assert_error(put, ErrorKind::Invalid, &["'nothing'", "id, firstName, age"]);
    let columns = Some(vec!["nothing".to_owned()]);
    let scan = users.scan(&TableScanOptions { columns, ..Default::default() });
    assert_error(failure(scan), ErrorKind::Invalid, &["'nothing'"]);
    let range = Some(FieldRange::of("nothing").from(1));
    let scan = users.scan(&TableScanOptions { range, ..Default::default() });
    assert_error(failure(scan), ErrorKind::Invalid, &["nothing"]);
}

/// `testReserializeRowValue`: a row that was read is put again as it is.
#[rstest]
fn test_reserialize_row_value(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let addresses = store.table("User.Address").unwrap();
    let before = addresses.get(&address(1, 1)).unwrap().unwrap();
    addresses.put(&before.row, &WriteOptions::default()).unwrap();
    let after = addresses.get(&address(1, 1)).unwrap().unwrap();
    assert_eq!(after.row, before.row);
    assert!(after.version > before.version);
}
