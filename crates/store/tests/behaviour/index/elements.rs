//! Indexes on elements of arrays, and on keys and values of maps.

use rstest::rstest;
use tonnage::{
    BulkPutOptions, DdlOutcome, Direction, ErrorKind, FieldRange, IndexColumn, IndexRange,
    IndexScanOptions, OnExisting, PathStep, Row, Value, WriteOptions,
};

use super::{plates, plates_in_order, rows, stale_after_writes, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};

const TABLE: &str = "
    CREATE TABLE cars (plate LONG, doc JSON, tags ARRAY(STRING), sold MAP(RECORD(year INTEGER, to ARRAY(STRING))), home RECORD(city STRING, zip INTEGER), PRIMARY KEY (plate));
    CREATE INDEX by_area ON cars (doc.phones[].area, doc.phones[].kind);
    CREATE INDEX by_tag ON cars (tags[]);
    CREATE INDEX by_sale ON cars (sold.keys(), sold.values().year);
    CREATE INDEX by_buyer ON cars (home.city, sold.values().to[])";

fn car(plate: i64, doc: &str, tags: &[&str], sold: &str, city: &str) -> Row {
    let cars = row! { "plate" => plate, "doc" => Value::Json(doc.into()) };
    let tags = Value::Array(tags.iter().map(|tag| (*tag).into()).collect());
    let home = Value::Record(vec![("city".into(), city.into()), ("zip".into(), Value::Null)]);
    cars.with("tags", tags).with("sold", sold).with("home", home)
}

fn cars() -> Vec<Row> {
    vec![
        car(
            0,
            r#"{"phones": [{"area": 1, "kind": "work"}, {"area": 2, "kind": "home"}, {"area": 1, "kind": "work"}]}"#,
            &["red", "new", "red"],
            r#"{"ann": {"year": 2001, "to": ["bob", "cleo"]}, "bob": {"year": 2003, "to": []}}"#,
            "Rome",
        ),
        car(1, r#"{"phones": {"area": 2}}"#, &[], "{}", "Rome"),
        car(2, r#"{"phones": []}"#, &["old"], r#"{"ann": {"year": 2003}}"#, "Oslo"),
        car(3, r#"{"phones": [null, 7, {"kind": "home"}]}"#, &["new"], "{}", "Oslo"),
    ]
}

fn put(store: &TestStore, row: &Row) {
    store.table("cars").unwrap().put(row, &WriteOptions::default()).unwrap();
}

/// Half of the rows are put before the indexes exist, and the others loaded after.
fn stocked(on: Backend) -> TestStore {
    let (table, indexes) = TABLE.split_once(';').unwrap();
    let store = on.with_tables(table);
    let all = cars();
    let (before, behind) = all.split_at(2);
    before.iter().for_each(|row| put(&store, row));
    store.execute(indexes).unwrap();
    store.multi_put([("cars", behind.to_vec())], &BulkPutOptions::default()).unwrap();
    store
}

#[rstest]
fn a_row_is_found_by_each_of_its_elements(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["new"])), [0, 3]);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["red"])), [0]);
    assert_eq!(plates(&store, "by_area", IndexRange::prefix([2])), [0, 1]);
    let home = IndexRange::prefix([Value::from(2), "home".into()]);
    assert_eq!(plates(&store, "by_area", home), [0]);
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn values_of_one_element_belong_together(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let apart = IndexRange::prefix([Value::from(1), "home".into()]);
    assert_eq!(plates(&store, "by_area", apart), [0_i64; 0]);
    let sale = |name: &str, year: i32| IndexRange::prefix([Value::from(name), year.into()]);
    assert_eq!(plates(&store, "by_sale", sale("ann", 2003)), [2]);
    assert_eq!(plates(&store, "by_sale", sale("ann", 2001)), [0]);
    assert_eq!(plates(&store, "by_sale", IndexRange::prefix(["ann"])), [0, 2]);
}

#[rstest]
fn a_row_without_elements_is_there_as_null(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix([Value::Null])), [1]);
    assert_eq!(plates(&store, "by_area", IndexRange::prefix([Value::Null])), [2, 3]);
    assert_eq!(plates(&store, "by_sale", IndexRange::prefix([Value::Null])), [1, 3]);
    let bobs = |city: &str| IndexRange::prefix([Value::from(city), "bob".into()]);
    assert_eq!(plates(&store, "by_buyer", bobs("Rome")), [0]);
    assert_eq!(plates(&store, "by_buyer", bobs("Oslo")), [0_i64; 0]);
}

