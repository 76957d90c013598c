//! ANALYZE: what it keeps, for how long, and what stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tonnage::{Cancel, ErrorKind, ManualClock, Row, Store};
use tonnage_engine::MemoryEngine;
use tonnage_sql::{Answer, Request, Sql, SqlOptions};

use super::stepped::{EngineStep, SteppedEngine};
use super::{assert_fails, fleet, rows, session};

const LISTED: &str = "SHOW STATISTICS FROM t";

/// What a statement says that it did.
#[track_caller]
fn told(sql: &Sql, request: impl Into<Request>) -> String {
    match sql.execute(request).unwrap() {
        Answer::Done(outcome) => outcome.to_string(),
        _ => panic!("the statement tells nothing"),
    }
}

/// A session over an engine that calls this before each step.
fn stepped(hook: impl Fn(EngineStep<'_>) -> tonnage::Result<()> + Send + Sync + 'static) -> Sql {
    let engine = Arc::new(MemoryEngine::default());
    let store = Store::over(SteppedEngine::over(&engine, hook), Arc::new(ManualClock::new(0)));
    let sql = Sql::new(store.unwrap(), SqlOptions::default()).unwrap();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("INSERT INTO t VALUES (1, 10), (2, 20)").unwrap();
    sql
}

#[test]
fn analyze_reports_what_it_read() {
    let sql = session();
    assert_eq!(told(&sql, "ANALYZE"), "there is no table to analyse");
    sql.execute("CREATE TABLE Ships (k LONG, doc JSON, PRIMARY KEY (k))").unwrap();
    assert_eq!(told(&sql, "ANALYZE ships"), "analysed Ships: 0 rows, 1 column");
    sql.execute("CREATE TABLE b (k LONG, x LONG, PRIMARY KEY (k)); INSERT INTO b VALUES (1, 2)")
        .unwrap();
    assert_eq!(told(&sql, "ANALYZE b (x)"), "analysed b: 1 row, 1 column");
    assert_eq!(
        told(&sql, "VACUUM ANALYZE"),
        "analysed b: 1 row, 2 columns\nanalysed Ships: 0 rows, 1 column"
    );
    assert!(told(&sql, "VACUUM").starts_with("nothing to do"));
    let sql = fleet();
    assert_eq!(told(&sql, "ANALYZE"), "analysed positions: 1000 rows, 4 columns");
    let listed = rows(&sql, "SHOW STATISTICS FROM positions");
    assert_eq!(listed[0], ["positions", "ship", "1000", "0", "10", "0", "9"]);
    assert_eq!(listed[1], ["positions", "at", "1000", "0", "100", "0", "99"]);
    let distinct: u64 = listed[2][4].parse().unwrap();
    assert!((950..=1000).contains(&distinct), "{listed:?}");
    assert_eq!(listed[2][5..], ["0.0", "499.5"]);
    assert_eq!(listed[3][4..], ["10", "ship 0", "ship 9"]);
}

#[test]
fn statistics_survive_reopening() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let store = Store::open(directory.path().join("store").display().to_string()).unwrap();
        Sql::new(store, SqlOptions::default()).unwrap()
    };
    let sql = open();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("INSERT INTO t VALUES (1, 10), (2, NULL)").unwrap();
    sql.execute("ANALYZE t").unwrap();
    let listed = rows(&sql, LISTED);
    assert_eq!(listed[1], ["t", "a", "2", "1", "1", "10", "10"]);
    drop(sql);
    let sql = open();
    assert_eq!(rows(&sql, LISTED), listed);
    // A table of the same name gets a number of its own, after an opening too.
    sql.execute("DROP TABLE t; CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    assert!(rows(&sql, LISTED).is_empty());
    drop(sql);
    assert!(rows(&open(), LISTED).is_empty());
}

#[test]
fn a_table_that_replaces_another_has_its_own_statistics() {
    let sql = session();
    for (name, values) in [("t", "(1), (2)"), ("new", "(7)")] {
        sql.execute(format!("CREATE TABLE {name} (k LONG, PRIMARY KEY (k))")).unwrap();
        sql.execute(format!("INSERT INTO {name} VALUES {values}")).unwrap();
    }
    sql.execute("ANALYZE t").unwrap();
    assert_eq!(rows(&sql, LISTED).len(), 1);
    sql.store().catalog().replace_table("t", "new").unwrap();
    assert!(rows(&sql, LISTED).is_empty());
    assert_eq!(rows(&sql, "SELECT max(k) FROM t"), [["7"]]);
    sql.execute("ANALYZE t").unwrap();
    assert_eq!(rows(&sql, LISTED), [["t", "k", "1", "0", "1", "7", "7"]]);
}

