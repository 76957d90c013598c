//! The table that a statement changes is the one that rights are asked for, however it is written.

use std::collections::BTreeMap;

use arrow::datatypes::DataType;
use tonnage::ErrorKind;
use tonnage_sql::{Access, Parameters, Sql};

use super::{rows, session};

/// Tables whose names are words of statements, a child table, and one whose name aliases take.
const TABLES: [&str; 7] =
    ["t", "\"from\"", "\"table\"", "\"into\"", "\"update\"", "\"set\"", "secrets"];

/// A session over a row (1, 1) in each table, and (1, 1, 1) in `t.c`.
fn odd_names() -> Sql {
    let sql = session();
    for table in TABLES {
        sql.execute(format!("CREATE TABLE {table} (k LONG, v LONG, PRIMARY KEY (k))")).unwrap();
        sql.execute(format!("INSERT INTO {table} VALUES (1, 1)")).unwrap();
    }
    sql.execute("CREATE TABLE t.c (x LONG, v LONG, PRIMARY KEY (x))").unwrap();
    sql.execute("INSERT INTO t.c (k, x, v) VALUES (1, 1, 1)").unwrap();
    sql
}

/// The rows of all tables.
fn contents(sql: &Sql) -> BTreeMap<String, Vec<Vec<String>>> {
    let tables = sql.store().tables();
    let paths = tables.iter().map(|table| table.path().to_owned());
    paths.map(|path| (path.clone(), rows(sql, format!("SELECT * FROM \"{path}\"")))).collect()
}

