//! Random statements on a table that changes give the same rows with indexes and without: indexes
//! come and go, rows are updated, deleted and loaded in between. On memory and on RocksDB, straight
//! and planned, with live columns in segments of 64 rows, against a store that has no indexes,
//! pushes nothing down and keeps nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;
use tonnage::{RocksDbSettings, Row, Store, Value};
use tonnage_sql::{Answer, Sql, SqlOptions};

/// The first part goes through; the placeholder of the table becomes its name in this case.
const TABLE: &str =
    "CREATE TABLE {t} (a INTEGER, c LONG, x DOUBLE, y STRING, d JSON, PRIMARY KEY (SHARD(a), c))";

/// Documents that readers of paths might take for one another.
const DOCUMENTS: [&str; 20] = [
    r#"{"k": 1e400, "o": {"k": "-inf"}}"#,
    r#"{"k": -1e400}"#,
    r#"{"k": 1}"#,
    r#"{"k": 1.0, "o": {"k": 2}}"#,
    r#"{"k": "1"}"#,
    r#"{"k": "01"}"#,
    r#"{"k": "a"}"#,
    r#"{"k": "b", "o": {"k": "2"}}"#,
    r#"{"k": true}"#,
    r#"{"k": "true"}"#,
    r#"{"k": null}"#,
    r#"{"k": {"o": 1}}"#,
    r#"{"k": 1, "k": 2}"#,
    r#"{"o": {"k": 3}, "o": {"k": 2}}"#,
    r#"{"k": -0.0}"#,
    r#"{"k": 0}"#,
    r#"{"k": 1e2}"#,
    r#"{"k": 9007199254740993}"#,
    r#"{"k": "inf", "o": [{"k": 2}]}"#,
    r#"{"k": 0.30000000000000004}"#,
];

struct World {
    /// Without indexes, and nothing pushed down.
    plain: Sql,
    /// With indexes: a session that writes, and others that only read.
    indexed: Vec<(&'static str, Sql, Vec<Sql>)>,
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
        let disk = Store::builder(path).rocksdb_settings(settings).column_segments(64, 8 << 20);
        let disk = disk.open().unwrap();
        let memory = Store::builder("memory:").column_segments(64, 8 << 20).open().unwrap();
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
        let both = |store: &Store| (session(store, true, true), vec![session(store, false, true)]);
        let ((memory, memory_planned), (disk, disk_planned)) = (both(&memory), both(&disk));
        let plain = session(&Store::open("memory:").unwrap(), false, false);
        Self {
            plain,
            indexed: vec![
                ("in memory", memory, memory_planned),
                ("on RocksDB", disk, disk_planned),
            ],
            _directory: directory,
        }
    }

    /// Carries out the steps on a table of their own, and looks whether all agree after each.
    fn agree(&self, steps: &[Step]) -> Result<(), TestCaseError> {
        static CASES: AtomicUsize = AtomicUsize::new(0);
        let table = format!("t{}", CASES.fetch_add(1, Ordering::Relaxed));
        let stores =
            || std::iter::once(&self.plain).chain(self.indexed.iter().map(|(_, sql, _)| sql));
        for sql in stores() {
            sql.execute(TABLE.replace("{t}", &table).as_str()).unwrap();
            load(sql, &table, 0);
        }
        for step in steps {
            self.step(step, &table)?;
        }
        for sql in stores() {
            let report = sql.store().check().unwrap();
            prop_assert!(report.is_sound(), "{:?}", report);
            sql.execute(format!("DROP TABLE {table}").as_str()).unwrap();
        }
        Ok(())
    }

