use tonnage::{ErrorKind, Value};
use tonnage_sql::{Answer, Parameters, Request};

use super::{assert_fails, fleet, rows, session, texts};

#[test]
fn numbered_and_named_parameters_have_values() {
    let sql = fleet();
    let numbered = Request::new("SELECT speed FROM positions WHERE ship = $1 AND at = $2")
        .bind(3_i64)
        .bind(7_i64);
    assert_eq!(rows(&sql, numbered), [["36.5"]]);
    let named = Request::new("SELECT speed FROM positions WHERE ship = :ship AND at = :at")
        .named("ship", 3_i64)
        .named("AT", 7_i64);
    assert_eq!(rows(&sql, named), [["36.5"]]);
    let planned =
        Request::new("SELECT count(*) FROM positions WHERE speed < :speed AND name LIKE $1")
            .bind("%1")
            .named("speed", 100.0);
    assert_eq!(rows(&sql, planned), [["20"]]);
}

#[test]
fn a_list_with_a_parameter_that_is_null_holds_null() {
    let sql = session();
    let asked = |value: Value| Request::new("SELECT 4 = ANY (ARRAY[1, $1])").bind(value);
    assert_eq!(rows(&sql, asked(Value::Null)), [["NULL"]]);
    assert_eq!(rows(&sql, asked(Value::Long(2))), [["false"]]);
}

#[test]
fn a_parameter_without_value_is_named() {
    let sql = fleet();
    assert_fails(
        sql.execute("SELECT * FROM positions WHERE ship = $1"),
        ErrorKind::Invalid,
        "$1 has no value",
    );
    assert_fails(
        sql.execute("SELECT upper(name) FROM positions WHERE speed = :s"),
        ErrorKind::Invalid,
        "s has no value",
    );
}

#[test]
fn a_prepared_statement_runs_many_times() {
    let sql = fleet();
    let direct = sql.prepare("SELECT name FROM positions WHERE ship = $1 LIMIT 1").unwrap();
    let planned = sql.prepare("SELECT count(*) FROM positions WHERE speed < $1").unwrap();
    for ship in 0..5_i64 {
        assert_eq!(
            texts(direct.execute(Parameters::numbered([ship])).unwrap()),
            [[format!("ship {ship}")]]
        );
        assert_eq!(
            texts(planned.execute(Parameters::numbered([ship as f64])).unwrap()),
            [[(ship * 2).to_string()]]
        );
    }
    assert!(sql.prepare("SELECT 1; SELECT 2").is_err());
    assert!(sql.prepare("SELECT * FROM t WHERE =").is_err());
}

#[test]
fn a_statement_that_is_kept_sees_columns_that_were_added_since() {
    let sql = fleet();
    for statement in [
        "SELECT * FROM positions WHERE ship = 1 LIMIT 1",
        "SELECT *, 1 AS one FROM positions LIMIT 1",
    ] {
        let before = rows(&sql, statement)[0].len();
        assert_eq!(rows(&sql, statement)[0].len(), before);
        sql.execute(format!("ALTER TABLE positions ADD extra{before} LONG DEFAULT 7")).unwrap();
        assert_eq!(rows(&sql, statement)[0].len(), before + 1);
    }
}

#[test]
fn statements_of_a_script_run_in_order_until_one_fails() {
    let sql = session();
    let text = "CREATE TABLE t (id LONG PRIMARY KEY); INSERT INTO t VALUES (1);\n SELEC 1; INSERT INTO t VALUES (2)";
    let answers: Vec<_> = sql.script(text).unwrap().collect();
    assert_eq!(answers.len(), 3);
    assert!(matches!(answers[0], Ok(Answer::Done(_))));
    assert!(matches!(&answers[1], Ok(Answer::Changed(changes)) if changes.inserted == 1));
    assert!(answers[2].as_ref().is_err_and(|error| error.message().contains("line 2, column 2")));
    assert_eq!(rows(&sql, "SELECT count(*) FROM t"), [["1"]]);
}

#[test]
fn columns_come_under_the_names_they_were_declared_with() {
    let sql = session();
    sql.execute(
        "CREATE TABLE t (Id LONG PRIMARY KEY, \"firstName\" STRING); INSERT INTO t VALUES (1, 'x')",
    )
    .unwrap();
    for query in [
        "SELECT * FROM t WHERE ID = 1",
        "SELECT *, 1 FROM t",
        "SELECT id, FIRSTNAME FROM t ORDER BY firstname",
    ] {
        let answer = sql.execute(query).unwrap().into_rows().unwrap();
        let names: Vec<_> =
            answer.schema().fields().iter().take(2).map(|field| field.name().clone()).collect();
        assert_eq!(names, ["Id", "firstName"], "{query}");
    }
}

#[test]
fn a_long_list_finds_its_rows_on_either_way() {
    let sql = fleet();
    let ships: Vec<String> = (-5000..5000).map(|n| n.to_string()).collect();
    let list = ships.join(", ");
    assert_eq!(
        rows(&sql, format!("SELECT count(*) FROM positions WHERE ship IN ({list})")),
        [["1000"]]
    );
    assert_eq!(
        rows(&sql, format!("SELECT count(*) FROM positions WHERE at IN ({list})")),
        [["1000"]]
    );
    assert_eq!(
        rows(&sql, format!("SELECT count(DISTINCT ship) FROM positions WHERE ship IN ({list})")),
        [["10"]]
    );
    assert_eq!(
        rows(
            &sql,
            format!(
                "SELECT count(*) FROM positions WHERE speed NOT IN ({list}) OR name = 'ship 2'"
            )
        ),
        [["600"]]
    );
    let plan = rows(
        &sql,
        format!(
            "EXPLAIN SELECT ship, count(*) FROM positions WHERE ship IN ({list}) GROUP BY ship"
        ),
    );
    assert!(
        plan.iter().any(|line| line[1].contains("range read of 10000 partial keys (ship)")),
        "{plan:?}"
    );
}

