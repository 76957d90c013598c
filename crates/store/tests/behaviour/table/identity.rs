//! Identity columns: rows that the store numbers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use rstest::rstest;
use tonnage::arrow::array::{Int64Array, RecordBatch, StringArray};
use tonnage::arrow::datatypes::{DataType, Field, Schema};
use tonnage::{
    BulkPutOptions, Condition, EntryBatch, ErrorKind, Row, RowOperation, Store, TableScanOptions,
    Value, ValueRef, WriteOptions, record_batch_stream, row_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{all_rows, assert_error, failure, row};

fn tickets(identity: &str) -> String {
    format!("CREATE TABLE tickets (id LONG GENERATED {identity}, seat STRING, PRIMARY KEY (id))")
}

fn numbers(store: &Store) -> Vec<i64> {
    let number = |row: Row| match row.get("id") {
        Some(Value::Long(number)) => *number,
        other => panic!("no number: {other:?}"),
    };
    all_rows(store, "tickets").into_iter().map(number).collect()
}

#[rstest]
#[case("ALWAYS AS IDENTITY", [1, 2, 3])]
#[case("BY DEFAULT AS IDENTITY (START WITH 100 INCREMENT BY 10 CACHE 2)", [100, 110, 120])]
#[case("BY DEFAULT ON NULL AS IDENTITY (START WITH -1, INCREMENT BY -1)", [-3, -2, -1])]
fn rows_that_bring_no_number_are_numbered(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] identity: &str,
    #[case] expected: [i64; 3],
) {
    let store = on.with_tables(&tickets(identity));
    let table = store.table("tickets").unwrap();
    for seat in ["1a", "1b", "1c"] {
        table.put(&row! { "seat" => seat }, &WriteOptions::default()).unwrap();
    }
    assert_eq!(numbers(&store), expected);
}

#[rstest]
fn the_number_is_told(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(&tickets("ALWAYS AS IDENTITY"));
    let seat = row! { "seat" => "1a" };
    let now = WriteOptions::default();
    let table = store.table("tickets").unwrap();
    let put = table.put_returning(&seat, Condition::IfAbsent, &now).unwrap();
    assert_eq!(put.generated, Some(Value::Long(1)));
    let group = [RowOperation::put("tickets", seat)];
    assert_eq!(store.write_each(&group, &now).unwrap()[0].generated, Some(Value::Long(2)));
}

#[rstest]
fn every_way_to_write_numbers_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(&tickets("ALWAYS AS IDENTITY"));
    let (now, bulk) = (WriteOptions::default(), BulkPutOptions::default());
    let seat = |name: &str| row! { "seat" => name };
    let table = store.table("tickets").unwrap();
    table.put(&seat("put"), &now).unwrap();
    table.put_if_absent(&seat("put_if_absent"), &now).unwrap();
    let many = table.put_many(&[seat("many"), seat("many")], Condition::Always, &now);
    assert!(many.iter().all(Result::is_ok), "{many:?}");
    table.session().put(&[ValueRef::Null, "session".into()], &now).unwrap();
    store.atomic_write(&[RowOperation::put("tickets", seat("atomic"))], &now).unwrap();
    store.multi_put([("tickets", vec![seat("multi"), seat("multi")])], &bulk).unwrap();
    let rows = (0..3).map(|_| Ok(("tickets".into(), row! { "seat" => "row" })));
    store.bulk_put(vec![row_stream("rows", rows.collect::<Vec<_>>())], &bulk).unwrap();
    let seats = StringArray::from(vec!["batch"; 4]);
    let schema = Schema::new(vec![Field::new("seat", DataType::Utf8, false)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(seats)]).unwrap();
    let stream = record_batch_stream("batches", "tickets", [Ok(batch.clone())]);
    store.bulk_put(vec![stream], &bulk).unwrap();
    let load = store.load(&bulk).unwrap();
    let pushed = load.stream("pushed");
    load.push(pushed, EntryBatch::rows("tickets", batch)).unwrap();
    load.finish().unwrap();
    assert_eq!(numbers(&store), (1..=19).collect::<Vec<_>>());
}

