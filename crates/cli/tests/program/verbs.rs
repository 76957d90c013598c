//! The small verbs: sql, put, stats, check.

use crate::common::Place;

#[test]
fn ddl_is_carried_out_and_told() {
    let place = Place::new();
    let run = place.run(&["sql", "CREATE TABLE a (x LONG, PRIMARY KEY (x)); CREATE TABLE IF NOT EXISTS a (x LONG, PRIMARY KEY (x)); ALTER TABLE a ADD y DOUBLE; SHOW TABLES; DROP TABLE IF EXISTS b"]);
    let told =
        "created table a\ntable a was there already\naltered table a\nthere was no table b\n";
    let run = run.ends(0);
    assert_eq!((run.lines(), run.err.as_str()), (vec!["a"], told));
    place.write("ddl.sql", "DESCRIBE a;");
    let described = place.run(&["sql", "-f", "ddl.sql"]).ends(0).out;
    assert!(described.contains("y DOUBLE"), "{described}");
    let dropped = place.run_with_input(&["sql"], b"DROP TABLE a").ends(0);
    assert_eq!((dropped.out.as_str(), dropped.err.as_str()), ("", "dropped table a\n"));
    let quiet = place.run(&["sql", "--quiet", "CREATE TABLE b (x LONG, PRIMARY KEY (x))"]).ends(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    place.run_with_input(&["sql", "--store", "T"], described.as_bytes()).ends(0);
    assert_eq!(place.run(&["sql", "--store", "T", "DESCRIBE a"]).out, described);
}

/// It promised the order for all rows.
#[test]
fn the_help_of_a_scan_says_how_far_its_order_goes() {
    let help = Place::new().run(&["scan", "--help"]).ends(0).out;
    // Its lines break somewhere.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("under each shard key alone"), "{help}");
}

/// SHOW TABLES on a misspelt store once created an empty one, which `check` then called sound.
#[test]
fn only_a_statement_that_makes_a_table_makes_a_store() {
    let place = Place::new();
    for statement in
        ["SHOW TABLES", "DROP TABLE IF EXISTS a", "DESCRIBE a", "ALTER TABLE a ADD x LONG"]
    {
        let run = place.run(&["sql", "--store", "typo", statement]).ends(3);
        assert!(run.err.contains("there is no store"), "{statement}: {}", run.err);
        assert!(!place.path("typo").exists(), "{statement}");
    }
    let script = "DROP TABLE IF EXISTS a; CREATE TABLE a (x LONG, PRIMARY KEY (x))";
    for (store, script) in
        [("new", script), ("copy", "CREATE TABLE a (PRIMARY KEY (x)) AS SELECT 1 AS x")]
    {
        place.run(&["sql", "--store", store, script]).ends(0);
    }
    place.run(&["sql", "memory:", "SHOW TABLES"]).ends(0);
}

/// A word before the statements replaced the store that --store named, and writes went elsewhere.
#[test]
fn no_word_replaces_the_store_that_is_named() {
    let place = Place::new();
    for store in ["D", "T"] {
        place.run(&["sql", store, "CREATE TABLE a (x LONG, PRIMARY KEY (x))"]).ends(0);
    }
    let insert = "INSERT INTO a VALUES (1)";
    for named in [&["--store", "D"][..], &["--store=D"]] {
        let words = [&["sql"], named, &["T", insert]].concat();
        place.run(&words).ends(3).says(&["--store names the store", "`T` is statements"]);
    }
    assert_eq!(place.run(&["count", "--store", "T", "a"]).out, "0\n");
    // Of a word alone the store is asked, and not for a directory of that name.
    place.run(&["sql", "--store", "D", "T"]).ends(3).says(&["line 1"]);
    for word in ["ROLLBACK", "commit"] {
        let run = place.run(&["sql", "--store", "D", word]);
        assert!(!run.err.contains("there is no statement"), "{word}: {}", run.err);
    }
    place.run(&["sql", "D", insert]).ends(0);
}

/// Once the program took every SHOW for SHOW TABLES, and refused the others.
#[test]
fn each_form_of_show_is_answered() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE a (x LONG, y DOUBLE, PRIMARY KEY (x))"]).ends(0);
    let shown = |sql: &str| place.run(&["sql", "--format", "csv", sql]).ends(0).out;
    assert!(shown("SHOW CREATE TABLE a").contains("CREATE TABLE a"));
    assert!(shown("show columns from a").contains("y,DOUBLE"));
    assert_eq!(shown("SHOW TABLES"), "table\na\n");
}