#[test]
fn a_query_without_from_reads_the_table_named() {
    let sql = fleet();
    assert_eq!(texts(sql.query_table("positions", "select * limit 1").unwrap()).len(), 1);
    assert_eq!(
        texts(sql.query_table("POSITIONS", "select max(at) where ship = 2").unwrap()),
        [["99"]]
    );
    let grouped = sql.query_table(
        "positions",
        Request::new("select ship, count(*) where ship < $1 group by ship order by ship")
            .bind(2_i64),
    );
    assert_eq!(texts(grouped.unwrap()), [["0", "100"], ["1", "100"]]);
    assert_fails(sql.query_table("positions", "delete"), ErrorKind::Invalid, "expected SELECT");
    assert_fails(sql.query_table("nothing", "select *"), ErrorKind::NotFound, "nothing");
}

#[test]
fn timestamps_identifiers_and_numbers_are_found_by_key() {
    let sql = session();
    sql.execute(
        "CREATE TABLE t (at TIMESTAMP(3), id UUID, n NUMBER(10, 2), b BOOLEAN, PRIMARY KEY (SHARD(at), id, n));
         INSERT INTO t VALUES ('2024-01-01T00:00:00.250', '00000000-0000-0000-0000-000000000001', 1.25, TRUE)",
    )
    .unwrap();
    assert_eq!(rows(&sql, "SELECT b FROM t WHERE at = '2024-01-01T00:00:00.250'"), [["true"]]);
    assert_eq!(rows(&sql, "SELECT b FROM t WHERE at = '2024-01-01T00:00:00.251'").len(), 0);
    assert_eq!(
        rows(&sql, "SELECT b FROM t WHERE at = '2024-01-01 00:00:00.25' AND n > 1").len(),
        1
    );
    let by_key = "SELECT n FROM t WHERE at = '2024-01-01T00:00:00.25' AND id = '00000000-0000-0000-0000-000000000001'";
    assert_eq!(rows(&sql, by_key), [["1.25"]]);
    let uuid = Request::new("SELECT n FROM t WHERE at = $1 AND id = $2")
        .bind(Value::Timestamp { value: 1_704_067_200_250, precision: 3 })
        .bind([0_u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(rows(&sql, uuid), [["1.25"]]);
}

#[test]
fn a_join_reads_only_the_keys_of_its_other_side() {
    let sql = fleet();
    sql.execute("CREATE TABLE wanted (n LONG PRIMARY KEY, ship LONG); INSERT INTO wanted VALUES (1, 3), (2, 7)").unwrap();
    for query in [
        "SELECT p.speed FROM positions p JOIN wanted w ON p.ship = w.ship",
        "SELECT speed FROM positions WHERE ship IN (SELECT ship FROM wanted)",
    ] {
        assert_eq!(rows(&sql, query).len(), 200);
        let ran = rows(&sql, format!("EXPLAIN ANALYZE {query}"));
        let scan =
            ran[0][1].lines().find(|line| line.contains("table=positions")).unwrap().to_owned();
        assert!(scan.contains("output_rows=200"), "{scan}");
    }
}

/// Columns hold no zero with a sign, and one NaN. A parameter that had them equalled nothing.
#[test]
fn a_double_with_a_sign_is_the_one_without() {
    let sql = session();
    sql.execute("CREATE TABLE t (d DOUBLE PRIMARY KEY, e DOUBLE)").unwrap();
    sql.execute("INSERT INTO t VALUES (0.0, 0.0), (1.0, CAST('NaN' AS DOUBLE))").unwrap();
    for (condition, value, expected) in [
        ("d = $1", -0.0, "0.0"),
        ("d <= $1", -0.0, "0.0"),
        ("e = $1", -0.0, "0.0"),
        ("e + 0 <= $1", -0.0, "0.0"),
        ("e = $1", -f64::NAN, "1.0"),
    ] {
        let request = Request::new(format!("SELECT d FROM t WHERE {condition}")).bind(value);
        let found = rows(&sql, request);
        let found: Vec<f64> = found.iter().map(|row| row[0].parse().unwrap()).collect();
        assert_eq!(found, [expected.parse::<f64>().unwrap()], "{condition}");
    }
}

/// The parser knows neither, and refused them.
#[test]
fn summaries_and_words_of_a_session_can_be_prepared() {
    let sql = fleet();
    let summary = sql.prepare("SUMMARIZE positions").unwrap();
    let described = summary.describe(&Parameters::default()).unwrap();
    assert!(described.reads_only && described.rows.unwrap().fields().len() == 7);
    for _ in 0..2 {
        let answer = summary.execute_request(&Request::default()).unwrap();
        assert_eq!(answer.into_rows().unwrap().into_batch().unwrap().num_rows(), 4);
    }
    let query = sql.prepare("SUMMARIZE SELECT ship FROM positions WHERE ship < $1").unwrap();
    let request = Request::default().bind(3_i64);
    let batch = query.execute_request(&request).unwrap().into_rows().unwrap().into_batch();
    assert_eq!(batch.unwrap().num_rows(), 1);
    for text in ["CHECKPOINT", "VACUUM", "SET timezone = 'UTC'", "ANALYZE positions"] {
        sql.prepare(text).unwrap().execute_request(&Request::default()).unwrap();
    }
    for (text, place) in
        [("SUMMARIZE", "line 1, column 10"), ("SUMMARIZE SELECT FROM x y z", "line 1, column")]
    {
        let error = sql.prepare(text).err().unwrap();
        assert!(error.message().contains(place), "{text}: {error}");
    }
}
