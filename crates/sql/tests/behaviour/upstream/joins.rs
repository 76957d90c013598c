use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};

use super::{Error, Rows, repaired, still_wrong_over};

/// A table of whole numbers.
fn numbers(columns: &[(&str, &[i64])]) -> RecordBatch {
    let column = |values: &&[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    RecordBatch::try_from_iter(columns.iter().map(|(name, values)| (*name, column(values))))
        .unwrap()
}

#[test]
fn twin_columns() {
    // The ports of the outer join hand their ids down, and the ids of ships are held against them.
    still_wrong_over(
        &[
            ("ships", numbers(&[("id", &[1]), ("port", &[10])])),
            ("ports", numbers(&[("id", &[10])])),
        ],
        "SELECT s.id, q.ship, q.port FROM ports s JOIN (
             SELECT a.id AS ship, b.id AS port FROM ships a LEFT JOIN ports b ON a.port = b.id
         ) q ON s.id = q.port",
        Rows(&[]),
    );
}

#[test]
fn using() {
    repaired(
        "SELECT k FROM (VALUES (1)) a(k) FULL JOIN (VALUES (4)) b(k) USING (k)",
        Rows(&["1", "NULL"]),
        Rows(&["1", "4"]),
    );
}

#[test]
fn null_joins() {
    repaired(
        "SELECT a.x, b.x, c.x FROM (VALUES (1), (NULL)) a(x), (VALUES (1), (NULL)) b(x), (VALUES (1), (NULL)) c(x)
         WHERE a.x IS NOT DISTINCT FROM b.x AND b.x = c.x",
        Rows(&["1|1|1", "NULL|NULL|NULL"]),
        Rows(&["1|1|1"]),
    );
}

#[test]
fn sets() {
    repaired(
        "SELECT x FROM (VALUES (1), (1)) a(x) INTERSECT ALL SELECT x FROM (VALUES (1)) b(x)",
        Rows(&["1", "1"]),
        Rows(&["1"]),
    );
    repaired(
        "SELECT x FROM (VALUES (1), (1)) a(x) EXCEPT ALL SELECT x FROM (VALUES (1)) b(x)",
        Rows(&[]),
        Rows(&["1"]),
    );
}

#[test]
fn leaf_expressions() {
    repaired(
        "WITH t AS (SELECT named_struct('a', 'x', 'b', 'y') AS s, 1 AS id)
         SELECT p.s['a'], count(*) FROM t p LEFT JOIN t c ON p.id = c.id
         WHERE c.s['b'] IS NOT NULL GROUP BY 1",
        Error("ambiguous"),
        Rows(&["x|1"]),
    );
}

#[test]
fn projection_pushdown() {
    repaired("SELECT 1", Error("nothing"), Rows(&["1"]));
}
