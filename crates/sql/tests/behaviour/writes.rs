use std::sync::Arc;
use std::time::Duration;

use tonnage::{ManualClock, Row, Store, WriteOptions};
use tonnage_sql::{Answer, Changes, Request, Sql, SqlOptions};

use super::{fleet, rows, session};

fn changes(answer: Answer) -> Changes {
    match answer {
        Answer::Changed(changes) => changes,
        _ => panic!("a statement that writes tells what it changed"),
    }
}

#[test]
fn changes_count_each_kind_of_row() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG)").unwrap();
    let run = |text: &str| changes(sql.execute(text).unwrap());
    assert_eq!(
        run("INSERT INTO t VALUES (1, 1), (2, 2)"),
        Changes { inserted: 2, ..Changes::default() }
    );
    assert_eq!(
        run("UPSERT INTO t VALUES (2, 20), (3, 30)"),
        Changes { inserted: 1, updated: 1, ..Changes::default() }
    );
    let kept = "INSERT INTO t VALUES (3, 0), (4, 40) ON CONFLICT DO NOTHING";
    assert_eq!(run(kept), Changes { inserted: 1, skipped: 1, ..Changes::default() });
    assert_eq!(
        run("UPDATE t SET n = n + 1 WHERE id > 1"),
        Changes { updated: 3, ..Changes::default() }
    );
    assert_eq!(run("DELETE FROM t WHERE n = 21"), Changes { deleted: 1, ..Changes::default() });
    assert_eq!(rows(&sql, "SELECT * FROM t ORDER BY id"), [["1", "1"], ["3", "31"], ["4", "41"]]);
}

#[test]
fn an_update_loses_no_increment_to_another() {
    let sql = session();
    sql.execute(
        "CREATE TABLE t (id LONG PRIMARY KEY, n LONG); INSERT INTO t VALUES (1, 0), (2, 0)",
    )
    .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    sql.execute("UPDATE t SET n = n + 1").unwrap();
                }
            });
        }
    });
    assert_eq!(rows(&sql, "SELECT n FROM t ORDER BY id"), [["100"], ["100"]]);
}

#[test]
fn a_merge_loses_no_increment_to_another() {
    let sql = session();
    sql.execute(
        "CREATE TABLE t (id LONG PRIMARY KEY, n LONG); INSERT INTO t VALUES (1, 0), (2, 0)",
    )
    .unwrap();
    let merge = "MERGE INTO t USING (VALUES (1), (2)) AS s (id) ON t.id = s.id \
                 WHEN MATCHED AND t.id = 1 THEN UPDATE SET n = t.n + 1 \
                 WHEN MATCHED THEN UPDATE SET n = t.n + 2 \
                 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)";
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    assert_eq!(changes(sql.execute(merge).unwrap()).updated, 2);
                }
            });
        }
    });
    assert_eq!(rows(&sql, "SELECT n FROM t ORDER BY id"), [["100"], ["200"]]);
}

/// Rows that are inserted and deleted meanwhile are met, refused or left, and told as what they were.
#[test]
fn a_merge_beside_deletes_counts_its_changes() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG)").unwrap();
    let merge = "MERGE INTO t USING (VALUES (1)) AS s (id) ON t.id = s.id \
                 WHEN MATCHED THEN UPDATE SET n = t.n + 1 \
                 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)";
    let (mut inserted, mut deleted) = (0, 0);
    std::thread::scope(|scope| {
        let deletes = scope.spawn(|| {
            let delete = || changes(sql.execute("DELETE FROM t").unwrap()).deleted;
            (0..200).map(|_| delete()).sum::<u64>()
        });
        for _ in 0..200 {
            match sql.execute(merge) {
                Ok(answer) => {
                    let told = changes(answer);
                    assert!(told.total() <= 1, "{told:?}");
                    inserted += told.inserted;
                }
                Err(error) => assert_eq!(error.kind(), tonnage::ErrorKind::Conflict, "{error}"),
            }
        }
        deleted = deletes.join().unwrap();
    });
    let left = rows(&sql, "SELECT * FROM t").len() as u64;
    assert_eq!(inserted, deleted + left);
}

#[test]
fn parameters_give_the_values_that_are_written() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, name STRING, bytes BINARY)").unwrap();
    let insert = Request::new("INSERT INTO t VALUES ($1, :name, $2)")
        .bind(1_i64)
        .bind(vec![1_u8, 2])
        .named("name", "it's");
    assert_eq!(changes(sql.execute(insert).unwrap()).inserted, 1);
    let update =
        Request::new("UPDATE t SET name = name || $1 WHERE id = :id").bind("!").named("id", 1_i64);
    assert_eq!(changes(sql.execute(update).unwrap()).updated, 1);
    assert_eq!(rows(&sql, "SELECT name FROM t"), [["it's!"]]);
    let delete = Request::new("DELETE FROM t WHERE name = $1").bind("it's!");
    assert_eq!(changes(sql.execute(delete).unwrap()).deleted, 1);
}

