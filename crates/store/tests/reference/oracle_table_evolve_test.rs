//! Oracle NoSQL, `TableEvolveTest`: columns come and go, and older handles stay in use.

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Condition, ErrorKind, IndexRange, IndexScanOptions, Row, Table, Value,
    WriteOptions,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, all_rows, assert_error, failure, row};

const USER: &str = "CREATE TABLE User (id INTEGER, firstName STRING, age INTEGER,
    type ENUM(home, work, other) DEFAULT 'home', PRIMARY KEY (id))";

fn joe(id: i32) -> Row {
    row! { "id" => id, "firstName" => "joe", "age" => 43, "type" => "work" }
}

fn put(table: &Table, row: Row) {
    table.put(&row, &WriteOptions::default()).unwrap();
}

fn of(store: &TestStore, id: i32) -> Row {
    store.table("User").unwrap().get(&row! { "id" => id }).unwrap().unwrap().row
}

#[rstest]
fn test_evolve_adds_a_column(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    let old = store.table("User").unwrap();
    put(&old, joe(1));
    store.execute("ALTER TABLE User ADD optInt INTEGER").unwrap();
    assert_eq!(of(&store, 1), joe(1).with("optInt", Value::Null));
    let seen = old.get(&row! { "id" => 1 }).unwrap().unwrap();
    assert_eq!(seen.row, joe(1), "an older handle gives the row without the column");
    put(&store.table("User").unwrap(), row! { "id" => 2, "optInt" => 5 });
    assert_eq!(of(&store, 2).get("type"), Some(&Value::from("home")), "the default holds");
}

#[rstest]
fn test_evolve_adds_a_map_of_records(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    put(&store.table("User").unwrap(), joe(1));
    store.execute("ALTER TABLE User ADD people MAP(RECORD(name STRING, age INTEGER))").unwrap();
    let people = r#"{"r1":{"name":"x","age":10},"r2":{"name":"y"}}"#;
    put(&store.table("User").unwrap(), joe(2).with("people", people));
    let shown = of(&store, 2).get("people").unwrap().to_string();
    assert_eq!(shown, r#"{"r1":{"name":"x","age":10},"r2":{"name":"y","age":null}}"#);
    put(&store.table("User").unwrap(), joe(2));
    assert!(of(&store, 2).get("people").unwrap().is_null() && of(&store, 1).len() == 5);
}

#[rstest]
fn test_evolve_with_default(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    put(&store.table("User").unwrap(), joe(1));
    store.execute("ALTER TABLE User ADD optInt INTEGER NOT NULL DEFAULT 7").unwrap();
    assert_eq!(of(&store, 1).get("optInt"), Some(&Value::Integer(7)));
}

#[rstest]
fn test_key_only(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE KeyOnly (first STRING, last STRING, PRIMARY KEY (SHARD(first), last))",
    );
    let joe = row! { "first" => "joe", "last" => "cool" };
    let jane = row! { "first" => "jane", "last" => "doe" };
    put(&store.table("KeyOnly").unwrap(), joe.clone());
    store.execute("ALTER TABLE KeyOnly ADD age INTEGER").unwrap();
    put(&store.table("KeyOnly").unwrap(), jane.clone().with("age", 7));
    let rows = [jane.clone().with("age", 7), joe.clone().with("age", Value::Null)];
    assert_eq!(all_rows(&store, "KeyOnly"), rows);
    store.execute("ALTER TABLE KeyOnly DROP age").unwrap();
    assert_eq!(all_rows(&store, "KeyOnly"), [jane, joe]);
}

/// A table that is left with nothing but its key.
#[rstest]
fn test_data_to_key_only(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (id INTEGER, a STRING, PRIMARY KEY (id))");
    put(&store.table("t").unwrap(), row! { "id" => 1, "a" => "x" });
    store.execute("ALTER TABLE t DROP a").unwrap();
    put(&store.table("t").unwrap(), row! { "id" => 2 });
    assert_eq!(all_rows(&store, "t"), [row! { "id" => 1 }, row! { "id" => 2 }]);
}

/// What a newer handle writes lacks the column that an older one still shows.
#[rstest]
fn test_data_loss(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    let with_age = store.table("User").unwrap();
    put(&with_age, joe(1));
    store.execute("ALTER TABLE User DROP age").unwrap();
    let age = || with_age.get(&row! { "id" => 1 }).unwrap().unwrap().row.get("age").cloned();
    assert_eq!(age(), Some(Value::Integer(43)), "the row from before is shown as it was");
    put(&store.table("User").unwrap(), row! { "id" => 1, "firstName" => "joe" });
    assert_eq!(age(), Some(Value::Null));
    let gone = with_age.delete_returning(
        &row! { "id" => 1 },
        Condition::IfPresent,
        &WriteOptions::default(),
    );
    assert!(gone.unwrap().previous.is_some());
}

