//! Random tables, writes of all kinds and queries, the same on stores with segments of 64 rows and
//! on one that keeps nothing: not one answer differs.

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tonnage::{ManualClock, Row, Store, Value, WriteOptions};
use tonnage_sql::{Sql, SqlOptions};
use tonnage_testkit::Random;

use super::answer;

const PARENT: &str = "CREATE TABLE p (a INTEGER, c LONG, x DOUBLE, y STRING, m NUMBER(12,2), \
    at TIMESTAMP(3), f BOOLEAN, e ENUM('red','green'), b BINARY, d JSON, tags ARRAY(LONG), \
    PRIMARY KEY (SHARD(a), c))";
const CHILD: &str = "CREATE TABLE p.k (i INTEGER, v LONG, PRIMARY KEY (i))";
const OTHER: &str = "CREATE TABLE o (n LONG, y STRING, PRIMARY KEY (SHARD(n)))";

/// Where the rows are.
const PLACES: [&str; 4] = ["nothing is kept", "in memory", "on disk", "in two directories"];

/// The same rows in several stores; the first one keeps nothing.
struct Stores {
    sessions: Vec<Sql>,
    _directory: TempDir,
    clock: Arc<ManualClock>,
    now_ms: u64,
    random: Random,
    seed: u64,
    /// The number of the column that is added next.
    added: u64,
    /// That which there is.
    extra: Option<String>,
}

impl Stores {
    fn new(seed: u64) -> Self {
        let now_ms = 1_000_000;
        let clock = Arc::new(ManualClock::new(now_ms));
        let directory = tempfile::tempdir().unwrap();
        let sessions = PLACES.iter().map(|place| {
            let path = |name: &str| directory.path().join(name).display().to_string();
            let store = match *place {
                "on disk" => Store::builder(path("store")),
                "in two directories" => {
                    Store::builder(path("both")).data_directories([path("one"), path("two")])
                }
                _ => Store::builder("memory:"),
            };
            let store = store.clock(clock.clone()).column_segments(64, 4 << 20).open().unwrap();
            let keeps = *place != PLACES[0];
            let options = SqlOptions {
                direct: keeps,
                push_down: keeps,
                column_cache_bytes_max: (!keeps).then_some(0),
                batch_rows_max: [7, 100, 8_192][seed as usize % 3],
                ..SqlOptions::default()
            };
            Sql::new(store, options).unwrap()
        });
        let sessions = sessions.collect();
        let random = Random(seed);
        let (added, extra) = (0, None);
        let stores =
            Self { sessions, _directory: directory, clock, now_ms, random, seed, added, extra };
        [PARENT, CHILD, OTHER].iter().for_each(|text| stores.agree(text));
        stores
    }

