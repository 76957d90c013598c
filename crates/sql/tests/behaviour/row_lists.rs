//! Lists of more than 1,000 rows. They are not written out, and took NULL for a value like others:
//! rows with NULL were in no list, where it is unknown whether they are.

use tonnage::ErrorKind;
use tonnage_sql::Sql;

use super::{assert_fails, rows, session};

/// `(1, 1), (2, 2), ...`, or whatever a row is.
fn list(row: impl Fn(usize) -> String) -> String {
    (1..=1_001).map(row).collect::<Vec<_>>().join(", ")
}

fn pairs() -> String {
    list(|n| format!("({n}, {n})"))
}

fn table() -> Sql {
    let sql = session();
    for statement in [
        "CREATE TABLE t (k LONG, a LONG, b LONG, s STRING, PRIMARY KEY (SHARD(k)))",
        "INSERT INTO t VALUES (1, 2, 2, 'x2'), (2, NULL, 2, 'x2'), (3, NULL, NULL, NULL)",
        "INSERT INTO t VALUES (4, 5000, NULL, 'x1'), (5, 7, NULL, 'x7'), (6, 3, 4, 'x3')",
        "INSERT INTO t VALUES (7, NULL, 99999, 'x9'), (8, 7, NULL, 'x8')",
    ] {
        sql.execute(statement).unwrap();
    }
    sql
}

/// What an expression is for each row.
fn column(sql: &Sql, expr: &str) -> String {
    let answers = rows(sql, format!("SELECT {expr} FROM t ORDER BY k"));
    answers.concat().join(" ")
}

#[test]
fn a_row_with_null_may_be_in_a_long_list() {
    let sql = table();
    let found = column(&sql, &format!("(a, b) IN ({})", pairs()));
    assert_eq!(found, "true NULL NULL false NULL false false NULL");
    let triples = list(|n| format!("({n}, 'x{n}', {n})"));
    let found = column(&sql, &format!("(a, s, b) IN ({triples})"));
    assert_eq!(found, "true NULL NULL false NULL false false false");
}

#[test]
fn a_row_that_may_be_in_a_long_list_is_not_out_of_it() {
    let sql = table();
    let found =
        |condition: String| rows(&sql, format!("SELECT k FROM t WHERE {condition} ORDER BY k"));
    assert_eq!(found(format!("(a, b) NOT IN ({})", pairs())), [["4"], ["6"], ["7"]]);
    assert_eq!(found(format!("NOT (a, b) IN ({})", pairs())), [["4"], ["6"], ["7"]]);
    assert_eq!(found(format!("(a, b) IN ({})", pairs())), [["1"]]);
    assert_eq!(found(format!("(k, a) IN ({})", list(|n| format!("({}, {n})", n - 1)))), [["1"]]);
}

#[test]
fn a_long_list_with_null_is_refused() {
    let sql = table();
    let query = format!("SELECT k FROM t WHERE (a, b) IN ({}, (1, NULL))", pairs());
    assert_fails(sql.execute(query), ErrorKind::Unsupported, "plain values without NULL");
}