#[rstest]
fn a_column_that_is_always_generated_takes_no_number(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(&tickets("ALWAYS AS IDENTITY"));
    let table = store.table("tickets").unwrap();
    let own = row! { "id" => 7_i64, "seat" => "1a" };
    let refused = failure(table.put(&own, &WriteOptions::default()));
    assert_error(refused, ErrorKind::Invalid, &["'id'", "GENERATED ALWAYS", "leave it out"]);
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("seat", DataType::Utf8, false),
    ]);
    let ids = Int64Array::from(vec![None, Some(7), None]);
    let seats = StringArray::from(vec!["1a", "1b", "1c"]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(seats)]);
    let stream = record_batch_stream("batches", "tickets", [Ok(batch.unwrap())]);
    let report = store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.inserted, report.total.failed), (2, 1));
    assert_eq!(numbers(&store), [1, 2]);
}

#[rstest]
fn a_row_that_is_there_is_written_over_by_its_number(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(&tickets("ALWAYS AS IDENTITY"));
    let table = store.table("tickets").unwrap();
    table.put(&row! { "seat" => "1a" }, &WriteOptions::default()).unwrap();
    let moved = row! { "id" => 1_i64, "seat" => "9f" };
    assert!(table.put_if_present(&moved, &WriteOptions::default()).unwrap().is_stored());
    assert_eq!(all_rows(&store, "tickets"), [moved]);
}

#[rstest]
#[case("BY DEFAULT", None)]
#[case("BY DEFAULT ON NULL", Some(2))]
fn numbers_that_rows_bring_are_taken_by_default(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] generated: &str,
    #[case] null_becomes: Option<usize>,
) {
    let store = on.with_tables(&tickets(&format!("{generated} AS IDENTITY")));
    let table = store.table("tickets").unwrap();
    let now = WriteOptions::default();
    table.put(&row! { "id" => 7_i64, "seat" => "1a" }, &now).unwrap();
    let null = table.put(&row! { "id" => Value::Null, "seat" => "1b" }, &now);
    match null_becomes {
        None => assert_error(failure(null), ErrorKind::Invalid, &["'id'", "NULL"]),
        Some(rows) => assert_eq!((null.is_ok(), numbers(&store).len()), (true, rows)),
    }
    assert!(numbers(&store).contains(&7));
}

#[rstest]
fn many_writers_never_share_a_number(#[values(Memory, RocksDb)] on: Backend) {
    const WRITERS: usize = 4;
    const ROWS: usize = 300;
    let identity = "ALWAYS AS IDENTITY (START WITH 5 INCREMENT BY 3 CACHE 7)";
    let store = on.with_tables(&tickets(identity));
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let rows = (0..ROWS).map(|_| row! { "seat" => "x" }).collect::<Vec<_>>();
                let options = BulkPutOptions::default();
                let report = store.multi_put([("tickets", rows)], &options).unwrap().report;
                assert_eq!(report.total.inserted, ROWS as u64);
            });
        }
    });
    let distinct: BTreeSet<_> = numbers(&store).into_iter().collect();
    assert_eq!(distinct.len(), WRITERS * ROWS);
    assert!(distinct.iter().all(|number| (number - 5) % 3 == 0));
}

#[rstest]
fn numbers_go_on_behind_all_that_were_given(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = on.with_tables(&tickets("ALWAYS AS IDENTITY (CACHE 10)"));
    let put = |store: &Store| {
        let table = store.table("tickets").unwrap();
        table.put(&row! { "seat" => "1a" }, &WriteOptions::default()).unwrap();
    };
    put(&store);
    let delete = |store: &Store| {
        let key = row! { "id" => 1_i64 };
        store.table("tickets").unwrap().delete(&key, &WriteOptions::default()).unwrap()
    };
    assert!(delete(&store), "a number is not given again, though no row has it");
    store.reopen();
    put(&store);
    assert_eq!(numbers(&store), [11]);
}

