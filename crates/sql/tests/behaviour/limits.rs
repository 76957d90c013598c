use std::path::Path;
use std::time::{Duration, Instant};

use tonnage::{Cancel, ErrorKind};
use tonnage_sql::{Request, Sql, SqlOptions};

use super::{assert_fails, fleet, rows, session, session_with};

/// A statement that would run for a very long time.
const ENDLESS: &str = "WITH t AS (SELECT * FROM generate_series(1, 100000)) SELECT count(*) FROM t a, t b WHERE a.value + b.value = 7";

#[test]
fn a_statement_that_takes_too_long_ends() {
    let sql = session();
    let started = Instant::now();
    assert_fails(
        sql.execute(Request::new(ENDLESS).timeout(Duration::from_millis(100))),
        ErrorKind::TimedOut,
        "timeout",
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_statement_can_be_cancelled_from_another_thread() {
    let sql = session();
    let cancel = Cancel::new();
    let request = Request::new(ENDLESS).cancel(&cancel);
    std::thread::scope(|scope| {
        let running =
            scope.spawn(|| assert_fails(sql.execute(request), ErrorKind::Cancelled, "cancelled"));
        std::thread::sleep(Duration::from_millis(50));
        cancel.cancel();
        running.join().unwrap();
    });
    assert_eq!(rows(&sql, "SELECT 1"), [["1"]]);
}

/// A join without keys whose first step compares all rows of one side with a batch of the other.
const LONG_STEP: &str = "WITH t AS (SELECT * FROM generate_series(1, 5000000)) SELECT count(*) FROM t a, t b WHERE a.value + b.value = -1";

/// So long no statement waits, even on a machine that pauses for a while. A step takes longer.
const ANSWERED: Duration = Duration::from_secs(20);

/// The join went on to the end of its step, and its threads did nothing else: each later statement
/// waited for a minute.
#[test]
fn a_join_without_keys_ends_within_its_step() {
    let sql = session();
    let started = Instant::now();
    for _ in 0..2 {
        let request = Request::new(LONG_STEP).timeout(Duration::from_millis(500));
        assert_fails(sql.execute(request), ErrorKind::TimedOut, "timeout");
    }
    assert_eq!(rows(&sql, "SELECT count(*) FROM generate_series(1, 10)"), [["10"]]);
    assert!(started.elapsed() < ANSWERED, "{:?}", started.elapsed());
}

#[test]
fn statements_are_answered_beside_joins_without_keys() {
    let sql = session();
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let join = || {
            let request = Request::new(LONG_STEP).cancel(&cancel);
            assert_fails(sql.execute(request), ErrorKind::Cancelled, "cancelled");
        };
        // More than there are threads.
        let joins: Vec<_> = (0..4).map(|_| scope.spawn(join)).collect();
        // They are in their first steps by then, or come to them meanwhile.
        std::thread::sleep(Duration::from_secs(1));
        let started = Instant::now();
        assert_eq!(rows(&sql, "SELECT count(*) FROM generate_series(1, 10)"), [["10"]]);
        let waited = started.elapsed();
        cancel.cancel();
        joins.into_iter().for_each(|join| join.join().unwrap());
        assert!(waited < ANSWERED, "{waited:?}");
    });
}

#[test]
fn a_cancelled_read_gives_no_more_rows() {
    let sql = fleet();
    let cancel = Cancel::new();
    let mut answer = sql
        .execute(Request::new("SELECT * FROM positions").cancel(&cancel))
        .unwrap()
        .into_rows()
        .unwrap();
    cancel.cancel();
    assert!(answer.next().unwrap().is_err());
    assert!(answer.next().is_none());
}

#[test]
fn rows_may_be_dropped_before_their_end() {
    let sql = session();
    let mut answer =
        sql.execute("SELECT * FROM generate_series(1, 100000000)").unwrap().into_rows().unwrap();
    assert!(answer.next().unwrap().unwrap().num_rows() > 0);
    drop(answer);
    assert_eq!(rows(&sql, "SELECT 1"), [["1"]]);
}