/// The rows that a plan expects of a scan of `t`.
#[track_caller]
fn expected(sql: &Sql) -> Vec<String> {
    let plan = rows(sql, "EXPLAIN VERBOSE SELECT a + 1 FROM t WHERE a > 0");
    let with = plan.iter().find(|row| row[0].contains("physical_plan_with_stats"));
    let text = with.unwrap_or_else(|| panic!("no estimates in {plan:#?}"))[1].clone();
    let lines = text.lines().filter(|line| line.contains("StoreScan"));
    lines.map(str::to_owned).collect()
}

#[test]
fn plans_know_what_was_found_and_scale_it() {
    let sql = session();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("INSERT INTO t SELECT v, v % 10 FROM generate_series(1, 1000) AS s(v)").unwrap();
    assert!(expected(&sql)[0].contains("Rows=Inexact(1000)"), "{:?}", expected(&sql));
    assert!(!expected(&sql)[0].contains("Distinct"), "{:?}", expected(&sql));
    sql.execute("ANALYZE t").unwrap();
    let known = expected(&sql);
    assert!(known[0].contains("Distinct=Inexact(10)"), "{known:?}");
    assert!(known[0].contains("Null=Inexact(0)"), "{known:?}");
    // Ends of ranges would be taken for exact by the filters above.
    assert!(!known[0].contains("Min=") && !known[0].contains("Max="), "{known:?}");
    sql.execute("INSERT INTO t SELECT v, 3 FROM generate_series(1001, 2000) AS s(v)").unwrap();
    assert!(expected(&sql)[0].contains("Rows=Inexact(2000)"), "{:?}", expected(&sql));
    sql.execute("DELETE FROM t WHERE k > 5").unwrap();
    assert!(expected(&sql)[0].contains("Rows=Inexact(5)"), "{:?}", expected(&sql));
    sql.execute("TRUNCATE t").unwrap();
    assert!(!expected(&sql)[0].contains("Distinct"), "{:?}", expected(&sql));
}

/// Each of its columns would have one value for ever.
#[test]
fn statistics_of_an_empty_table_do_not_count_after_a_load() {
    let sql = session();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("ANALYZE t").unwrap();
    sql.execute("INSERT INTO t SELECT v, v FROM generate_series(1, 1000) AS s(v)").unwrap();
    let known = expected(&sql);
    assert!(known[0].contains("Rows=Inexact(1000)"), "{known:?}");
    assert!(!known[0].contains("Distinct"), "{known:?}");
}

/// The engine weighs rows of child tables with those of the table above.
#[test]
fn rows_of_relatives_are_counted_apart() {
    let sql = session();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("CREATE TABLE t.parts (part LONG, PRIMARY KEY (part))").unwrap();
    sql.execute("INSERT INTO t VALUES (1, 1), (2, 2)").unwrap();
    sql.execute("INSERT INTO t.parts SELECT 1, v FROM generate_series(1, 98) AS s(v)").unwrap();
    assert!(expected(&sql)[0].contains("Rows=Inexact(100)"), "{:?}", expected(&sql));
    sql.execute("ANALYZE").unwrap();
    assert!(expected(&sql)[0].contains("Rows=Inexact(2)"), "{:?}", expected(&sql));
}

#[test]
fn another_session_over_the_store_sees_them() {
    let sql = session();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("INSERT INTO t VALUES (1, 1), (2, 2)").unwrap();
    let other = Sql::new(sql.store().clone(), SqlOptions::default()).unwrap();
    assert!(!expected(&other)[0].contains("Distinct"));
    sql.execute("ANALYZE t").unwrap();
    assert!(expected(&other)[0].contains("Distinct=Inexact(2)"));
    other.execute("DELETE FROM _statistics").unwrap();
    assert!(!expected(&sql)[0].contains("Distinct"));
}

#[test]
fn a_session_without_transactions_or_settings_analyses_too() {
    let options = SqlOptions { is_local: false, transactions: false, ..SqlOptions::default() };
    let sql = super::session_with(options);
    sql.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
    assert_eq!(told(&sql, "ANALYZE t"), "analysed t: 0 rows, 1 column");
    let description = sql.describe("ANALYZE t").unwrap();
    assert!(description.rows.is_none() && !description.reads_only);
    assert_fails(sql.execute("VACUUM"), ErrorKind::Unsupported, "VACUUM finds nothing to do");
}

#[test]
fn a_timeout_stops_it_and_nothing_is_kept() {
    let is_slow = Arc::new(AtomicBool::new(false));
    let slow = is_slow.clone();
    let sql = stepped(move |step| {
        if matches!(step, EngineStep::Scan(_)) && slow.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(())
    });
    is_slow.store(true, Ordering::Relaxed);
    let request = Request::new("ANALYZE t").timeout(Duration::from_millis(100));
    assert_fails(sql.execute(request), ErrorKind::TimedOut, "timeout");
    is_slow.store(false, Ordering::Relaxed);
    assert!(rows(&sql, LISTED).is_empty());
    assert_eq!(told(&sql, "ANALYZE t"), "analysed t: 2 rows, 2 columns");
}