/// The tables whose rows a statement changes.
#[track_caller]
fn changed_by(text: &str) -> Vec<String> {
    let sql = odd_names();
    let before = contents(&sql);
    sql.execute(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let after = contents(&sql);
    before.into_iter().filter(|(path, rows)| after[path] != *rows).map(|(path, _)| path).collect()
}

/// The tables that rights to change rows are asked for.
#[track_caller]
fn asked_for(text: &str) -> Vec<String> {
    let accesses = odd_names().accesses(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let changes = |access| !matches!(access, Access::Read | Access::Describe);
    let changed = accesses.into_iter().filter(|access| changes(access.access));
    let mut tables: Vec<String> = changed.map(|access| access.table).collect();
    tables.dedup();
    tables
}

/// Rights were asked for `t` where `"from"` was changed: the words FROM and TABLE were passed over
/// after UPDATE, where they are names.
#[test]
fn rights_are_asked_for_the_table_that_is_changed() {
    for (text, table) in [
        ("UPDATE from SET v = 2", "from"),
        ("UPDATE from t SET v = 2", "from"),
        ("UPDATE table t SET v = 2", "table"),
        ("UPDATE table AS secrets SET v = 2 WHERE secrets.v = 1", "table"),
        ("UPDATE set SET v = 2", "set"),
        ("update update t set v = t.v + 1", "update"),
        ("UPDATE \"T\" SET v = 2", "t"),
        ("UPDATE t AS secrets SET v = secrets.v + 1", "t"),
        ("UPDATE /* secrets */ t -- from\n SET v = 2", "t"),
        ("UPDATE public.T SET v = 2", "t"),
        ("UPDATE tonnage . public . t . c SET v = 2", "t.c"),
        ("UPDATE Public.\"T.C\" x SET v = x.v + 1", "t.c"),
        ("UPDATE t.c SET v = 2", "t.c"),
        ("WITH secrets AS (SELECT 5 AS n) UPDATE t SET v = n FROM secrets", "t"),
        ("WITH w AS (SELECT 5 AS n) UPDATE public.t.c SET v = n FROM w", "t.c"),
        ("WITH update AS (SELECT 5 AS n) UPDATE t SET v = (SELECT n FROM update)", "t"),
        ("DELETE FROM from", "from"),
        ("DELETE FROM from t WHERE t.k = 1", "from"),
        ("DELETE FROM table USING t AS x WHERE \"table\".k = x.k", "table"),
        ("DELETE /* t */ FROM \"Secrets\"", "secrets"),
        ("DELETE FROM tonnage.public.t.c RETURNING v", "t.c"),
        (
            "WITH w AS (SELECT 1 AS k) DELETE FROM public.secrets WHERE k IN (SELECT k FROM w)",
            "secrets",
        ),
        ("TRUNCATE TABLE table", "table"),
        ("TRUNCATE TABLE from", "from"),
        ("TRUNCATE from", "from"),
        ("TRUNCATE public.secrets", "secrets"),
        ("TRUNCATE tonnage.public.\"t.c\"", "t.c"),
        (
            "MERGE INTO into AS t USING (SELECT 1 AS id) AS s ON t.k = s.id WHEN MATCHED THEN DELETE",
            "into",
        ),
        (
            "WITH w AS (SELECT 1 AS id) MERGE INTO tonnage.public.t.c USING w ON x = id \
             WHEN MATCHED THEN UPDATE SET v = 2",
            "t.c",
        ),
        (
            "MERGE INTO public.t secrets USING (SELECT 7 AS id) s ON secrets.k = s.id \
             WHEN NOT MATCHED THEN INSERT (k, v) VALUES (id, DEFAULT)",
            "t",
        ),
        ("INSERT INTO tonnage.public.\"Secrets\" VALUES (7, 7)", "secrets"),
        ("INSERT INTO \"from\" AS t VALUES (7, 7)", "from"),
        ("UPSERT INTO public.t.c (k, x, v) VALUES (1, 1, 2)", "t.c"),
        ("WITH w AS (SELECT 7 AS id) INSERT INTO t SELECT id, id FROM w", "t"),
    ] {
        assert_eq!(changed_by(text), [table], "{text}");
        assert_eq!(asked_for(text), [table], "{text}");
    }
    assert_eq!(asked_for("EXPLAIN VERBOSE UPDATE from t SET v = 2"), ["from"]);
}

/// What is read is asked for by the query that reads it, and that sees the table, too.
#[test]
fn rights_to_read_are_asked_for_all_that_a_change_reads() {
    for text in [
        "UPDATE t SET v = (SELECT max(v) FROM secrets)",
        "UPDATE t SET v = 2 WHERE v IN (SELECT v FROM secrets)",
        "UPDATE t SET v = s.v FROM public.\"secrets\" AS s WHERE s.k = t.k",
        "UPDATE t SET (v) = ((SELECT max(v) FROM secrets))",
        "WITH w AS (SELECT v FROM secrets) UPDATE t SET v = (SELECT max(v) FROM w)",
        "DELETE FROM t USING secrets WHERE secrets.k = t.k",
        "DELETE FROM t WHERE EXISTS (SELECT 1 FROM tonnage.public.secrets)",
        "DELETE FROM t RETURNING (SELECT max(v) FROM secrets)",
        "TRUNCATE t RETURNING (SELECT max(v) FROM secrets)",
        "MERGE INTO t USING secrets AS s ON s.k = t.k WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k AND t.k IN (SELECT k FROM secrets) \
         WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k \
         WHEN MATCHED AND EXISTS (SELECT 1 FROM secrets) THEN DELETE",
        "MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k \
         WHEN MATCHED THEN UPDATE SET v = (SELECT max(v) FROM secrets)",
        "MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k \
         WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM secrets) THEN DO NOTHING",
        "MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k \
         WHEN NOT MATCHED THEN INSERT VALUES (k, (SELECT max(v) FROM secrets))",
        "MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k \
         WHEN MATCHED THEN DELETE RETURNING (SELECT max(v) FROM secrets)",
        "COPY public.secrets TO 'x.csv'",
        "COPY tonnage.public.secrets (k) TO 'x.csv'",
        "SHOW CREATE TABLE secrets",
    ] {
        let accesses = odd_names().accesses(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let reads = accesses.iter().filter(|access| access.access == Access::Read);
        let reads: Vec<&str> = reads.map(|access| access.table.as_str()).collect();
        assert!(reads.contains(&"secrets"), "{text}: {reads:?}");
        if !text.contains("TO 'x.csv'") && !text.starts_with("SHOW") {
            assert!(reads.contains(&"t"), "{text}: {reads:?}");
        }
    }
}

/// The parts of a change are put together to a SELECT. What would end a part of it was taken over:
/// the condition below deleted all rows.
#[test]
fn no_part_of_a_change_ends_its_query() {
    for text in [
        "DELETE FROM t WHERE k = 9) OR (TRUE",
        "UPDATE t SET v = 2 WHERE k = 9) OR (TRUE",
        "DELETE FROM t WHERE k = 9) UNION SELECT k, v FROM secrets WHERE (TRUE",
        "UPDATE t SET v = v FROM secrets) WHERE (TRUE",
        "INSERT INTO t VALUES (1, 2) ON CONFLICT DO UPDATE SET v = 5 WHERE t.k = 9) OR (TRUE",
        "MERGE INTO t USING secrets s ON s.k = 9 WHEN NOT MATCHED \
         THEN INSERT VALUES (k, v FROM secrets UNION SELECT k + 6, v)",
        "MERGE INTO t USING secrets s ON s.k = 9 WHEN NOT MATCHED \
         THEN INSERT VALUES (7, 7 UNION SELECT 8, 8)",
        "UPDATE t SET v = 2 FROM secrets UNION SELECT 1, 1",
        "DELETE FROM t USING secrets GROUP BY secrets.k",
        "MERGE INTO t USING secrets UNION SELECT 1, 1 ON t.k = 9 WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING secrets AS s ON s.k = 9 WHEN NOT MATCHED \
         THEN INSERT VALUES (7, 7 INTO u)",
        "(UPDATE t SET v = 2",
        "(UPDATE t SET v = 2)",
        "(DELETE FROM t)",
        "(TRUNCATE t",
    ] {
        let sql = odd_names();
        let before = contents(&sql);
        let error = sql.execute(text).map(drop).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}: {error}");
        assert_eq!(contents(&sql), before, "{text}");
        assert!(sql.accesses(text).is_err(), "{text}");
        assert!(sql.prepare(text).is_err(), "{text}");
    }
}

/// Once such a statement could be carried out, but neither prepared nor let through by a server:
/// the parser knows no elements after SET.
#[test]
fn what_can_be_carried_out_can_be_prepared() {
    let sql = session();
    sql.execute("CREATE TABLE docs (k LONG PRIMARY KEY, doc JSON)").unwrap();
    sql.execute("INSERT INTO docs VALUES (1, '{\"l\": [1, 2]}')").unwrap();
    let text = "UPDATE docs SET doc.l[0] = 7 WHERE k = 1";
    assert!(sql.accesses(text).is_ok());
    sql.prepare(text).unwrap().execute(Parameters::default()).unwrap();
    assert_eq!(rows(&sql, "SELECT doc FROM docs"), [["{\"l\":[7,2]}"]]);
}

/// The table of a MERGE was looked for under the name INTO.
#[test]
fn parameters_of_a_merge_have_the_types_of_its_columns() {
    let text = "MERGE INTO t USING (SELECT 1 AS id) s ON t.k = s.id \
                WHEN MATCHED THEN UPDATE SET v = $1";
    let described = odd_names().describe(text).unwrap();
    assert_eq!(*described.parameters[0].data_type(), DataType::Int64);
    assert!(!described.reads_only);
}

/// The tables that rights to read are asked for.
#[track_caller]
fn read_by(sql: &Sql, text: &str) -> Vec<String> {
    let accesses = sql.accesses(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let reads = accesses.into_iter().filter(|access| access.access == Access::Read);
    reads.map(|access| access.table).collect()
}

/// A query that is read directly took `public.t` for a child of the table `public`, while rights
/// were asked for `t`.
#[test]
fn a_query_reads_the_table_that_rights_are_asked_for() {
    let sql = session();
    for (table, value) in [("t", 1), ("public", 2)] {
        sql.execute(format!("CREATE TABLE {table} (k LONG, v LONG, PRIMARY KEY (k))")).unwrap();
        sql.execute(format!("INSERT INTO {table} VALUES (1, {value})")).unwrap();
    }
    sql.execute("CREATE TABLE public.t (x LONG, v LONG, PRIMARY KEY (x))").unwrap();
    sql.execute("INSERT INTO \"public.t\" (k, x, v) VALUES (1, 1, 3)").unwrap();
    for (text, table, value) in [
        ("SELECT v FROM public.t WHERE k = 1", "t", "1"),
        ("SELECT v FROM tonnage.public.t WHERE k = 1", "t", "1"),
        ("SELECT max(v) FROM PUBLIC.\"T\"", "t", "1"),
        ("SELECT v FROM public WHERE k = 1", "public", "2"),
        ("SELECT v FROM \"public.t\" WHERE k = 1", "public.t", "3"),
        ("SELECT v + 0 FROM public.t", "t", "1"),
    ] {
        assert_eq!(read_by(&sql, text), [table], "{text}");
        assert_eq!(rows(&sql, text), [[value]], "{text}");
    }
    sql.execute("INSERT INTO public.t VALUES (7, 7)").unwrap();
    assert_eq!(rows(&sql, "SELECT count(*) FROM t"), [["2"]]);
    // A change writes the name of the child anew, which was `t` then.
    sql.execute("UPDATE \"public.t\" SET v = v + 0 WHERE x = 1").unwrap();
    sql.execute("DELETE FROM \"public.t\" WHERE x = 5").unwrap();
    let merge = "MERGE INTO \"public.t\" AS c USING (SELECT 2 AS i) s ON c.x = s.i \
                 WHEN NOT MATCHED THEN INSERT (k, x, v) VALUES (1, i, 4)";
    sql.execute(merge).unwrap();
    assert_eq!(rows(&sql, "SELECT count(*) FROM t"), [["2"]]);
    assert_eq!(rows(&sql, "SELECT v FROM \"public.t\" ORDER BY v"), [["3"], ["4"]]);
}

/// DESCRIBE and SHOW took the schema for a part of the table's name.
#[test]
fn what_describes_a_table_takes_the_names_that_queries_take() {
    let sql = odd_names();
    for text in [
        "DESCRIBE public.t",
        "DESCRIBE tonnage.public.\"T\"",
        "SHOW COLUMNS FROM public.t",
        "SHOW CREATE TABLE public.t",
        "VACUUM public.t",
    ] {
        sql.execute(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    assert_eq!(sql.accesses("DESCRIBE public.t").unwrap()[0].table, "t");
}

/// Only INSERT and EXPLAIN were looked at with what precedes them.
#[test]
fn a_change_finds_its_table_after_other_words() {
    for text in [
        "WITH w AS (SELECT 7 AS id) INSERT INTO public.t SELECT id, id FROM w",
        "WITH w AS (SELECT 7 AS id) UPSERT INTO tonnage.public.t SELECT id, id FROM w",
        "WITH w AS (SELECT 7 AS id) REPLACE INTO t SELECT id, id FROM w",
        "INSERT OR REPLACE INTO public.t VALUES (1, 7)",
        "REPLACE INTO public.t VALUES (1, 7)",
    ] {
        assert_eq!(changed_by(text), ["t"], "{text}");
        assert_eq!(asked_for(text), ["t"], "{text}");
    }
    let sql = odd_names();
    for text in [
        "EXPLAIN WITH w AS (SELECT 7 AS id) UPDATE t SET v = id FROM w",
        "EXPLAIN WITH w AS (SELECT 7 AS id) INSERT INTO public.t SELECT id, id FROM w",
        "EXPLAIN VERBOSE WITH w AS (SELECT 7 AS id) DELETE FROM t USING w WHERE k = id",
    ] {
        let before = contents(&sql);
        assert_eq!(asked_for(text), ["t"], "{text}");
        let plan = rows(&sql, text);
        assert_eq!(plan[0][0], "write", "{text}: {plan:?}");
        assert_eq!(contents(&sql), before, "{text}");
    }
    let merge = "EXPLAIN MERGE INTO t USING secrets s ON s.k = t.k WHEN MATCHED THEN DELETE";
    assert_eq!(asked_for(merge), ["t"]);
    assert_eq!(sql.execute(merge).map(drop).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// The planner explains SHOW, too: EXPLAIN ANALYZE counted the tables for who may see none.
#[test]
fn only_queries_and_changes_are_explained() {
    let sql = odd_names();
    sql.execute("PREPARE p AS SELECT v FROM t").unwrap();
    for text in [
        "SHOW TABLES",
        "SHOW COLUMNS FROM secrets",
        "SHOW FUNCTIONS",
        "SHOW ALL",
        "SET timeout = '1s'",
        "RESET timeout",
        "BEGIN",
        "COMMIT",
        "PREPARE q AS SELECT 1",
        "EXECUTE p",
        "DEALLOCATE p",
        "CREATE TABLE u (k LONG, PRIMARY KEY (k))",
        "CREATE VIEW w AS SELECT 1 AS x",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN w LONG",
        "COPY secrets TO 'x.csv'",
        "COPY (SELECT * FROM secrets) TO 'x.csv'",
        "SUMMARIZE t",
        "DESCRIBE t",
        "EXPLAIN SELECT 1",
    ] {
        for explain in ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN VERBOSE", "EXPLAIN (ANALYZE)"] {
            let text = format!("{explain} {text}");
            let before = contents(&sql);
            let error = sql.execute(text.as_str()).map(drop).expect_err(&text);
            assert_eq!(error.kind(), ErrorKind::Invalid, "{text}: {error}");
            assert!(sql.accesses(&text).is_err(), "{text}");
            assert!(sql.prepare(&text).is_err(), "{text}");
            assert_eq!(contents(&sql), before, "{text}");
        }
    }
    for change in ["INSERT INTO t VALUES (7, 7)", "UPDATE t SET v = 2", "DELETE FROM t"] {
        for explain in ["EXPLAIN ANALYZE", "EXPLAIN (ANALYZE)", "EXPLAIN (ANALYZE, VERBOSE)"] {
            let text = format!("{explain} {change}");
            let before = contents(&sql);
            assert!(sql.execute(text.as_str()).is_err(), "{text}");
            assert_eq!(contents(&sql), before, "{text}");
        }
    }
}

/// The parser takes changes within queries. No plan carries one out, and none may begin to.
#[test]
fn no_query_changes_rows() {
    for text in [
        "WITH w AS (DELETE FROM t RETURNING k) SELECT * FROM w",
        "WITH w AS (INSERT INTO t VALUES (7, 7) RETURNING k) SELECT * FROM w",
        "WITH w AS (UPDATE t SET v = 2 RETURNING k) SELECT * FROM w",
        "SELECT * FROM (DELETE FROM t) AS d",
        "SELECT * FROM (INSERT INTO t VALUES (7, 7)) AS d",
        "(WITH w AS (SELECT 1) DELETE FROM t)",
        "EXPLAIN ANALYZE (WITH w AS (SELECT 1) DELETE FROM t)",
        "EXPLAIN ANALYZE WITH w AS (DELETE FROM t RETURNING k) SELECT * FROM w",
        "SUMMARIZE WITH w AS (DELETE FROM t RETURNING k) SELECT * FROM w",
        "DESCRIBE (DELETE FROM t)",
        "COPY (WITH w AS (DELETE FROM t RETURNING k) SELECT * FROM w) TO 'x.csv'",
        "CREATE VIEW w AS WITH w AS (DELETE FROM t RETURNING k) SELECT * FROM w",
        "CREATE TABLE w (PRIMARY KEY (k)) AS WITH w AS (DELETE FROM t RETURNING k) SELECT * FROM w",
        "INSERT INTO t WITH w AS (DELETE FROM secrets RETURNING k) SELECT k + 6, k FROM w",
        "UPDATE t SET v = 2 FROM (DELETE FROM secrets) AS d",
        "MERGE INTO t USING (DELETE FROM secrets) AS d ON true WHEN MATCHED THEN DELETE",
    ] {
        let sql = odd_names();
        let before = contents(&sql);
        assert!(sql.execute(text).is_err(), "{text}");
        assert_eq!(contents(&sql), before, "{text}");
    }
}

/// ON CONFLICT was looked for from the end, in parentheses, too: DO UPDATE became DO NOTHING.
#[test]
fn a_join_on_a_column_named_conflict_is_no_clause() {
    let sql = odd_names();
    sql.execute("CREATE TABLE d (k LONG, conflict BOOLEAN, PRIMARY KEY (k))").unwrap();
    sql.execute("INSERT INTO d VALUES (1, true)").unwrap();
    let text = "INSERT INTO t VALUES (1, 7) ON CONFLICT (k) DO UPDATE \
                SET v = (SELECT max(s.v) + 4 FROM secrets AS s JOIN d ON conflict)";
    sql.execute(text).unwrap();
    assert_eq!(rows(&sql, "SELECT v FROM t"), [["5"]]);
    assert_eq!(read_by(&sql, text), ["t", "secrets", "d"]);
    sql.execute("INSERT INTO t SELECT s.k + 6, s.v FROM secrets AS s JOIN d ON conflict").unwrap();
    assert_eq!(rows(&sql, "SELECT k FROM t ORDER BY k"), [["1"], ["7"]]);
}

/// The parser takes clauses of other databases. They were left out without a word.
#[test]
fn no_clause_of_an_insert_is_left_out() {
    for text in [
        "INSERT INTO t PARTITION (k = 7) VALUES (8, 8)",
        "INSERT INTO t (k, v) OUTPUT inserted.k VALUES (8, 8)",
        "INSERT OVERWRITE t VALUES (8, 8)",
        "INSERT INTO t VALUES (8, 8) ON DUPLICATE KEY UPDATE v = 9",
        "UPSERT INTO t VALUES (8, 8) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES (8, 8) ON CONFLICT (v) DO NOTHING",
        "INSERT INTO t VALUES (8, 8) ON CONFLICT ON CONSTRAINT c DO NOTHING",
    ] {
        let sql = odd_names();
        let before = contents(&sql);
        assert!(sql.execute(text).is_err(), "{text}");
        assert_eq!(contents(&sql), before, "{text}");
    }
}

/// The values were the beginning of a query: what was after them read tables.
#[test]
fn execute_takes_values_alone() {
    let sql = odd_names();
    sql.execute("PREPARE p AS SELECT v FROM t WHERE k = $1").unwrap();
    assert_eq!(rows(&sql, "EXECUTE p((SELECT min(k) FROM secrets))"), [["1"]]);
    for text in
        ["EXECUTE p(max(k) FROM secrets)", "EXECUTE p(1 WHERE true)", "EXECUTE p(1 LIMIT 1)"]
    {
        let error = sql.execute(text).map(drop).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}: {error}");
    }
}

/// Each statement of a text counts, wherever a quote or a comment ends.
#[test]
fn rights_are_asked_for_all_statements_of_a_text() {
    let sql = odd_names();
    let text = "SELECT ';' FROM t; /* ; DROP TABLE t; */ SELECT 1 -- ; DELETE FROM t
        ; UPDATE secrets SET v = 2; CREATE TABLE u (s STRING DEFAULT '; DROP TABLE t', k LONG, PRIMARY KEY (k)); DROP TABLE \"from\"";
    let accesses = sql.accesses(text).unwrap();
    let of = |kind| {
        let found = accesses.iter().filter(move |access| access.access == kind);
        found.map(|access| access.table.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of(Access::Update), ["secrets"]);
    assert_eq!(of(Access::Define), ["u", "from"]);
    assert_eq!(of(Access::Delete), Vec::<&str>::new());
}
