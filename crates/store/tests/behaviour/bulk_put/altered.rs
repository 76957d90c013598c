//! Tables that are altered while rows are written to them.

use rstest::rstest;
use tonnage::{BulkPutOptions, DeleteOptions, EntryBatch, Payload, Row, Value, WriteOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::scripted::scripted;
use crate::common::{all_rows, row};

fn rows(rows: impl IntoIterator<Item = Row>) -> Option<EntryBatch> {
    Some(Payload::Rows { table: "t".into(), rows: rows.into_iter().collect() }.into())
}

/// A load used to keep to the table as it was when the load met it first: rows with a new column
/// were refused to its end.
#[rstest]
fn a_load_takes_rows_with_a_column_that_was_added_since_it_began(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables("CREATE TABLE t (id LONG, PRIMARY KEY (id))");
    let altering = (*store).clone();
    let stream = scripted(move |step| {
        if step == 3 {
            altering.execute("ALTER TABLE t ADD COLUMN extra INTEGER").unwrap();
        }
        let plain = row! { "id" => i64::from(step) };
        if step < 6 { rows([if step > 3 { plain.with("extra", 7) } else { plain }]) } else { None }
    });
    let report = store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.inserted, report.total.failed), (6, 0));
    let extra = |id: i64| if id > 3 { Value::Integer(7) } else { Value::Null };
    assert_eq!(
        all_rows(&store, "t"),
        (0..6_i64).map(|id| row! { "id" => id, "extra" => extra(id) }).collect::<Vec<_>>()
    );
}

/// A write looks the table up before it reads the rows that it replaces. One of these could be of a
/// layout that came in between, and the write failed with a conflict that no trying again would
/// have mended.
#[rstest]
fn writes_of_an_indexed_table_pass_while_it_is_altered(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (s LONG, k LONG, x LONG, PRIMARY KEY (SHARD(s), k)); CREATE INDEX by_x ON t (x)");
    let old = store.table("t").unwrap();
    let make = |k: i64| row! { "s" => 1_i64, "k" => k, "x" => k };
    std::thread::scope(|scope| {
        let altering = scope.spawn(|| {
            for round in 0..60_i64 {
                store.execute(&format!("ALTER TABLE t ADD COLUMN c{round} INTEGER")).unwrap();
                let table = store.table("t").unwrap();
                for k in 0..40 {
                    table.put(&make(k * 50), &WriteOptions::default()).unwrap();
                }
            }
        });
        while !altering.is_finished() {
            for k in (0..2_000).step_by(100) {
                old.put(&make(k), &WriteOptions::default()).unwrap();
            }
            old.delete_range(&row! { "s" => 1_i64 }, &DeleteOptions::default()).unwrap();
        }
    });
    assert!(store.check().unwrap().is_sound());
}
