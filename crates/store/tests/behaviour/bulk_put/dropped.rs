//! Tables that are dropped while rows are written to them.
//!
//! A load that began before used to count rows of a dropped child table as stored, and a dropped
//! top-level table ended the whole load, together with the rows of all others that were not yet
//! stored.

use rstest::rstest;
use tonnage::{BulkPutOptions, EntryBatch, ErrorKind, Payload, Row, Store, WriteOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::scripted::scripted;
use crate::common::{all_rows, assert_error, failure, row};

const TABLES: &str =
    "CREATE TABLE kept (id LONG, PRIMARY KEY (id)); CREATE TABLE gone (id LONG, PRIMARY KEY (id));
    CREATE TABLE kept.child (n LONG, PRIMARY KEY (n))";

fn id(id: i64) -> Row {
    row! { "id" => id }
}

fn child(n: i64) -> Row {
    row! { "id" => 1_i64, "n" => n }
}

fn rows(table: &str, rows: impl IntoIterator<Item = Row>) -> Option<EntryBatch> {
    Some(Payload::Rows { table: table.into(), rows: rows.into_iter().collect() }.into())
}

fn spaces(store: &Store) -> Vec<String> {
    store.engine().spaces().unwrap().into_iter().map(|space| space.name).collect()
}

#[rstest]
fn a_dropped_table_costs_a_load_only_the_entries_that_come_after(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(TABLES);
    let dropping = (*store).clone();
    let stream = scripted(move |step| match step {
        0 => rows("kept", [id(1)]),
        1 => rows("gone", [id(1), id(2)]),
        2 => {
            dropping.execute("DROP TABLE gone").unwrap();
            rows("gone", [id(3)])
        }
        3 => rows("kept", [id(2)]),
        _ => None,
    });
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let report = store.bulk_put(vec![stream], &options).unwrap();
    let failed = recorder.failed();
    assert_eq!((failed.len(), failed[0].position, report.total.failed), (1, 3, 1));
    assert!(failed[0].reason.contains("gone"), "{}", failed[0].reason);
    assert!(report.streams[0].completed);
    assert_eq!(all_rows(&store, "kept"), [id(1), id(2)]);
    assert!(!spaces(&store).contains(&"table:gone".to_owned()), "{:?}", spaces(&store));
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn a_dropped_child_table_takes_no_more_entries(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(TABLES);
    let dropping = (*store).clone();
    let stream = scripted(move |step| match step {
        0 => rows("kept.child", [child(1)]),
        1 => {
            dropping.execute("DROP TABLE kept.child").unwrap();
            rows("kept.child", [child(2), child(3)])
        }
        2 => rows("kept", [id(1)]),
        _ => None,
    });
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let report = store.bulk_put(vec![stream], &options).unwrap();
    assert_eq!((report.total.inserted, report.total.failed), (2, 2));
    assert!(
        recorder.failed().iter().all(|failed| failed.reason.contains("kept.child")),
        "{:?}",
        recorder.failed()
    );
    assert_eq!(all_rows(&store, "kept"), [id(1)]);
}

#[rstest]
fn a_table_made_again_during_a_load_gets_what_comes_after_and_nothing_else(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(("gone", "id LONG, word STRING, PRIMARY KEY (id)"), ("kept.child", "n LONG, word STRING, PRIMARY KEY (n)"))]
    of: (&'static str, &'static str),
) {
    let (table, columns) = of;
    let mut store = on.with_tables(TABLES);
    let row = move |n: i64| if table == "gone" { id(n) } else { child(n) };
    let dropping = (*store).clone();
    let stream = scripted(move |step| match step {
        0 => rows(table, [row(1), row(2)]),
        1 => {
            dropping
                .execute(&format!("DROP TABLE {table}; CREATE TABLE {table} ({columns})"))
                .unwrap();
            rows(table, [row(2).with("word", "new"), row(3).with("word", "new")])
        }
        _ => None,
    });
    store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    let expected = [row(2).with("word", "new"), row(3).with("word", "new")];
    assert_eq!(all_rows(&store, table), expected);
    store.reopen();
    assert_eq!(all_rows(&store, table), expected);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn a_handle_on_a_dropped_table_writes_nothing(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(("gone", "id"), ("kept.child", "n"))] of: (&str, &str),
) {
    let (table, key) = of;
    let store = on.with_tables(TABLES);
    let row = |n: i64| if table == "gone" { id(n) } else { child(n) };
    let (old, mut session) = (store.table(table).unwrap(), store.table(table).unwrap().session());
    old.put(&row(1), &WriteOptions::default()).unwrap();
    store.execute(&format!("DROP TABLE {table}")).unwrap();
    let refused = |store: &Store, session: &mut tonnage::RowSession| {
        assert_error(
            failure(old.put(&row(2), &WriteOptions::default())),
            ErrorKind::NotFound,
            &[table, "dropped"],
        );
        assert_error(
            failure(old.delete(&row(2), &WriteOptions::default())),
            ErrorKind::NotFound,
            &[table],
        );
        let cells: Vec<tonnage::ValueRef<'_>> =
            if table == "gone" { vec![2_i64.into()] } else { vec![1_i64.into(), 2_i64.into()] };
        assert_error(
            failure(session.put(&cells, &WriteOptions::default())),
            ErrorKind::NotFound,
            &[table],
        );
        assert!(store.table("kept").is_ok());
    };
    refused(&store, &mut session);
    store.execute(&format!("CREATE TABLE {table} ({key} LONG, PRIMARY KEY ({key}))")).unwrap();
    refused(&store, &mut session);
    assert_eq!(store.table(table).unwrap().count().unwrap(), 0);
}
