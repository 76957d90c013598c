use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{binary, col, lit};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::projection_pushdown::ProjectionPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExecBuilder;
use datafusion::physical_plan::projection::ProjectionExec;

use super::{Error, Rows, numbers, repaired, still_wrong_by_sorting, still_wrong_over};

#[test]
fn twin_columns() {
    // The ports hand their ids down, and the ids of ships are held against them.
    still_wrong_over(
        &[
            ("ships", numbers(&[("id", &[1]), ("port", &[10])])),
            ("ports", numbers(&[("id", &[10])])),
        ],
        "SELECT s.id, q.ship, q.port FROM ports s JOIN (
             SELECT a.id AS ship, b.id AS port FROM ships a LEFT JOIN ports b ON a.port = b.id
             GROUP BY a.id, b.id
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
        "SELECT a.x, b.x, c.x FROM (VALUES (1), (NULL)) a(x)
         JOIN (VALUES (1), (NULL)) b(x) ON a.x = b.x
         JOIN (VALUES (1), (NULL)) c(x) ON b.x IS NOT DISTINCT FROM c.x",
        Rows(&["1|1|1", "NULL|NULL|NULL"]),
        Rows(&["1|1|1"]),
    );
}

#[test]
fn intersect_all() {
    repaired(
        "SELECT x FROM (VALUES (1), (1)) a(x) INTERSECT ALL SELECT x FROM (VALUES (1)) b(x)",
        Rows(&["1", "1"]),
        Rows(&["1"]),
    );
}

#[test]
fn except_all() {
    repaired(
        "SELECT x FROM (VALUES (1), (1)) a(x) EXCEPT ALL SELECT x FROM (VALUES (1)) b(x)",
        Rows(&[]),
        Rows(&["1"]),
    );
}

/// Of the rows of r, v is 'x' in all that the join looks at, and NULL where it finds none.
#[test]
fn outer_constants() {
    let with =
        "WITH l(k) AS (VALUES (1), (2), (3)), r(j, v) AS (VALUES (1, 'x'), (3, 'x'), (2, 'y'))";
    let numbered = "SELECT k, row_number() OVER (ORDER BY v NULLS FIRST, k)";
    for joined in [
        "l LEFT JOIN r ON j = k AND v = 'x'",
        "r RIGHT JOIN l ON j = k AND v = 'x'",
        "l LEFT JOIN (SELECT j, 'x' AS v FROM r WHERE j <> 2) ON j = k",
        "l FULL JOIN (SELECT j, v FROM r WHERE v = 'x') ON j = k",
    ] {
        repaired(
            &format!("{with} {numbered} FROM {joined}"),
            Rows(&["1|1", "2|2", "3|3"]),
            Rows(&["1|2", "2|1", "3|3"]),
        );
    }
}

/// Each row of the one side meets both of the other, and all have one value of the first column.
#[test]
fn join_orders() {
    let with = "WITH l(k, x) AS (VALUES (1, 1), (1, 2)), r(j, g) AS (VALUES (1, 1), (1, 1))";
    let (left, right) =
        ("(SELECT * FROM l ORDER BY x LIMIT 9)", "(SELECT * FROM r ORDER BY g LIMIT 9)");
    for joined in
        [format!("{left} JOIN {right} ON k = j"), format!("{left} RIGHT JOIN {right} ON k = j")]
    {
        repaired(
            &format!("{with} SELECT g, x, row_number() OVER (ORDER BY g, x) FROM {joined}"),
            Rows(&["1|1|1", "1|1|3", "1|2|2", "1|2|4"]),
            Rows(&["1|1|1", "1|1|2", "1|2|3", "1|2|4"]),
        );
    }
    // `limits.rs` holds Tonnage to the right answer.
    still_wrong_by_sorting(
        &format!("{with} SELECT g, x, row_number() OVER (ORDER BY j, x) FROM r JOIN l ON j = k"),
        Rows(&["1|1|1", "1|1|3", "1|2|2", "1|2|4"]),
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

/// The filter keeps a, c and d, and a projection above it a and c.
#[test]
fn projection_pushdown() {
    let rows = numbers(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])]);
    let input = Arc::new(EmptyExec::new(rows.schema()));
    let is_wanted =
        binary(col("a", &rows.schema()).unwrap(), Operator::Gt, lit(0_i64), &rows.schema());
    let filter = FilterExecBuilder::new(is_wanted.unwrap(), input)
        .apply_projection(Some(vec![0, 2, 3]))
        .and_then(FilterExecBuilder::build)
        .unwrap();
    let kept = ["a", "c"].map(|name| (col(name, &filter.schema()).unwrap(), name.to_owned()));
    let plan = Arc::new(ProjectionExec::try_new(kept, Arc::new(filter)).unwrap());
    let error = ProjectionPushdown::new().optimize(plan, &ConfigOptions::new()).unwrap_err();
    let told = "Input field name b does not match with the projection expression c";
    assert!(error.to_string().contains(told), "the error has changed: {error}");
}
