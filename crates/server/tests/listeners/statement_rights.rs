//! What users may do by statements.

use crate::guarded::Guarded;
use crate::support::SqlClient;

#[test]
fn statements_may_touch_what_is_granted_and_nothing_else() {
    let guarded = Guarded::new();
    let mut ann = guarded.ann();
    assert_eq!(ann.update("INSERT INTO ships VALUES (1, 'a')").unwrap(), 1);
    assert_eq!(ann.number("SELECT count(*) FROM ships JOIN ships.calls USING (id)"), 0);
    for text in [
        "SELECT * FROM secrets",
        "SELECT * FROM tonnage.secrets.keys",
        "SELECT * FROM TONNAGE.public.\"secrets.keys\"",
        "SELECT (SELECT max(k) FROM tonnage.public.\"secrets\") FROM ships",
        "WITH a AS (SELECT * FROM secrets) SELECT 1 FROM a",
        "INSERT INTO ships SELECT k, 'x' FROM secrets",
        "DESCRIBE secrets",
        "DESCRIBE SELECT * FROM secrets",
        "SUMMARIZE secrets",
        "SHOW STATISTICS FROM secrets",
        "SUMMARIZE SELECT * FROM secrets",
        "TABLE secrets",
        "FROM secrets",
        "EXPLAIN SELECT * FROM secrets",
        "SELECT * FROM ships ASOF JOIN secrets ON ships.id = secrets.k AND ships.id >= secrets.k",
        "SELECT * FROM secrets SEMI JOIN ships ON secrets.k = ships.id",
        "SELECT k FROM secrets EXCEPT ALL SELECT id FROM ships",
        "SELECT * FROM secrets PIVOT (count(*) FOR k IN (1, 2))",
        "WITH a AS (SELECT * FROM secrets) INSERT INTO ships SELECT k, 'x' FROM a",
        "WITH a AS (SELECT * FROM secrets) DELETE FROM ships WHERE id IN (SELECT k FROM a)",
        "COPY (SELECT * FROM secrets) TO 'secrets.csv'",
        "COPY secrets TO 'secrets.csv'",
    ] {
        let error = ann.query(text).unwrap_err();
        let said = ["may not read secrets", "may not delete ships"];
        assert!(said.iter().any(|said| error.contains(said)), "{text}: {error}");
    }
    for (text, said) in [
        ("UPDATE ships SET name = 'b'", "may not update ships"),
        ("UPSERT INTO ships VALUES (1, 'b')", "may not update ships"),
        ("DELETE FROM ships", "may not delete ships"),
        ("DROP TABLE ships", "may not define ships"),
        ("CREATE TABLE boats (k LONG, PRIMARY KEY (k))", "may not define boats"),
        ("SELECT 1; DELETE FROM secrets", "may not delete secrets"),
        (
            "MERGE INTO ships USING ships.calls c ON ships.id = c.id WHEN MATCHED THEN DELETE",
            "may not update ships",
        ),
        (
            "MERGE INTO secrets USING ships ON k = id WHEN MATCHED THEN DELETE",
            "may not read secrets",
        ),
        ("COPY secrets FROM 'secrets.csv'", "may not insert secrets"),
        ("ANALYZE ships", "may not define ships"),
        ("VACUUM ANALYZE secrets", "may not read secrets"),
        ("WITH a AS (SELECT 1 AS id) UPDATE ships SET name = 'b' FROM a", "may not update ships"),
        ("WITH ships AS (SELECT 1 AS id) DELETE FROM public.secrets", "may not delete secrets"),
        ("UPDATE /* ships */ \"SECRETS\" ships SET k = 1", "may not update secrets"),
        ("TRUNCATE tonnage.public.\"secrets.keys\"", "may not delete secrets.keys"),
        (
            "MERGE INTO public.secrets ships USING (SELECT 1 AS x) a ON k = x WHEN MATCHED THEN DELETE",
            "may not read secrets",
        ),
    ] {
        let error = ann.update(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    assert_eq!(guarded.root().update("UPDATE ships SET name = 'b'").unwrap(), 1);
    assert_eq!(guarded.root().update("ANALYZE ships").unwrap(), 0);
    let error = ann.query("SHOW STATISTICS").unwrap_err();
    assert!(error.contains("may not read _statistics"), "{error}");
    assert_eq!(ann.query("SHOW STATISTICS FROM ships").unwrap().num_rows(), 2);
}

/// Once such a name was refused at every position. Where it means the table, rows come out.
#[test]
fn a_name_that_with_gives_is_no_table_within_its_scope() {
    let guarded = Guarded::new();
    guarded.root().update("INSERT INTO secrets VALUES (7)").unwrap();
    let mut ann = guarded.ann();
    for text in [
        "WITH secrets AS (SELECT 1 AS k) SELECT k FROM secrets",
        "WITH Secrets AS (SELECT 1 AS k) SELECT (SELECT max(k) FROM \"secrets\")",
        "WITH secrets AS (SELECT 1 AS k), a AS (SELECT k FROM secrets) SELECT k FROM a",
        "SELECT k FROM (WITH secrets AS (SELECT 1 AS k) SELECT k FROM secrets) AS a",
        "WITH RECURSIVE secrets AS (SELECT 1 AS k) SELECT k FROM secrets",
    ] {
        assert_eq!(ann.number(text), 1, "{text}");
    }
    for text in [
        "WITH secrets AS (SELECT k FROM secrets) SELECT k FROM secrets",
        "WITH a AS (SELECT k FROM secrets), secrets AS (SELECT 1 AS k) SELECT k FROM a",
        "WITH RECURSIVE secrets AS (SELECT k FROM secrets UNION SELECT 1) SELECT k FROM secrets",
        "WITH RECURSIVE secrets AS (SELECT k FROM secrets) SELECT k FROM secrets",
        "WITH secrets AS (SELECT 1 AS k) SELECT k FROM public.secrets",
        "WITH secrets AS (SELECT 1 AS k) SELECT k FROM tonnage.public.secrets",
        "SELECT s.k FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) AS a, secrets AS s",
        "(WITH secrets AS (SELECT 1 AS k) SELECT k FROM secrets) UNION SELECT k FROM secrets",
        "WITH secrets AS (SELECT 1 AS k) SELECT x FROM secrets.keys",
    ] {
        let error = ann.query(text).unwrap_err();
        assert!(error.contains("may not read secrets"), "{text}: {error}");
    }
}

/// The administrator of a store is not that of its machine.
#[test]
fn a_server_reads_and_writes_no_files_and_keeps_no_settings() {
    let guarded = Guarded::new();
    let mut root = guarded.root();
    let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    std::fs::write(file.path(), "id,name\n9,secret\n").unwrap();
    let path = file.path().display();
    for text in [
        format!("SELECT * FROM '{path}'"),
        format!("FROM read_csv('{path}')"),
        format!("SELECT * FROM \"file::{path}\""),
        format!("COPY ships TO '{path}.new'"),
        "SET timeout = '1h'".to_owned(),
        "PREPARE p AS SELECT 1".to_owned(),
        "CHECKPOINT".to_owned(),
    ] {
        let error = root.query(&text).unwrap_err();
        assert!(error.contains("a server"), "{text}: {error}");
    }
    for text in [format!("COPY ships FROM '{path}'"), format!("INSERT INTO ships FROM '{path}'")] {
        assert!(root.update(&text).is_err(), "{text}");
    }
    assert!(!file.path().with_extension("csv.new").exists());
}

#[test]
fn tables_that_one_may_not_touch_are_not_told_of() {
    let guarded = Guarded::new();
    let tables = |mut client: SqlClient| {
        let command = arrow_flight::sql::CommandGetTables::default();
        let info = client.runtime.block_on(client.flight.get_tables(command)).unwrap();
        client.fetch(&info).unwrap().num_rows()
    };
    assert_eq!(tables(guarded.ann()), 2);
    assert_eq!(tables(guarded.root()), 4);
    for text in [
        "SHOW TABLES",
        "SHOW INDEXES",
        "SELECT * FROM information_schema.columns",
        "SELECT * FROM tonnage.information_schema.columns",
    ] {
        let error = guarded.ann().query(text).unwrap_err();
        assert!(error.contains("may not read information_schema"), "{text}: {error}");
        assert!(guarded.root().query(text).is_ok(), "{text}");
    }
    assert!(guarded.ann().query("SHOW INDEXES FROM ships").is_ok());
    // Errors listed all tables once.
    for text in [
        "SELECT * FROM secrtes",
        "SELECT * FROM ships.kalls",
        "WITH a AS (SELECT 1) SELECT * FROM a JOIN (WITH b AS (SELECT 1) SELECT * FROM b) AS c ON true, b",
        "SHOW CREATE TABLE secret",
        "EXPLAIN SELECT * FROM secret",
    ] {
        let error = guarded.ann().query(text).unwrap_err();
        assert!(error.contains("there is no table"), "{text}: {error}");
        assert!(!error.contains("secrets") && !error.contains("calls"), "{text}: {error}");
    }
}
