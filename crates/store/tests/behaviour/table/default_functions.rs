//! Defaults that the store makes anew for each row: now(), current_date, current_time, uuid().

use std::collections::BTreeSet;
use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{Int64Array, RecordBatch};
use tonnage::arrow::datatypes::{DataType, Field, Schema};
use tonnage::{
    BulkPutOptions, Clock, Condition, ErrorKind, Row, RowOperation, Store, SystemClock, Value,
    WriteOptions, record_batch_stream, row_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{all_rows, assert_error, failure, row};

const EVENTS: &str = "CREATE TABLE events (
    id UUID DEFAULT uuid(), n LONG, at TIMESTAMP(3) DEFAULT now(), day DATE DEFAULT current_date,
    hour TIME DEFAULT localtime, token STRING DEFAULT gen_random_uuid(), PRIMARY KEY (id))";

fn millis() -> i64 {
    SystemClock.now_ms() as i64
}

/// Writes rows 0 to 5 in every way that there is.
fn write_in_every_way(store: &Store) {
    let now = WriteOptions::default();
    let events = store.table("events").unwrap();
    let numbered = |n: i64| row! { "n" => n };
    events.put(&numbered(0), &now).unwrap();
    store.write_each(&[RowOperation::put("events", numbered(1))], &now).unwrap();
    store.atomic_write(&[RowOperation::put("events", numbered(2))], &now).unwrap();
    let batch = RecordBatch::try_new(
        Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)])),
        vec![Arc::new(Int64Array::from(vec![3, 4]))],
    );
    let streams = vec![
        record_batch_stream("batches", "events", [Ok(batch.unwrap())]),
        row_stream("rows", [Ok(("events".into(), numbered(5)))]),
    ];
    store.bulk_put(streams, &BulkPutOptions::default()).unwrap();
}

#[rstest]
fn every_way_to_write_makes_them(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(EVENTS);
    let before = millis();
    write_in_every_way(&store);
    let after = millis();
    let rows = all_rows(&store, "events");
    let numbers: BTreeSet<_> = rows.iter().map(|row| row.get("n").unwrap().to_string()).collect();
    assert_eq!(numbers.len(), 6);
    let mut uuids = BTreeSet::new();
    for row in &rows {
        let Some(Value::Timestamp { value, precision: 3 }) = row.get("at") else {
            panic!("no moment: {row:?}")
        };
        assert!((before..=after).contains(value), "{before} <= {value} <= {after}");
        let Some(Value::Date(day)) = row.get("day") else { panic!("no day: {row:?}") };
        assert!((before / 86_400_000..=after / 86_400_000).contains(&i64::from(*day)));
        assert!(matches!(row.get("hour"), Some(Value::Time(0..86_400_000_000_000))), "{row:?}");
        let Some(Value::Uuid(id)) = row.get("id") else { panic!("no UUID: {row:?}") };
        assert_eq!((id[6] >> 4, id[8] >> 6), (4, 2), "version 4 of RFC 9562");
        uuids.insert(Value::Uuid(*id).to_string());
        let Some(Value::String(token)) = row.get("token") else { panic!("no token: {row:?}") };
        uuids.insert(token.clone());
    }
    assert_eq!(uuids.len(), 12, "no UUID twice");
}

#[rstest]
fn what_a_row_brings_is_kept_null_included(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(EVENTS);
    let id = Value::Uuid([7; 16]);
    let given = Row::new().with("id", id.clone()).with("n", 1).with("at", Value::Null);
    store.table("events").unwrap().put(&given, &WriteOptions::default()).unwrap();
    let rows = all_rows(&store, "events");
    assert_eq!((rows[0].get("id"), rows[0].get("at")), (Some(&id), Some(&Value::Null)));
}

#[rstest]
fn the_uuid_of_a_row_is_told(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(EVENTS);
    let events = store.table("events").unwrap();
    let put = events.put_returning(&row! { "n" => 1 }, Condition::Always, &WriteOptions::default());
    let told = put.unwrap().generated;
    assert!(told.is_some());
    assert_eq!(told.as_ref(), all_rows(&store, "events")[0].get("id"));
}

#[rstest]
fn rows_from_before_a_column_show_the_moment_it_was_added(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (a LONG PRIMARY KEY)");
    let put = |a: i64| {
        store.table("t").unwrap().put(&row! { "a" => a }, &WriteOptions::default()).unwrap();
    };
    put(1);
    store.execute("ALTER TABLE t ADD at TIMESTAMP(9) NOT NULL DEFAULT now()").unwrap();
    let added = all_rows(&store, "t")[0].get("at").cloned();
    assert!(matches!(added, Some(Value::Timestamp { .. })), "{added:?}");
    put(2);
    let rows = all_rows(&store, "t");
    assert_eq!(rows[0].get("at"), added.as_ref());
    assert_ne!(rows[1].get("at"), added.as_ref());
}

#[test]
fn a_table_opened_again_makes_them_too() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(folder.path().to_str().unwrap()).unwrap().execute(EVENTS).unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    write_in_every_way(&store);
    assert_eq!(all_rows(&store, "events").len(), 6);
    let ddl = store.table("events").unwrap().schema().to_ddl();
    assert!(ddl.contains("id UUID DEFAULT uuid()"), "{ddl}");
    store.execute(&ddl.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")).unwrap();
}

#[rstest]
#[case("CREATE TABLE t (a LONG PRIMARY KEY, b LONG DEFAULT now())", "now() does not fit a LONG")]
#[case("CREATE TABLE t (a LONG PRIMARY KEY, b UUID DEFAULT current_date)", "does not fit a UUID")]
#[case("CREATE TABLE t (a LONG PRIMARY KEY, b LONG DEFAULT abs(1))", "is no other expression")]
#[case("CREATE TABLE t (a LONG PRIMARY KEY, b LONG DEFAULT (1 + 2))", "is no other expression")]
#[case("CREATE TABLE t (a LONG DEFAULT 1 PRIMARY KEY)", "cannot have a DEFAULT but uuid()")]
#[case("ALTER TABLE e ADD u UUID DEFAULT uuid()", "would all have the same")]
#[case("ALTER TABLE e.c ALTER COLUMN id SET DEFAULT uuid()", "key column of the table above")]
fn what_cannot_be_made_is_refused(#[case] ddl: &str, #[case] told: &str) {
    let store = Memory.with_tables("CREATE TABLE e (id UUID PRIMARY KEY)");
    store.execute("CREATE TABLE e.c (n LONG PRIMARY KEY)").unwrap();
    assert_error(failure(store.execute(ddl)), ErrorKind::Invalid, &[told]);
}

#[test]
fn a_default_may_change_between_a_function_and_a_value() {
    let store = Memory.with_tables("CREATE TABLE t (id STRING PRIMARY KEY, at DATE)");
    let defaults = || {
        let table = store.table("t").unwrap();
        table.schema().columns.iter().map(|column| column.default_text()).collect::<Vec<_>>()
    };
    store.execute("ALTER TABLE t ALTER COLUMN id SET DEFAULT uuid()").unwrap();
    store.execute("ALTER TABLE t ALTER COLUMN at SET DEFAULT CURRENT_TIMESTAMP").unwrap();
    assert_eq!(defaults(), [Some("uuid()".into()), Some("current_date".into())]);
    store.execute("ALTER TABLE t ALTER COLUMN id DROP DEFAULT").unwrap();
    store.execute("ALTER TABLE t ALTER COLUMN at SET DEFAULT '2026-01-02'").unwrap();
    assert_eq!(defaults(), [None, Some("2026-01-02".into())]);
}