#[test]
fn indexes_are_made_shown_and_dropped() {
    let place = Place::new();
    let made = place.run(&[
        "sql",
        "CREATE TABLE a (x LONG, y LONG, PRIMARY KEY (x)); CREATE INDEX i ON a (y); CREATE INDEX IF NOT EXISTS i ON a (y)",
    ]);
    assert_eq!(
        made.ends(0).err.lines().collect::<Vec<_>>(),
        ["created table a", "created index i on a", "index i on a was there already"]
    );
    let described = place.run(&["sql", "DESCRIBE a"]).ends(0).out;
    assert!(described.ends_with("CREATE INDEX i ON a (y);\n"), "{described}");
    place
        .run(&["sql", "CREATE UNIQUE INDEX j ON a (y)"])
        .ends(3)
        .says(&["column 8", "UNIQUE indexes are not offered"]);
    let dropped = place.run(&["sql", "DROP INDEX i ON a; DROP INDEX IF EXISTS i ON a"]);
    assert_eq!(dropped.ends(0).err, "dropped index i on a\nthere was no index i on a\n");
}

#[test]
fn sql_carries_out_many_statements_in_one_call() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (a LONG, b STRING, PRIMARY KEY (a))"]).ends(0);
    place.run(&["sql", "INSERT INTO t VALUES (1, 'one'), (2, 'two')"]).ends(0);
    place.write("all.sql", "SELECT b FROM t WHERE a = 2;\nSELECT max(a) AS m FROM t;");
    let run = place.run(&["sql", "--fetch-all", "all.sql"]).ends(0);
    assert_eq!(run.lines(), ["b", "two", "m", "2"]);
    run.says(&["1: 1 row", "2: 1 row", "2 statements in one call"]);
    // One that fails keeps no other from its answer.
    place.write("bad.sql", "SELECT nosuch FROM t; SELECT count(*) AS n FROM t; SELECT 1 +");
    let run = place.run(&["sql", "--fetch-all", "bad.sql"]).ends(2);
    assert_eq!(run.lines(), ["n", "2"]);
    run.says(&["1: ", "nosuch", "2: 1 row", "3: ", "2 of 3 statements failed"]);
    // What is wrong with the output is not a failure of a statement.
    let to_file = place.run(&["sql", "--fetch-all", "all.sql", "-o", "all.csv"]);
    to_file.says(&["it holds the rows of one statement"]).ends(2);
    place.write("none.sql", "-- nothing");
    place.run(&["sql", "--fetch-all", "none.sql"]).ends(3).says(&["there is no statement"]);
    place
        .run(&["sql", "--fetch-all", "nosuch.sql"])
        .ends(3)
        .says(&["nosuch.sql", "cannot be read"]);
    place.run(&["sql", "--fetch-all", "all.sql", "-c", "SELECT 1"]).ends(3);
}

#[test]
fn sql_answers_queries_and_changes_rows() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (a LONG, b STRING, PRIMARY KEY (a))"]).ends(0);
    let inserted = place.run(&["sql", "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')"]);
    assert_eq!(inserted.ends(0).says(&["rows: 3 inserted"]).out, "");
    let run = place.run(&[
        "sql",
        "SELECT b FROM t WHERE a IN (1, 3) ORDER BY a; UPDATE t SET b = 'zwei' WHERE a = 2; SELECT count(*) AS n FROM t",
    ]);
    assert_eq!(
        run.ends(0).says(&["2 rows", "rows: 1 updated"]).lines(),
        ["b", "one", "three", "n", "3"]
    );
    let json = place.run(&["sql", "--format", "jsonl", "-c", "SELECT a, b FROM t WHERE a = 2"]);
    assert_eq!(json.ends(0).out, "{\"a\":2,\"b\":\"zwei\"}\n");
    let explained = place.run(&["sql", "EXPLAIN SELECT b FROM t WHERE a = 2"]).ends(0).out;
    assert!(explained.contains("bulk get"), "{explained}");
}

/// Such a text was once refused at its first query, because it began with a definition.
#[test]
fn a_text_may_define_change_and_ask() {
    let place = Place::new();
    let text = "CREATE TABLE t (a LONG, PRIMARY KEY (a)); -- then; \n INSERT INTO t VALUES (7); SELECT a FROM t; DROP TABLE t";
    let run = place.run(&["sql", text]).ends(0).says(&[
        "created table t",
        "1 inserted",
        "dropped table t",
    ]);
    assert_eq!(run.lines(), ["a", "7"]);
    place
        .run(&["sql", "SELECT 1; CREATE TABL u (a LONG, PRIMARY KEY (a))"])
        .ends(2)
        .says(&["line 1, column 18"]);
}

#[test]
fn a_wrong_query_names_its_place_and_makes_no_store() {
    let place = Place::new();
    place.run(&["sql", "SELECT 1"]).ends(3);
    assert!(!place.path("S").exists());
    place.run(&["sql", "CREATE TABLE t (a LONG, PRIMARY KEY (a))"]).ends(0);
    place.run(&["sql", "SELECT nothing FROM t"]).ends(3).says(&["nothing"]);
    place.run(&["sql", "SELECT a FROM missing"]).ends(3).says(&["missing"]);
    place.run(&["sql", "SELECT a FROM t WHERE"]).ends(3).says(&["line 1"]);
}