#[test]
fn a_cancel_stops_it_and_nothing_is_kept() {
    let cancel = Cancel::new();
    let (is_asked, asked) = (Arc::new(AtomicBool::new(false)), cancel.clone());
    let waits = is_asked.clone();
    let sql = stepped(move |step| {
        if matches!(step, EngineStep::Scan(_)) && waits.load(Ordering::Relaxed) {
            asked.cancel();
        }
        Ok(())
    });
    is_asked.store(true, Ordering::Relaxed);
    let request = Request::new("ANALYZE").cancel(&cancel);
    assert_fails(sql.execute(request), ErrorKind::Cancelled, "cancelled");
    is_asked.store(false, Ordering::Relaxed);
    assert!(rows(&sql, LISTED).is_empty());
}

#[test]
fn a_store_that_takes_no_writes_says_why_nothing_is_kept() {
    let is_read_only = Arc::new(AtomicBool::new(false));
    let refuses = is_read_only.clone();
    let sql = stepped(move |step| match step {
        EngineStep::Write(_) | EngineStep::Load if refuses.load(Ordering::Relaxed) => {
            Err(tonnage::Error::unavailable("the file system is read-only"))
        }
        _ => Ok(()),
    });
    let refused = |kind| {
        is_read_only.store(true, Ordering::Relaxed);
        let error = sql.execute("ANALYZE t").err().unwrap();
        is_read_only.store(false, Ordering::Relaxed);
        assert_eq!(error.kind(), kind, "{error}");
        for part in ["the table _statistics, which cannot be written", "is read-only"] {
            assert!(error.message().contains(part), "{error}");
        }
    };
    refused(ErrorKind::Unavailable);
    assert!(sql.store().known_table("_statistics").is_none());
    sql.execute("ANALYZE t").unwrap();
    let listed = rows(&sql, LISTED);
    sql.execute("INSERT INTO t VALUES (3, 30)").unwrap();
    refused(ErrorKind::Unavailable);
    assert_eq!(rows(&sql, LISTED), listed);
    assert_eq!(rows(&sql, "SELECT max(a), count(*) FROM t WHERE a > 20"), [["30", "1"]]);
}

#[test]
fn many_columns_with_every_kind_of_double() {
    let sql = session();
    let names: Vec<String> = (0..300).map(|n| format!("c{n} DOUBLE")).collect();
    sql.execute(format!("CREATE TABLE t (k LONG, {}, PRIMARY KEY (k))", names.join(", "))).unwrap();
    let doubles =
        [Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY), Some(-0.0), Some(0.0), None];
    let rows_of_doubles = doubles.iter().enumerate().map(|(k, double)| {
        let mut row = Row::new().with("k", k as i64);
        for column in 0..300 {
            // Every second column has neither zero, so it has no end.
            match double.filter(|double| column % 2 == 0 || *double != 0.0) {
                Some(double) => row.set(&format!("c{column}"), double),
                None => row.set(&format!("c{column}"), tonnage::Value::Null),
            }
        }
        row
    });
    let rows_of_doubles: Vec<Row> = rows_of_doubles.collect();
    sql.store().multi_put([("t", rows_of_doubles)], &Default::default()).unwrap();
    assert_eq!(told(&sql, "ANALYZE t"), "analysed t: 6 rows, 301 columns");
    let listed = rows(&sql, LISTED);
    assert_eq!(listed.len(), 301);
    for (column, row) in listed[1..].iter().enumerate() {
        let is_even = column % 2 == 0;
        assert_eq!(row[3], if is_even { "1" } else { "3" }, "{row:?}");
        let distinct: u64 = row[4].parse().unwrap();
        assert!((3..=5).contains(&distinct), "{row:?}");
        let ends = if is_even { ["0.0", "-0.0"] } else { ["NULL", "NULL"] };
        assert!(ends.contains(&row[5].as_str()) && ends.contains(&row[6].as_str()), "{row:?}");
    }
    let count = "SELECT count(*), count(DISTINCT c0) FROM t WHERE c0 >= 0 AND c2 >= 0";
    assert_eq!(rows(&sql, count)[0][0], "4");
}

/// A plan that is kept holds what was known when it was made.
#[test]
fn a_statement_that_is_kept_is_planned_anew() {
    let sql = session();
    sql.execute("CREATE TABLE t (k LONG, a LONG, PRIMARY KEY (k))").unwrap();
    sql.execute("INSERT INTO t VALUES (1, 1), (2, 2)").unwrap();
    let prepared = sql.prepare("SELECT sum(a + 1) AS s FROM t WHERE a > 0 AND k + 0 > 0").unwrap();
    let asked = || super::texts(prepared.execute(Default::default()).unwrap());
    assert_eq!(asked(), [["5"]]);
    sql.execute("ANALYZE").unwrap();
    assert_eq!(asked(), [["5"]]);
    sql.execute("INSERT INTO t VALUES (3, 100)").unwrap();
    assert_eq!(asked(), [["106"]]);
    sql.execute("TRUNCATE t").unwrap();
    assert_eq!(asked(), [["NULL"]]);
}