    fn step(&self, step: &Step, table: &str) -> Result<(), TestCaseError> {
        match step {
            Step::Index(statement) => {
                let statement = statement.replace("{t}", table);
                self.indexed
                    .iter()
                    .for_each(|(_, sql, _)| drop(sql.execute(statement.as_str()).unwrap()));
            }
            Step::Load(seed) => {
                load(&self.plain, table, *seed);
                self.indexed.iter().for_each(|(_, sql, _)| load(sql, table, *seed));
            }
            Step::Statement(text) => {
                let text = text.replace("{t}", table);
                let expected = answer(&self.plain, &text);
                for (place, sql, readers) in &self.indexed {
                    prop_assert_eq!(&answer(sql, &text), &expected, "{} {}", text, place);
                    if text.starts_with("SELECT") {
                        // As it is stored, while columns are kept, and from those kept.
                        for reader in readers.iter().cycle().take(3 * readers.len()) {
                            prop_assert_eq!(
                                &answer(reader, &text),
                                &expected,
                                "{} planned {}",
                                text,
                                place
                            );
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Loads rows, most of them over others.
fn load(sql: &Sql, table: &str, seed: i64) {
    let row = |n: i64| {
        let mixed = (n + seed * 31).wrapping_mul(0x9e37_79b9).rotate_left(7).unsigned_abs();
        let row = Row::new().with("a", (n % 5) as i32).with("c", n / 5);
        let row = match mixed % 13 {
            0 => row,
            _ => row.with("y", format!("y{}", mixed % 9)),
        };
        let row = match mixed % 11 {
            0 => row,
            1 => row.with("x", f64::NAN),
            2 => row.with("x", -0.0),
            x => row.with("x", x as f64 / 2.0 - 1.5),
        };
        if mixed.is_multiple_of(7) {
            row
        } else {
            row.with("d", Value::Json(DOCUMENTS[(mixed / 7) as usize % DOCUMENTS.len()].into()))
        }
    };
    sql.store()
        .multi_put(
            [(table, (seed * 7..seed * 7 + 150).map(row).collect::<Vec<_>>())],
            &Default::default(),
        )
        .unwrap();
}

/// Rows as text, sorted; or how many were changed, or the kind of the error.
fn answer(sql: &Sql, text: &str) -> Result<Vec<String>, String> {
    let failed = |error: tonnage::Error| format!("{:?}", error.kind());
    let batch = match sql.execute(text).map_err(failed)? {
        Answer::Rows(rows) => rows.into_batch().map_err(failed)?,
        Answer::Changed(changes) => return Ok(vec![format!("{changes:?}")]),
        Answer::Done(_) => return Ok(Vec::new()),
    };
    let cell = |(name, value): (&str, &Value)| match value {
        // The order in which numbers are added up shows in the last digits.
        Value::Double(value) => format!("{name}={value:.9}"),
        value => format!("{name}={value}"),
    };
    let row =
        |row| Row::from_batch(&batch, row).unwrap().iter().map(cell).collect::<Vec<_>>().join(" ");
    let mut rows: Vec<String> = (0..batch.num_rows()).map(row).collect();
    rows.sort();
    Ok(rows)
}

#[derive(Clone, Debug)]
enum Step {
    Index(String),
    Load(i64),
    Statement(String),
}

const INDEXES: [&str; 12] = [
    "x",
    "y",
    "y, x",
    "c",
    "c, y",
    "d.k",
    "d.k, y",
    "y, d.k",
    "d.o.k",
    "d.o.k, d.k, x",
    "a, x",
    "x, c",
];

fn index() -> impl Strategy<Value = Step> {
    (0..INDEXES.len(), any::<bool>()).prop_map(|(number, comes)| {
        Step::Index(match comes {
            true => format!("CREATE INDEX IF NOT EXISTS i{number} ON {{t}} ({})", INDEXES[number]),
            false => format!("DROP INDEX IF EXISTS i{number} ON {{t}}"),
        })
    })
}

fn condition() -> impl Strategy<Value = String> {
    let operator = select(vec!["=", "<", "<=", ">", ">=", "<>"]);
    let number = select(vec!["0", "1", "2", "100", "-1", "9007199254740993"]);
    let float =
        select(vec!["0.0", "1.0", "0.30000000000000004", "100.0", "-1.5", "9007199254740992.0"]);
    let written = select(vec![
        "'1'",
        "'01'",
        "'a'",
        "'b'",
        "'true'",
        "'2'",
        "'-0.0'",
        "'1e2'",
        "'0'",
        "'{\"o\": 1}'",
        "'inf'",
    ]);
    let place = select(vec!["'k'", "'o', 'k'"]);
    prop_oneof![
        2 => (operator.clone(), -1..7_i32).prop_map(|(operator, x)| format!("x {operator} {x} / 2.0")),
        2 => (-3..9_i32, 0..5_i32).prop_map(|(low, span)| format!("x BETWEEN {low}.5 AND {}.5", low + span)),
        2 => (operator.clone(), 0..10).prop_map(|(operator, y)| format!("y {operator} 'y{y}'")),
        2 => prop::collection::vec(0..10, 1..5)
            .prop_map(|list| format!("y IN ({})", list.iter().map(|y| format!("'y{y}'")).collect::<Vec<_>>().join(", "))),
        2 => (operator.clone(), 0..40).prop_map(|(operator, c)| format!("c {operator} {c}")),
        1 => (operator.clone(), 0..6).prop_map(|(operator, a)| format!("a {operator} {a}")),
        2 => (operator.clone(), place.clone(), number).prop_map(|(operator, place, n)| format!("json_get_int(d, {place}) {operator} {n}")),
        2 => (operator.clone(), place.clone(), float).prop_map(|(operator, place, n)| format!("json_get_float(d, {place}) {operator} {n}")),
        1 => (operator, place.clone(), written.clone()).prop_map(|(operator, place, text)| format!("json_get_str(d, {place}) {operator} {text}")),
        1 => written.clone().prop_map(|text| format!("d->>'k' = {text}")),
        1 => prop::collection::vec(written, 1..6).prop_map(|list| format!("d->>'k' IN ({})", list.join(", "))),
        1 => Just("d->'o'->>'k' = '2'".to_owned()),
        1 => select(vec!["json_get_bool(d, 'k')", "NOT json_get_bool(d, 'k')", "y IS NULL", "x IS NULL", "d IS NULL", "x IS NOT NULL"]).prop_map(str::to_owned),
        2 => (0..10).prop_map(|y| format!("y LIKE 'y{y}%'")),
        1 => Just("y LIKE 'y%' AND y > 'y2'".to_owned()),
        2 => (0..5_i32, 0..4_i32).prop_map(|(low, span)| format!("a BETWEEN {low} AND {}", low + span)),
        2 => (-3..9_i32, 0..5_i32).prop_map(|(low, span)| format!("json_get_float(d, 'k') BETWEEN {low} AND {}.5", low + span)),
        1 => Just("y IN (SELECT y FROM {t} WHERE x = 1.0)".to_owned()),
    ]
}

fn conditions() -> impl Strategy<Value = String> {
    prop::collection::vec(condition(), 1..4).prop_map(|conditions| conditions.join(" AND "))
}

fn statement() -> impl Strategy<Value = Step> {
    let columns = select(vec![
        "*",
        "a, c",
        "y, x",
        "c, upper(y) AS u",
        "d",
        "count(*)",
        "sum(c), min(x), count(y)",
    ]);
    let changes = select(vec![
        "x = x + 1",
        "y = 'y4'",
        "d = json_set(d, 'k', 1)",
        "y = y || '1', x = 0.5",
        "x = -x",
        "y = NULL",
    ]);
    let orders = select(vec!["y", "c", "a", "x", "y DESC", "c DESC", "x DESC"]);
    prop_oneof![
        8 => (columns, conditions()).prop_map(|(columns, conditions)| format!("SELECT {columns} FROM {{t}} WHERE {conditions}")),
        3 => (orders, prop::option::of(conditions()), 0..30).prop_map(|(order, conditions, limit)| {
            // Of rows with the same value any may come.
            let (column, _) = order.split_once(' ').unwrap_or((order, ""));
            let wanted = conditions.map_or_else(String::new, |wanted| format!(" WHERE {wanted}"));
            format!("SELECT {column} FROM {{t}}{wanted} ORDER BY {order} LIMIT {limit}")
        }),
        1 => select(vec!["min(y), max(y)", "max(c), min(x)", "min(a)"])
            .prop_map(|ends| format!("SELECT {ends} FROM {{t}}")),
        1 => conditions().prop_map(|conditions| format!("SELECT y, count(*) AS n FROM {{t}} WHERE {conditions} GROUP BY y")),
        1 => conditions().prop_map(|conditions| {
            format!("SELECT s.a, s.c, o.c AS other FROM (SELECT * FROM {{t}} WHERE {conditions}) s JOIN {{t}} o ON s.y = o.y AND s.a = o.a")
        }),
        2 => (changes, conditions()).prop_map(|(changes, conditions)| format!("UPDATE {{t}} SET {changes} WHERE {conditions}")),
        1 => (conditions(), 0..5).prop_map(|(conditions, a)| format!("DELETE FROM {{t}} WHERE {conditions} AND a = {a}")),
        1 => (conditions(), 5..9).prop_map(|(conditions, a)| {
            format!("INSERT INTO {{t}} SELECT a + {a}, c, x, y, d FROM {{t}} WHERE {conditions} ON CONFLICT DO NOTHING")
        }),
    ]
    .prop_map(Step::Statement)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![4 => index(), 12 => statement(), 1 => (1..5_i64).prop_map(Step::Load)];
    let indexed = prop::collection::vec(index(), 2..6);
    (indexed, prop::collection::vec(step, 6..16))
        .prop_map(|(indexed, steps)| [indexed, steps].concat())
}

#[test]
fn indexes_change_no_answer() {
    let world = World::new();
    let cases =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(&steps(), |steps| world.agree(&steps)).unwrap();
}