    /// Carries a statement out everywhere; a query twice more, so that it finds what is kept.
    fn agree(&self, text: &str) {
        let expected = answer(&self.sessions[0], text);
        let times = if text.starts_with("SELECT") { 3 } else { 1 };
        for (sql, place) in self.sessions.iter().zip(PLACES).skip(1) {
            for time in 0..times {
                let found = answer(sql, text);
                assert_eq!(found, expected, "{text} {place}, time {time}, seed {}", self.seed);
            }
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn key(&mut self) -> Row {
        let (a, c) = (self.below(5) as i32, self.below(80) as i64);
        Row::new().with("a", a).with("c", c)
    }

    fn row(&mut self) -> Row {
        let key = self.key();
        let pick = self.random.number();
        // Columns that are not named are NULL.
        let row = match pick % 9 {
            0 => key,
            1 => key.with("x", f64::NAN),
            2 => key.with("x", -0.0),
            x => key.with("x", x as f64 / 2.0 - 1.5),
        };
        let row =
            if pick.is_multiple_of(5) { row } else { row.with("y", format!("y{}", pick % 13)) };
        let parsed = |name: &str, text: &str| {
            let table = self.sessions[0].store().table("p").unwrap();
            let column = table.schema().columns.iter().find(|column| column.name == name);
            Value::parse(text, column.unwrap().column_type).unwrap()
        };
        let price = format!("{}.{:02}", pick % 500, pick % 100);
        let at = format!("2026-11-{:02}T00:00:00.{:03}", pick % 28 + 1, pick % 1_000);
        let row = row.with("m", parsed("m", &price)).with("at", parsed("at", &at));
        let row = row
            .with("f", pick.is_multiple_of(2))
            .with("b", Value::Binary(vec![7; pick as usize % 9]));
        let row = row.with("e", parsed("e", ["red", "green"][pick as usize % 2]));
        let row = row.with("d", Value::Json(format!(r#"{{"k": {}}}"#, pick % 4)));
        match pick % 7 {
            0 => row,
            _ => row.with("tags", Value::Array(vec![Value::Long(pick as i64 % 3), Value::Null])),
        }
    }

    fn step(&mut self) {
        match self.below(32) {
            0..4 => self.put(),
            4..6 => self.load(),
            6..10 => self.change(),
            10 => self.child(),
            11 => {
                self.now_ms += self.below(60_000);
                self.clock.set_ms(self.now_ms);
            }
            12 => self.define(),
            13 => self.other(),
            _ => self.query(),
        }
    }

    fn put(&mut self) {
        let row = self.row();
        let ttl = (self.below(4) == 0).then(|| Duration::from_millis(self.below(90_000) + 1));
        let options = WriteOptions { ttl, ..WriteOptions::default() };
        for sql in &self.sessions {
            sql.store().table("p").unwrap().put(&row, &options).unwrap();
        }
    }

    fn load(&mut self) {
        let rows: Vec<Row> = (0..self.below(300) + 1).map(|_| self.row()).collect();
        for sql in &self.sessions {
            sql.store().multi_put([("p", rows.clone())], &Default::default()).unwrap();
        }
    }

    fn change(&mut self) {
        let (a, c, y) = (self.below(6), self.below(90), self.below(13));
        let texts = [
            format!("UPDATE p SET x = x + 1, y = 'y{y}' WHERE c > {c} AND a = {a}"),
            format!("UPDATE p SET m = m * 2 WHERE y = 'y{y}' AND a = {a}"),
            format!("UPDATE p SET f = NOT f, y = NULL WHERE a = {a} AND c = {c}"),
            format!("DELETE FROM p WHERE a = {a} AND c BETWEEN {c} AND {}", c + 9),
            format!("DELETE FROM p WHERE y = 'y{y}' AND f"),
            format!("DELETE FROM p WHERE a = {a}"),
            format!("INSERT INTO p (a, c, y) VALUES ({a}, {c}, 'new') ON CONFLICT DO NOTHING"),
            format!(
                "INSERT INTO p (a, c, x, y) SELECT a + 5, c, x, y FROM p WHERE c < {c} \
                 ON CONFLICT DO NOTHING"
            ),
            format!("UPDATE p SET y = 'most' WHERE c <> {c}"),
        ];
        let place = self.below(texts.len() as u64) as usize;
        self.agree(&texts[place]);
    }

    fn child(&mut self) {
        let (a, c, i) = (self.below(5), self.below(40), self.below(3));
        let texts = [
            format!("INSERT INTO p.k VALUES ({a}, {c}, {i}, {c}) ON CONFLICT DO NOTHING"),
            format!("INSERT INTO p.k SELECT a, c, {i}, c + {i} FROM p ON CONFLICT DO NOTHING"),
            format!("DELETE FROM p.k WHERE i = {i} AND a = {a}"),
            format!("UPDATE p.k SET v = v + 1 WHERE a = {a}"),
        ];
        let place = self.below(texts.len() as u64) as usize;
        self.agree(&texts[place]);
    }

    fn other(&mut self) {
        let n = self.below(50);
        self.agree(&format!(
            "INSERT INTO o SELECT c, min(y) FROM p WHERE c >= {n} GROUP BY c ON CONFLICT DO NOTHING"
        ));
        self.agree(&format!("DELETE FROM o WHERE n < {}", n / 2));
    }

    fn define(&mut self) {
        let text = match (self.below(12), self.extra.take()) {
            (0, extra) => {
                self.extra = extra;
                "DROP TABLE p.k".to_owned()
            }
            (1, extra) => {
                self.extra = extra;
                "TRUNCATE TABLE o".to_owned()
            }
            (2, _) => {
                self.agree("DROP TABLE p.k");
                self.agree("DROP TABLE p");
                PARENT.to_owned()
            }
            (_, Some(extra)) => format!("ALTER TABLE p (DROP {extra})"),
            (_, None) => {
                let rules =
                    ["LONG NOT NULL DEFAULT 7", "LONG DEFAULT 5", "LONG", "STRING DEFAULT 'z'"];
                let rule = rules[self.below(4) as usize];
                self.added += 1;
                let extra = format!("extra{}", self.added);
                let text = format!("ALTER TABLE p (ADD {extra} {rule})");
                self.extra = Some(extra);
                text
            }
        };
        self.agree(&text);
        // The child is there again at once: queries name it.
        if self.sessions[0].store().table("p.k").is_err() {
            self.agree(CHILD);
        }
    }

    fn condition(&mut self) -> String {
        let (n, y) = (self.below(80), self.below(14));
        let operator = ["=", "<", "<=", ">", ">=", "<>"][self.below(6) as usize];
        match self.below(13) {
            0 => format!("a {operator} {}", n % 6),
            1 => format!("c {operator} {n}"),
            2 => format!("x {operator} {}", n as f64 / 2.0 - 3.0),
            3 => format!("y {operator} 'y{y}'"),
            4 => format!("m {operator} {n}.50"),
            5 => format!("at {operator} TIMESTAMP '2026-11-{:02} 00:00:00.500'", n % 28 + 1),
            6 => "f".to_owned(),
            7 => format!("e {operator} 'green'"),
            8 => format!("y IN ('y1', 'y{y}') AND c + 0 < {n}"),
            9 => "x IS NULL".to_owned(),
            10 => format!("c BETWEEN {n} AND {}", n + 12),
            11 => format!("json_get_int(d, 'k') = {}", n % 4),
            _ => "tags IS NULL".to_owned(),
        }
    }

    fn query(&mut self) {
        let (one, two) = (self.condition(), self.condition());
        let texts = [
            "SELECT * FROM p".to_owned(),
            format!("SELECT * FROM p WHERE {one}"),
            format!("SELECT a, c, y FROM p WHERE {one} OR {two}"),
            format!("SELECT y, x, m FROM p WHERE {one} AND {two}"),
            "SELECT count(*), sum(c + 0), max(upper(y)), min(at), sum(m) FROM p".to_owned(),
            format!("SELECT y, count(*) AS n, max(x) AS x, sum(m) FROM p WHERE {one} GROUP BY y"),
            "SELECT count(*) FROM p".to_owned(),
            "SELECT a, max(c) FROM p GROUP BY a".to_owned(),
            "SELECT * FROM p.k".to_owned(),
            "SELECT count(*), sum(v) FROM p.k".to_owned(),
            format!("SELECT p.y, k.v FROM p JOIN p.k k ON p.a = k.a AND p.c = k.c WHERE v > {}", 3),
            "SELECT o.n, o.y, p.x FROM o LEFT JOIN p ON o.n = p.c AND o.y = p.y".to_owned(),
            format!("SELECT c, y FROM p WHERE {one} ORDER BY c, y, a LIMIT 20"),
            format!(
                "SELECT s.a, s.c FROM p s WHERE EXISTS (SELECT 1 FROM o WHERE o.n = s.c AND {two})"
            ),
            "SELECT (SELECT count(*) FROM p) - (SELECT count(c) FROM p) AS none".to_owned(),
            format!("SELECT e, f, b, d, tags FROM p WHERE {two}"),
        ];
        let place = self.below(texts.len() as u64 + 1) as usize;
        match (texts.get(place), &self.extra) {
            (Some(text), _) => self.agree(text),
            (None, Some(extra)) => self.agree(&format!("SELECT {extra}, c FROM p WHERE {one}")),
            (None, None) => self.agree("SELECT c, y FROM p"),
        }
    }
}

/// How many seeds: more of them in a long run.
fn seeds() -> u64 {
    let given = std::env::var("TONNAGE_COLUMN_SEEDS").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(20)
}

#[test]
fn no_answer_differs_from_that_of_a_store_that_keeps_nothing() {
    const STEPS: u64 = 60;
    let first =
        std::env::var("TONNAGE_COLUMN_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut sources = [[0; 3]; 3];
    for seed in first..first + seeds() {
        let mut stores = Stores::new(seed);
        stores.load();
        (0..STEPS).for_each(|_| stores.step());
        for (sql, sources) in stores.sessions[1..].iter().zip(&mut sources) {
            let shown = sql.store().column_statistics();
            let rows = [shown.segment_rows, shown.delta_rows, shown.store_rows];
            sources.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
        }
    }
    // Otherwise this would compare stores that keep nothing.
    assert!(sources.iter().flatten().all(|rows| *rows > 100), "{sources:?}");
}
