//! Statements and bulk bodies over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::Running;

fn with_ships() -> Running {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a'), (2, NULL), (3, 'c')").unwrap();
    server
}

fn sql(server: &Running, accept: &str, body: &str) -> (String, String) {
    server.http("POST /v1/sql", &format!("Accept: {accept}\r\n"), body)
}

/// The body of an answer that came in chunks.
fn whole(body: &str) -> String {
    let (mut rest, mut text) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
        if size == 0 {
            break;
        }
    }
    text
}

#[test]
fn rows_are_told_as_json_with_their_columns() {
    let server = with_ships();
    let body = r#"{"sql": "SELECT * FROM ships WHERE id < ? ORDER BY id", "parameters": [3]}"#;
    let (head, answer) = sql(&server, "*/*", body);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let answer: serde_json::Value = serde_json::from_str(&whole(&answer)).unwrap();
    let columns =
        serde_json::json!([{"name": "id", "type": "LONG"}, {"name": "name", "type": "STRING"}]);
    assert_eq!(answer["columns"], columns);
    assert_eq!(answer["rows"], serde_json::json!([[1, "a"], [2, null]]));
    assert_eq!(answer["more"], false);
}

/// Errors named types of the server, and a timeout of 0 was one of a millisecond.
#[test]
fn a_body_that_is_no_statement_is_refused_in_words_of_json() {
    let server = Running::new();
    for (path, body, told) in [
        ("sql", "\"SELECT 1\"", "it is string \\\"SELECT 1\\\", expected an object"),
        ("fetch-all", "{\"sql\": \"SELECT 1\"}", "it is an object, expected a list"),
        ("fetch-all", "[7]", "it is integer `7`, expected an object"),
        ("sql", "{\"sql\": \"SELECT 1\", \"timeout_ms\": 0}", "timeout_ms is 0: give 1 or more"),
    ] {
        let (head, answer) = server.http(&format!("POST /v1/{path}"), "", body);
        assert!(head.starts_with("HTTP/1.1 400"), "{head} {answer}");
        assert!(answer.contains(told) && !answer.contains("struct"), "{answer}");
    }
}