/// A session of 32 MiB that spills into a directory.
fn spilling_session(directory: &Path, parallelism: usize) -> Sql {
    session_with(SqlOptions {
        memory_bytes_max: 32 << 20,
        spill_directory: Some(directory.to_path_buf()),
        parallelism: Some(parallelism),
        ..SqlOptions::default()
    })
}

#[test]
fn a_sort_larger_than_its_memory_spills() {
    let directory = tempfile::tempdir().unwrap();
    let sql = spilling_session(directory.path(), 1);
    let sorted = "SELECT max(value), max(n) FROM (SELECT value, row_number() OVER (ORDER BY (value * 7919) % 1000003) AS n FROM generate_series(1, 2000000))";
    assert_eq!(rows(&sql, sorted), [["2000000", "2000000"]]);
    let starved = session_with(SqlOptions {
        memory_bytes_max: 16 << 20,
        spill_bytes_max: 1,
        parallelism: Some(1),
        ..SqlOptions::default()
    });
    assert_fails(starved.execute(sorted), ErrorKind::Exhausted, "");
}

/// A hash join holds one side whole: it failed here, however large the disk.
#[test]
fn a_join_larger_than_its_memory_spills() {
    let directory = tempfile::tempdir().unwrap();
    for parallelism in [1, 2] {
        let sql = spilling_session(directory.path(), parallelism);
        let side = |text: &str| {
            format!(
                "(SELECT value AS k, repeat('{text}', 100) || value AS t FROM generate_series(1, 500000))"
            )
        };
        let joined = format!(
            "SELECT count(*), max(a.t) > 'x', max(b.t) > 'y' FROM {} AS a JOIN {} AS b ON a.k = b.k",
            side("x"),
            side("y")
        );
        assert_eq!(rows(&sql, &joined), [["500000", "true", "true"]]);
    }
}

/// Sorting, a join reads its left side row by row, and begins the rows of the right anew for each.
#[test]
fn a_join_by_way_of_the_disk_is_numbered_in_the_order_of_both_sides() {
    let directory = tempfile::tempdir().unwrap();
    let sql = spilling_session(directory.path(), 2);
    let side = |text: &str| {
        format!(
            "(SELECT value / 2 AS k, value AS n, repeat('{text}', 100) || value AS t FROM generate_series(0, 299999))"
        )
    };
    let joined = format!(
        "SELECT a.k, b.n, a.t > 'x' AND b.t > 'y' AS is_read FROM {} AS a JOIN {} AS b ON a.k = b.k",
        side("x"),
        side("y")
    );
    let numbered =
        format!("SELECT *, row_number() OVER (ORDER BY k, n) - 1 AS place FROM ({joined}) AS j");
    // Two rows of each k meet two others.
    let query = format!("SELECT count(*) FROM ({numbered}) AS p WHERE is_read AND place / 2 <> n");
    assert_eq!(rows(&sql, &query), [["0"]]);
}

#[test]
fn options_out_of_their_range_are_refused_by_name() {
    let store = || tonnage::Store::open("memory:").unwrap();
    for (options, name) in [
        (SqlOptions { memory_bytes_max: 1, ..SqlOptions::default() }, "memory_bytes_max"),
        (SqlOptions { parallelism: Some(0), ..SqlOptions::default() }, "parallelism"),
        (SqlOptions { batch_rows_max: 0, ..SqlOptions::default() }, "batch_rows_max"),
        (SqlOptions { timeout: Some(Duration::ZERO), ..SqlOptions::default() }, "timeout"),
    ] {
        let error = tonnage_sql::Sql::new(store(), options).err().unwrap();
        assert!(error.message().contains(name), "{error}");
    }
}

/// How many rows a statement changed before it was stopped, as its error says.
#[track_caller]
fn changed_before(result: tonnage::Result<tonnage_sql::Answer>, named: &str, what: &str) -> u64 {
    let error = result.err().expect("this should have been stopped");
    assert!(error.message().contains(named), "'{named}' is not named in: {error}");
    let (_, told) = error
        .message()
        .split_once("rows changed before that: ")
        .unwrap_or_else(|| panic!("no count in: {error}"));
    told.strip_suffix(what)
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or_else(|| panic!("no count {what} in: {error}"))
}

