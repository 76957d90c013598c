use super::{Error, Rows, numbers, repaired, still_wrong_over};

#[test]
fn membership() {
    repaired(
        "SELECT o.id FROM (VALUES (1, 1), (2, 2)) o(id, g)
         WHERE 3 NOT IN (SELECT i.id FROM (VALUES (1, 1), (NULL, 2)) i(id, g) WHERE i.g = o.g)",
        Rows(&["1", "2"]),
        Rows(&["1"]),
    );
    repaired(
        "SELECT o.x, (o.x IN (SELECT i.y FROM (VALUES (1), (NULL)) i(y))) IS NULL
         FROM (VALUES (1), (2)) o(x)",
        Error("not implemented"),
        Rows(&["1|false", "2|true"]),
    );
}

#[test]
fn hidden_nulls() {
    repaired(
        "SELECT value FROM generate_series(1, 3) WHERE nullif(value, 2) NOT IN (SELECT 1)",
        Rows(&["2", "3"]),
        Rows(&["3"]),
    );
}

#[test]
fn correlated_names() {
    repaired(
        "SELECT o.x FROM (VALUES (1, 2), (2, 2)) o(x, y)
         WHERE EXISTS (SELECT 1 FROM (VALUES (1), (2)) a(x), (VALUES (1), (2)) b(x)
                       WHERE a.x = o.x AND b.x = o.y)",
        Rows(&["2"]),
        Rows(&["1", "2"]),
    );
}

/// Tonnage refuses such subqueries.
#[test]
fn correlation() {
    // Each row of `a` without a row of `b` that is tied has no y.
    repaired(
        "SELECT o.k FROM (VALUES (1), (5)) o(k) WHERE EXISTS (
             SELECT 1 FROM (VALUES (1), (2)) a(id)
             LEFT JOIN (SELECT * FROM (VALUES (1, 1), (2, 2)) c(id, y) WHERE c.y = o.k) b
             ON a.id = b.id WHERE b.y IS NULL)",
        Rows(&[]),
        Error("tied to the row outside"),
    );
}

/// Tonnage refuses such subqueries.
#[test]
fn grouping_sets() {
    // The sum of all groups is there for each row outside.
    repaired(
        "SELECT o.k FROM (VALUES (1), (4)) o(k) WHERE EXISTS (
             SELECT 1 FROM (VALUES (1), (2)) i(k) WHERE i.k = o.k GROUP BY ROLLUP (i.k))",
        Rows(&["1"]),
        Error("tied to the row outside"),
    );
}

#[test]
fn dependent_aggregates() {
    still_wrong_over(
        &[("t", numbers(&[("id", &[1, 2, 3])]))],
        "SELECT a.id, (SELECT count(*) FROM t b WHERE b.id < a.id) FROM t a",
        Error("does not support logical expression ScalarSubquery"),
    );
}

#[test]
fn computed_laterals() {
    repaired(
        "SELECT a.k, b.x FROM (VALUES (1), (2)) a(k), LATERAL (SELECT a.k + 1 AS x) b",
        Error("OuterReferenceColumn"),
        Rows(&["1|2", "2|3"]),
    );
}

#[test]
fn only_rows() {
    repaired(
        "SELECT a.k, (SELECT b.x FROM (VALUES (1, 10), (3, 30)) b(k, x) WHERE b.k = a.k)
         FROM (VALUES (1), (2)) a(k)",
        Error("must be aggregated"),
        Rows(&["1|10", "2|NULL"]),
    );
}

#[test]
fn value_names() {
    repaired(
        "SELECT x FROM (VALUES (1), (2)) AS t (x)
         WHERE x = 5 OR x IN (SELECT y + 1 AS y FROM (SELECT 1 AS y))",
        Error("Projections require unique expression names"),
        Rows(&["2"]),
    );
    repaired(
        "SELECT x FROM (VALUES (1), (2)) AS t (x) WHERE x IN (VALUES (2), (3))",
        Error("single expression required"),
        Rows(&["2"]),
    );
}

#[test]
fn empty_scalar_subqueries() {
    repaired("SELECT (SELECT 1 WHERE false) IS NULL", Rows(&["false"]), Rows(&["true"]));
}

#[test]
fn aggregates_over_no_rows() {
    repaired(
        "SELECT o.k FROM (VALUES (1), (2)) o(k)
         WHERE EXISTS (SELECT count(*) FROM (VALUES (2)) i(k) WHERE i.k = o.k)",
        Rows(&["2"]),
        Rows(&["1", "2"]),
    );
}

#[test]
fn having_over_no_rows() {
    repaired(
        "SELECT o.k FROM (VALUES (1), (2)) o(k) WHERE EXISTS (
             SELECT count(*) FROM (VALUES (2)) i(k) WHERE i.k = o.k HAVING count(*) < 1)",
        Rows(&[]),
        Rows(&["1"]),
    );
}

#[test]
fn comparisons_over_one_table() {
    repaired(
        "WITH t AS (SELECT * FROM (VALUES (1), (2), (3)) v(k))
         SELECT k FROM t WHERE k > ANY (SELECT k FROM t WHERE k < 2)",
        Rows(&[]),
        Rows(&["2", "3"]),
    );
}

#[test]
fn outer_types() {
    repaired(
        "SELECT o.x FROM (SELECT CASE WHEN k = 1 THEN 1 ELSE 1.5 END AS x FROM (VALUES (1), (2)) v(k)) o
         WHERE EXISTS (SELECT 1 FROM (VALUES (1)) i(y) WHERE i.y = o.x)",
        Error("Unsupported type for ArrayMap: Float64"),
        Rows(&["1.0"]),
    );
}
