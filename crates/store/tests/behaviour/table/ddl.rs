//! Tables are created, changed, dropped, and still there after reopening.

use rstest::rstest;
use tonnage::{DdlOutcome, ErrorKind, Value, WriteOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, phone_key};
use crate::common::{all_rows, assert_error, failure, row};

#[rstest]
fn tables_and_rows_are_there_after_reopening(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = shop::stocked(on, 30);
    let before = (all_rows(&store, "phones"), all_rows(&store, "phones.images"));
    store.reopen();
    assert_eq!((all_rows(&store, "phones"), all_rows(&store, "phones.images")), before);
    assert_eq!(
        store.tables().iter().map(|table| table.path().to_string()).collect::<Vec<_>>(),
        ["phones", "phones.images"]
    );
}

#[rstest]
fn what_describe_shows_makes_the_same_table(#[values(Memory, RocksDb)] on: Backend) {
    let ddl = "CREATE TABLE all_of_it (a STRING, b TIMESTAMP(3), c LONG NOT NULL DEFAULT 7, d NUMBER(10, 2), e JSON,
        f BOOLEAN DEFAULT true, g UUID, h BINARY, i FLOAT, j DOUBLE, k INTEGER, PRIMARY KEY (SHARD(a, b), g)) USING TTL 5 DAYS";
    let mut store = on.with_tables(ddl);
    store.reopen();
    let DdlOutcome::Description(shown) =
        store.execute("DESCRIBE TABLE all_of_it").unwrap().remove(0)
    else {
        panic!()
    };
    let again = on.with_tables(&shown);
    assert_eq!(
        again.table("all_of_it").unwrap().schema(),
        store.table("all_of_it").unwrap().schema()
    );
}

