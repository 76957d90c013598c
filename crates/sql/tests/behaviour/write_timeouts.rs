//! Writes of single rows keep to the timeout of their statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tonnage::{ErrorKind, ManualClock, Store};
use tonnage_engine::MemoryEngine;
use tonnage_sql::{Request, Sql, SqlOptions};

use super::stepped::{EngineStep, SteppedEngine};
use super::{assert_fails, rows};

const TIMEOUT: Duration = Duration::from_millis(300);

/// A session with a table, and a switch: once it is on, each write waits for longer than the
/// timeout.
fn waiting() -> (Sql, Arc<AtomicBool>) {
    let is_slow = Arc::new(AtomicBool::new(false));
    let switch = is_slow.clone();
    let engine = Arc::new(MemoryEngine::default());
    let hook = move |step: EngineStep<'_>| {
        if matches!(step, EngineStep::Write(_)) && switch.load(Ordering::SeqCst) {
            std::thread::sleep(2 * TIMEOUT);
        }
        Ok(())
    };
    let store = Store::over(SteppedEngine::over(&engine, hook), Arc::new(ManualClock::new(0)));
    let sql = Sql::new(store.unwrap(), SqlOptions::default()).unwrap();
    sql.execute("CREATE TABLE t (s LONG, k LONG, v LONG, PRIMARY KEY (SHARD(s), k))").unwrap();
    sql.execute("INSERT INTO t VALUES (1, 1, 10), (1, 2, 20)").unwrap();
    sql.execute("CREATE VIEW first AS SELECT v FROM t").unwrap();
    (sql, is_slow)
}

/// They waited for as long as it took, and were stored.
#[test]
fn a_write_that_waits_too_long_ends_and_stores_nothing() {
    let (sql, is_slow) = waiting();
    let all = "SELECT * FROM t ORDER BY k";
    let before = rows(&sql, all);
    for text in [
        "INSERT INTO t VALUES (1, 3, 30) RETURNING k",
        "UPSERT INTO t VALUES (1, 2, 21) RETURNING v",
        "INSERT INTO t VALUES (1, 2, 22) ON CONFLICT (s, k) DO UPDATE SET v = excluded.v",
        "UPDATE t SET v = 11 WHERE s = 1 AND k = 1",
        "DELETE FROM t WHERE s = 1 AND k = 1",
        "MERGE INTO t USING (SELECT 1 AS n) ON t.k = n WHEN MATCHED THEN UPDATE SET v = 12",
        "CREATE VIEW second AS SELECT k FROM t",
        "DROP VIEW first",
    ] {
        is_slow.store(true, Ordering::SeqCst);
        let request = Request::new(text).timeout(TIMEOUT);
        assert_fails(sql.execute(request), ErrorKind::TimedOut, "");
        is_slow.store(false, Ordering::SeqCst);
        assert_eq!(rows(&sql, all), before, "{text}");
    }
    assert_eq!(rows(&sql, "SELECT * FROM first ORDER BY v"), [["10"], ["20"]]);
    assert!(sql.execute("SELECT * FROM second").is_err());
}

#[test]
fn a_commit_that_waits_too_long_ends_and_stores_nothing() {
    let (sql, is_slow) = waiting();
    sql.execute("BEGIN; UPDATE t SET v = 0 WHERE s = 1").unwrap();
    is_slow.store(true, Ordering::SeqCst);
    assert_fails(sql.execute(Request::new("COMMIT").timeout(TIMEOUT)), ErrorKind::TimedOut, "");
    is_slow.store(false, Ordering::SeqCst);
    assert_eq!(rows(&sql, "SELECT v FROM t ORDER BY v"), [["10"], ["20"]]);
}
