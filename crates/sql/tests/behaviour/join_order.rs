//! Joins give the same rows in whichever order they are carried out.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use tonnage::Row;
use tonnage_sql::Sql;

use super::{rows, session};

/// Tables of these many rows: the order that is written is seldom the best one.
const SIZES: [i64; 6] = [2, 70, 9, 40, 25, 5];

/// Tables `t0` to `t5` with the columns `k0`, `n0`, `s0`, `d0` and so on, some of whose values are
/// in all of them and some of which are NULL.
fn tables() -> Sql {
    let sql = session();
    for (table, size) in SIZES.into_iter().enumerate() {
        let definition = format!(
            "CREATE TABLE t{table} (k{table} LONG, n{table} LONG, s{table} STRING, d{table} DOUBLE, \
             PRIMARY KEY (SHARD(k{table})))"
        );
        sql.execute(definition).unwrap();
        let row = |k: i64| {
            let row = Row::new().with(&format!("k{table}"), k);
            let row = match k % 5 {
                4 => row,
                _ => row.with(&format!("n{table}"), k * 7 % 11),
            };
            let row = row.with(&format!("d{table}"), (k % 4) as f64 - 1.5);
            row.with(&format!("s{table}"), ["x", "y", "z"][(k % 3) as usize])
        };
        let name = format!("t{table}");
        let rows: Vec<Row> = (0..size).map(row).collect();
        sql.store().multi_put([(name.as_str(), rows)], &Default::default()).unwrap();
    }
    sql
}

/// A join of one more table to those before it.
#[derive(Clone, Debug)]
struct Joined {
    table: usize,
    condition: String,
}

/// Joins of two to five tables, with a condition on the rows and, maybe, a query that they must be
/// in.
#[derive(Clone, Debug)]
struct Query {
    first: usize,
    joined: Vec<Joined>,
    last: String,
}

impl Query {
    /// In the order that is best.
    fn ordered(&self) -> String {
        let joins =
            self.joined.iter().map(|join| format!(" JOIN t{} ON {}", join.table, join.condition));
        format!("SELECT * FROM t{}{} {}", self.first, joins.collect::<String>(), self.last)
    }

    /// In the order that is written: a limit keeps joins on either side of it apart.
    fn as_written(&self) -> String {
        let mut from = format!("t{}", self.first);
        for (index, join) in self.joined.iter().enumerate() {
            from = format!(
                "(SELECT * FROM {from} JOIN t{} ON {} LIMIT 10000000) AS j{index}",
                join.table, join.condition
            );
        }
        format!("SELECT * FROM {from} {}", self.last)
    }
}

fn condition(before: Vec<usize>, table: usize) -> impl Strategy<Value = String> {
    let other = select(before);
    let key = (other, 0..6_usize).prop_map(move |(other, kind)| match kind {
        0 => format!("k{table} = k{other}"),
        1 => format!("n{other} = n{table}"),
        2 => format!("n{other} + 1 = k{table}"),
        3 => format!("s{table} = s{other} AND k{table} = n{other}"),
        4 => format!("k{other} = k{table} AND k{table} = n{other}"),
        _ => format!("d{table} = d{other} AND n{table} = k{other}"),
    });
    let more = prop_oneof![
        4 => Just(String::new()),
        1 => Just(format!(" AND k{table} < 20")),
        1 => Just(format!(" AND (s{table} = 'x' OR n{table} > 3)")),
    ];
    (key, more).prop_map(|(key, more)| key + &more)
}

fn query() -> impl Strategy<Value = Query> {
    let order = Just((0..SIZES.len()).collect::<Vec<_>>()).prop_shuffle();
    let order = (order, 2..6_usize).prop_map(|(order, count)| order[..count].to_vec());
    order.prop_flat_map(|order| {
        let joins: Vec<_> = (1..order.len())
            .map(|at| {
                let table = order[at];
                condition(order[..at].to_vec(), table)
                    .prop_map(move |condition| Joined { table, condition })
            })
            .collect();
        let (first, second) = (order[0], order[1]);
        let last = select(vec![
            String::new(),
            format!("WHERE n{first} <= n{second}"),
            format!("WHERE k{second} IN (SELECT k5 FROM t5)"),
            format!("WHERE k{second} IN (SELECT n1 FROM t1 GROUP BY n1 HAVING count(*) > 5)"),
            format!(
                "WHERE EXISTS (SELECT 1 FROM t2 AS e WHERE e.n2 = n{first} AND e.s2 = s{second})"
            ),
            format!("WHERE n{first} NOT IN (SELECT k0 FROM t0) AND s{second} <> 'y'"),
        ]);
        (joins, last).prop_map(move |(joined, last)| Query { first, joined, last })
    })
}

fn sorted(sql: &Sql, text: &str) -> Vec<Vec<String>> {
    let mut rows = rows(sql, text);
    rows.sort();
    rows
}

#[test]
fn an_order_that_is_chosen_gives_the_rows_of_the_one_that_is_written() {
    let sql = tables();
    let mut runner = TestRunner::new(Config { cases: 400, ..Config::default() });
    let is_same = |query: Query| {
        prop_assert_eq!(
            sorted(&sql, &query.ordered()),
            sorted(&sql, &query.as_written()),
            "{}",
            query.ordered()
        );
        Ok(())
    };
    runner.run(&query(), is_same).unwrap();
}

#[test]
fn outer_joins_keep_their_rows_whichever_side_is_held() {
    let sql = tables();
    for (join, rows) in [("LEFT", 70), ("RIGHT", 5), ("FULL", 70)] {
        for on in ["k1 = k5", "k5 = k1"] {
            let large_first = format!("SELECT * FROM t1 {join} JOIN t5 ON {on}");
            let answer = sorted(&sql, &large_first);
            assert_eq!(answer.len(), rows, "{large_first}");
            assert!(answer.iter().all(|row| row[0] == row[4] || row[4] == "NULL"), "{large_first}");
        }
    }
}

#[test]
fn nested_queries_are_planned_in_a_time_that_grows_with_them() {
    let sql = tables();
    let mut text = "SELECT k5 FROM t5".to_owned();
    for _ in 0..12 {
        text = format!("SELECT k1 FROM t1 WHERE k1 IN ({text})");
    }
    assert_eq!(sorted(&sql, &text).len(), 5);
    let excepted = "SELECT k1 FROM t1".to_owned() + &" EXCEPT SELECT k0 FROM t0".repeat(50);
    assert_eq!(sorted(&sql, &excepted).len(), 68);
}
