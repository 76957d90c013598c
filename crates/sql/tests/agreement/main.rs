//! Random statements of a small grammar give the same rows whichever way they go: straight to the
//! store, planned with conditions pushed down, planned with nothing pushed down; on memory and on
//! RocksDB.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;
use tonnage::{RocksDbSettings, Row, Store, Value};
use tonnage_sql::{Sql, SqlOptions};

const TABLES: &str = "CREATE TABLE t (a INTEGER, b STRING, c LONG, x DOUBLE, y STRING, PRIMARY KEY (SHARD(a), b, c));
    CREATE TABLE t.u (d INTEGER, z LONG, PRIMARY KEY (d))";

/// Sessions that must agree; the last one goes the plainest way.
struct World {
    sessions: Vec<(&'static str, Sql)>,
    _directory: TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = RocksDbSettings {
            cache_bytes: 8 << 20,
            memtable_bytes: 4 << 20,
            ..RocksDbSettings::default()
        };
        let path = directory.path().join("store").display().to_string();
        let disk = filled(Store::builder(path).rocksdb_settings(settings).open().unwrap());
        let memory = filled(Store::open("memory:").unwrap());
        let session = |store: &Store, direct, push_down| {
            let options = SqlOptions {
                direct,
                push_down,
                batch_rows_max: 7,
                column_cache_bytes_max: (!push_down).then_some(0),
                ..SqlOptions::default()
            };
            Sql::new(store.clone(), options).unwrap()
        };
        let sessions = vec![
            ("direct on RocksDB", session(&disk, true, true)),
            ("pushed down on RocksDB", session(&disk, false, true)),
            ("plain on RocksDB", session(&disk, false, false)),
            ("direct in memory", session(&memory, true, true)),
            ("pushed down in memory", session(&memory, false, true)),
            ("plain in memory", session(&memory, false, false)),
        ];
        Self { sessions, _directory: directory }
    }

    fn agree(&self, query: &Query) -> Result<(), TestCaseError> {
        let (_, plain) = &self.sessions[self.sessions.len() - 1];
        let expected = answer(plain, query);
        for (way, sql) in &self.sessions {
            prop_assert_eq!(&answer(sql, query), &expected, "{} answers {}", way, &query.text);
        }
        Ok(())
    }
}

fn filled(store: Store) -> Store {
    store.execute(TABLES).unwrap();
    let key = |n: i32| {
        Row::new()
            .with("a", n % 5 - 1)
            .with("b", ["", "p", "q", "qq"][n as usize % 4])
            .with("c", i64::from(n / 7) - 3)
    };
    let rows: Vec<Row> = (0..200)
        .map(|n| {
            let row = key(n).with("y", format!("y{}", n % 11));
            if n % 6 == 0 { row } else { row.with("x", f64::from(n % 13) / 2.0) }
        })
        .collect();
    let children: Vec<Row> =
        (0..200).step_by(3).map(|n| key(n).with("d", n % 2).with("z", i64::from(n))).collect();
    store.multi_put([("t", rows), ("t.u", children)], &Default::default()).unwrap();
    store
}

/// Rows as text; sorted, where the statement leaves their order open.
fn answer(sql: &Sql, query: &Query) -> Result<Vec<String>, String> {
    let answer = sql.execute(&query.text).and_then(|answer| answer.into_rows()?.into_batch());
    let batch = answer.map_err(|error| format!("{:?}", error.kind()))?;
    let cell = |(name, value): (&str, &Value)| match value {
        // The order in which numbers are added up shows in the last digits.
        Value::Double(value) => format!("{name}={value:.9}"),
        value => format!("{name}={value}"),
    };
    let row =
        |row| Row::from_batch(&batch, row).unwrap().iter().map(cell).collect::<Vec<_>>().join(" ");
    let mut rows: Vec<String> = (0..batch.num_rows()).map(row).collect();
    if !query.ordered {
        rows.sort();
    }
    Ok(rows)
}

#[derive(Clone, Debug)]
struct Query {
    text: String,
    ordered: bool,
}

