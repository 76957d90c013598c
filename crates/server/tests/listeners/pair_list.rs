//! Lists of pairs over HTTP.

use serde_json::{Value as Json, json};
use tonnage::{Key, WriteOptions};

use crate::support::Running;

fn server() -> Running {
    let server = Running::new();
    for key in ["/fleet/1", "/fleet/1/-/name", "/fleet/2", "/other", "/fleet%2F7"] {
        let key: Key = key.parse().unwrap();
        server.store.kv().put(&key, b"v", &WriteOptions::default()).unwrap();
    }
    server
}

fn list(server: &Running, query: &str) -> Vec<Json> {
    let (head, body) = server.http(&format!("GET /v1/pairs{query}"), "Accept-Encoding: x\r\n", "");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/x-ndjson"), "{head}");
    lines(&head, &body)
}

/// The lines of a body that may come in chunks.
fn lines(head: &str, body: &str) -> Vec<Json> {
    assert!(head.contains("chunked"), "{head}");
    body.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn keys(listed: &[Json]) -> Vec<&str> {
    listed.iter().map(|line| line["key"].as_str().unwrap()).collect()
}

#[test]
fn pairs_below_a_path_are_listed_in_order() {
    let server = server();
    assert_eq!(keys(&list(&server, "?under=/fleet")), ["/fleet/1", "/fleet/1/-/name", "/fleet/2"]);
    assert_eq!(keys(&list(&server, "?under=/fleet/1/-")), ["/fleet/1", "/fleet/1/-/name"]);
    assert_eq!(keys(&list(&server, "?prefix=fleet/")), ["/fleet%2F7"]);
    assert_eq!(list(&server, "").len(), 5);
    assert_eq!(list(&server, "?limit=0").len(), 0);
}

#[test]
fn a_list_is_read_page_by_page() {
    let server = server();
    let whole = list(&server, "");
    let (mut paged, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = list(&server, &query);
        let Some(last) = page.last() else { break };
        let last = last["key"].as_str().unwrap().replace('%', "%25");
        query = format!("?limit=2&after={last}");
        paged.extend(page);
    }
    assert_eq!(paged, whole);
}

#[test]
fn a_line_tells_the_value_as_text_or_as_bytes() {
    let server = Running::new();
    server.http("PUT /v1/pairs/a", "Tonnage-TTL: 1h\r\n", "text");
    server.store.kv().put(&Key::of_major(["b"]), b"\xFF\x00", &WriteOptions::default()).unwrap();
    let listed = list(&server, "");
    assert_eq!((&listed[0]["value"], &listed[1]["base64"]), (&json!("text"), &json!("/wA=")));
    assert!(listed[0]["expires_at_ms"].is_u64() && listed[1].get("expires_at_ms").is_none());
    assert!(listed[0]["version"].is_u64());
    let bare = list(&server, "?keys_only=true");
    assert!(bare.iter().all(|line| line.get("value").or(line.get("base64")).is_none()), "{bare:?}");
}

#[test]
fn what_is_wrong_with_a_list_is_told() {
    let server = server();
    for (query, why) in [
        ("?under=fleet", "does not begin with '/'"),
        ("?under=/fleet&after=/other", "after /other"),
        ("?depth=1", "depth"),
    ] {
        let (head, body) = server.http(&format!("GET /v1/pairs{query}"), "", "");
        assert!(head.starts_with("HTTP/1.1 400") && body.contains(why), "{query}: {head}{body}");
    }
}

#[test]
fn a_pair_is_stored_read_and_deleted_by_its_whole_key() {
    let server = server();
    let call = |request: &str, headers: &str, body: &str| {
        let (head, body) = server.http(request, headers, body);
        (head[9..12].to_owned(), head, body)
    };
    let path = "/v1/pair?key=/fleet/1/-/name";
    let (status, head, body) = call(&format!("GET {path}"), "", "");
    assert_eq!((status.as_str(), body.as_str()), ("200", "v"));
    let etag = head.lines().find(|line| line.starts_with("etag")).unwrap();
    let tag = etag.split_once(": ").unwrap().1.trim();
    assert_eq!(call(&format!("PUT {path}"), &format!("If-Match: {tag}\r\n"), "Emma").0, "204");
    // That version is gone.
    assert_eq!(call(&format!("PUT {path}"), &format!("If-Match: {tag}\r\n"), "Ada").0, "412");
    assert_eq!(call(&format!("GET {path}"), "", "").2, "Emma");
    assert_eq!(call("PUT /v1/pair?key=/fleet%252F9", "If-None-Match: *\r\n", "x").0, "204");
    assert_eq!(keys(&list(&server, "?prefix=fleet/")), ["/fleet%2F7", "/fleet%2F9"]);
    assert_eq!(call(&format!("DELETE {path}"), "", "").0, "204");
    assert_eq!(call(&format!("GET {path}"), "", "").0, "404");
    for wrong in ["GET /v1/pair", "GET /v1/pair?key=fleet", "PUT /v1/pair?key=/"] {
        assert_eq!(call(wrong, "", "v").0, "400", "{wrong}");
    }
}

#[test]
fn grants_on_pairs_hold_for_whole_keys() {
    use crate::guarded::{BASIC, Guarded};

    let guarded = Guarded::new();
    let status = |request: &str| guarded.http(request, BASIC, "v")[9..12].to_owned();
    assert_eq!(status("PUT /v1/pair?key=/fleet%252F1/-/name"), "204");
    assert_eq!(status("GET /v1/pair?key=/fleet%252F1/-/name"), "200");
    assert_eq!(status("DELETE /v1/pair?key=/fleet%252F1/-/name"), "403");
    assert_eq!(status("PUT /v1/pair?key=/other/-/name"), "403");
}