#[test]
fn ddl_that_cannot_be_read_is_refused_with_its_place() {
    Place::new()
        .run(&["sql", "CREATE TABLE t (\n x LONGISH)"])
        .ends(3)
        .says(&["line 2, column 4", "unknown type"]);
}

#[test]
fn single_rows_under_conditions() {
    let place = Place::new().with_ships();
    let row = r#"{"ship": 1, "at": "2022-01-03T00:00:00", "lat": 1.5}"#;
    let run = place.run(&["put", "ships", row]).ends(0);
    let version = run.err.trim().rsplit(' ').next().unwrap().to_owned();
    place
        .run(&["put", "ships", row, "--if-absent"])
        .ends(1)
        .says(&["row 0: not stored: there is one"]);
    place.run(&["put", "ships", row, "--if-version", "1"]).ends(1);
    place.run(&["put", "ships", row, "--if-version", &version]).ends(0);
    place.write("rows.jsonl", "{\"ship\": 2, \"at\": \"2022-01-03\"}\n\n{\"ship\": 3, \"at\": \"2022-01-03\", \"crew\": 5}\n");
    place
        .run(&["put", "ships", "--file", "rows.jsonl"])
        .ends(3)
        .says(&["rows.jsonl, line 3", "no column 'crew'"]);
    assert_eq!(place.run(&["count", "ships"]).out, "1\n", "exit code 3 is for nothing done");
}

/// Rows before one that failed were stored, though the exit code said that nothing was done.
#[test]
fn rows_that_were_stored_before_one_fails_are_told_by_the_exit_code() {
    let place = Place::new().with_ships();
    let good = r#"{"ship": 1, "at": "2022-01-03"}"#;
    place.run(&["put", "ships", good, "{"]).ends(3).says(&["row 1", "not JSON"]);
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
    place.run(&["put", "ships", good, r#"{"ship": 2}"#]).ends(2).says(&["row 1"]);
    assert_eq!(place.run(&["count", "ships"]).out, "1\n");
}

#[test]
fn single_rows_that_do_not_fit() {
    let place = Place::new().with_ships();
    for (row, says) in [
        ("[1]", "a row is a JSON object"),
        ("{", "not JSON"),
        (r#"{"ship": "x", "at": "2022-01-03"}"#, "column ship"),
        (r#"{"ship": 1, "at": 5}"#, "column at"),
        (r#"{"at": "2022-01-03"}"#, "ship"),
        (r#"{"ship": null, "at": "2022-01-03"}"#, "ship"),
    ] {
        place.run(&["put", "ships", row]).ends(3).says(&["row 0", says]);
    }
}

#[test]
fn a_sound_store_passes_the_check_and_a_damaged_one_does_not() {
    let place = Place::new().with_ships();
    place.write("a.csv", crate::common::ships_csv(50_000));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    let run = place.run(&["check", "--format", "csv"]).ends(0).says(&["sound"]);
    assert_eq!(run.out, "table,rows\nships,50000\n(key/value pairs),0\n");

    let largest = files(&place.path("S"), "sst")
        .into_iter()
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap();
    let mut bytes = std::fs::read(&largest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&largest, bytes).unwrap();
    place.run(&["check"]).ends(1).says(&["damaged"]);
}

#[test]
fn a_damaged_log_is_cut_when_that_is_asked_for() {
    let place = Place::new().with_ships();
    place.write("a.csv", crate::common::ships_csv(100));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    let log = files(&place.path("S"), "log")
        .into_iter()
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap();
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 10]).unwrap();

    place.run(&["count", "ships"]).says(&["--cut-log"]);
    place.run(&["check"]).ends(1).says(&["--cut-log"]);
    place.run(&["check", "--cut-log"]).ends(0).says(&[
        "bytes of the write-ahead log",
        "were given up",
        "sound",
    ]);
    place.run(&["check"]).ends(0);
}

fn files(directory: &std::path::Path, extension: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|ending| ending == extension) {
            found.push(path);
        }
    }
    found
}

#[test]
fn figures_of_the_store() {
    let place = Place::new().with_ships();
    let run = place.run(&["stats", "--format", "jsonl"]).ends(0);
    assert!(
        run.out.contains("\"figure\":\"tables\",\"value\":1") && run.out.contains("disk_bytes"),
        "{}",
        run.out
    );
}

#[test]
fn several_data_directories_hold_one_store() {
    let place = Place::new();
    place.write("a.csv", crate::common::ships_csv(1_000));
    let arguments = [
        "--data-dir",
        "d1",
        "--data-dir",
        "d2",
        "load",
        "ships",
        "a.csv",
        "--create",
        "--primary-key",
        "SHARD(ship), at",
    ];
    place.run(&arguments).ends(0);
    assert_eq!(place.run(&["count", "ships"]).ends(0).out, "1000\n");
    for directory in ["d1", "d2"] {
        assert!(!files(&place.path(directory), "sst").is_empty(), "{directory}");
    }
}

/// A single word was taken for a store, and a query after DESCRIBE for a table.
#[test]
fn statements_of_one_word_are_statements() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (a LONG, PRIMARY KEY (a))"]).ends(0);
    for word in ["VACUUM", "analyze", "CHECKPOINT"] {
        place.run(&["sql", word]).ends(0);
    }
    let described = place.run(&["sql", "--format", "csv", "DESCRIBE SELECT 1 AS n"]).ends(0);
    assert_eq!(described.lines(), ["column,type,nullable", "n,LONG,no"]);
    let described = place.run(&["sql", "DESCRIBE TABLE t"]).ends(0);
    assert!(described.lines()[0].starts_with("CREATE TABLE t"));
}

/// Each query wrote the file anew, so the last one was all that was left. A script that failed left
/// the rows of its first query.
#[test]
fn a_file_takes_the_rows_of_one_statement() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, PRIMARY KEY (id))"]).ends(0);
    let run = |text: &str| place.run(&["sql", text, "-o", "q.csv"]);
    run("SELECT 1 AS a; SELECT 2 AS b").ends(2).says(&["--output q.csv", "one statement"]);
    assert!(!place.path("q.csv").exists());
    run("SELECT 1 AS a; SELECT nope").ends(2).says(&["nope"]);
    assert!(!place.path("q.csv").exists());
    run("INSERT INTO t VALUES (7); SELECT id FROM t").ends(0);
    assert_eq!(place.read("q.csv"), "id\n7\n");
    run("SHOW TABLES").ends(0);
    assert_eq!(place.read("q.csv"), "table\nt\n");
    place.run(&["sql", "SELECT 1; SELECT 2", "-o", "/dev/null"]).ends(0);
}