#[rstest]
fn a_table_that_is_made_again_begins_anew(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(&tickets("ALWAYS AS IDENTITY"));
    for _ in 0..2 {
        let table = store.table("tickets").unwrap();
        table.put(&row! { "seat" => "1a" }, &WriteOptions::default()).unwrap();
        assert_eq!(numbers(&store), [1]);
        store.execute(&format!("DROP TABLE tickets; {}", tickets("ALWAYS AS IDENTITY"))).unwrap();
    }
}

#[rstest]
fn a_column_that_is_full_says_so(#[values(Memory, RocksDb)] on: Backend) {
    let ddl = "CREATE TABLE t (k LONG, n INTEGER GENERATED ALWAYS AS IDENTITY
        (START WITH 2147483647), PRIMARY KEY (k))";
    let store = on.with_tables(ddl);
    let table = store.table("t").unwrap();
    table.put(&row! { "k" => 1_i64 }, &WriteOptions::default()).unwrap();
    let full = failure(table.put(&row! { "k" => 2_i64 }, &WriteOptions::default()));
    assert_error(full, ErrorKind::Invalid, &["table t", "'n'", "no numbers left"]);
    let rows = vec![row! { "k" => 3_i64 }];
    let report = store.multi_put([("t", rows)], &BulkPutOptions::default()).unwrap().report;
    assert_eq!(report.total.failed, 1);
}

#[rstest]
fn a_child_table_numbers_its_own_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(&format!(
        "{}; CREATE TABLE tickets.stamps (n LONG GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (n))",
        tickets("ALWAYS AS IDENTITY")
    ));
    let stamps = store.table("tickets.stamps").unwrap();
    stamps.put(&row! { "id" => 40_i64 }, &WriteOptions::default()).unwrap();
    let stamped = stamps.scan(&TableScanOptions::default()).unwrap().into_rows().next().unwrap();
    assert_eq!(stamped.unwrap().row, row! { "id" => 40_i64, "n" => 1_i64 });
    let orphan = failure(stamps.put(&Row::new(), &WriteOptions::default()));
    assert_error(orphan, ErrorKind::Invalid, &["'id'"]);
}

#[rstest]
#[case("id STRING GENERATED ALWAYS AS IDENTITY", "INTEGER, a LONG or a NUMBER")]
#[case("id LONG GENERATED ALWAYS AS IDENTITY (INCREMENT BY 0)", "INCREMENT BY 0")]
#[case("id LONG GENERATED ALWAYS AS IDENTITY (CACHE 0)", "CACHE takes at least 1")]
#[case("id INTEGER GENERATED ALWAYS AS IDENTITY (START WITH 3000000000)", "START WITH")]
#[case("id LONG GENERATED SOMETIMES AS IDENTITY", "expected BY")]
#[case("id LONG GENERATED ALWAYS AS IDENTITY (ORDER)", "MINVALUE, MAXVALUE, CYCLE, CACHE")]
#[case(
    "id LONG GENERATED ALWAYS AS IDENTITY, n LONG GENERATED ALWAYS AS IDENTITY",
    "a table can have one"
)]
#[case("k NUMBER(39) GENERATED ALWAYS AS IDENTITY", "at most 38 digits")]
#[case("k LONG, n LONG DEFAULT 1 GENERATED ALWAYS AS IDENTITY", "cannot have a DEFAULT")]
fn definitions_that_cannot_number_rows_are_refused(#[case] columns: &str, #[case] what: &str) {
    let store = Memory.open();
    let key = columns.split(' ').next().unwrap();
    let ddl = format!("CREATE TABLE t ({columns}, PRIMARY KEY ({key}))");
    assert_error(failure(store.execute(&ddl)), ErrorKind::Invalid, &[what]);
}

