//! Pages of rows, and where an error of a statement is.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::guarded::{BASIC, Guarded};
use crate::support::Running;

fn page(server: &Running, query: &str) -> Json {
    let (head, body) = server.http(&format!("GET /v1/tables/ships/scan?{query}"), "", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{query}: {head} {body}");
    serde_json::from_str(&body).unwrap()
}

fn ids(page: &Json) -> Vec<i64> {
    page["rows"].as_array().unwrap().iter().map(|row| row[0].as_i64().unwrap()).collect()
}

fn place(page: &Json, name: &str) -> String {
    page[name].as_str().unwrap().to_owned()
}

fn server_with(ships: i64) -> Running {
    let server = Running::new();
    let mut text = String::from("id,name\n");
    for id in 0..ships {
        writeln!(text, "{id},ship {id}").unwrap();
    }
    let (head, body) =
        server.http("POST /v1/tables/ships/rows", "Content-Type: text/csv\r\n", &text);
    assert!(head.starts_with("HTTP/1.1 200"), "{body}");
    server
}

#[test]
fn pages_go_through_the_table_and_back() {
    let server = server_with(25);
    let mut seen = Vec::new();
    let mut now = page(&server, "limit=10");
    seen.extend(ids(&now));
    while now["more"] == true {
        now = page(&server, &format!("limit=10&after={}", place(&now, "last")));
        seen.extend(ids(&now));
    }
    assert_eq!(seen, (0..25).collect::<Vec<_>>());
    assert_eq!(ids(&now), (20..25).collect::<Vec<_>>());
    // Backwards, still in the order of the key.
    now = page(&server, &format!("limit=10&before={}", place(&now, "first")));
    assert_eq!((ids(&now), &now["more"]), ((10..20).collect(), &Json::from(true)));
    now = page(&server, &format!("limit=10&before={}", place(&now, "first")));
    assert_eq!((ids(&now), &now["more"]), ((0..10).collect(), &Json::from(false)));
    now = page(&server, "limit=3&before=");
    assert_eq!((ids(&now), &now["more"]), (vec![22, 23, 24], &Json::from(true)));
    now = page(&server, &format!("limit=3&after={}", place(&now, "last")));
    assert_eq!((ids(&now), &now["more"]), (vec![], &Json::from(false)));
    assert_eq!((&now["first"], &now["last"]), (&Json::Null, &Json::Null));
}

#[test]
fn a_place_stays_while_rows_come_and_go() {
    let server = server_with(9);
    let first = page(&server, "limit=3");
    let deleted = server.http("DELETE /v1/tables/ships/row?id=2", "", "").0;
    assert!(deleted.starts_with("HTTP/1.1 204"), "{deleted}");
    let next = page(&server, &format!("limit=3&after={}", place(&first, "last")));
    assert_eq!(ids(&next), [3, 4, 5]);
}

#[test]
fn columns_are_chosen_by_name() {
    let server = server_with(2);
    let told = page(&server, "columns=name");
    assert_eq!(told["rows"], serde_json::json!([["ship 0"], ["ship 1"]]));
    assert_eq!(told["columns"], serde_json::json!([{"name": "name", "type": "STRING"}]));
    let told = page(&server, "columns=name&columns=id&limit=1");
    assert_eq!(told["rows"], serde_json::json!([["ship 0", 0]]));
}

#[test]
fn what_no_page_has_is_refused() {
    let server = server_with(1);
    for query in [
        "limit=0",
        "limit=10001",
        "after=AAAA",
        "after=*",
        "columns=nothing",
        "rows=1",
        "after=&before=",
    ] {
        let (head, body) = server.http(&format!("GET /v1/tables/ships/scan?{query}"), "", "");
        assert!(head.starts_with("HTTP/1.1 400"), "{query}: {head} {body}");
    }
    let (head, _) = server.http("GET /v1/tables/nothing/scan", "", "");
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
}

/// A place of another table must not lead into this one.
#[test]
fn a_place_of_another_table_is_refused() {
    let server = server_with(2);
    server.store.execute("CREATE TABLE boats (id LONG, PRIMARY KEY (id))").unwrap();
    let last = place(&page(&server, "limit=1"), "last");
    let (head, body) = server.http(&format!("GET /v1/tables/boats/scan?after={last}"), "", "");
    assert!(head.starts_with("HTTP/1.1 400"), "{head} {body}");
}

#[test]
fn a_page_needs_the_right_to_read() {
    let guarded = Guarded::new();
    let allowed = guarded.http("GET /v1/tables/ships/scan", BASIC, "");
    assert!(allowed.starts_with("HTTP/1.1 200"), "{allowed}");
    for other in ["secrets", "nothing"] {
        let denied = guarded.http(&format!("GET /v1/tables/{other}/scan"), BASIC, "");
        assert!(denied.starts_with("HTTP/1.1 403"), "{denied}");
    }
}

#[test]
fn a_problem_names_the_place_in_the_statement() {
    let server = Running::new();
    for (path, body, line, column) in [
        ("/v1/sql", r#"{"sql": "SELECT id,\n  nam FROM ships"}"#, 2, 3),
        ("/v1/sql", r#"{"sql": "SELEC"}"#, 1, 1),
    ] {
        let (head, told) = server.http(&format!("POST {path}"), "", body);
        assert!(head.starts_with("HTTP/1.1 400"), "{head} {told}");
        let told: Json = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["line"], &told["column"]), (&line.into(), &column.into()), "{told}");
    }
    let (_, told) = server.http("POST /v1/sql", "", "{");
    assert!(!told.contains("\"line\":"), "{told}");
}