fn condition() -> impl Strategy<Value = String> {
    let a = -2..6_i32;
    let text = select(vec!["''", "'p'", "'q'", "'qq'", "'r'"]);
    let operator = select(vec!["=", "<", "<=", ">", ">=", "<>"]);
    prop_oneof![
        3 => (operator.clone(), a.clone()).prop_map(|(operator, a)| format!("a {operator} {a}")),
        3 => prop::collection::vec(a.clone(), 1..4).prop_map(|list| format!("a IN ({})", joined(&list))),
        2 => (operator.clone(), text.clone()).prop_map(|(operator, text)| format!("b {operator} {text}")),
        2 => prop::collection::vec(text, 1..3).prop_map(|list| format!("b IN ({})", list.join(", "))),
        2 => (operator.clone(), -4..30_i64).prop_map(|(operator, c)| format!("c {operator} {c}")),
        2 => (-4..30_i64, 0..9_i64).prop_map(|(low, span)| format!("c BETWEEN {low} AND {}", low + span)),
        1 => (operator, 0..7_i32).prop_map(|(operator, x)| format!("x {operator} {x}.5")),
        1 => Just("x IS NULL".to_owned()),
        1 => select(vec!["b LIKE 'q%'", "b LIKE 'qq%'", "b LIKE 'r%'", "y LIKE 'y1%'"]).prop_map(str::to_owned),
        2 => (a.clone(), 0..4_i32).prop_map(|(low, span)| format!("a BETWEEN {low} AND {}", low + span)),
        1 => (a.clone(), a.clone()).prop_map(|(one, other)| format!("(a = {one} OR a = {other})")),
        1 => prop::collection::vec(-9..9_i32, 70..90).prop_map(|list| format!("a IN ({})", joined(&list))),
        1 => a.prop_map(|a| format!("a IN (SELECT a FROM t.u WHERE z > {})", a * 40)),
    ]
}

fn joined(list: &[i32]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn conditions() -> impl Strategy<Value = String> {
    prop::collection::vec(condition(), 0..4).prop_map(|conditions| match conditions.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", conditions.join(" AND ")),
    })
}

fn query() -> impl Strategy<Value = Query> {
    let columns = select(vec!["*", "a, b, c", "y", "c AS n, x", "a, upper(y) AS u"]);
    let orders = select(vec![
        "a, b, c",
        "a DESC, b DESC, c DESC",
        "b, a, c",
        "a, b DESC, c",
        "c DESC, b DESC, a",
    ]);
    let aggregates = select(vec![
        "count(*)",
        "min(a), max(a)",
        "min(b), count(x)",
        "max(c), sum(c), avg(x)",
        "sum(a), stddev(x), min(x), max(y)",
        "count(DISTINCT b)",
    ]);
    let latest = select(vec![
        "SELECT DISTINCT ON (a) a, b, c, x FROM t{} ORDER BY a, b DESC, c DESC",
        "SELECT DISTINCT ON (a) * FROM t{} ORDER BY a, b, c",
        "SELECT a, b, c FROM (SELECT *, row_number() OVER (PARTITION BY a ORDER BY b DESC, c DESC) AS n FROM t{}) WHERE n <= 2",
        "SELECT a, max(b) AS m FROM t{} GROUP BY a",
        "SELECT a, rank() OVER (PARTITION BY a, b ORDER BY c, x, y) AS r FROM t{}",
        "SELECT b, max(c) AS m FROM t{} GROUP BY b",
        "SELECT a, first_value(c ORDER BY b, c) AS m FROM t{} GROUP BY a",
    ]);
    prop_oneof![
        3 => (columns, conditions()).prop_map(|(columns, conditions)| Query { text: format!("SELECT {columns} FROM t{conditions}"), ordered: false }),
        3 => (conditions(), orders, 0..20_u32).prop_map(|(conditions, order, limit)| {
            Query { text: format!("SELECT a, b, c, x FROM t{conditions} ORDER BY {order} LIMIT {limit}"), ordered: true }
        }),
        2 => (aggregates, conditions()).prop_map(|(aggregates, conditions)| Query { text: format!("SELECT {aggregates} FROM t{conditions}"), ordered: false }),
        2 => (latest, conditions()).prop_map(|(latest, conditions)| Query { text: latest.replace("{}", &conditions), ordered: false }),
        1 => conditions().prop_map(|conditions| Query {
            text: format!("SELECT s.a, s.b, s.c, u.z FROM (SELECT * FROM t{conditions}) s JOIN t.u ON s.a = u.a AND s.b = u.b AND s.c = u.c"),
            ordered: false,
        }),
    ]
}

#[test]
fn every_way_gives_the_same_rows() {
    let world = World::new();
    let cases =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(&query(), |query| world.agree(&query)).unwrap();
}
