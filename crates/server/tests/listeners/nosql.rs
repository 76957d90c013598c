//! The listener for the SDKs of Oracle NoSQL Database.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use tonnage_nosql::nson::{NsonFields, NsonWriter, read_document, read_packed_text};
use tonnage_server::Settings;

use crate::guarded::{BASIC, Guarded};
use crate::support::Running;

const DATA: &str = "POST /V2/nosql/data";
const ID: &str = "x-nosql-request-id: 77\r\n";

fn settings() -> Settings {
    Settings { nosql: Some("127.0.0.1:0".into()), ..Settings::default() }
}

/// One request: the head of the answer, and its body.
fn ask(address: SocketAddr, request: &str, headers: &str, body: &[u8]) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(address).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\
         {headers}\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    // A server that refuses a long body closes while it is written.
    let _ = socket.write_all(body);
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&answer[..end]).to_lowercase(), answer[end + 4..].to_vec())
}

/// A request for a row of the ships, or one that puts it.
fn ship(operation: i32, id: i64) -> Vec<u8> {
    let mut out = NsonWriter::default();
    out.begin_map();
    out.field("h").begin_map();
    out.field("v").integer(4);
    out.field("n").string("ships");
    out.field("o").integer(operation);
    out.end();
    out.field("p").begin_map();
    out.field(if operation == 2 { "k" } else { "l" }).begin_map();
    out.field("id").long(id);
    let mut body = vec![0, 4];
    body.extend(out.finish());
    body
}

fn fields(body: &[u8]) -> NsonFields<'_> {
    read_document(body).unwrap().fields().unwrap()
}

fn code(body: &[u8]) -> i64 {
    fields(body).get("e").unwrap().whole().unwrap()
}

#[test]
fn rows_of_the_sdks_are_rows_of_the_store() {
    let server = Running::with(settings());
    let address = server.addresses.nosql.unwrap();
    let (head, body) = ask(address, DATA, ID, &ship(3, 7));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    for line in [
        "content-type: application/octet-stream",
        "x-nosql-request-id: 77",
        "x-nosql-serial-version: 5",
        "x-nosql-version: proxy=",
        "x-content-type-options: nosniff",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    assert!(code(&body) == 0 && fields(&body).get("rv").is_some());
    assert_eq!(server.rows(), 1);
    let (_, body) = ask(address, DATA, ID, &ship(2, 7));
    let row = fields(&body).get("r").and_then(|row| row.fields()).unwrap();
    let row = row.get("l").and_then(|row| row.fields()).unwrap();
    assert_eq!(row.get("id").unwrap().whole(), Some(7));
    let (_, metrics) = server.http("GET /metrics", "", "");
    let counted = r#"tonnage_requests_total{listener="nosql",call="put",outcome="ok"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn what_is_no_request_is_told_so() {
    let server = Running::with(settings());
    let address = server.addresses.nosql.unwrap();
    for (request, headers, told) in [
        (DATA, "", "missing requestId in header"),
        ("GET /V2/nosql/data", ID, "empty request content"),
    ] {
        let (head, body) = ask(address, request, headers, b"");
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert_eq!((body[0], read_packed_text(&body[1..])), (17, Ok(told)));
    }
    for path in ["POST /V2/nosql/other", "POST /", "GET /V2/nosql/security/login"] {
        let (head, _) = ask(address, path, ID, &ship(2, 7));
        assert!(head.starts_with("http/1.1 400"), "{path}: {head}");
    }
    // The table is looked for in the namespace that comes with the request.
    for (namespace, told) in [("other", 2), ("sysdefault", 0), ("", 0)] {
        let named = format!("{ID}x-nosql-default-ns: {namespace}\r\n");
        assert_eq!(code(&ask(address, DATA, &named, &ship(2, 7)).1), told, "{namespace}");
    }
    // What a page of another site sends is not carried out.
    let page = format!("{ID}Origin: https://evil.example\r\n");
    let (head, _) = ask(address, DATA, &page, &ship(3, 7));
    assert!(head.starts_with("http/1.1 403"), "{head}");
    assert_eq!(server.rows(), 0);
}

#[test]
fn bodies_are_held_against_their_limit() {
    let limited = Settings { body_bytes_max: Some("1KiB".into()), ..settings() };
    let server = Running::with(limited);
    let address = server.addresses.nosql.unwrap();
    let mut long = ship(3, 7);
    long.resize(2_000, 0);
    let (_, body) = ask(address, DATA, ID, &long);
    assert_eq!(code(&body), 8);
    assert_eq!(code(&ask(address, DATA, ID, &ship(3, 7)).1), 0);
}

#[test]
fn users_log_in_for_a_token_and_have_their_rights() {
    let guarded = Guarded::new();
    let address = guarded.server.addresses.nosql.unwrap();
    let with = |token: &str| format!("{ID}Authorization: Bearer {token}\r\n");
    // Nobody, and a token that has ended: the SDKs log in again.
    assert_eq!(code(&ask(address, DATA, ID, &ship(2, 7)).1), 11);
    assert_eq!(code(&ask(address, DATA, &with("gone"), &ship(2, 7)).1), 105);
    let token_of = |action: &str, headers: &str| {
        let request = format!("GET /V2/nosql/security/{action}");
        let (head, body) = ask(address, &request, headers, b"");
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert!(told["expireAt"].as_u64().unwrap() > 1_700_000_000_000, "{told}");
        told["token"].as_str().unwrap().to_owned()
    };
    let wrong = "Authorization: Basic YW5uOnBhc3M=\r\n";
    let (head, _) = ask(address, "GET /V2/nosql/security/login", wrong, b"");
    assert!(head.starts_with("http/1.1 401"), "{head}");
    let first = token_of("login", BASIC);
    let token = token_of("renew", &with(&first));
    assert_ne!(first, token);
    // Ann may read ships and put new ones, but not replace any.
    assert_eq!(code(&ask(address, DATA, &with(&token), &ship(2, 7)).1), 0);
    assert_eq!(code(&ask(address, DATA, &with(&token), &ship(4, 7)).1), 0);
    assert_eq!(code(&ask(address, DATA, &with(&token), &ship(3, 7)).1), 12);
    let (head, _) = ask(address, "GET /V2/nosql/security/logout", &with(&token), b"");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert_eq!(code(&ask(address, DATA, &with(&token), &ship(2, 7)).1), 105);
    let audit = std::fs::read_to_string(&guarded.audit).unwrap();
    assert!(audit.contains(r#""object":"table ships""#), "{audit}");
}
