//! Handles and reads that are older than an ALTER TABLE.
//!
//! They failed at the first row written since, even for columns that they knew: a long export broke
//! at every ADD COLUMN, and a program that keeps its handles broke for good.

use rstest::rstest;
use tonnage::{
    Direction, ErrorKind, IndexRange, IndexScanOptions, KeySource, Row, TableScanOptions, Value,
    ValueRef, WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::order::in_key_order;
use crate::common::{TestStore, assert_error, failure, row};

fn users(on: Backend) -> TestStore {
    let store = on.with_tables(
        "CREATE TABLE u (id LONG, name STRING, age INTEGER NOT NULL, PRIMARY KEY (id)); CREATE INDEX by_name ON u (name)",
    );
    for id in 0..20 {
        store.table("u").unwrap().put(&user(id), &now()).unwrap();
    }
    store
}

fn user(id: i64) -> Row {
    row! { "id" => id, "name" => "n", "age" => id as i32 }
}

fn now() -> WriteOptions {
    WriteOptions::default()
}

/// Adds a column and writes rows with it, after those that are there.
fn alter(store: &TestStore) {
    store.execute("ALTER TABLE u ADD COLUMN extra STRING").unwrap();
    for id in 20..25 {
        store.table("u").unwrap().put(&user(id).with("extra", "new"), &now()).unwrap();
    }
}

fn all() -> Vec<Row> {
    (0..25).map(user).collect()
}

fn forward() -> TableScanOptions {
    TableScanOptions { direction: Direction::Forward, ..Default::default() }
}

#[rstest]
fn an_older_handle_reads_newer_rows_in_its_own_view(#[values(Memory, RocksDb)] on: Backend) {
    let store = users(on);
    let old = store.table("u").unwrap();
    let index = old.index("by_name").unwrap();
    alter(&store);
    assert_eq!(old.get(&row! { "id" => 22_i64 }).unwrap().unwrap().row, user(22));
    let scanned: Vec<Row> =
        old.scan(&forward()).unwrap().into_rows().map(|row| row.unwrap().row).collect();
    assert_eq!(in_key_order(&store, "u", scanned), all());
    let keys = KeySource::keys((0..25).map(|id| vec![Value::from(id as i64)]).collect::<Vec<_>>());
    assert_eq!(
        old.bulk_get(keys, &Default::default())
            .unwrap()
            .into_rows()
            .inspect(|row| assert!(row.is_ok()))
            .count(),
        25
    );
    let mut session = old.session();
    let found = session.get(&[22_i64.into()]).unwrap().unwrap();
    assert_eq!(
        (found.get(1).unwrap(), found.get(2).unwrap()),
        (ValueRef::String("n"), ValueRef::Integer(22))
    );
    let through = index.scan(&IndexRange::prefix(["n"]), &IndexScanOptions::default()).unwrap();
    assert_eq!(through.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), 25);
}

#[rstest]
fn reads_under_way_go_on(#[values(Memory, RocksDb)] on: Backend) {
    let store = users(on);
    let table = store.table("u").unwrap();
    let scan = table.scan(&forward()).unwrap();
    let keys = KeySource::keys((0..25).map(|id| vec![Value::from(id as i64)]).collect::<Vec<_>>());
    let get = table.bulk_get(keys, &Default::default()).unwrap();
    alter(&store);
    let scanned = scan.into_rows().map(|row| row.unwrap().row).collect();
    assert_eq!(in_key_order(&store, "u", scanned), all());
    assert_eq!(get.into_rows().inspect(|row| assert!(row.is_ok())).count(), 25);
}

#[rstest]
fn handles_of_every_age_read_rows_of_every_age(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = users(on);
    let mut handles = vec![store.table("u").unwrap()];
    for step in 0..5_i64 {
        store.execute(&format!("ALTER TABLE u ADD COLUMN c{step} LONG DEFAULT {step}")).unwrap();
        handles.push(store.table("u").unwrap());
        handles
            .last()
            .unwrap()
            .put(&user(100 + step).with(&format!("c{step}"), 7_i64), &now())
            .unwrap();
    }
    for (age, handle) in handles.iter().enumerate() {
        for step in 0..5_i64 {
            let found = handle.get(&row! { "id" => 100 + step }).unwrap().unwrap().row;
            assert_eq!(found.len(), 3 + age);
            for column in 0..age as i64 {
                let expected = if column == step { 7 } else { column };
                assert_eq!(
                    found.get(&format!("c{column}")),
                    Some(&Value::Long(expected)),
                    "handle {age}, row {step}"
                );
            }
        }
    }
    drop(handles);
    store.reopen();
    assert_eq!(store.table("u").unwrap().count().unwrap(), 25);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn a_column_dropped_since_is_null_or_a_conflict_that_names_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(
        "CREATE TABLE u (id LONG, name STRING, age INTEGER NOT NULL, PRIMARY KEY (id))",
    );
    let old = store.table("u").unwrap();
    store.execute("ALTER TABLE u DROP COLUMN name").unwrap();
    store.table("u").unwrap().put(&row! { "id" => 1_i64, "age" => 5 }, &now()).unwrap();
    let found = old.get(&row! { "id" => 1_i64 }).unwrap().unwrap().row;
    assert_eq!(found, row! { "id" => 1_i64, "name" => Value::Null, "age" => 5 });
    store.execute("ALTER TABLE u DROP COLUMN age").unwrap();
    store.table("u").unwrap().put(&row! { "id" => 2_i64 }, &now()).unwrap();
    assert_error(
        failure(old.get(&row! { "id" => 2_i64 })),
        ErrorKind::Conflict,
        &["'age'", "open the table again"],
    );
    let scan = old.scan(&forward()).unwrap().find_map(|batch| batch.err());
    assert_error(scan.unwrap(), ErrorKind::Conflict, &["'age'"]);
    let options = TableScanOptions { columns: Some(vec!["id".into(), "name".into()]), ..forward() };
    assert_eq!(
        old.scan(&options).unwrap().into_rows().inspect(|row| assert!(row.is_ok())).count(),
        2
    );
}

/// The story of a bug: such a handle reported damage, and said to restore the table from a copy.
#[rstest]
fn a_null_of_a_column_that_was_not_null_is_a_conflict_that_names_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = users(on);
    let old = store.table("u").unwrap();
    store.execute("ALTER TABLE u ALTER COLUMN age DROP NOT NULL").unwrap();
    let unknown = row! { "id" => 20_i64, "name" => "n", "age" => Value::Null };
    store.table("u").unwrap().put(&unknown, &now()).unwrap();
    let told = ["'age'", "open the table again"];
    let key = row! { "id" => 20_i64 };
    assert_error(failure(old.get(&key)), ErrorKind::Conflict, &told);
    let mut session = old.session();
    let found = session.get(&[20_i64.into()]).unwrap().unwrap();
    assert_eq!(found.get(1).unwrap(), ValueRef::String("n"), "the other columns are read");
    assert_error(failure(found.get(2)), ErrorKind::Conflict, &told);
    let scan = old.scan(&forward()).unwrap().find_map(|batch| batch.err());
    assert_error(scan.unwrap(), ErrorKind::Conflict, &told);
    let new = store.table("u").unwrap();
    assert_eq!(new.get(&key).unwrap().unwrap().row, unknown);
    assert_eq!(new.count().unwrap(), 21);
    assert!(store.check().unwrap().is_sound());
}
