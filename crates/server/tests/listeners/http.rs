//! The HTTP listener.

use tonnage_server::Settings;
use tonnage_testkit::wait_until;

use crate::support::Running;

fn etag(head: &str) -> String {
    let line = head.lines().find(|line| line.to_lowercase().starts_with("etag:")).unwrap();
    line.split_once(':').unwrap().1.trim().to_owned()
}

#[test]
fn a_row_is_written_read_and_deleted() {
    let server = Running::new();
    let row = "/v1/tables/ships/row?id=5";
    let (head, _) = server.http(&format!("PUT {row}"), "", r#"{"name": "Ever Given"}"#);
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let written = etag(&head);
    let (head, body) = server.http(&format!("GET {row}"), "", "");
    assert_eq!((body.as_str(), etag(&head)), (r#"{"id":5,"name":"Ever Given"}"#, written));
    let (head, _) = server.http(&format!("DELETE {row}"), "", "");
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let (head, body) = server.http(&format!("GET {row}"), "", "");
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    assert!(head.contains("application/problem+json") && body.contains("not-found"), "{body}");
}

/// The row of the body was written, and the one that the path names was not there.
#[test]
fn a_row_is_the_one_that_its_path_names() {
    let server = Running::new();
    let put = |path: &str, body: &str| {
        let request = format!("PUT /v1/tables/ships/row{path}");
        let (head, _) = server.http(&request, "", body);
        head.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(put("?id=5", r#"{"id": 6, "name": "a"}"#), "400");
    assert_eq!(put("?id=5&ID=6", r#"{"name": "a"}"#), "400");
    assert_eq!(put("?id=5", r#"{"name": "a", "NAME": "b"}"#), "400");
    assert_eq!(put("?id=5", r#"{"name": "a", "name": "b"}"#), "400");
    assert_eq!(server.rows(), 0);
    assert_eq!(put("?id=5", r#"{"id": 5, "name": "a"}"#), "204");
    assert_eq!(put("", r#"{"id": 6, "name": "a"}"#), "204");
    assert_eq!(server.rows(), 2);
}

/// The last value counted without a word, also for what was deleted.
#[test]
fn a_name_that_is_given_twice_is_refused() {
    let server = Running::new();
    let puts = r#"{"puts": [{"table": "ships", "rows": [{"id": 1}, {"id": 2}]}]}"#;
    server.http("POST /v1/multi-put", "", puts);
    for (request, body, name) in [
        ("GET /v1/tables/ships/row?id=1&id=2", "", "id"),
        ("DELETE /v1/tables/ships/row?id=1&id=2", "", "id"),
        ("PATCH /v1/tables/ships/row?id=1&id=2", r#"{"name": "a"}"#, "id"),
        ("PUT /v1/tables/ships/row?id=1&id=1", r#"{"name": "a"}"#, "id"),
        ("POST /v1/tables/ships/get", r#"{"keys": [1], "limit": 1, "limit": 2}"#, "limit"),
        ("POST /v1/tables/ships/get", r#"{"keys": [{"id": 1, "id": 2}]}"#, "id"),
        ("POST /v1/multi-get", r#"[{"table": "ships", "keys": [1], "keys": [2]}]"#, "keys"),
        ("POST /v1/multi-get", r#"[{"table": "ships", "keys": [{"id": 1, "id": 2}]}]"#, "id"),
    ] {
        let (head, told) = server.http(request, "", body);
        assert!(head.starts_with("HTTP/1.1 400"), "{request} {body}: {head}");
        assert!(told.contains(&format!("`{name}` appears twice")), "{request} {body}: {told}");
    }
    assert_eq!(server.rows(), 2);
}

/// The rows of rounded keys were returned, overwritten and deleted.
#[test]
fn a_key_that_its_column_would_round_is_no_other_row() {
    let server = Running::new();
    let ddl = "CREATE TABLE fixes (ship LONG, at TIMESTAMP(0), PRIMARY KEY (SHARD(ship), at))";
    server.http("POST /v1/tables", "", ddl);
    let status = |request: &str, body: &str| {
        let (head, _) = server.http(request, "", body);
        head.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let row = "/v1/tables/fixes/row?ship=1&at=2022-01-03T06:00:00";
    assert_eq!(status(&format!("PUT {row}"), "{}"), "204");
    for (method, wanted) in [("GET", "404"), ("DELETE", "404"), ("PATCH", "404"), ("PUT", "400")] {
        assert_eq!(status(&format!("{method} {row}.5"), "{}"), wanted, "{method}");
    }
    let puts = r#"{"on_existing": "replace", "puts": [{"table": "fixes",
        "rows": [{"ship": 1, "at": "2022-01-03T06:00:00.5"}]}]}"#;
    let (_, answer) = server.http("POST /v1/multi-put", "", puts);
    assert!(answer.contains(r#""failed":1"#), "{answer}");
    for asked in [
        r#"{"keys": [[1, "2022-01-03T06:00:00.5"]]}"#,
        r#"{"keys": [{"ship": 1, "at": "2022-01-03T06:00:00.5"}]}"#,
        r#"{"keys": [[1]], "range": {"column": "at", "from": "2022-01-03T06:00:00.5"}}"#,
    ] {
        let (_, answer) = server.http("POST /v1/tables/fixes/get", "", asked);
        assert!(answer.contains(r#""rows":[]"#), "{asked}: {answer}");
    }
    assert_eq!(status(&format!("GET {row}"), ""), "200");
}

#[test]
fn a_patch_changes_the_columns_that_it_names() {
    let server = Running::new();
    let ddl = "CREATE TABLE ports (code STRING, name STRING, berths LONG, PRIMARY KEY (code))";
    server.http("POST /v1/tables", "", ddl);
    let row = "/v1/tables/ports/row?code=NLRTM";
    let (missing, _) = server.http(&format!("PATCH {row}"), "", r#"{"berths": 1}"#);
    assert!(missing.starts_with("HTTP/1.1 404"), "{missing}");
    server.http(&format!("PUT {row}"), "", r#"{"name": "Rotterdam", "berths": 5}"#);
    let (head, _) = server.http(&format!("PATCH {row}"), "", r#"{"berths": 6}"#);
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let (read, body) = server.http(&format!("GET {row}"), "", "");
    assert_eq!(body, r#"{"code":"NLRTM","name":"Rotterdam","berths":6}"#);
    assert_eq!(etag(&read), etag(&head));
    for (headers, status, change) in [
        (format!("If-Match: {}\r\n", etag(&head)), "204", r#"{"name": null}"#),
        (format!("If-Match: {}\r\n", etag(&head)), "412", r#"{"name": "x"}"#),
        ("If-None-Match: *\r\n".to_owned(), "400", r#"{"name": "x"}"#),
        (String::new(), "400", r#"{"code": "BEANR"}"#),
        (String::new(), "400", r#"{"depth": 1}"#),
    ] {
        let (head, body) = server.http(&format!("PATCH {row}"), &headers, change);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{change}: {head} {body}");
    }
    assert_eq!(
        server.http(&format!("GET {row}"), "", "").1,
        r#"{"code":"NLRTM","name":null,"berths":6}"#
    );
}

#[test]
fn rows_of_many_tables_are_put_and_read_in_one_call() {
    let server = Running::new();
    let ddl = "CREATE TABLE ports (code STRING, n LONG NOT NULL, PRIMARY KEY (code))";
    server.http("POST /v1/tables", "", ddl);
    let puts = r#"{"puts": [{"table": "ships", "rows": [{"id": 1, "name": "a"}, {"id": 2}]},
        {"table": "ports", "rows": [{"code": "x", "n": 1}, {"code": "y"}]}]}"#;
    let (head, body) = server.http("POST /v1/multi-put", "", puts);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    let told: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&told[0]["inserted"], &told[0]["failures"]), (&2.into(), &serde_json::json!([])));
    assert_eq!((&told[1]["inserted"], &told[1]["failed"]), (&1.into(), &1.into()));
    assert_eq!(
        (&told[1]["failures"][0]["row"], &told[1]["failures"][0]["column"]),
        (&1.into(), &"n".into())
    );
    let gets = r#"[{"table": "ships", "keys": [2, [1], {"id": 7}], "direction": "forward"},
        {"table": "nowhere", "keys": [1]}, {"table": "ports", "keys": ["x"], "columns": ["n"]}]"#;
    let (_, body) = server.http("POST /v1/multi-get", "", gets);
    let told: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(told[0]["rows"], serde_json::json!([[2, null], [1, "a"]]));
    assert_eq!(told[1]["problem"]["title"], "not found", "{told}");
    assert_eq!(told[2]["rows"], serde_json::json!([[1]]));
}

#[test]
fn what_is_wrong_with_a_call_of_many_tables_names_its_place() {
    let server = Running::new();
    for (call, body, named) in [
        ("multi-put", r#"{"puts": [{"table": "ships", "rows": [{"id": "x"}]}]}"#, "put 0: row 0"),
        ("multi-put", r#"{"puts": [{"table": "nowhere", "rows": []}]}"#, "put 0"),
        ("multi-put", r#"{"rows": []}"#, "docs/http.md"),
        ("multi-get", r#"{"table": "ships"}"#, "docs/http.md"),
    ] {
        let (head, told) = server.http(&format!("POST /v1/{call}"), "", body);
        assert!(head.starts_with("HTTP/1.1 40") && told.contains(named), "{body}: {head} {told}");
    }
}

#[test]
fn conditions_are_those_of_http() {
    let server = Running::new();
    for path in ["/v1/tables/ships/row?id=5", "/v1/pairs/five"] {
        let put = |headers: &str| server.http(&format!("PUT {path}"), headers, "{}").0;
        let first = put("If-None-Match: *\r\n");
        assert!(first.starts_with("HTTP/1.1 204"), "{first}");
        assert!(put("If-None-Match: *\r\n").starts_with("HTTP/1.1 412"));
        let held = format!("If-Match: {}\r\n", etag(&first));
        let (head, _) = server.http(
            &format!("GET {path}"),
            &format!("If-None-Match: {}\r\n", etag(&first)),
            "",
        );
        assert!(head.starts_with("HTTP/1.1 304"), "{head}");
        assert!(put(&held).starts_with("HTTP/1.1 204"));
        assert!(put(&held).starts_with("HTTP/1.1 412"), "the version is another by now");
        let (head, _) = server.http(&format!("DELETE {path}"), &held, "");
        assert!(head.starts_with("HTTP/1.1 412"), "{head}");
        assert!(put("If-Match: 7\r\n").starts_with("HTTP/1.1 400"));
    }
}

/// Once these were plain text, which no client of the API could read as an error.
#[test]
fn what_no_handler_sees_is_a_problem_too() {
    let server = Running::new();
    for (request, status, why) in [
        ("POST /v1/tables/ships/rows?on_exist=keep", "400", "on_exist"),
        ("GET /v1/pairs/%ff", "400", "UTF-8"),
        ("PATCH /v1/tables", "405", "PATCH /v1/tables: method not allowed"),
    ] {
        let (head, body) = server.http(request, "", "");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
        assert!(head.contains("application/problem+json") && body.contains(why), "{head}{body}");
    }
    let (head, _) = server.http("PATCH /v1/tables", "", "");
    assert!(head.to_ascii_lowercase().contains("allow: "), "{head}");
}

#[test]
fn the_http_api_describes_itself() {
    let server = Running::new();
    let (head, body) = server.http("GET /v1/openapi.json", "", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let api: serde_json::Value = serde_json::from_str(&body).unwrap();
    let paths = api["paths"].as_object().unwrap();
    assert!(paths.contains_key("/v1/fetch-all"), "{paths:?}");
    for (path, methods) in paths {
        // Its answer has no end.
        if path == "/v1/events" {
            continue;
        }
        for method in methods.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            let path = path.replace(['{', '}'], "");
            let (head, body) = server.http(&format!("{} {path}", method.to_uppercase()), "", "");
            assert!(!head.starts_with("HTTP/1.1 405"), "{method} {path}");
            assert!(!body.contains("nothing is at"), "{method} {path}");
        }
    }
}

#[test]
fn a_value_that_is_not_of_its_column_is_named() {
    let server = Running::new();
    let (head, body) = server.http("PUT /v1/tables/ships/row?id=5", "", r#"{"name": [1]}"#);
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("column name"), "{body}");
    let (head, body) = server.http("GET /v1/tables/ships/row?name=x", "", "");
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("not a column of the key"), "{body}");
}

#[test]
fn a_pair_lives_as_long_as_it_is_told() {
    let server = Running::new();
    let (head, _) = server.http("PUT /v1/pairs/a%2Fb", "Tonnage-TTL: 1h\r\n", "bytes");
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let (head, body) = server.http("GET /v1/pairs/a%2Fb", "", "");
    assert_eq!(body, "bytes");
    assert!(head.contains("tonnage-expires-at-ms: "), "{head}");
}

/// They lived for ever.
#[test]
fn nothing_is_stored_with_a_life_of_0() {
    let server = Running::new();
    for ttl in ["0s", "0ms", "0d"] {
        let header = format!("Tonnage-TTL: {ttl}\r\n");
        let (head, told) = server.http("PUT /v1/pairs/a", &header, "bytes");
        assert!(head.starts_with("HTTP/1.1 400") && told.contains("more than 0"), "{head} {told}");
        let (head, told) = server.http(
            &format!("POST /v1/tables/ships/rows?ttl={ttl}"),
            "Content-Type: text/csv\r\n",
            "id,name\n1,a\n",
        );
        assert!(head.starts_with("HTTP/1.1 400") && told.contains("more than 0"), "{head} {told}");
    }
    let (head, _) = server.http("GET /v1/pairs/a", "", "");
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    assert_eq!(server.rows(), 0);
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let settings = Settings { body_bytes_max: Some("1KiB".into()), ..Settings::default() };
    let server = Running::with(settings);
    let (head, _) = server.http("PUT /v1/pairs/a", "", &"x".repeat(2_000));
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
}

#[test]
fn health_and_metrics_are_told() {
    let server = Running::new();
    assert_eq!(server.http("GET /health/live", "", "").1, "live\n");
    assert_eq!(server.http("GET /health/ready", "", "").1, "ready\n");
    server.http("GET /v1/tables", "", "");
    let (_, metrics) = server.http("GET /metrics", "", "");
    let counted = r#"tonnage_requests_total{listener="http",call="tables",outcome="ok"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    assert!(metrics.contains("tonnage_store_disk_bytes"), "{metrics}");
    // The gauge and the counter of connections had one name.
    let mut families: Vec<_> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let told = families.len();
    families.sort_unstable();
    families.dedup();
    assert!(told > 10 && families.len() == told, "{metrics}");
}

#[test]
fn a_server_that_closes_is_not_ready_but_answers_while_it_waits() {
    let mut server =
        Running::with(Settings { drain_wait: Some("12s".into()), ..Settings::default() });
    server.stop();
    let is_closing = || {
        let (head, _) = server.http("GET /health/ready", "", "");
        head.starts_with("HTTP/1.1 503") && head.contains("retry-after")
    };
    wait_until("it is not ready", is_closing);
    let (head, _) = server.http("GET /v1/tables", "", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    server.wait();
    assert!(std::net::TcpStream::connect(server.addresses.http.unwrap()).is_err());
}

/// Pools of clients keep idle connections for a while.
#[test]
fn a_connection_may_lie_idle_between_requests() {
    let server = Running::new();
    let mut socket = std::net::TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    let mut ask = || {
        std::io::Write::write_all(
            &mut socket,
            b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
        )
        .unwrap();
        let mut answer = [0; 15];
        std::io::Read::read_exact(&mut socket, &mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
        // The rest of the answer is there with it.
        let mut rest = [0; 1_024];
        let _ = std::io::Read::read(&mut socket, &mut rest).unwrap();
    };
    ask();
    std::thread::sleep(std::time::Duration::from_secs(12));
    ask();
}

#[test]
fn more_connections_than_allowed_are_closed_at_once() {
    let server = Running::with(Settings { connections_max: Some(2), ..Settings::default() });
    let address = server.addresses.http.unwrap();
    let held: Vec<_> = (0..2).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut third = std::net::TcpStream::connect(address).unwrap();
    let mut answer = Vec::new();
    let read = std::io::Read::read_to_end(&mut third, &mut answer);
    assert!(matches!(read, Ok(0) | Err(_)), "{answer:?}");
    drop(held);
    let is_served = || {
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let ask = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        // It may be closed at once: the server has not yet seen that the others are gone.
        let _ = std::io::Write::write_all(&mut socket, ask);
        let mut answer = String::new();
        let _ = std::io::Read::read_to_string(&mut socket, &mut answer);
        answer.ends_with("live\n")
    };
    wait_until("there are places again", is_served);
}

/// A server that closes with bytes unread resets the connection, and the answer was lost.
#[test]
fn a_refused_client_that_first_sends_its_whole_body_reads_why() {
    let server = Running::new();
    let body = "x".repeat(20 << 20);
    for (request, status, why) in [
        ("POST /v1/nothing", "404", "openapi.json"),
        ("POST /v1/actions/nothing", "413", "raise body_bytes_max"),
        ("PUT /v1/pairs/a", "413", "raise body_bytes_max"),
    ] {
        let (head, told) = server.http(request, "", &body);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {head}");
        assert!(told.contains(why), "{request}: {told}");
    }
}
