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