/// The error once said that a bulk put had run out of time, and not what it had stored.
#[test]
fn an_insert_that_times_out_reports_what_it_stored() {
    let sql = session();
    sql.execute("CREATE TABLE n (n LONG PRIMARY KEY)").unwrap();
    let endless = Request::new("INSERT INTO n SELECT value FROM generate_series(1, 1000000000000)");
    let stored =
        changed_before(sql.execute(endless.timeout(Duration::from_secs(8))), "timeout", "inserted");
    assert!(stored > 0, "nothing was stored before it was stopped");
    assert_eq!(rows(&sql, "SELECT count(*) FROM n"), [[stored.to_string()]]);
}

#[test]
fn a_cancelled_insert_reports_what_it_stored() {
    let sql = session();
    sql.execute("CREATE TABLE n (n LONG PRIMARY KEY)").unwrap();
    let cancel = Cancel::new();
    let endless = Request::new("INSERT INTO n SELECT value FROM generate_series(1, 1000000000000)")
        .cancel(&cancel);
    let stored = std::thread::scope(|scope| {
        let running = scope.spawn(|| changed_before(sql.execute(endless), "cancelled", "inserted"));
        // Until something is stored, which a busy machine may not have come to before. It is not
        // `wait_until`: were that to panic in here, the scope would wait for the insert for ever.
        let count = || sql.store().table("n").unwrap().count().unwrap();
        for _ in (0..600).take_while(|_| count() == 0) {
            std::thread::sleep(Duration::from_millis(100));
        }
        cancel.cancel();
        running.join().unwrap()
    });
    assert!(stored > 0, "nothing was stored before it was stopped");
    assert_eq!(rows(&sql, "SELECT count(*) FROM n"), [[stored.to_string()]]);
}

/// An UPDATE that was stopped did not say that some of its rows were changed.
#[test]
fn an_update_that_fails_midway_reports_what_it_changed() {
    let sql = session_with(SqlOptions {
        batch_rows_max: 10,
        parallelism: Some(1),
        ..SqlOptions::default()
    });
    sql.execute("CREATE TABLE t (id LONG PRIMARY KEY, n LONG); INSERT INTO t SELECT value, 0 FROM generate_series(1, 100)")
        .unwrap();
    let stopped = sql.execute("UPDATE t SET n = 7 / (id - 55) + 100 WHERE id > 0");
    let changed = changed_before(stopped, "zero", "updated");
    assert_eq!(rows(&sql, "SELECT count(*) FROM t WHERE n > 0"), [[changed.to_string()]]);
}

/// Sorts took so large a part each for their merges that several of them had no room.
#[test]
fn several_joins_larger_than_the_memory_go_by_way_of_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let sql = spilling_session(directory.path(), 2);
    let side = |text: &str| {
        format!(
            "(SELECT value AS k, repeat('{text}', 200) || value AS t FROM generate_series(1, 200000)) AS {text}"
        )
    };
    let joined = format!(
        "SELECT count(*), max(a.t) > 'a', max(b.t) > 'b', max(c.t) > 'c', max(d.t) > 'd', max(e.t) > 'e' \
         FROM {} JOIN {} ON a.k = b.k JOIN {} ON b.k = c.k JOIN {} ON c.k = d.k JOIN {} ON d.k = e.k",
        side("a"),
        side("b"),
        side("c"),
        side("d"),
        side("e")
    );
    assert_eq!(rows(&sql, &joined), [["200000", "true", "true", "true", "true", "true"]]);
}

/// The parser by itself reads what is inside of a call once for each way in which it might be
/// meant.
#[test]
fn calls_in_calls_are_read() {
    let sql = session();
    let nested =
        |begin: &str, end: &str| format!("SELECT {}1{} AS n", begin.repeat(8), end.repeat(8));
    for (begin, end) in [("abs(", ")"), ("coalesce(NULL, ", ")"), ("CAST(", " AS INT)")] {
        let text = nested(begin, end);
        assert!(sql.describe(&text).is_ok(), "{text}");
        assert!(sql.describe(nested(begin, " 1")).is_err());
    }
    for begin in ["FLOOR(", "NOT(", "CASE(", "EXTRACT(", "nosuch(a => ", "json_object('a': "] {
        assert!(sql.describe(nested(begin, " 1")).is_err());
    }
}