/// A row that an older handle writes over a newer one loses the newer column.
#[rstest]
fn test_data_loss_by_an_older_handle(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    let old = store.table("User").unwrap();
    store.execute("ALTER TABLE User ADD newInt INTEGER").unwrap();
    put(&store.table("User").unwrap(), joe(2).with("newInt", 7));
    put(&old, joe(2));
    assert_eq!(of(&store, 2).get("newInt"), Some(&Value::Null));
}

#[rstest]
fn test_field_recreate(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    put(&store.table("User").unwrap(), joe(1));
    store.execute("ALTER TABLE User DROP age; ALTER TABLE User ADD age STRING").unwrap();
    assert_eq!(of(&store, 1).get("age"), Some(&Value::Null), "old values stay gone");
    put(&store.table("User").unwrap(), row! { "id" => 1, "age" => "old" });
    assert_eq!(of(&store, 1).get("age"), Some(&Value::from("old")));
}

#[rstest]
#[case("DROP id", "PRIMARY KEY")]
#[case("ADD id INTEGER", "'id'")]
#[case("ADD FIRSTNAME STRING", "another column")]
#[case("DROP nothing", "'nothing'")]
#[case("ADD x INTEGER NOT NULL", "DEFAULT")]
#[case("ADD x INTEGER DEFAULT 'many'", "many")]
fn test_invalid_evolution(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] change: &str,
    #[case] named: &str,
) {
    let store = on.with_tables(USER);
    let refused = failure(store.execute(&format!("ALTER TABLE User {change}")));
    assert_error(refused, ErrorKind::Invalid, &[named]);
    assert_eq!(store.table("User").unwrap().schema().columns.len(), 4);
}

#[rstest]
fn test_table_evolve_with_ttl(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    store.execute("ALTER TABLE User USING TTL 5 DAYS; ALTER TABLE User ADD x INTEGER").unwrap();
    let ttl = || store.table("User").unwrap().schema().ttl_ms;
    assert_eq!(ttl(), Some(5 * 86_400_000));
    put(&store.table("User").unwrap(), joe(1));
    let stored = store.table("User").unwrap().get(&row! { "id" => 1 }).unwrap().unwrap();
    assert!(stored.expires_at_ms > 0);
}

#[rstest]
fn test_evolve_table_with_json_index(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (id INTEGER, info JSON, PRIMARY KEY (id));
         CREATE INDEX by_age ON t (info.age)",
    );
    let put_info = |id: i32, age: i32| {
        let info = format!(r#"{{"age": {age}}}"#);
        put(&store.table("t").unwrap(), row! { "id" => id, "info" => info });
    };
    put_info(1, 10);
    store.execute("ALTER TABLE t ADD x STRING").unwrap();
    put_info(2, 10);
    let index = store.table("t").unwrap().index("by_age").unwrap();
    let found = index.scan(&IndexRange::prefix([10]), &IndexScanOptions::default()).unwrap();
    assert_eq!(found.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), 2);
    let refused = failure(store.execute("ALTER TABLE t DROP info"));
    assert_error(refused, ErrorKind::Conflict, &["by_age"]);
}

/// `testAddDropRecFields`: a record takes fields by adding a column; its own fields are fixed.
#[rstest]
fn test_add_drop_rec_fields_deviates(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (id INTEGER, who RECORD(name STRING, age INTEGER), PRIMARY KEY (id))",
    );
    let refused = failure(store.execute("ALTER TABLE t ADD who.city STRING"));
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let unknown = row! { "id" => 1, "who" => r#"{"city": "Bonn"}"# };
    let refused = failure(store.table("t").unwrap().put(&unknown, &WriteOptions::default()));
    assert_error(refused, ErrorKind::Invalid, &["'who'", "city"]);
}

/// A load that runs while the table changes takes rows of both definitions.
#[rstest]
fn test_evolve_while_rows_are_loaded(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(USER);
    let load = store.load(&BulkPutOptions::default()).unwrap();
    let stream = load.stream("users");
    let rows = |rows: Vec<Row>| tonnage::Payload::Rows { table: "User".into(), rows };
    load.push(stream, rows(vec![joe(1)])).unwrap();
    store.execute("ALTER TABLE User ADD x INTEGER").unwrap();
    load.push(stream, rows(vec![joe(2).with("x", 5)])).unwrap();
    assert_eq!(load.finish().unwrap().total.inserted, 2);
    assert_eq!(of(&store, 2).get("x"), Some(&Value::Integer(5)));
}