/// The exit code said that nothing was done.
#[test]
fn statements_that_were_carried_out_before_one_fails_are_told_by_the_exit_code() {
    let place = Place::new();
    let made = "CREATE TABLE t (id LONG, PRIMARY KEY (id))";
    let text = format!("{made}; INSERT INTO t VALUES (1); INSERT INTO nope VALUES (1)");
    place.run(&["sql", &text]).ends(2).says(&["created table t", "1 inserted", "nope"]);
    let definitions = "CREATE TABLE u (id LONG, PRIMARY KEY (id)); DROP TABLE nope";
    place.run(&["sql", definitions]).ends(2).says(&["created table u", "nope"]);
    place.run(&["sql", "DROP TABLE nope; DROP TABLE t"]).ends(3);
    assert_eq!(place.run(&["count", "t"]).out, "1\n");
}

#[test]
fn a_file_of_statements_may_begin_with_a_mark() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, PRIMARY KEY (id))"]).ends(0);
    place.write("a.sql", "\u{feff}SELECT 1 AS a");
    assert_eq!(place.run(&["sql", "-f", "a.sql"]).ends(0).out, "a\n1\n");
}

/// A row was rounded by put, and rejected by load.
#[test]
fn put_stores_what_it_is_given_or_nothing() {
    let place = Place::new();
    let ddl = "CREATE TABLE t (id LONG, n NUMBER(10, 3), at TIMESTAMP(0), d DATE, x DOUBLE, a ARRAY(NUMBER(5, 1)), PRIMARY KEY (id))";
    place.run(&["sql", ddl]).ends(0);
    for (column, value, load) in [
        ("n", "0.1255", true),
        ("n", "\"0.1255\"", true),
        ("at", "\"2022-01-03T06:00:00.5\"", true),
        ("d", "\"2022-01-03T06:00:00\"", true),
        ("a", "[1, 0.25]", true),
    ] {
        let row = format!("{{\"id\": 1, \"{column}\": {value}}}");
        let said = place.run(&["put", "t", &row]).ends(3);
        assert!(
            said.err.contains(&format!("column {column}"))
                || said.err.contains(&format!("column '{column}'")),
            "{}",
            said.err
        );
        place.write("a.jsonl", row);
        place.run(&["load", "t", "a.jsonl"]).ends(if load { 1 } else { 0 });
    }
    let row = r#"{"id": 1, "n": 0.1250, "at": "2022-01-03T06:00:00.000", "x": 12345678901234567890.1, "a": [1, "0.50"]}"#;
    place.run(&["put", "t", row]).ends(0);
    let kept = place.run(&["sql", "SELECT n, at, a FROM t"]).ends(0).out;
    assert_eq!(kept, "n,at,a\n0.125,2022-01-03T06:00:00,\"[1.0,0.5]\"\n");
}
