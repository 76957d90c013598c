use std::sync::atomic::{AtomicBool, Ordering};

use tonnage::{ErrorKind, Row, Store};
use tonnage_sql::{Parameters, Sql, SqlOptions};

use super::{assert_fails, rows, session, session_with, texts};

/// A table of 20,000 rows in ten parts, each with a thousand cities.
fn cities(options: SqlOptions) -> Sql {
    let sql = session_with(options);
    sql.execute("CREATE TABLE people (part LONG, id LONG, city STRING, age INTEGER, PRIMARY KEY (SHARD(part), id))").unwrap();
    let row = |n: i64| {
        Row::new()
            .with("part", n % 10)
            .with("id", n)
            .with("city", format!("c{}", n % 1_000))
            .with("age", (n % 90) as i32)
    };
    sql.store()
        .multi_put([("people", (0..20_000).map(row).collect::<Vec<_>>())], &Default::default())
        .unwrap();
    sql
}

/// What EXPLAIN says, in one text.
fn plan(sql: &Sql, query: &str) -> String {
    rows(sql, format!("EXPLAIN {query}").as_str()).concat().concat()
}

#[test]
fn prepared_statements_follow_indexes_that_come_and_go() {
    let sql = cities(SqlOptions::default());
    let direct = sql.prepare("SELECT id FROM people WHERE city = $1").unwrap();
    let planned = sql.prepare("SELECT id + 0 AS id FROM people WHERE city = $1").unwrap();
    let lasting = sql.prepare("SELECT id + 0 AS id FROM people WHERE city = 'c7'").unwrap();
    let check = || {
        for (statement, parameters) in
            [(&direct, vec!["c7"]), (&planned, vec!["c7"]), (&lasting, vec![])]
        {
            let found = texts(statement.execute(Parameters::numbered(parameters)).unwrap());
            assert_eq!(found.len(), 20, "{}", statement.text());
        }
    };
    check();
    sql.execute("CREATE INDEX by_city ON people (city)").unwrap();
    assert!(
        plan(&sql, "SELECT id FROM people WHERE city = 'c7'")
            .contains("index by_city of 1 range (city), 20 entries")
    );
    check();
    sql.execute("DROP INDEX by_city ON people").unwrap();
    check();
    sql.execute("CREATE INDEX by_city ON people (city, age)").unwrap();
    check();
}

#[test]
fn a_short_part_of_the_key_is_preferred_to_an_index_and_a_long_one_is_not() {
    let sql = cities(SqlOptions::default());
    sql.execute("CREATE INDEX by_city ON people (city)").unwrap();
    let long = "SELECT id, age FROM people WHERE part = 7 AND city = 'c7'";
    assert!(plan(&sql, long).contains("path=index by_city"), "{}", plan(&sql, long));
    let short = "SELECT id, age FROM people WHERE part = 7 AND id < 500 AND city = 'c7'";
    let text = plan(&sql, short);
    assert!(
        text.contains("range read of 1 partial key")
            && text.contains("index by_city not used: 20 entries beside the key"),
        "{text}"
    );
    assert_eq!((rows(&sql, long).len(), rows(&sql, short).len()), (20, 1));
}

#[test]
fn an_index_that_leads_to_too_many_rows_is_not_used() {
    let sql = cities(SqlOptions::default());
    sql.execute("CREATE INDEX by_age ON people (age)").unwrap();
    let text = plan(&sql, "SELECT id, city FROM people WHERE age >= 45");
    assert!(
        text.contains("full scan (index by_age not used: ") && text.contains(" for 20000 rows)"),
        "{text}"
    );
    let text = plan(&sql, "SELECT id, city FROM people WHERE age >= 85");
    assert!(text.contains("path=index by_age of 1 range with 85 <= age, 1110 entries"), "{text}");
}

#[test]
fn the_index_with_the_fewest_entries_is_used() {
    let sql = cities(SqlOptions::default());
    sql.execute("CREATE INDEX by_age ON people (age); CREATE INDEX by_city ON people (city)")
        .unwrap();
    assert!(
        plan(&sql, "SELECT id FROM people WHERE age = 7 AND city = 'c7'").contains("index by_city")
    );
}

#[test]
fn a_join_looks_the_keys_of_its_other_side_up_in_an_index() {
    let sql = cities(SqlOptions::default());
    sql.execute("CREATE TABLE wanted (city STRING PRIMARY KEY); INSERT INTO wanted VALUES ('c3'), ('c4'), ('none')").unwrap();
    let join = "SELECT p.id FROM people p JOIN wanted w ON p.city = w.city";
    let read = |text: &str| {
        text.lines()
            .find(|line| line.contains("table=people"))
            .map(str::to_owned)
            .unwrap_or_default()
    };
    assert!(read(&plan(&sql, &format!("ANALYZE {join}"))).contains("output_rows=20.00 K"));
    sql.execute("CREATE INDEX by_city ON people (city)").unwrap();
    let text = plan(&sql, &format!("ANALYZE {join}"));
    assert!(read(&text).contains("output_rows=40"), "{text}");
    assert_eq!(rows(&sql, join).len(), 40);
}