/// A word after a point was tried as an expression first. Where that failed at the last point, it
/// was tried anew for each point before.
#[test]
fn names_after_points_are_read_once() {
    let sql = session();
    let names = "a.".repeat(16);
    for end in ["(", "b.", "*", "(b", "NULL", "b COLLATE \"C\"", "f(1) +", "1"] {
        let error = sql.describe(format!("SELECT 1 + {names}{end}")).unwrap_err();
        assert!(!error.to_string().contains("too many ways"), "{end}: {error}");
    }
    let document = "CREATE TABLE documents (k LONG PRIMARY KEY, doc JSON)";
    sql.execute(document).unwrap();
    let inner = "select.null.date.case.".repeat(4);
    assert!(sql.describe(format!("SELECT documents.doc.{inner}x FROM documents")).is_ok());
}

/// The parser tried all combinations of how openings in openings can be read.
#[test]
fn what_can_be_read_in_too_many_ways_is_refused() {
    let sql = session();
    let nested = |opening: &str, depth: usize| format!("SELECT {}1", opening.repeat(depth));
    let error = sql.describe(nested("(SELECT * FROM (", 16)).unwrap_err();
    assert!(error.to_string().contains("too many ways"), "{error}");
    let closed = "SELECT * FROM ".to_owned() + &"(SELECT * FROM (".repeat(16);
    let closed = closed + "SELECT 1 AS a" + &"))".repeat(16);
    assert!(sql.describe(&closed).is_ok(), "{:?}", sql.describe(&closed).err());
}

/// A session with views up to v`last`, each of which reads the one before it in this way.
fn views_on_views(last: usize, query: impl Fn(&str) -> String) -> Sql {
    let sql = session();
    for at in 0..=last {
        sql.execute(format!("CREATE VIEW v{at} AS SELECT 1 AS x")).unwrap();
    }
    for at in (1..=last).rev() {
        let query = query(&format!("v{}", at - 1));
        sql.execute(format!("CREATE OR REPLACE VIEW v{at} AS {query}")).unwrap();
    }
    sql
}

/// Views that name others several times multiply the statement at each step, whatever its timeout.
#[test]
fn views_that_grow_with_each_other_are_refused() {
    let sql = views_on_views(5, |view| {
        let tables: Vec<_> = (0..4).map(|table| format!("{view} AS t{table}")).collect();
        format!("SELECT 1 AS x FROM {}", tables.join(", "))
    });
    assert_eq!(rows(&sql, "SELECT count(*) FROM v3"), [["1"]]);
    let grown = sql.execute("SELECT x FROM v5");
    assert_fails(grown, ErrorKind::Unsupported, "more than 1000 times");
}

/// Queries in each other were counted in each view by itself.
#[test]
fn queries_in_each_other_are_counted_over_views() {
    let query = |view: &str| format!("SELECT (SELECT (SELECT max(x) FROM {view})) AS x");
    let sql = views_on_views(9, query);
    assert_eq!(rows(&sql, "SELECT x FROM v3"), [["1"]]);
    let nested = sql.execute("SELECT x FROM v9");
    assert_fails(nested, ErrorKind::Unsupported, "stand in each other");
}

/// Queries of WITH that name each other twice double the plan at each step, in the same way.
#[test]
fn queries_of_with_that_grow_are_refused() {
    let sql = session();
    let query = |at: usize| format!("q{at} AS (SELECT a.x FROM q{0} AS a, q{0} AS b)", at - 1);
    let queries: Vec<_> = (1..=14).map(query).collect();
    let text = format!("WITH q0 AS (SELECT 1 AS x), {} SELECT x FROM q14", queries.join(", "));
    assert_fails(sql.execute(text), ErrorKind::Unsupported, "more than 32768 parts");
}