/// Numbers in documents became doubles on their way in and out, and so did long parameters.
#[test]
fn numbers_keep_their_digits() {
    const LONG: &str = "123456789012345678901234567890";
    let server = Running::new();
    server
        .store
        .execute("CREATE TABLE papers (k LONG, n NUMBER(38, 0), doc JSON, PRIMARY KEY (k))")
        .unwrap();
    let document = format!(r#"{{"a": {LONG}, "b": [1.10, 0.12345678901234567890]}}"#);
    let row = format!(r#"{{"k": 1, "n": {LONG}, "doc": {document}}}"#);
    let (head, answer) = server.http("PUT /v1/tables/papers/row", "", &row);
    assert!(head.starts_with("HTTP/1.1 204"), "{head} {answer}");
    let puts =
        format!(r#"{{"puts": [{{"table": "papers", "rows": [{}]}}]}}"#, row.replace("1,", "2,"));
    let (head, answer) = server.http("POST /v1/multi-put", "", &puts);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {answer}");
    let insert = format!(
        r#"{{"sql": "INSERT INTO papers VALUES (3, ?, ?)", "parameters": [{LONG}, {document}]}}"#
    );
    let (head, answer) = sql(&server, "*/*", &insert);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {answer}");

    let select = |accept| {
        let (_, answer) = sql(&server, accept, r#"{"sql": "SELECT n, doc FROM papers"}"#);
        whole(&answer)
    };
    let cells = format!(r#"["{LONG}",{document}]"#);
    assert!(select("*/*").contains(&format!("[{cells},{cells},{cells}]")), "{}", select("*/*"));
    let (_, answer) = server.http("GET /v1/tables/papers/row?k=1", "", "");
    assert!(answer.contains(&document), "{answer}");
    let (_, answer) =
        server.http("POST /v1/multi-get", "", r#"[{"table": "papers", "keys": [2]}]"#);
    assert!(answer.contains(&document), "{answer}");
    let (_, answer) =
        server.http("POST /v1/fetch-all", "", r#"[{"sql": "SELECT doc FROM papers"}]"#);
    assert!(answer.contains(&document), "{answer}");

    let beside = format!(
        r#"{{"sql": "SELECT k FROM papers WHERE n = ? ORDER BY k", "parameters": [{LONG}1]}}"#
    );
    for (asked, found) in [(beside.clone(), "[]"), (beside.replace("01]", "0]"), "[[1],[2],[3]]")] {
        let (_, answer) = sql(&server, "*/*", &asked);
        assert!(whole(&answer).contains(&format!(r#""rows":{found}"#)), "{answer}");
    }
}

/// Whole numbers without a sign, and those of a NUMBER without a fraction, came as 1.0.
#[test]
fn whole_numbers_are_told_as_whole_numbers() {
    let server = Running::new();
    let text = "SELECT row_number() OVER () AS a, cardinality([1, 2]) AS b, \
                CAST(3 AS NUMBER(5, 0)) AS c, CAST('18446744073709551615' AS NUMBER(20, 0)) AS d";
    let body = serde_json::json!({"sql": text}).to_string();
    let rows = r#""rows":[[1,2,3,"18446744073709551615"]]"#;
    let (_, answer) = sql(&server, "*/*", &body);
    assert!(whole(&answer).contains(rows), "{answer}");
    let (_, answer) = server.http("POST /v1/fetch-all", "", &format!("[{body}]"));
    assert!(answer.contains(rows), "{answer}");
    server.store.execute("CREATE TABLE sums (k NUMBER(9, 0), PRIMARY KEY (k))").unwrap();
    let (head, _) = server.http("PUT /v1/tables/sums/row?k=7", "", "{}");
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let (_, row) = server.http("GET /v1/tables/sums/row?k=7", "", "");
    assert_eq!(row, r#"{"k":7}"#);
}

/// Lines had all of them as numbers, which readers of JSON round.
#[test]
fn numbers_are_text_behind_15_digits_in_lines_too() {
    let server = Running::new();
    let text = "SELECT 12345678901234567.1 AS a, 18446744073709551615::BIGINT UNSIGNED AS b, \
                12345678901234.5 AS c, 0.00000000000000001 AS d, 9223372036854775807 AS e";
    let body = serde_json::json!({"sql": text}).to_string();
    let (_, lines) = sql(&server, "application/x-ndjson", &body);
    let row = r#"{"a":"12345678901234567.1","b":"18446744073709551615","c":12345678901234.5,"#;
    assert!(whole(&lines).starts_with(row), "{lines}");
    let line: serde_json::Value = serde_json::from_str(&whole(&lines)).unwrap();
    let (_, answer) = sql(&server, "application/json", &body);
    let answer: serde_json::Value = serde_json::from_str(&whole(&answer)).unwrap();
    let cells: Vec<_> = line.as_object().unwrap().values().cloned().collect();
    assert_eq!(answer["rows"], serde_json::json!([cells]));
    assert_eq!(line["e"], i64::MAX);
}

/// They lost digits, or became infinity, without a word.
#[test]
fn a_parameter_that_fits_no_type_of_number_is_refused() {
    let server = Running::new();
    for number in ["1e400".to_owned(), "7".repeat(80), format!("0.{}", "7".repeat(80))] {
        let body = format!(r#"{{"sql": "SELECT ? AS a, ? AS b", "parameters": [1, {number}]}}"#);
        for (call, body) in [("sql", body.clone()), ("fetch-all", format!("[{body}]"))] {
            let (head, told) = server.http(&format!("POST /v1/{call}"), "", &body);
            assert!(head.starts_with("HTTP/1.1 400"), "{call} {number}: {head}");
            assert!(told.contains("parameter 2"), "{call} {number}: {told}");
        }
    }
}

/// It was left out once, and `replace` set the table's own columns to NULL.
#[test]
fn a_body_with_a_column_that_the_table_has_not_loads_nothing() {
    let server = with_ships();
    let url = "POST /v1/tables/ships/rows?on_existing=replace";
    for (kind, body) in [
        ("text/csv", "id,nmae\n1,new\n"),
        ("application/x-ndjson", "{\"id\": 1, \"nmae\": \"new\"}\n"),
    ] {
        let (head, told) = server.http(url, &format!("Content-Type: {kind}\r\n"), body);
        assert!(head.starts_with("HTTP/1.1 400") && told.contains("nmae"), "{head} {told}");
    }
    let (_, row) = server.http("GET /v1/tables/ships/row?id=1", "", "");
    assert_eq!(row, r#"{"id":1,"name":"a"}"#);
}

#[test]
fn a_limit_tells_whether_there_is_more() {
    let server = with_ships();
    let (_, answer) =
        sql(&server, "*/*", r#"{"sql": "SELECT id FROM ships ORDER BY id", "limit": 2}"#);
    let answer: serde_json::Value = serde_json::from_str(&whole(&answer)).unwrap();
    assert_eq!(answer["rows"], serde_json::json!([[1], [2]]));
    assert_eq!(answer["more"], true);
}

#[test]
fn rows_come_in_the_format_that_is_asked_for() {
    let server = with_ships();
    let body = r#"{"sql": "SELECT id, name FROM ships ORDER BY id"}"#;
    let (_, lines) = sql(&server, "application/x-ndjson", body);
    assert!(whole(&lines).starts_with("{\"id\":1,\"name\":\"a\"}\n"), "{lines}");
    let (head, csv) = sql(&server, "text/csv", body);
    assert!(head.contains("text/csv"), "{head}");
    assert_eq!(whole(&csv), "id,name\n1,a\n2,\n3,c\n");
    let (head, _) = sql(&server, "image/png", body);
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
}

/// A request whose answer is bytes, with `Connection: close`.
fn bytes(server: &Running, request: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    let length = body.len();
    write!(
        socket,
        "{request} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n"
    )
    .unwrap();
    socket.write_all(body).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    answer.split_off(end + 4)
}

#[test]
fn what_goes_out_as_arrow_and_parquet_comes_in_again() {
    let server = with_ships();
    for kind in ["application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"] {
        let query = br#"{"sql": "SELECT id + 100 AS id, name FROM ships"}"#;
        let out = bytes(&server, "POST /v1/sql", &format!("Accept: {kind}\r\n"), query);
        let put = format!("Content-Type: {kind}\r\n");
        let url = "POST /v1/tables/ships/rows?on_existing=replace";
        let told = bytes(&server, url, &put, &out);
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        assert_eq!(told["counts"]["failed"], 0, "{told}");
        server.sql().update("DELETE FROM ships WHERE id > 200").unwrap();
    }
    assert_eq!(server.rows(), 6);
}

/// It was a corruption, which is what a damaged store is.
#[test]
fn a_damaged_body_is_the_mistake_of_its_client() {
    let server = with_ships();
    let mut stored = 3;
    for kind in ["application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"] {
        let query = br#"{"sql": "SELECT id + 100 AS id, name FROM ships"}"#;
        let sent = bytes(&server, "POST /v1/sql", &format!("Accept: {kind}\r\n"), query);
        // The end that is missing reaches into the rows, or into the directory of Parquet.
        for body in [b"garbage".as_slice(), &sent[..sent.len() - 20]] {
            let put = format!("Content-Type: {kind}\r\n");
            let told = bytes(&server, "POST /v1/tables/ships/rows", &put, body);
            let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
            assert_eq!(told["status"], 400, "{kind}: {told}");
            assert_eq!(told["type"], "/problems/invalid-request", "{kind}: {told}");
            assert!(told["detail"].as_str().unwrap().contains("the body"), "{kind}: {told}");
            // A batch before the damage is stored, and counted.
            stored += told["counts"]["inserted"].as_u64().unwrap_or_default();
        }
    }
    assert_eq!(server.rows(), stored);
}

#[test]
fn csv_and_json_lines_come_in_bulk_and_failures_are_named() {
    let server = Running::new();
    let csv = "id,name\n1,a\nnobody,b\n3,c\n";
    let (head, told) = server.http("POST /v1/tables/ships/rows", "Content-Type: text/csv\r\n", csv);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {told}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["counts"]["inserted"], &told["rejected"]), (&2.into(), &1.into()));
    assert!(told["failures"][0]["reason"].as_str().unwrap().contains("nobody"), "{told}");
    let lines = "{\"id\": 4, \"name\": \"d\"}\n{\"id\": 5}\n";
    let headers = "Content-Type: application/x-ndjson\r\n";
    let (_, told) = server.http("POST /v1/tables/ships/rows", headers, lines);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["counts"]["inserted"], 2);
    assert_eq!(server.rows(), 4);
}

/// They were NULL, and rejected where the column is NOT NULL.
#[test]
fn json_lines_take_the_defaults_of_columns_that_they_do_not_name() {
    let server = Running::new();
    let definition = "CREATE TABLE logs (k LONG, at TIMESTAMP(3) DEFAULT now(), \
                      what STRING NOT NULL DEFAULT 'none', PRIMARY KEY (k))";
    server.store.execute(definition).unwrap();
    let headers = "Content-Type: application/x-ndjson\r\n";
    let lines = "{\"k\": 1}\n{\"k\": 2, \"at\": null}\n";
    let (_, told) = server.http("POST /v1/tables/logs/rows", headers, lines);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["counts"]["inserted"], 2, "{told}");
    let body = r#"{"sql": "SELECT k, at IS NULL, what FROM logs ORDER BY k"}"#;
    let (_, answer) = sql(&server, "application/json", body);
    let answer: serde_json::Value = serde_json::from_str(&whole(&answer)).unwrap();
    assert_eq!(answer["rows"], serde_json::json!([[1, false, "none"], [2, true, "none"]]));
}

#[test]
fn too_many_failures_stop_a_load() {
    let server = Running::new();
    let headers = "Content-Type: text/csv\r\n";
    let csv = "id,name\nnobody,b\n3,c\n";
    let url = "POST /v1/tables/ships/rows?errors_max=0";
    let (head, told) = server.http(url, headers, csv);
    assert!(head.starts_with("HTTP/1.1 400") && told.contains("errors_max"), "{head} {told}");
}

#[test]
fn a_body_that_is_cut_off_loads_nothing() {
    let server = Running::new();
    let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    write!(
        socket,
        "POST /v1/tables/ships/rows HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n\
         Content-Length: 1000\r\n\r\nid,name\n1,a\n2,b\n"
    )
    .unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(server.rows(), 0);
}

#[test]
fn an_error_before_the_first_row_has_its_status() {
    let server = Running::new();
    let (head, body) = sql(&server, "*/*", r#"{"sql": "SELECT * FROM boats"}"#);
    assert!(head.starts_with("HTTP/1.1 404") && body.contains("line 1, column 15"), "{body}");
    let (head, body) = sql(&server, "*/*", r#"{"sql": "SELECT 1", "parms": []}"#);
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("parms"), "{body}");
    let slow = "SELECT count(*) FROM generate_series(1, 1000000) a (x), \
                generate_series(1, 1000000) b (y) WHERE x * y % 7 = 3";
    let body = serde_json::json!({"sql": slow, "timeout_ms": 100}).to_string();
    let (head, _) = sql(&server, "*/*", &body);
    assert!(head.starts_with("HTTP/1.1 504"), "{head}");
}

/// The answer had begun with the rows before it, and broke off without a word.
#[test]
fn an_error_behind_a_few_rows_has_its_status() {
    let server = Running::new();
    let text = "SELECT CAST(x AS INT) AS n FROM (SELECT CAST(value AS VARCHAR) AS x FROM \
                range(10) UNION ALL SELECT 'hello') AS t";
    let body = serde_json::json!({"sql": text}).to_string();
    for accept in [
        "application/json",
        "application/x-ndjson",
        "text/csv",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.parquet",
    ] {
        for _ in 0..5 {
            let (head, answer) = sql(&server, accept, &body);
            assert!(head.starts_with("HTTP/1.1 400"), "{accept}: {head}");
            assert!(answer.contains("'hello'"), "{accept}: {answer}");
        }
    }
}

#[test]
fn changes_and_definitions_tell_what_they_did() {
    let server = Running::new();
    let told = |text: &str| {
        let body = serde_json::json!({"sql": text}).to_string();
        let (head, body) = sql(&server, "*/*", &body);
        assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
        serde_json::from_str::<serde_json::Value>(&body).unwrap()
    };
    assert_eq!(told("CREATE TABLE t (k LONG, PRIMARY KEY (k))")["created"]["table"], "t");
    assert_eq!(told("INSERT INTO t VALUES (1), (2)")["inserted"], 2);
    assert_eq!(told("DELETE FROM t WHERE k = 1")["changed"], 1);
}

/// All of them ran, and the error of a query before the last was lost.
#[test]
fn a_request_has_one_statement() {
    let server = with_ships();
    for text in [
        "SELECT 1/0; INSERT INTO ships VALUES (9, 'x')",
        "INSERT INTO ships VALUES (9, 'x'); SELECT 1",
    ] {
        let body = serde_json::json!({"sql": text}).to_string();
        let (head, told) = sql(&server, "*/*", &body);
        assert!(head.starts_with("HTTP/1.1 400"), "{text}: {head}");
        assert!(told.contains("POST /v1/fetch-all"), "{text}: {told}");
    }
    assert_eq!(server.rows(), 3);
    let (head, told) = sql(&server, "*/*", r#"{"sql": "; SELECT 1; ;"}"#);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {told}");
}

#[test]
fn many_statements_in_one_call_have_answers_of_their_own() {
    let server = with_ships();
    let body = r#"[{"sql": "SELECT count(*) AS n FROM ships"}, {"sql": "SELECT * FROM boats"},
        {"sql": "SELECT name FROM ships WHERE id = ?", "parameters": [3]}]"#;
    let (head, answer) = server.http("POST /v1/fetch-all", "", body);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let answers: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answers[0]["rows"], serde_json::json!([[3]]));
    assert_eq!(answers[1]["problem"]["title"], "not found");
    assert_eq!(answers[2]["rows"], serde_json::json!([["c"]]));
}