#[test]
fn where_nothing_is_pushed_down_a_join_hands_no_keys_to_its_reads() {
    let sql = cities(SqlOptions { push_down: false, ..SqlOptions::default() });
    sql.execute("CREATE INDEX by_city ON people (city); CREATE TABLE wanted (city STRING PRIMARY KEY); INSERT INTO wanted VALUES ('c3')").unwrap();
    let join = "SELECT p.id FROM people p JOIN wanted w ON p.city = w.city";
    let text = plan(&sql, join);
    assert!(!text.contains("keys from"), "{text}");
    assert_eq!(rows(&sql, join).len(), 20);
}

#[test]
fn a_statement_does_not_meet_rows_again_that_it_put_further_on_in_its_index() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG); CREATE INDEX by_n ON t (n)")
        .unwrap();
    sql.execute("INSERT INTO t SELECT value AS id, value AS n FROM generate_series(1, 200)")
        .unwrap();
    assert_eq!(
        texts(sql.execute("UPDATE t SET n = n + 1 WHERE n > 0 RETURNING COUNT(*)").unwrap()),
        [["200"]]
    );
    assert_eq!(rows(&sql, "SELECT sum(n) FROM t"), [["20300"]]);
    assert_eq!(
        texts(sql.execute("UPDATE t SET n = 500 WHERE n = 201 RETURNING COUNT(*)").unwrap()),
        [["1"]]
    );
    assert_eq!(rows(&sql, "SELECT id FROM t WHERE n = 500"), [["200"]]);
}

#[test]
fn an_index_that_is_being_built_is_not_read() {
    let sql = cities(SqlOptions::default());
    let cancel = tonnage::Cancel::new();
    cancel.cancel();
    let options = tonnage::CreateIndexOptions { cancel, ..Default::default() };
    let definition = tonnage::IndexDefinition {
        name: "by_city".into(),
        table: "people".into(),
        columns: vec![tonnage::IndexColumn::new("city")],
    };
    assert!(sql.store().create_index(&definition, &options).is_err());
    assert_eq!(rows(&sql, "SELECT id FROM people WHERE city = 'c7'").len(), 20);
    assert_fails(sql.execute("DROP INDEX by_city ON people"), ErrorKind::NotFound, "by_city");
}

#[test]
fn an_index_that_holds_what_is_asked_for_is_read_alone() {
    let sql = cities(SqlOptions::default());
    sql.execute("CREATE INDEX by_age ON people (age) INCLUDE (city)").unwrap();
    let query = "SELECT id, city FROM people WHERE age >= 60 ORDER BY id";
    let text = plan(&sql, query);
    assert!(text.contains("path=index by_age of 1 range with 60 <= age"), "{text}");
    assert!(text.contains("entries, index only"), "{text}");
    let expected = rows(&sql, "SELECT id, city FROM people WHERE age + 0 >= 60 ORDER BY id");
    assert_eq!(rows(&sql, query), expected);
    let text = plan(&sql, "SELECT count(*) FROM people WHERE age = 60");
    assert!(text.contains("entries, index only"), "{text}");
}

#[test]
fn a_change_by_an_index_looks_rows_up() {
    let sql = cities(SqlOptions::default());
    sql.execute("CREATE INDEX by_age ON people (age) INCLUDE (city)").unwrap();
    let changed = "UPDATE people SET city = 'x' WHERE age = 60 RETURNING COUNT(*)";
    let count = rows(&sql, "SELECT count(*) FROM people WHERE age + 0 = 60");
    assert_eq!(texts(sql.execute(changed).unwrap()), count);
    let query = "SELECT count(*) FROM people WHERE age = 60 AND city = 'x'";
    assert!(plan(&sql, query).contains("index only"), "{}", plan(&sql, query));
    assert_eq!(rows(&sql, query), count);
}

/// The entry of a row that moves may be at neither position when it is looked for: `max` gave the
/// value of the row below it.
#[test]
fn the_end_of_an_index_is_right_while_rows_move() {
    let directory = tempfile::tempdir().unwrap();
    for store in ["memory:".to_owned(), directory.path().join("s").display().to_string()] {
        let sql = Sql::new(Store::open(store).unwrap(), SqlOptions::default()).unwrap();
        sql.execute("CREATE TABLE t (id LONG, n LONG, PRIMARY KEY (id))").unwrap();
        sql.execute("INSERT INTO t SELECT value, value FROM range(1000)").unwrap();
        sql.execute("CREATE INDEX by_n ON t (n)").unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut n = 0;
                while !is_done.load(Ordering::Relaxed) {
                    let place = if n % 2 == 0 { 5_000 + n % 7 } else { 2_000 };
                    let text = format!("UPDATE t SET n = {place} WHERE id = 999");
                    sql.execute(text.as_str()).unwrap();
                    n += 1;
                }
            });
            let questions =
                ["SELECT max(n) FROM t", "SELECT n + 0 AS n FROM t ORDER BY n DESC LIMIT 1"];
            let asked = questions.iter().cycle().take(600);
            let told: Vec<_> = asked.map(|question| sql.execute(*question).map(texts)).collect();
            is_done.store(true, Ordering::Relaxed);
            for told in told {
                let most: i64 = told.unwrap()[0][0].parse().unwrap();
                assert!(most >= 999, "{most}");
            }
        });
        let most = rows(&sql, "SELECT max(n) FROM t")[0][0].clone();
        assert_eq!(rows(&sql, "SELECT n FROM t ORDER BY n DESC LIMIT 1")[0][0], most);
    }
}