#[rstest]
fn an_added_column_shows_its_default_in_old_rows(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = on.with_tables("CREATE TABLE t (k LONG, a STRING, PRIMARY KEY (k))");
    let put = |store: &tonnage::Store, row| {
        store.table("t").unwrap().put(&row, &WriteOptions::default()).unwrap()
    };
    put(&store, row! { "k" => 1_i64, "a" => "old" });
    store.execute("ALTER TABLE t ADD b INTEGER DEFAULT 9; ALTER TABLE t ADD c STRING").unwrap();
    put(&store, row! { "k" => 2_i64, "a" => "new", "b" => 5, "c" => "x" });
    store.reopen();
    let expected = [
        row! { "k" => 1_i64, "a" => "old", "b" => 9, "c" => Value::Null },
        row! { "k" => 2_i64, "a" => "new", "b" => 5, "c" => "x" },
    ];
    assert_eq!(all_rows(&store, "t"), expected);
    let got = store.table("t").unwrap().get(&row! { "k" => 1_i64 }).unwrap().unwrap().row;
    assert_eq!(got, expected[0]);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn a_dropped_column_is_gone_from_old_rows_and_its_name_is_free(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let mut store = on.with_tables("CREATE TABLE t (k LONG, a STRING, b INTEGER, PRIMARY KEY (k))");
    let put = |store: &tonnage::Store, row| {
        store.table("t").unwrap().put(&row, &WriteOptions::default()).unwrap()
    };
    put(&store, row! { "k" => 1_i64, "a" => "one", "b" => 11 });
    store.execute("ALTER TABLE t DROP COLUMN a").unwrap();
    put(&store, row! { "k" => 2_i64, "b" => 22 });
    store.execute("ALTER TABLE t ADD a LONG").unwrap();
    put(&store, row! { "k" => 3_i64, "b" => 33, "a" => 3_i64 });
    store.reopen();
    let expected = [
        row! { "k" => 1_i64, "b" => 11, "a" => Value::Null },
        row! { "k" => 2_i64, "b" => 22, "a" => Value::Null },
        row! { "k" => 3_i64, "b" => 33, "a" => 3_i64 },
    ];
    assert_eq!(all_rows(&store, "t"), expected);
}

#[rstest]
fn a_handle_from_before_a_change_still_writes_readable_rows(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables("CREATE TABLE t (k LONG, a STRING, PRIMARY KEY (k))");
    let old = store.table("t").unwrap();
    store.execute("ALTER TABLE t ADD b INTEGER DEFAULT 9").unwrap();
    old.put(&row! { "k" => 1_i64, "a" => "x" }, &WriteOptions::default()).unwrap();
    assert_eq!(all_rows(&store, "t"), [row! { "k" => 1_i64, "a" => "x", "b" => 9 }]);
}

#[rstest]
fn a_dropped_table_is_gone_and_one_made_anew_is_empty(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = shop::stocked(on, 20);
    assert_error(
        failure(store.execute("DROP TABLE phones")),
        ErrorKind::Conflict,
        &["phones.images"],
    );
    let handle = store.table("phones").unwrap();
    store.execute("DROP TABLE phones.images; DROP TABLE phones").unwrap();
    assert_error(failure(store.table("phones")), ErrorKind::NotFound, &["phones"]);
    assert_error(failure(handle.get(&phone_key("Nokia", 0, 0))), ErrorKind::NotFound, &[]);
    drop(handle);
    store.reopen();
    store.execute(shop::PHONES).unwrap();
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 0);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn statements_say_what_they_did(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let done = store.execute(
        "CREATE TABLE t (k LONG, PRIMARY KEY (k)); CREATE TABLE IF NOT EXISTS t (k LONG, PRIMARY KEY (k)); SHOW TABLES;
         DROP TABLE t; DROP TABLE IF EXISTS t",
    );
    let expected = [
        DdlOutcome::Created { table: "t".into(), new: true },
        DdlOutcome::Created { table: "t".into(), new: false },
        DdlOutcome::Tables(vec!["t".into()]),
        DdlOutcome::Dropped { table: "t".into(), existed: true },
        DdlOutcome::Dropped { table: "t".into(), existed: false },
    ];
    assert_eq!(done.unwrap(), expected);
}

#[rstest]
#[case::no_key("CREATE TABLE t (k LONG)", ErrorKind::Invalid, &["primary key"])]
#[case::unknown_key_column("CREATE TABLE t (k LONG, PRIMARY KEY (j))", ErrorKind::Invalid, &["j"])]
#[case::parent_missing("CREATE TABLE nowhere.t (k LONG, PRIMARY KEY (k))", ErrorKind::NotFound, &["nowhere"])]
#[case::there_already("CREATE TABLE phones (k LONG, PRIMARY KEY (k))", ErrorKind::Conflict, &["phones"])]
#[case::nonsense("MAKE ME A SANDWICH", ErrorKind::Invalid, &[])]
#[case::key_column_dropped("ALTER TABLE phones DROP COLUMN price", ErrorKind::Invalid, &["price"])]
#[case::column_twice("ALTER TABLE phones ADD name STRING", ErrorKind::Invalid, &["name"])]
#[case::unknown_column_dropped("ALTER TABLE phones DROP COLUMN colour", ErrorKind::Invalid, &["colour"])]
fn a_statement_that_breaks_a_rule_is_refused(
    #[case] sql: &str,
    #[case] kind: ErrorKind,
    #[case] named: &[&str],
) {
    let store = shop::empty(Memory);
    let error = failure(store.execute(sql));
    let message = error.message().to_ascii_lowercase();
    assert_eq!(error.kind(), kind, "{error}");
    named
        .iter()
        .for_each(|name| assert!(message.contains(name), "'{name}' is not named in: {error}"));
}

#[rstest]
fn a_table_that_is_made_again_must_be_as_it_is(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (s LONG, k STRING, v DOUBLE DEFAULT 1.5, PRIMARY KEY (SHARD(s), k)) USING TTL 3 DAYS; CREATE TABLE t.c (n LONG, PRIMARY KEY (n))",
    );
    let again =
        |definition: &str| store.execute(&format!("CREATE TABLE IF NOT EXISTS {definition}"));
    again("T (S LONG, K STRING, V DOUBLE DEFAULT 1.5, PRIMARY KEY (SHARD(s), k)) USING TTL 3 DAYS")
        .unwrap();
    again("t.c (n LONG, PRIMARY KEY (n))").unwrap();
    for (definition, difference) in [
        ("t (s LONG, k STRING, PRIMARY KEY (SHARD(s), k)) USING TTL 3 DAYS", "'v' besides"),
        (
            "t (s LONG, k STRING, v DOUBLE DEFAULT 1.5, w LONG, PRIMARY KEY (SHARD(s), k)) USING TTL 3 DAYS",
            "no column 'w'",
        ),
        (
            "t (s LONG, k STRING, v LONG, PRIMARY KEY (SHARD(s), k)) USING TTL 3 DAYS",
            "'v' is DOUBLE, not LONG",
        ),
        (
            "t (s LONG, k STRING, v DOUBLE DEFAULT 2.5, PRIMARY KEY (SHARD(s), k)) USING TTL 3 DAYS",
            "default of its column 'v' is 1.5, not 2.5",
        ),
        (
            "t (s LONG, k STRING, v DOUBLE DEFAULT 1.5, PRIMARY KEY (s, k)) USING TTL 3 DAYS",
            "shard key is (s), not (s, k)",
        ),
        ("t (s LONG, k STRING, v DOUBLE DEFAULT 1.5, PRIMARY KEY (SHARD(s), k))", "not for ever"),
        ("t.c (n STRING, PRIMARY KEY (n))", "'n' is LONG, not STRING"),
    ] {
        let error = crate::common::failure(again(definition));
        crate::common::assert_error(error, tonnage::ErrorKind::Conflict, &[difference]);
    }
}
