//! Files as tables, and COPY.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tonnage::ErrorKind;
use tonnage_sql::{Answer, Sql, SqlOptions};

use super::{assert_fails, rows, session, session_with};

const SHIPS: &str = "MMSI,Name,at\n1,Ann,2024-01-01T00:00:00Z\n2,\"B, C\",2024-01-02T00:00:00Z\n";

/// A session with a table of ships, and a folder with a file of two.
fn ships() -> (Sql, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ships.csv"), SHIPS).unwrap();
    let sql = session();
    sql.execute("CREATE TABLE ships (mmsi LONG PRIMARY KEY, name STRING, at TIMESTAMP(0), flag STRING DEFAULT 'none')")
        .unwrap();
    (sql, folder)
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn changed(sql: &Sql, text: &str) -> u64 {
    match sql.execute(text).unwrap() {
        Answer::Changed(changes) => changes.total(),
        _ => panic!("{text} changes rows"),
    }
}

#[test]
fn a_file_is_read_like_a_table() {
    let (sql, folder) = ships();
    let file = path(&folder, "ships.csv");
    assert_eq!(
        rows(&sql, format!("SELECT Name, mmsi + 1 FROM '{file}' ORDER BY mmsi")),
        [["Ann", "2"], ["B, C", "3"]]
    );
    assert_eq!(rows(&sql, format!("FROM '{file}' SELECT count(*)")), [["2"]]);
    assert_eq!(
        rows(&sql, format!("SELECT max(at) FROM read_csv('{file}') WHERE mmsi = 1")),
        [["2024-01-01T00:00:00"]]
    );
    let glob = path(&folder, "*.csv");
    fs::write(folder.path().join("more.csv"), "mmsi,name\n3,D\n").unwrap();
    assert_eq!(rows(&sql, format!("SELECT count(*), count(at) FROM '{glob}'")), [["3", "2"]]);
}

#[test]
fn a_file_that_changes_is_read_anew() {
    let (sql, folder) = ships();
    let file = path(&folder, "ships.csv");
    let query = format!("SELECT count(*) FROM '{file}'");
    assert_eq!(rows(&sql, query.as_str()), [["2"]]);
    fs::write(folder.path().join("ships.csv"), "a\nx\ny\nz\n").unwrap();
    assert_eq!(rows(&sql, query.as_str()), [["3"]]);
}

#[test]
fn a_record_that_cannot_be_read_stops_the_statement() {
    let (sql, folder) = ships();
    fs::write(folder.path().join("broken.csv"), "mmsi,name,at\n1,A,2024-01-01\nx,B,2024-01-01\n")
        .unwrap();
    let file = path(&folder, "broken.csv");
    assert_fails(
        sql.execute(format!("COPY ships FROM '{file}'")),
        ErrorKind::Invalid,
        "broken.csv, line 3, column 'mmsi'",
    );
    assert_fails(
        sql.execute("SELECT * FROM 'no such file.csv'"),
        ErrorKind::NotFound,
        "no such file.csv",
    );
}

#[test]
fn copy_fills_the_columns_of_the_same_name() {
    let (sql, folder) = ships();
    let file = path(&folder, "ships.csv");
    assert_eq!(changed(&sql, &format!("COPY ships FROM '{file}' (FORMAT csv, HEADER)")), 2);
    assert_eq!(
        rows(&sql, "SELECT * FROM ships WHERE mmsi = 2"),
        [["2", "B, C", "2024-01-02T00:00:00", "none"]]
    );
    assert_fails(
        sql.execute(format!("COPY ships FROM '{file}'")),
        ErrorKind::Conflict,
        "exists already",
    );
    sql.execute("TRUNCATE ships").unwrap();
    assert_eq!(changed(&sql, &format!("COPY ships (mmsi, name) FROM '{file}'")), 2);
    assert_eq!(rows(&sql, "SELECT count(at), count(name) FROM ships"), [["0", "2"]]);
    fs::write(folder.path().join("other.csv"), "mmsi,other\n9,x\n").unwrap();
    let other = path(&folder, "other.csv");
    assert_fails(
        sql.execute(format!("COPY ships FROM '{other}'")),
        ErrorKind::Invalid,
        "no column 'other'",
    );
}

/// A list of options that was cut off was carried out as far as it went, and commas were passed
/// over.
#[test]
fn copy_wants_its_options_between_commas_and_parentheses() {
    let (sql, folder) = ships();
    let file = path(&folder, "out");
    for (options, told) in [
        ("(FORMAT csv", "expected ',' or ')', found the end"),
        ("(FORMAT csv HEADER)", "expected ',' or ')', found 'HEADER'"),
        ("(FORMAT csv,)", "expected an option, found ')'"),
        ("(, FORMAT csv)", "expected an option, found ','"),
        ("(FORMAT csv) HEADER", "end of the statement"),
        ("CSV, HEADER", "expected an option, found ','"),
    ] {
        let copy = format!("COPY (SELECT 1 AS x) TO '{file}' {options}");
        assert_fails(sql.execute(&copy), ErrorKind::Invalid, told);
        assert!(!Path::new(&file).exists(), "{options}");
    }
    for options in ["(FORMAT csv, HEADER)", "WITH (HEADER true, FORMAT 'csv')", "CSV HEADER", ""] {
        sql.execute(format!("COPY (SELECT 1 AS x) TO '{file}' {options}")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "x\n1\n", "{options}");
    }
}

/// The types of the table decide, not those that the values suggest.
#[test]
fn copy_reads_values_as_the_table_has_them() {
    let (sql, folder) = ships();
    fs::write(folder.path().join("zeros.csv"), "mmsi,name\n1,007\n").unwrap();
    let file = path(&folder, "zeros.csv");
    assert_eq!(changed(&sql, &format!("COPY ships FROM '{file}'")), 1);
    assert_eq!(rows(&sql, "SELECT name FROM ships"), [["007"]]);
}

#[test]
fn what_copy_writes_it_reads_again() {
    let (sql, folder) = ships();
    let file = path(&folder, "ships.csv");
    changed(&sql, &format!("COPY ships FROM '{file}'"));
    let before = rows(&sql, "SELECT * FROM ships ORDER BY mmsi");
    for name in ["out.csv", "out.csv.gz", "out.jsonl", "out.parquet", "out.arrow"] {
        let file = path(&folder, name);
        let Answer::Done(done) = sql.execute(format!("COPY ships TO '{file}'")).unwrap() else {
            panic!("COPY TO tells what it did")
        };
        assert_eq!(done.to_string(), format!("wrote 2 rows to {file}"));
        sql.execute("TRUNCATE ships").unwrap();
        assert_eq!(changed(&sql, &format!("COPY ships FROM '{file}'")), 2, "{name}");
        assert_eq!(rows(&sql, "SELECT * FROM ships ORDER BY mmsi"), before, "{name}");
    }
}

#[test]
fn a_copy_that_fails_leaves_the_file_as_it_was() {
    let (sql, folder) = ships();
    let file = path(&folder, "ships.csv");
    assert!(sql.execute(format!("COPY (SELECT 1 / 0 AS x) TO '{file}'")).is_err());
    assert_eq!(fs::read_to_string(Path::new(&file)).unwrap(), SHIPS);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A COPY replaced a link, and no other user could read what it wrote.
#[cfg(unix)]
#[test]
fn a_copy_to_a_link_writes_the_file_that_it_leads_to() {
    let (sql, folder) = ships();
    let (file, link) = (folder.path().join("ships.csv"), folder.path().join("link.csv"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let before = fs::metadata(&file).unwrap().permissions();
    sql.execute(format!("COPY (SELECT 1 AS x) TO '{}'", link.display())).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n1\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions(), before);
}

/// A COPY to a pipe, or to a device such as `/dev/stdout`, replaced it by a file.
#[cfg(unix)]
#[test]
fn a_copy_replaces_nothing_but_files() {
    use std::os::unix::fs::FileTypeExt;
    let (sql, folder) = ships();
    let socket = folder.path().join("socket.csv");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let copy = format!("COPY (SELECT 1 AS x) TO '{}'", socket.display());
    assert_fails(sql.execute(copy), ErrorKind::Unavailable, "cannot be written");
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
}

/// Users of a server would read its machine.
#[test]
fn a_session_that_is_not_local_knows_no_files_and_no_settings() {
    let (_, folder) = ships();
    let file = path(&folder, "ships.csv");
    let sql = session_with(SqlOptions { is_local: false, ..SqlOptions::default() });
    sql.execute("CREATE TABLE t (mmsi LONG PRIMARY KEY)").unwrap();
    for text in [
        format!("SELECT * FROM '{file}'"),
        format!("FROM '{file}'"),
        format!("SELECT * FROM \"file::{file}\""),
        format!("SELECT * FROM read_csv('{file}')"),
        format!("INSERT INTO t SELECT mmsi FROM '{file}'"),
        format!("CREATE VIEW v AS SELECT * FROM '{file}'"),
        format!("COPY t FROM '{file}'"),
        format!("COPY t TO '{file}.new'"),
        format!("COPY (SELECT * FROM '{file}') TO '{file}.new'"),
    ] {
        assert_fails(sql.execute(text.as_str()), ErrorKind::Unsupported, "a server");
        assert!(
            sql.describe(text.as_str()).is_err()
                || text.starts_with("COPY")
                || text.starts_with("CREATE")
        );
    }
    for (text, remedy) in [
        ("SET timeout = 1", "keeps no settings"),
        ("PREPARE p AS SELECT 1", "keeps no settings"),
        ("EXECUTE p", "keeps no settings"),
        ("BEGIN", "keeps no settings"),
        ("CHECKPOINT", "POST /v1/admin/sync"),
        ("VACUUM", "nothing to do"),
    ] {
        assert_fails(sql.execute(text), ErrorKind::Unsupported, remedy);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// COPY FROM refused arrays, maps and records that a file holds as text, as `COPY TO` had written
/// them.
#[test]
fn nested_values_go_to_a_file_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let sql = session();
    let columns = "(k LONG PRIMARY KEY, l ARRAY(LONG), m MAP(STRING), r RECORD(p LONG, q STRING))";
    sql.execute(format!("CREATE TABLE one {columns}; CREATE TABLE other {columns}")).unwrap();
    sql.execute(
        r#"INSERT INTO one VALUES (1, '[1, null]', '{"a": "b"}', '{"p": 1, "q": "x"}'), (2, NULL, NULL, NULL)"#,
    )
    .unwrap();
    let all = rows(&sql, "SELECT * FROM one ORDER BY k");
    for name in ["f.csv", "f.jsonl", "f.parquet", "f.arrow"] {
        let file = path(&folder, name);
        sql.execute(format!("COPY one TO '{file}'")).unwrap();
        assert_eq!(changed(&sql, &format!("COPY other FROM '{file}'")), 2, "{name}");
        assert_eq!(rows(&sql, "SELECT * FROM other ORDER BY k"), all, "{name}");
        sql.execute("DELETE FROM other").unwrap();
    }
}

/// The columns of files were not known before planning. So a name that two files have, in a
/// subquery, became the column of the query around it: all rows came where the statement is an
/// error.
#[test]
fn a_name_that_two_files_have_is_ambiguous_in_a_subquery() {
    let (sql, folder) = ships();
    sql.execute("CREATE TABLE c (k LONG PRIMARY KEY, x LONG)").unwrap();
    sql.execute("INSERT INTO c VALUES (1, 10), (2, 20)").unwrap();
    fs::write(folder.path().join("a.csv"), "X,y\n10,1\n").unwrap();
    fs::write(folder.path().join("b.csv"), "x,z\n20,1\n").unwrap();
    let (a, b) = (path(&folder, "a.csv"), path(&folder, "b.csv"));
    for ambiguous in [
        format!("SELECT k FROM c WHERE EXISTS (SELECT 1 FROM '{a}' CROSS JOIN '{b}' WHERE x = 10)"),
        format!("SELECT k FROM c WHERE 10 IN (SELECT x FROM '{a}' p JOIN '{b}' q ON true)"),
        format!("DELETE FROM c WHERE EXISTS (SELECT 1 FROM '{a}', read_csv('{b}') WHERE x = 10)"),
    ] {
        assert_fails(sql.execute(ambiguous), ErrorKind::Invalid, "column x is ambiguous");
    }
    assert_fails(
        sql.execute(
            "SELECT k, (SELECT max(table_name) FROM information_schema.tables, information_schema.columns WHERE table_name = 'c')
             FROM (SELECT k, 'c' AS table_name FROM c)",
        ),
        ErrorKind::Invalid,
        "column table_name is ambiguous",
    );
    let of_file = format!("SELECT k FROM c WHERE EXISTS (SELECT 1 FROM '{a}' WHERE x = c.x)");
    assert_eq!(rows(&sql, of_file), [["1"]]);
    let plain = format!("SELECT p.x, q.x FROM '{a}' p CROSS JOIN '{b}' q WHERE y = z");
    assert_eq!(rows(&sql, plain), [["10", "20"]]);
}

/// Files had two columns of one name, and could not be read again.
#[test]
fn columns_of_one_name_have_names_of_their_own_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let sql = session();
    sql.execute("CREATE TABLE a (k LONG PRIMARY KEY, x LONG)").unwrap();
    sql.execute("INSERT INTO a VALUES (1, 10), (2, 20)").unwrap();
    for name in ["f.csv", "f.jsonl", "f.parquet", "f.arrow"] {
        let file = path(&folder, name);
        let copy = format!("COPY (SELECT * FROM a p JOIN a q ON p.k + 1 = q.k) TO '{file}'");
        sql.execute(copy).unwrap();
        let read = format!("SELECT k, x, k_1, x_1 FROM '{file}'");
        assert_eq!(rows(&sql, read), [["1", "10", "2", "20"]], "{name}");
    }
}

/// A member that a record lacks was NULL, though `load` gave it the DEFAULT of its column.
#[test]
fn copied_records_of_json_take_defaults() {
    let (sql, folder) = ships();
    let records = "{\"mmsi\": 1, \"flag\": \"NO\"}\n{\"mmsi\": 2}\n{\"mmsi\": 3, \"flag\": null}\n";
    fs::write(folder.path().join("some.jsonl"), records).unwrap();
    let file = path(&folder, "some.jsonl");
    assert_eq!(changed(&sql, &format!("COPY ships FROM '{file}'")), 3);
    let flags = "SELECT flag IS NULL, coalesce(flag, '') FROM ships ORDER BY mmsi";
    let expected = [["false", "NO"], ["false", "none"], ["true", ""]];
    assert_eq!(rows(&sql, flags), expected);
    sql.execute("DELETE FROM ships").unwrap();
    assert_eq!(changed(&sql, &format!("COPY ships (flag, mmsi) FROM '{file}'")), 3);
    assert_eq!(rows(&sql, flags), expected);
    // A file by itself has no table whose defaults it could take.
    sql.execute("DELETE FROM ships").unwrap();
    changed(&sql, &format!("INSERT INTO ships (mmsi, flag) SELECT mmsi, flag FROM '{file}'"));
    assert_eq!(rows(&sql, flags), [["false", "NO"], ["true", ""], ["true", ""]]);
}