/// The values of an EXECUTE may be queries. They were computed without a limit.
#[test]
fn the_values_of_execute_have_the_time_of_the_statement() {
    let sql = session();
    sql.execute("PREPARE p AS SELECT $1 AS n").unwrap();
    let text = format!("EXECUTE p(({ENDLESS}))");
    let request = Request::new(text).timeout(Duration::from_millis(100));
    assert_fails(sql.execute(request), ErrorKind::TimedOut, "timeout");
}

/// A thread has 2 MiB by default: what is refused beyond these limits would not fit there for long.
#[test]
fn the_deepest_statements_that_are_taken_fit_on_a_small_stack() {
    let sql = fleet();
    let join = |at| {
        let before = at - 1;
        format!(
            " JOIN positions AS t{at} ON t{at}.ship = t{before}.ship AND t{at}.at = t{before}.at"
        )
    };
    let query = |at: usize| format!("q{at} AS (SELECT x FROM q{} WHERE x > 0)", at - 1);
    let deepest = [
        "SELECT count(*) FROM positions WHERE ship = 1".to_owned()
            + &" OR speed BETWEEN 5 AND 6".repeat(500),
        format!(
            "SELECT count(*) FROM positions WHERE NOT (false{})",
            " OR speed > 1".repeat(1_000)
        ),
        format!("SELECT sum(x) FROM (SELECT 1 AS x{})", " UNION ALL SELECT 1".repeat(120)),
        format!("SELECT 1{}", " UNION SELECT 2".repeat(120)),
        format!("SELECT 1{} WHERE 1 = 1{}", " EXCEPT SELECT 2".repeat(60), " AND true".repeat(530)),
        "SELECT count(*) FROM positions AS t0".to_owned() + &(1..120).map(join).collect::<String>(),
        "WITH q0 AS (SELECT 1 AS x), ".to_owned()
            + &(1..160).map(query).collect::<Vec<_>>().join(", ")
            + " SELECT x FROM q159",
    ];
    for statement in &deepest {
        let small = std::thread::Builder::new().stack_size(2 << 20);
        std::thread::scope(|scope| {
            let run = || sql.execute(statement.as_str()).unwrap().into_rows().unwrap().into_batch();
            let answer = small.spawn_scoped(scope, run).unwrap().join().unwrap();
            assert!(answer.unwrap().num_rows() > 0, "{statement}");
        });
    }
}

#[test]
fn a_statement_that_is_too_deep_is_refused_with_its_position() {
    let sql = session();
    let chains = [
        ("SELECT 1", " UNION ALL SELECT 1", 130),
        ("SELECT true", " OR true", 1_030),
        ("SELECT 1", " + 1", 260),
        ("SELECT 'x'", " || 'x'", 260),
        ("SELECT 1 FROM t", ", t", 130),
    ];
    for (first, step, steps) in chains {
        let refused = sql.execute(first.to_owned() + &step.repeat(steps));
        assert_fails(refused, ErrorKind::Unsupported, "column ");
    }
}

/// A call of a function asks for the memory of a whole batch, which is never spilled.
#[test]
fn functions_keep_to_the_memory_of_the_session() {
    let sql = session_with(SqlOptions { memory_bytes_max: 32 << 20, ..SqlOptions::default() });
    for long in [
        "repeat('x', v)",
        "lpad('x', v)",
        "replace(repeat('x', v / 4), 'x', 'abcdef')",
        "regexp_replace(repeat('x', v / 4), 'x', 'abcdef', 'g')",
        "concat(repeat('x', v / 2), repeat('y', v / 2))",
        "array_to_string(range(v / 10), repeat('x', 100))",
    ] {
        let query = |v: u64| format!("SELECT length({long}) > 0 FROM (VALUES ({v})) AS t (v)");
        assert_fails(sql.execute(query(20_000_000)), ErrorKind::Invalid, "of 16777216 at most");
        assert_eq!(rows(&sql, query(80_000)), [["true"]], "{long}");
    }
    let range = |v: u64| format!("SELECT array_length(range(v)) FROM (VALUES ({v})) AS t (v)");
    assert_fails(sql.execute(range(3_000_000)), ErrorKind::Invalid, "of 16777216 at most");
    assert_eq!(rows(&sql, range(1_000_000)), [["1000000"]]);
}
