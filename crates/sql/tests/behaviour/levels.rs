//! SET acks and SET consistency reach the engine, and hold for the session.

use tonnage::{Acks, Consistency, ErrorKind, Levels, Store};
use tonnage_sql::{Sql, SqlOptions};

use super::noting::{noted, open};
use super::{assert_fails, rows};

fn session(url: &str, options: SqlOptions) -> Sql {
    let store = Store::builder(url).cluster_engine(open).open().unwrap();
    let sql = Sql::new(store, options).unwrap();
    sql.execute("CREATE TABLE t (s LONG, k LONG, v LONG, PRIMARY KEY (SHARD(s), k))").unwrap();
    sql
}

fn writing(acks: Acks) -> Levels {
    Levels { acks, ..Levels::default() }
}

fn reading(consistency: Consistency) -> Levels {
    Levels { consistency, ..Levels::default() }
}

#[test]
fn writes_wait_for_the_copies_that_the_session_asks_for() {
    let url = "cassandra://sql-writes/k";
    let sql = session(url, SqlOptions::default());
    let run = |text: &str| drop(sql.execute(text).unwrap());
    run("SET acks = all");
    let all = writing(Acks::All);
    let one = "INSERT INTO t VALUES (1, 1, 1) RETURNING k";
    assert_eq!(noted(url, || run(one)), [("write", all)]);
    let load = "INSERT INTO t VALUES (1, 2, 2), (2, 1, 3)";
    assert_eq!(noted(url, || run(load)), [("load", all)]);
    assert_eq!(noted(url, || run("UPDATE t SET v = 9 WHERE s = 1 AND k = 1")), [("write", all)]);
    assert_eq!(noted(url, || run("DELETE FROM t WHERE s = 1 AND k = 2")), [("write", all)]);
    run("SET acks = none");
    let update = "UPDATE t SET v = 8 WHERE s = 2 AND k = 1";
    assert_eq!(noted(url, || run(update)), [("write", writing(Acks::None))]);
    run("RESET acks");
    assert!(noted(url, || run(update)).is_empty());
}

/// Views are rows of a table, and were written as if nothing had been set.
#[test]
fn views_are_written_as_the_session_asks_for() {
    let url = "cassandra://sql-views/k";
    let sql = session(url, SqlOptions::default());
    let run = |text: &str| drop(sql.execute(text).unwrap());
    // The first one makes the table of views.
    run("CREATE VIEW first AS SELECT v FROM t");
    run("SET acks = all");
    let all = writing(Acks::All);
    for text in [
        "CREATE VIEW one AS SELECT v FROM t",
        "CREATE OR REPLACE VIEW one AS SELECT k FROM t",
        "DROP VIEW one",
        "DROP VIEW IF EXISTS first",
    ] {
        assert_eq!(noted(url, || run(text)), [("write", all)], "{text}");
    }
}

#[test]
fn queries_read_what_is_as_fresh_as_the_session_asks_for() {
    let url = "cassandra://sql-reads/k";
    let sql = session(url, SqlOptions::default());
    let run = |text: &str| drop(sql.execute(text).unwrap().into_rows().unwrap().into_batch());
    sql.execute("INSERT INTO t VALUES (1, 1, 1), (2, 1, 2)").unwrap();
    // One that goes straight to the store, and one that is planned, whose plan is kept.
    let key = "SELECT v FROM t WHERE s = 1 AND k = 1";
    let planned = "SELECT v + 1 FROM t WHERE v > 0 ORDER BY v";
    assert!(noted(url, || run(key)).is_empty());
    assert!(noted(url, || run(planned)).is_empty());
    sql.execute("SET consistency = none").unwrap();
    let old = reading(Consistency::None);
    assert_eq!(noted(url, || run(key)), [("read", old)]);
    assert_eq!(noted(url, || run(planned)), [("scan", old)]);
    sql.execute("SET consistency = '30s'").unwrap();
    assert_eq!(rows(&sql, "SHOW consistency"), [["30s"]]);
    let lagging = reading(Consistency::Time(std::time::Duration::from_secs(30)));
    assert_eq!(noted(url, || run(planned)), [("scan", lagging)]);
    // What is changed is changed by what is stored last.
    sql.execute("SET consistency = none").unwrap();
    let change = "UPDATE t SET v = v + 1 WHERE v > 0";
    assert!(noted(url, || drop(sql.execute(change).unwrap())).is_empty());
    sql.execute("RESET consistency").unwrap();
    assert!(noted(url, || run(planned)).is_empty());
}

#[test]
fn a_session_shows_its_levels_or_else_those_of_its_store() {
    let store = Store::builder("cassandra://sql-shown/k").cluster_engine(open);
    let store = store.acks(Acks::All).consistency(Consistency::None).open().unwrap();
    let options = SqlOptions { consistency: Some(Consistency::Version(7)), ..Default::default() };
    let sql = Sql::new(store, options).unwrap();
    assert_eq!(rows(&sql, "SHOW acks"), [["all"]]);
    assert_eq!(rows(&sql, "SHOW consistency"), [["version:7"]]);
    sql.execute("SET SESSION acks TO MAJORITY; SET consistency = absolute").unwrap();
    assert_eq!(rows(&sql, "SHOW acks"), [["majority"]]);
    assert_eq!(rows(&sql, "SHOW consistency"), [["absolute"]]);
    sql.execute("RESET ALL").unwrap();
    assert_eq!(rows(&sql, "SHOW consistency"), [["version:7"]]);
    let wrong = sql.execute("SET consistency = later");
    assert_fails(wrong, ErrorKind::Invalid, "line 1, column 19");
    sql.execute("SET acks = none; SET durability = fsync").unwrap();
    sql.execute("CREATE TABLE t (k LONG PRIMARY KEY)").unwrap();
    let contradiction = sql.execute("INSERT INTO t VALUES (1)");
    assert_fails(contradiction, ErrorKind::Invalid, "no write waits for the disk");
}