#[test]
fn rows_of_a_query_are_inserted_in_bulk() {
    let sql = fleet();
    sql.execute(
        "CREATE TABLE fast (at LONG, ship LONG, speed DOUBLE, PRIMARY KEY (SHARD(at), ship))",
    )
    .unwrap();
    let copied =
        sql.execute("INSERT INTO fast (ship, at, speed) SELECT ship, at, speed FROM positions WHERE speed > 100").unwrap();
    assert_eq!(changes(copied).inserted, 799);
    let many =
        sql.execute("CREATE TABLE n (n LONG PRIMARY KEY); INSERT INTO n SELECT value FROM generate_series(1, 250000)").unwrap();
    assert_eq!(changes(many).inserted, 250_000);
    assert_eq!(rows(&sql, "SELECT count(*), max(n) FROM n"), [["250000", "250000"]]);
}

#[test]
fn an_update_leaves_a_row_the_life_it_has() {
    let clock = Arc::new(ManualClock::new(1_000));
    let sql = Sql::new(
        Store::builder("memory:").clock(clock.clone()).open().unwrap(),
        SqlOptions::default(),
    )
    .unwrap();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG) USING TTL 1 HOURS").unwrap();
    let table = sql.store().table("t").unwrap();
    let key = |id: i64| Row::new().with("id", id);
    let living = |expires_at_ms| WriteOptions { expires_at_ms, ..WriteOptions::default() };
    table
        .put(
            &key(1).with("n", 1),
            &WriteOptions { ttl: Some(Duration::from_millis(500)), ..living(None) },
        )
        .unwrap();
    table.put(&key(2).with("n", 1), &living(None)).unwrap();
    table.put(&key(3).with("n", 1), &living(Some(0))).unwrap();
    clock.set_ms(1_400);
    assert_eq!(changes(sql.execute("UPDATE t SET n = n + 1").unwrap()).updated, 3);
    let expiries = [1, 2, 3].map(|id| table.get(&key(id)).unwrap().unwrap().expires_at_ms);
    assert_eq!(expiries, [1_500, 3_601_000, 0]);
    clock.set_ms(1_500);
    assert_eq!(
        changes(sql.execute("UPDATE t SET n = n + 1").unwrap()).updated,
        2,
        "a row whose time is up is not there"
    );
    // A row that is stored over another begins anew, as with any put.
    sql.execute("UPSERT INTO t VALUES (3, 0)").unwrap();
    assert_eq!(table.get(&key(3)).unwrap().unwrap().expires_at_ms, 3_601_500);
}

/// What each of four threads is told by a statement that it carries out 25 times.
fn told_by_all(sql: &Sql, statement: &str) -> Vec<i64> {
    let mut told: Vec<i64> = std::thread::scope(|scope| {
        let told = || {
            let one = |_| rows(sql, statement).pop().unwrap()[0].parse::<i64>().unwrap();
            (0..25).map(one).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(told)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    told.sort_unstable();
    told
}

#[test]
fn returning_gives_each_writer_its_own_rows() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG); INSERT INTO t VALUES (1, 0)")
        .unwrap();
    let told = told_by_all(&sql, "UPDATE t SET n = n + 1 RETURNING n");
    assert_eq!(told, (1..=100).collect::<Vec<_>>());
}

#[test]
fn an_insert_that_updates_loses_no_row_and_no_increment() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG)").unwrap();
    let told = told_by_all(
        &sql,
        "INSERT INTO t VALUES (1, 1) ON CONFLICT DO UPDATE SET n = t.n + excluded.n RETURNING n",
    );
    assert_eq!(told, (1..=100).collect::<Vec<_>>());
    // Rows that vanish meanwhile are inserted after all.
    std::thread::scope(|scope| {
        scope.spawn(|| (0..100).for_each(|_| drop(sql.execute("DELETE FROM t WHERE id = 2"))));
        for _ in 0..100 {
            let text = "INSERT INTO t VALUES (2, 1) ON CONFLICT DO UPDATE SET n = 2";
            let done = changes(sql.execute(text).unwrap());
            assert_eq!(done.inserted + done.updated, 1, "{done:?}");
        }
    });
}

#[test]
fn rows_that_returning_cannot_hold_stop_the_statement() {
    let options = SqlOptions { memory_bytes_max: 16 << 20, ..SqlOptions::default() };
    let sql = super::session_with(options);
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, text STRING)").unwrap();
    sql.execute("INSERT INTO t SELECT value, repeat('x', 1000) FROM generate_series(1, 8000)")
        .unwrap();
    super::assert_fails(
        sql.execute("UPDATE t SET text = text || 'y' RETURNING *"),
        tonnage::ErrorKind::Exhausted,
        "rows changed before that",
    );
}