#[rstest]
fn a_row_comes_once_at_the_first_of_its_entries(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let all = IndexRange::default();
    let forward = plates_in_order(&store, "by_tag", all.clone(), Direction::Forward);
    assert_eq!(forward, [1, 0, 3, 2], "NULL, new, old");
    let reverse = plates_in_order(&store, "by_tag", all.clone(), Direction::Reverse);
    assert_eq!(reverse, [0, 2, 3, 1], "red, old, new, NULL");
    let some = IndexRange::default().within(FieldRange::of("tags[]").from("o"));
    assert_eq!(plates_in_order(&store, "by_tag", some, Direction::Forward), [2, 0]);
    let options = IndexScanOptions { exactly_once: true, ..Default::default() };
    assert_eq!(rows(&store, "by_tag", all.clone(), &options).len(), 4);
    let alone = IndexScanOptions {
        columns: Some(vec!["plate".into()]),
        index_only: true,
        ..Default::default()
    };
    assert_eq!(rows(&store, "by_tag", all, &alone).len(), 4);
}

#[rstest]
fn several_ranges_give_a_row_once(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let index = store.table("cars").unwrap().index("by_tag").unwrap();
    let ranges = ["red", "new", "new", "old"].map(|tag| IndexRange::prefix([tag]));
    for direction in [Direction::Unordered, Direction::Forward, Direction::Reverse] {
        let options = IndexScanOptions { direction, ..Default::default() };
        let batches = index.bulk_get(ranges.clone(), &options).unwrap();
        let count: usize = batches.map(|batch| batch.unwrap().rows.num_rows()).sum();
        assert_eq!(count, 3, "{direction:?}");
    }
}

#[rstest]
fn a_changed_row_is_found_by_its_new_elements_alone(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    put(&store, &car(0, r#"{"phones": [{"area": 2}]}"#, &["new", "blue"], "{}", "Oslo"));
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["red"])), [0_i64; 0]);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["blue"])), [0]);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["new"])), [0, 3]);
    assert_eq!(plates(&store, "by_area", IndexRange::prefix([1])), [0_i64; 0]);
    assert_eq!(plates(&store, "by_area", IndexRange::prefix([2])), [0, 1]);
    let table = store.table("cars").unwrap();
    table.delete(&row! { "plate" => 3_i64 }, &WriteOptions::default()).unwrap();
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["new"])), [0]);
    assert_eq!(stale_after_writes(&store), 0);
}

#[rstest]
fn entries_that_a_load_leaves_are_cleaned(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let changed = vec![car(0, "{}", &["new", "blue"], "{}", "Rome")];
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    store.multi_put([("cars", changed)], &options).unwrap();
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["red"])), [0_i64; 0]);
    assert!(stale_entries(&store) > 0);
    assert_eq!(stale_after_cleaning(&store), 0);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["new"])), [0, 3]);
}

fn stale_after_cleaning(store: &TestStore) -> u64 {
    for index in store.table("cars").unwrap().indexes().unwrap() {
        crate::common::clean_all(store, &index);
    }
    stale_entries(store)
}

#[rstest]
fn names_of_members_that_are_not_text_hide_no_element(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE cars (plate LONG, doc JSON, PRIMARY KEY (plate));
         CREATE INDEX by_name ON cars (doc.m.keys(), doc.m.values())",
    );
    let doc = r#"{"m": {"\ud800": 1, "a": 2, "\u0062": [3]}, "\udc00": 4}"#;
    put(&store, &row! { "plate" => 1_i64, "doc" => Value::Json(doc.into()) });
    let named = |name: &str| plates(&store, "by_name", IndexRange::prefix([name]));
    assert_eq!((named("a"), named("b"), named("c")), (vec![1], vec![1], vec![]));
}