#[rstest]
fn an_identity_column_cannot_be_added(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (k LONG, PRIMARY KEY (k))");
    let added = store.execute("ALTER TABLE t ADD n LONG GENERATED ALWAYS AS IDENTITY");
    assert_error(failure(added), ErrorKind::Invalid, &["'n'", "make a new table"]);
}

#[rstest]
fn the_definition_is_read_back(#[values(Memory, RocksDb)] on: Backend) {
    let identity = "BY DEFAULT ON NULL AS IDENTITY (START WITH -5 INCREMENT BY -2 CACHE 9)";
    let mut store = on.with_tables(&tickets(identity));
    store.reopen();
    let ddl = store.table("tickets").unwrap().schema().to_ddl();
    assert!(ddl.contains(&format!("\"id\" LONG GENERATED {identity}")) || ddl.contains(identity));
    let same = ddl.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS");
    store.execute(&same).unwrap();
    let other = failure(store.execute(&same.replace("CACHE 9", "CACHE 8")));
    assert_error(other, ErrorKind::Conflict, &["'id'", "CACHE 9", "CACHE 8"]);
}

#[rstest]
#[case("ALWAYS AS IDENTITY (MAXVALUE 3 CACHE 2)", [1, 2, 3])]
#[case("ALWAYS AS IDENTITY (START WITH 2 INCREMENT BY -2 MINVALUE -3)", [-2, 0, 2])]
fn numbers_that_end_are_used_up(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] identity: &str,
    #[case] expected: [i64; 3],
) {
    let store = on.with_tables(&tickets(identity));
    let table = store.table("tickets").unwrap();
    let put = || table.put(&row! { "seat" => "1a" }, &WriteOptions::default());
    for _ in 0..3 {
        put().unwrap();
    }
    for _ in 0..2 {
        let error = put().unwrap_err();
        assert!(tonnage::IdentityUsedUp::caused(&error), "{error}");
        assert_error(error, ErrorKind::Invalid, &["no numbers left"]);
    }
    assert_eq!(numbers(&store), expected);
}

#[rstest]
fn numbers_may_begin_anew_at_the_other_end(#[values(Memory, RocksDb)] on: Backend) {
    let identity =
        "BY DEFAULT AS IDENTITY (START WITH 8 INCREMENT BY 4 MINVALUE 1 MAXVALUE 15 CYCLE CACHE 3)";
    let store = on.with_tables(&tickets(identity));
    let table = store.table("tickets").unwrap();
    let draw = || {
        let seat = row! { "seat" => "1a" };
        let put = table.put_returning(&seat, Condition::Always, &WriteOptions::default());
        put.unwrap().generated.unwrap()
    };
    let drawn: Vec<Value> = (0..8).map(|_| draw()).collect();
    assert_eq!(drawn, [8, 12, 1, 5, 9, 13, 1, 5].map(Value::Long));
    // What describes the table makes it again.
    let ddl = table.schema().to_ddl();
    assert!(ddl.contains("MINVALUE 1 MAXVALUE 15 CYCLE CACHE 3"), "{ddl}");
    store.execute("DROP TABLE tickets").unwrap();
    store.execute(&ddl).unwrap();
    assert_eq!(store.table("tickets").unwrap().schema().to_ddl(), ddl);
}

#[rstest]
#[case("MAXVALUE 5 MINVALUE 5", "MINVALUE is not less than MAXVALUE")]
#[case("START WITH 9 MAXVALUE 5", "START WITH 9 is not between")]
#[case("NO CACHE", "MAXVALUE, MINVALUE or CYCLE")]
fn ends_that_leave_no_number_are_refused(#[case] options: &str, #[case] part: &str) {
    let store = Store::open("memory:").unwrap();
    let made = store.execute(&tickets(&format!("ALWAYS AS IDENTITY ({options})")));
    assert_error(made.unwrap_err(), ErrorKind::Invalid, &[part]);
}
