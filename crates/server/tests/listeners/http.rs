//! The HTTP listener.

use tonnage_server::Settings;

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
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("no column of the key"), "{body}");
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
}

#[test]
fn a_server_that_closes_is_not_ready_but_answers_while_it_waits() {
    let mut server =
        Running::with(Settings { drain_wait: Some("3s".into()), ..Settings::default() });
    server.stop();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (head, _) = server.http("GET /health/ready", "", "");
    assert!(head.starts_with("HTTP/1.1 503") && head.contains("retry-after"), "{head}");
    let (head, _) = server.http("GET /v1/tables", "", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    server.wait();
    assert!(std::net::TcpStream::connect(server.addresses.http.unwrap()).is_err());
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
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(server.http("GET /health/live", "", "").1, "live\n");
}