#[rstest]
fn an_index_is_the_same_after_reopening(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = stocked(on);
    store.reopen();
    let index = store.table("cars").unwrap().index("by_sale").unwrap();
    let year = [PathStep::VALUES, PathStep::from("year")];
    let columns =
        [IndexColumn::json_path("sold", [PathStep::KEYS]), IndexColumn::json_path("sold", year)];
    assert_eq!(index.columns(), columns);
    let ddl = "CREATE INDEX by_sale ON cars (sold.keys(), sold.values().year)";
    assert_eq!(index.to_ddl(), ddl);
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["new"])), [0, 3]);
    let shown = store.execute("DESCRIBE cars").unwrap().remove(0);
    let DdlOutcome::Description(text) = &shown else { panic!("{shown:?}") };
    assert!(text.contains("(doc.phones[].area, doc.phones[].kind)"), "{text}");
    assert_eq!(on.with_tables(text).execute("DESCRIBE cars").unwrap().remove(0), shown);
}

#[rstest]
fn paths_that_lead_nowhere_are_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(TABLE);
    for (columns, named) in [
        ("tags", "no order"),
        ("tags[].a", "STRING before '.a'"),
        ("tags.keys()", "before '.keys()'"),
        ("sold[]", "before '[]'"),
        ("sold.keys().x", "before '.x'"),
        ("sold.values()", "no order"),
        ("home.town", "no field town"),
        ("plate[]", "before '[]'"),
        ("doc.a[], doc.b[]", "another array or map"),
        ("tags[], doc.a[]", "another array or map"),
        ("doc.a.keys().b", "after keys()"),
        ("tags[], tags[]", "twice"),
        ("tags[1]", "']'"),
    ] {
        let made = store.execute(&format!("CREATE INDEX i ON cars ({columns})"));
        assert_error(failure(made), ErrorKind::Invalid, &[named]);
    }
}

#[rstest]
fn a_row_of_too_many_elements_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let tags: Vec<String> = (0..10_001).map(|tag| tag.to_string()).collect();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    put(&store, &car(5, "{}", &tags[1..], "{}", "Rome"));
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["10000"])), [5]);
    let many = car(6, "{}", &tags, "{}", "Rome");
    let refused = store.table("cars").unwrap().put(&many, &WriteOptions::default());
    assert_error(failure(refused), ErrorKind::Invalid, &["more than 10000 entries"]);
    let report = store.multi_put([("cars", vec![many])], &BulkPutOptions::default()).unwrap();
    assert_eq!(report.report.total.failed, 1);
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn a_column_keeps_its_index_when_it_is_renamed(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    store.execute("ALTER TABLE cars RENAME COLUMN tags TO marks, ADD note STRING").unwrap();
    assert_eq!(plates(&store, "by_tag", IndexRange::prefix(["new"])), [0, 3]);
    let index = store.table("cars").unwrap().index("by_tag").unwrap();
    assert_eq!(index.columns(), [IndexColumn::json_path("marks", [PathStep::ELEMENTS])]);
    let dropped = store.execute("ALTER TABLE cars DROP COLUMN marks");
    assert_error(failure(dropped), ErrorKind::Conflict, &["by_tag"]);
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn an_index_on_a_function_holds_its_results(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    store
        .execute(
            "CREATE INDEX by_upper ON cars (upper(home.city), length(tags[]));
             CREATE INDEX by_half ON cars (floor(doc.phones[].area), plate)",
        )
        .unwrap();
    put(&store, &car(4, r#"{"phones": [{"area": 2.5}]}"#, &["blue"], "{}", "rome"));
    let rome = |length: i32| IndexRange::prefix([Value::from("ROME"), length.into()]);
    assert_eq!(plates(&store, "by_upper", IndexRange::prefix(["ROME"])), [0, 1, 4]);
    assert_eq!(plates(&store, "by_upper", rome(3)), [0]);
    assert_eq!(plates(&store, "by_upper", rome(4)), [4]);
    assert_eq!(plates(&store, "by_half", IndexRange::prefix([2])), [0, 1, 4]);
    let index = store.table("cars").unwrap().index("by_upper").unwrap();
    let ddl = "CREATE INDEX by_upper ON cars (upper(home.city), length(tags[]))";
    assert_eq!(index.to_ddl(), ddl);
    let again = ddl.replace("by_upper", "again");
    store.execute(&again).unwrap();
    assert_eq!(stale_after_writes(&store), 0);
    let wrong = store.execute("CREATE INDEX wrong ON cars (power(plate))");
    assert_error(failure(wrong), ErrorKind::Invalid, &["power", "takes 1 to 1"]);
    let unknown = store.execute("CREATE INDEX wrong ON cars (soundex(plate))");
    assert_error(failure(unknown), ErrorKind::Invalid, &["substring"]);
}
