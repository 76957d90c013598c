//! Indexes on places in JSON documents.

use rstest::rstest;
use tonnage::{Direction, FieldRange, IndexRange, Row, Value, WriteOptions};

use super::{plates, plates_in_order, stale_after_writes, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, row};

fn document(plate: i64, text: &str) -> Row {
    row! { "plate" => plate, "doc" => Value::Json(text.into()) }
}

fn stocked(on: Backend) -> TestStore {
    let store = on.with_tables("CREATE TABLE cars (plate LONG, doc JSON, PRIMARY KEY (plate))");
    let documents = [
        r#"{"owner": {"name": "Ann", "age": 31}}"#,
        r#"{"owner": {"name": "Bob", "age": 4.5}}"#,
        r#"{"owner": {"name": "Ann", "age": "unknown"}}"#,
        r#"{"owner": {"name": null}}"#,
        r#"{"owner": [1, 2]}"#,
        r#"{"owner": {"age": true, "name": {"first": "Ann"}}}"#,
    ];
    let (single, loaded) = documents.split_at(3);
    for (plate, text) in (0..).zip(single) {
        store.table("cars").unwrap().put(&document(plate, text), &WriteOptions::default()).unwrap();
    }
    store.execute("CREATE INDEX by_owner ON cars (doc.owner.name, doc.owner.age)").unwrap();
    store.execute("CREATE INDEX by_age ON cars (doc.owner.age)").unwrap();
    let rows: Vec<Row> = (3..).zip(loaded).map(|(plate, text)| document(plate, text)).collect();
    store.multi_put([("cars", rows)], &Default::default()).unwrap();
    store
}

#[rstest]
fn rows_are_found_by_what_their_documents_hold(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    assert_eq!(plates(&store, "by_owner", IndexRange::prefix(["Ann"])), [0, 2]);
    assert_eq!(
        plates(&store, "by_owner", IndexRange::prefix([Value::from("Ann"), Value::from(31)])),
        [0]
    );
    assert_eq!(plates(&store, "by_owner", IndexRange::prefix([Value::Null])), [3, 4]);
    let grown = IndexRange::default().within(FieldRange::of("doc.owner.age").from(4.5));
    assert_eq!(plates(&store, "by_age", grown), [0, 1]);
    let unknown = IndexRange::prefix(["Ann"]).within(FieldRange::of("doc.owner.age").from("a"));
    assert_eq!(plates(&store, "by_owner", unknown), [2]);
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn values_of_several_types_have_an_order(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let plates = plates_in_order(&store, "by_age", IndexRange::default(), Direction::Forward);
    assert_eq!(plates, [3, 4, 5, 1, 0, 2]);
}

#[rstest]
fn a_changed_document_is_found_by_its_new_values(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let changed = document(0, r#"{"owner": {"name": "Cleo"}}"#);
    store.table("cars").unwrap().put(&changed, &WriteOptions::default()).unwrap();
    assert_eq!(plates(&store, "by_owner", IndexRange::prefix(["Ann"])), [2]);
    assert_eq!(plates(&store, "by_owner", IndexRange::prefix(["Cleo"])), [0]);
    assert_eq!(stale_after_writes(&store), 0);
}
