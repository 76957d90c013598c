//! Scans while others write: a statement sees one point in time, and all that was acknowledged
//! before it.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use rstest::rstest;
use tempfile::TempDir;
use tonnage::{Row, RowOperation, Store, WriteOptions};
use tonnage_sql::{Sql, SqlOptions};
use tonnage_testkit::Random;

use super::answer;

const ROWS: u64 = 600;

/// A store on so many data directories; in memory without any.
fn filled(directories: usize) -> (Sql, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let store = match directories {
        0 => Store::builder("memory:"),
        1 => Store::builder(path("store")),
        _ => Store::builder(path("store"))
            .data_directories((0..directories).map(|number| path(&number.to_string()))),
    };
    let store = store.column_segments(64, 4 << 20).open().unwrap();
    let sql = Sql::new(store, SqlOptions::default()).unwrap();
    sql.execute("CREATE TABLE t (g LONG, id LONG, n LONG, PRIMARY KEY (SHARD(g), id))").unwrap();
    sql.execute("CREATE TABLE t.u (i LONG, n LONG, PRIMARY KEY (i))").unwrap();
    let rows: Vec<Row> = (0..ROWS).map(|id| row(id, 100)).collect();
    let children: Vec<Row> = (0..ROWS).map(|id| row(id, 100).with("i", 1)).collect();
    sql.store().multi_put([("t", rows), ("t.u", children)], &Default::default()).unwrap();
    (sql, directory)
}

fn row(id: u64, n: i64) -> Row {
    Row::new().with("g", 1).with("id", id as i64).with("n", n)
}

/// Amounts move between rows, and between a table and its child.
#[rstest]
fn all_scans_of_a_statement_see_one_point_in_time(#[values(0, 1, 2)] directories: usize) {
    const STATEMENTS: usize = 60;
    let (sql, _directory) = filled(directories);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut random, mut amounts) = (Random(7), vec![[100_i64; 2]; ROWS as usize]);
            while !is_over.load(Ordering::Relaxed) {
                let (from, to) = (random.below(ROWS), random.below(ROWS));
                amounts[from as usize][0] -= 1;
                amounts[to as usize][1] += 1;
                let child = row(to, amounts[to as usize][1]).with("i", 1);
                let operations = [
                    RowOperation::put("t", row(from, amounts[from as usize][0])),
                    RowOperation::put("t.u", child),
                ];
                sql.store().atomic_write(&operations, &WriteOptions::default()).unwrap();
            }
        });
        let total = 2 * 100 * ROWS;
        let statements = [
            "SELECT (SELECT sum(n + 0) FROM t) + (SELECT sum(n + 0) FROM t.u) AS total",
            "SELECT sum(n + 0) AS total FROM (SELECT n FROM t UNION ALL SELECT n FROM t.u) x",
        ];
        for number in 0..STATEMENTS {
            let found = answer(&sql, statements[number % statements.len()]);
            assert_eq!(found, Ok(vec![format!("total={total}")]), "statement {number}");
        }
        is_over.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
    let shown = sql.store().column_statistics();
    assert!(shown.segment_rows > 0 && shown.delta_rows > 0, "{shown:?}");
}

#[rstest]
fn a_statement_shows_all_that_was_acknowledged_before_it(#[values(0, 1, 2)] directories: usize) {
    const WRITES: i64 = 3_000;
    let (sql, _directory) = filled(directories);
    let acknowledged = AtomicI64::new(100);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let table = sql.store().table("t").unwrap();
            for n in 101..WRITES {
                table.put(&row(n as u64 * 7 % ROWS, n), &WriteOptions::default()).unwrap();
                acknowledged.store(n, Ordering::SeqCst);
            }
        });
        while !writer.is_finished() {
            let before = acknowledged.load(Ordering::SeqCst);
            let found = answer(&sql, "SELECT max(n + 0) AS n FROM t").unwrap();
            let shown: i64 = found[0]["n=".len()..].parse().unwrap();
            assert!(shown >= before, "{shown} after {before} was acknowledged");
        }
    });
    let found = answer(&sql, "SELECT max(n + 0) AS n FROM t");
    assert_eq!(found, Ok(vec![format!("n={}", WRITES - 1)]));
}

/// A statement that writes reads with scans of its own, before and after.
#[rstest]
fn a_scan_after_an_update_by_a_scan_shows_it(#[values(0, 1, 2)] directories: usize) {
    let (sql, _directory) = filled(directories);
    let sum = "SELECT sum(n + 0) AS n FROM t";
    for round in 1..5 {
        (0..3).for_each(|_| drop(answer(&sql, sum)));
        let update = "UPDATE t SET n = n + 1 WHERE n <= (SELECT max(n) FROM t)";
        sql.execute(update).unwrap();
        assert_eq!(answer(&sql, sum), Ok(vec![format!("n={}", ROWS * (100 + round))]));
    }
}
