//! The first child table of a table is created while the table is read.
//!
//! Whether child rows may be among the rows was looked up when a read began: those of a table
//! created since were taken for rows of the parent. Reads ended in "restore from a copy", and an
//! index that was in the making could never be read.

use std::sync::Mutex;

use rstest::rstest;
use tonnage::{
    CreateIndexOptions, Direction, IndexColumn, IndexDefinition, IndexProgress, IndexRange,
    IndexScanOptions, KeySource, Row, Store, TableScanOptions, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::order::in_key_order;
use crate::common::{TestStore, clean_all, row};

const ROWS: i64 = 200;

fn parent(k: i64) -> Row {
    row! { "k" => k, "v" => format!("v{k}") }
}

fn parents(on: Backend, rows: i64) -> TestStore {
    let store = on.with_tables("CREATE TABLE p (k LONG, v STRING, PRIMARY KEY (k))");
    store
        .multi_put([("p", (0..rows).map(parent).collect::<Vec<_>>())], &Default::default())
        .unwrap();
    store
}

/// Makes the child table, whose values look like those of the parent, with a row under each parent.
fn make_children(store: &Store, rows: i64) {
    store.execute("CREATE TABLE p.c (l LONG, w STRING, PRIMARY KEY (l))").unwrap();
    let children: Vec<_> =
        (0..rows).map(|k| row! { "k" => k, "l" => 1_i64, "w" => "child" }).collect();
    store.multi_put([("p.c", children)], &Default::default()).unwrap();
}

#[rstest]
fn a_scan_that_began_before_gives_the_rows_of_the_table_alone(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = parents(on, ROWS);
    let options = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    let scan = store.table("p").unwrap().scan(&options).unwrap();
    make_children(&store, ROWS);
    let found: Vec<Row> = scan.into_rows().map(|row| row.unwrap().row).collect();
    assert_eq!(in_key_order(&store, "p", found), (0..ROWS).map(parent).collect::<Vec<_>>());
}

#[rstest]
fn a_bulk_get_by_partial_keys_that_began_before_does_too(#[values(Memory, RocksDb)] on: Backend) {
    let store =
        on.with_tables("CREATE TABLE p (k LONG, n LONG, v STRING, PRIMARY KEY (SHARD(k), n))");
    for n in 0..20_i64 {
        store
            .table("p")
            .unwrap()
            .put(&row! { "k" => 1_i64, "n" => n, "v" => "v" }, &Default::default())
            .unwrap();
    }
    let keys = KeySource::keys([vec![Value::from(1_i64)]]);
    let get = store.table("p").unwrap().bulk_get(keys, &Default::default()).unwrap();
    store.execute("CREATE TABLE p.c (l LONG, w STRING, PRIMARY KEY (l))").unwrap();
    let child = row! { "k" => 1_i64, "n" => 3_i64, "l" => 1_i64, "w" => "child" };
    store.table("p.c").unwrap().put(&child, &Default::default()).unwrap();
    assert_eq!(get.into_rows().inspect(|row| assert!(row.is_ok())).count(), 20);
}

#[rstest]
fn an_index_that_is_being_made_takes_the_rows_of_its_table_alone(
    #[values(Memory, RocksDb)] on: Backend,
) {
    const MANY: i64 = 40_000;
    let store = parents(on, MANY);
    let (inner, is_made) = (Store::clone(&store), Mutex::new(false));
    let progress = move |_: IndexProgress| {
        if !std::mem::replace(&mut *is_made.lock().unwrap(), true) {
            make_children(&inner, MANY);
        }
    };
    let definition = IndexDefinition {
        name: "by_v".into(),
        table: "p".into(),
        columns: vec![IndexColumn::new("v")],
    };
    let options =
        CreateIndexOptions { progress: Some(std::sync::Arc::new(progress)), ..Default::default() };
    assert!(store.create_index(&definition, &options).unwrap());

    let index = store.table("p").unwrap().index("by_v").unwrap();
    let scan = index.scan(&IndexRange::default(), &IndexScanOptions::default()).unwrap();
    assert_eq!(scan.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), MANY as usize);
    let report = store.check().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    assert_eq!(report.stale_index_entries, 0);
}

/// Entries of child rows that an earlier version put into an index are passed over, reported, and
/// removed.
#[rstest]
fn entries_that_name_rows_of_a_child_table_are_stale(#[values(Memory, RocksDb)] on: Backend) {
    let store = parents(on, 10);
    store.execute("CREATE INDEX by_v ON p (v)").unwrap();
    make_children(&store, 10);
    // An entry: shard, cell of the column, key of the row, which is a child row's here.
    let engine = store.engine();
    let space = |name: &str| {
        engine.spaces().unwrap().into_iter().find(|space| space.name == name).unwrap().id
    };
    let (table, index) = (space("table:p"), space("index:p.by_v"));
    let mut scanner =
        engine.scan(table, tonnage_engine::Ranges::whole_space(), Default::default()).unwrap();
    let mut rows = tonnage_engine::Rows::new();
    assert!(scanner.next_batch(&mut rows).unwrap());
    let longest = rows.keys.iter().max_by_key(|key| key.len()).unwrap();
    let entry = [&[0, 0, 1][..], b"child\x00\x01", longest].concat();
    let mut batch = tonnage_engine::WriteBatch::new(index);
    batch.put(&entry, &[], 0, tonnage_engine::Condition::Always);
    engine.write(&batch, tonnage_engine::Durability::Write).unwrap();

    let by_v = store.table("p").unwrap().index("by_v").unwrap();
    let scan = by_v.scan(&IndexRange::default(), &IndexScanOptions::default()).unwrap();
    assert_eq!(scan.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), 10);
    assert_eq!(store.check().unwrap().stale_index_entries, 1);
    assert_eq!(clean_all(&store, &by_v), 1);
    assert_eq!(store.check().unwrap().stale_index_entries, 0);
}
